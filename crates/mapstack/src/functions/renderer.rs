//! `slsutil.renderer`: render a file or a text through a pipe.

use mapstack_functions::{OnMachine, PathBelowRoot, below_roots, failed, named_roots};
use mapstack_loader::SaltPath;
use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result};
use mapstack_render::pipe::TAKEN;
use mapstack_salt_jinja::{Host as _, Names, Vm};
use mapstack_value::Str;
use mapstack_value::posixpath::normpath;

use crate::built_in::RunTable;
use crate::file::File;
use crate::host::RunHost;
use crate::pipe::{DEFAULT_PIPE, Data, PipeInput, StageOutput};
use crate::run::Run;
use mapstack_diagnostic::{Diagnostic, ErrorKind as Kind};

pub(super) const TABLE: RunTable = &[("slsutil.renderer", |run, vm, args| renderer(run, vm, args))];

/// The function `slsutil.renderer` of Salt.
fn renderer(run: &Run<'_>, vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let mut call = Call::new(args)?;
    let [path, string, default] =
        ["path", "string", "default_renderer"].map(|name| call.named.shift_remove(name));
    let given = |argument: Option<Obj>| argument.filter(|a| a.truthy().unwrap_or(true));
    let (path, string) = (given(path), given(string));
    let default = default.map_or_else(|| Ok(DEFAULT_PIPE.into()), |d| d.to_value())?;
    let saltenv = call.named.shift_remove("saltenv");
    let saltenv = saltenv
        .as_ref()
        .and_then(Obj::as_str)
        .filter(|env| !env.is_empty())
        .cloned();
    let saltenv = saltenv.unwrap_or_else(|| Str::from("base"));
    let asked = path.as_ref().and_then(Obj::as_str).cloned();
    let file = match (path, string) {
        (None, None) => return Err(Error::new(ErrorKind::Salt, "Must pass path or string.")),
        (Some(_), Some(_)) => {
            return Err(Error::new(
                ErrorKind::Salt,
                "Must not pass both path and string.",
            ));
        }
        (None, Some(string)) => Some(string_file(&string)?),
        (Some(path), None) => served_file(run, vm, &path, &saltenv)?,
    };
    let Some((file, is_string)) = file else {
        return Ok(Obj::dict([]));
    };
    let mut source = call.source(&file, is_string, saltenv)?;
    let is_default = source
        .tmplpath
        .as_str()
        .is_some_and(|it| **it == *file.shown);
    if let Some(path) = asked.filter(|path| is_default && path.starts_with('/')) {
        // Templates see the path that was requested, wherever the file lies.
        source.tmplpath = Obj::Str(path);
    }
    // A template in the pipe can call this function again.
    let made = run
        .nested(
            "slsutil.renderer calls itself",
            "a file must not render itself",
            || run.compile(&source, &default, false),
        )
        .map_err(|e| failed(&e))?;
    Ok(match made {
        StageOutput::Text(text) => Obj::from(run.with_line_ends(text.as_str())),
        StageOutput::Data(Data {
            value,
            shared: true,
        }) => Obj::from_shared(&value),
        StageOutput::Data(Data { value, .. }) => Obj::from(value),
    })
}

/// The path of a text that is not a file, with the same name as in the reference.
const STRING: &str = ":string:";

fn string_file(string: &Obj) -> Result<(File, bool)> {
    let Some(text) = string.as_str() else {
        let message = format!(
            "slsutil.renderer(): argument 'string' must be text, not {}",
            string.type_name()
        );
        return Err(Error::type_error(message));
    };
    let bytes = text.as_bytes().into();
    Ok((
        File {
            path: STRING.into(),
            shown: "<string>".into(),
            bytes,
        },
        true,
    ))
}

/// Fetch a file by its URL. For a missing file, the reference logs an error and returns `{}`.
fn served_file(
    run: &Run<'_>,
    vm: &Vm<'_>,
    path: &Obj,
    saltenv: &str,
) -> Result<Option<(File, bool)>> {
    let Some(url) = path.as_str() else {
        let message = format!(
            "slsutil.renderer(): argument 'path' must be text, not {}",
            path.type_name()
        );
        return Err(Error::type_error(message));
    };
    let Ok(asked) = SaltPath::parse(url) else {
        let path = url.strip_prefix("file://").unwrap_or(url);
        return Ok(local_file(run, vm, path)?.map(|file| (file, false)));
    };
    let found = run.fetch_from(&asked, saltenv).map_err(|e| failed(&e))?;
    if found.is_none() {
        let message = format!(
            "slsutil.renderer: {url} does not exist in saltenv {saltenv}, so it renders to nothing"
        );
        run.warn(Diagnostic::warning(Kind::File, message));
    }
    Ok(found.map(|file| (file, false)))
}

/// Read a file by its path on the disk of the machine that Salt runs on. Below a root of the pillar or the file server it
/// is the file that is served from there; other files are the machine's own.
fn local_file(run: &Run<'_>, vm: &Vm<'_>, path: &str) -> Result<Option<File>> {
    if !path.starts_with('/') {
        let message = format!("'{path}' is not on the file server");
        return Err(Error::new(ErrorKind::Salt, message).with_help(format!(
            "only salt:// paths and absolute paths are read: write salt://{path}"
        )));
    }
    let path = normpath(path);
    let roots = ["pillar_roots", "file_roots"].map(|option| run.option(option));
    let mut is_below = false;
    for (options, is_of_pillar) in roots.iter().zip([true, false]) {
        for PathBelowRoot {
            saltenv,
            inside,
            is_only,
        } in below_roots(&path, options)
        {
            let asked = SaltPath::from_relative(inside);
            let served = match (&run.master, is_of_pillar) {
                (Some(master), true) => run.fetch_on_master(master, &asked, &saltenv),
                (None, true) => continue,
                (_, false) => run.fetch_from(&asked, &saltenv),
            };
            let served = served.map_err(|e| failed(&e))?;
            // Of several directories, another one may have served the path.
            let is_match = |file: &File| {
                file.shown == path
                    || run.engine.deployed().local(&path).as_ref() == Some(&file.shown)
            };
            if !is_only && served.as_ref().is_some_and(|file| !is_match(file)) {
                continue;
            }
            is_below = true;
            if served.is_some() {
                return Ok(served);
            }
        }
    }
    if is_below {
        warn_of_nothing(run, &path);
        return Ok(None);
    }
    file_of_machine(run, vm, path, &roots)
}

/// Read a file below no root: at a deployed path, or of the machine itself.
fn file_of_machine(
    run: &Run<'_>,
    vm: &Vm<'_>,
    path: String,
    roots: &[mapstack_value::Value],
) -> Result<Option<File>> {
    match run.on_machine(&path).map_err(|e| failed(&e))? {
        Some(OnMachine::File { on_disk, bytes }) => {
            return Ok(Some(File {
                path,
                shown: on_disk,
                bytes,
            }));
        }
        Some(OnMachine::Directory(_)) => {
            let message = format!("[Errno 21] Is a directory: '{path}'");
            return Err(Error::python("IsADirectoryError", message));
        }
        Some(OnMachine::Missing) => {
            warn_of_nothing(run, &path);
            return Ok(None);
        }
        None => {}
    }
    let host = RunHost::new(run);
    let args = CallArgs {
        positional: vec![Obj::from(path.as_str())],
        ..CallArgs::default()
    };
    if !host.answers_elsewhere("file.read") {
        if run.engine.collected.is_some() {
            return host
                .lacks_answer(host.call("file.read", &args)?)
                .map(|_| None);
        }
        let message = format!(
            "'{path}' is not on the file server, nor below {}",
            named_roots(roots)
        );
        let advice = host.advice(&host.call("file.read", &args)?);
        return Err(Error::new(ErrorKind::Salt, message).with_help(advice));
    }
    let text = host.call_function(vm, "file.read", args)?;
    let text = text.as_str().cloned().unwrap_or_default();
    Ok(Some(File {
        path: path.clone(),
        shown: path,
        bytes: text.as_bytes().into(),
    }))
}

fn warn_of_nothing(run: &Run<'_>, path: &str) {
    let message = format!("slsutil.renderer: {path} does not exist, so it renders to nothing");
    run.warn(Diagnostic::warning(Kind::File, message));
}

/// The arguments by name.
struct Call {
    named: Names,
}

impl Call {
    fn new(args: CallArgs) -> Result<Self> {
        let mut named = Names::default();
        let mut positional = args.positional.into_iter();
        for (name, value) in ["path", "string", "default_renderer"]
            .into_iter()
            .zip(&mut positional)
        {
            named.insert(name.into(), value);
        }
        if positional.next().is_some() {
            return Err(Error::type_error(
                "renderer() takes from 0 to 3 positional arguments but more were given",
            ));
        }
        for (name, value) in args.named {
            if TAKEN.contains(&&*name) || named.contains_key(&*name) {
                return Err(Error::type_error(format!(
                    "renderer() got multiple values for keyword argument '{name}'"
                )));
            }
            named.insert(name, value);
        }
        // The reference drops `env`, and overwrites `input_data` with the content.
        for dropped in ["env", "input_data"] {
            named.shift_remove(dropped);
        }
        Ok(Call { named })
    }

    /// The input of the pipe. The remaining arguments become variables.
    fn source<'f>(
        mut self,
        file: &'f File,
        is_string: bool,
        saltenv: Str,
    ) -> Result<PipeInput<'f>> {
        let text = |name: &str, value: Option<Obj>| match value {
            None => Ok(None),
            Some(Obj::Str(text)) => Ok(Some(text)),
            Some(other) => {
                let message = format!(
                    "slsutil.renderer(): argument '{name}' must be text, not {}",
                    other.type_name()
                );
                Err(Error::type_error(message))
            }
        };
        let sls = text("sls", self.named.shift_remove("sls"))?.unwrap_or_default();
        let mut source = PipeInput::new(file, saltenv, sls);
        if is_string {
            source.tmplpath = Obj::from(STRING);
        }
        Ok(PipeInput {
            is_string,
            is_called: true,
            ..source.with_variables(self.named)
        })
    }
}

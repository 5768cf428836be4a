//! `slsutil.renderer`: render a file or a text through a pipe.

use mapstack_functions::failed;
use mapstack_loader::SaltPath;
use mapstack_render::jinja::Names;
use mapstack_render::{CallArgs, Error, ErrorKind, Obj, Result};
use mapstack_value::{Key, Str, Value};

use crate::built_in::Table;
use crate::engine::Run;
use crate::file::File;
use crate::pipe::{DEFAULT_PIPE, Data, Made, Source, TAKEN};
use mapstack_diagnostic::{Diagnostic, ErrorKind as Kind};

pub(super) const TABLE: Table = &[("slsutil.renderer", |run, _, args| renderer(run, args))];

/// The function `slsutil.renderer` of Salt.
fn renderer(run: &Run<'_>, args: CallArgs) -> Result<Obj> {
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
    let file = match (path, string) {
        (None, None) => return Err(Error::new(ErrorKind::Salt, "Must pass path or string.")),
        (Some(_), Some(_)) => {
            return Err(Error::new(
                ErrorKind::Salt,
                "Must not pass both path and string.",
            ));
        }
        (None, Some(string)) => Some(string_file(&string)?),
        (Some(path), None) => served_file(run, &path, &saltenv)?,
    };
    let Some((file, is_string)) = file else {
        return Ok(Obj::dict([]));
    };
    let source = call.source(&file, is_string, saltenv)?;
    // A template in the pipe can call this function again.
    let made = run
        .nested(
            "slsutil.renderer calls itself",
            "a file must not render itself",
            || run.compile(&source, &default, false),
        )
        .map_err(|e| failed(&e))?;
    Ok(match made {
        Made::Text(text) => Obj::from(text.as_str()),
        Made::Data(Data {
            value,
            shared: true,
        }) => Obj::from_shared(&value),
        Made::Data(Data { value, .. }) => Obj::from(value),
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

/// Fetch a file of the file server. For a missing file, the reference logs an error and returns `{}`.
fn served_file(run: &Run<'_>, path: &Obj, saltenv: &str) -> Result<Option<(File, bool)>> {
    let Some(url) = path.as_str() else {
        let message = format!(
            "slsutil.renderer(): argument 'path' must be text, not {}",
            path.type_name()
        );
        return Err(Error::type_error(message));
    };
    let asked = SaltPath::parse(url).map_err(|_| {
        let error = Error::new(
            ErrorKind::Salt,
            format!("'{url}' is not on the file server"),
        );
        error.with_help(format!(
            "only salt:// paths are read: write salt://{}",
            url.trim_start_matches('/')
        ))
    })?;
    let found = run.fetch_from(&asked, saltenv).map_err(|e| failed(&e))?;
    if found.is_none() {
        let message = format!(
            "slsutil.renderer: {url} does not exist in saltenv {saltenv}, so it amounts to nothing"
        );
        run.warn(Diagnostic::warning(Kind::File, message));
    }
    Ok(found.map(|file| (file, false)))
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
    fn source<'f>(mut self, file: &'f File, is_string: bool, saltenv: Str) -> Result<Source<'f>> {
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
        let tmplpath = match self.named.shift_remove("tmplpath") {
            None if is_string => STRING.into(),
            None => file.shown.clone(),
            Some(Obj::None) => String::new(),
            given => text("tmplpath", given)?
                .map(|path| path.to_string())
                .unwrap_or_default(),
        };
        let argline = self.named.shift_remove("argline");
        let context = self
            .named
            .shift_remove("context")
            .map(context)
            .transpose()?
            .flatten();
        Ok(Source {
            file,
            is_string,
            saltenv,
            sls,
            tmplpath,
            argline,
            context,
            extra: self.named,
            is_called: true,
            kept: None,
            allowed: None,
        })
    }
}

/// The variables passed as `context=`.
fn context(given: Obj) -> Result<Option<Names>> {
    match given {
        given if !given.truthy()? => Ok(None),
        Obj::Dict(dict) => {
            let name = |key: Key| match key.to_value() {
                Value::Str(name) => Ok(name),
                other => Err(Error::type_error(format!(
                    "keywords must be strings, not {}",
                    other.kind().python_name()
                ))),
            };
            dict.entries()
                .into_iter()
                .map(|(key, value)| Ok((name(key)?, value)))
                .collect::<Result<_>>()
                .map(Some)
        }
        other => Err(Error::type_error(format!(
            "'{}' object is not iterable",
            other.type_name()
        ))),
    }
}

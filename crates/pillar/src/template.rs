//! The template stage of config and data files.

use std::path::PathBuf;
use std::sync::Arc;

use mapstack_pyobject::{DictRef, ErrorKind as RenderErrorKind, Obj};
use mapstack_salt_jinja::{Names, PillarStack, SourceMap, Syntax, render, traverse_object};
use mapstack_value::{Map, Str, Value};

use super::files::Base;
use super::{StackKind, mako};
use mapstack::File;
use mapstack::Text;
use mapstack::{Call, OtherTemplate, Run};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Place, Result};

/// The state that the templates of one config file share.
pub(crate) struct Templates<'t, 'e> {
    run: &'t Run<'e>,
    base: Base<'t>,
    kind: StackKind,
    variables: Names,
}

impl<'t, 'e> Templates<'t, 'e> {
    /// Templates below the directory of a config file. `opts` are the options of the master.
    pub fn new(
        run: &'t Run<'e>,
        base: Base<'t>,
        kind: StackKind,
        config: &str,
        opts: &Map,
    ) -> Self {
        let minion_id = run.given_id();
        let lazy = opts.clone();
        let of = |name: &str, value: Obj| (Str::from(name), value);
        let mut variables = Names::from_iter([
            of("__opts__", Obj::Dict(DictRef::lazy(move || lazy))),
            of("__salt__", run.live_salt()),
            of("__grains__", run.live_grains()),
            of("minion_id", Obj::from(minion_id)),
            of("pillar", run.live_pillar()),
        ]);
        if kind == StackKind::PillarStack {
            let own = [
                ("traverse", traverse_object()),
                ("cfg_path", Obj::from(config)),
            ];
            variables.insert(
                "__stack__".into(),
                Obj::dict(own.map(|(name, value)| (name.into(), value))),
            );
            let pillarenv = opts.get("pillarenv").cloned().unwrap_or_default();
            variables.insert("pillarenv".into(), Obj::from(pillarenv));
        }
        Templates {
            run,
            base,
            kind,
            variables,
        }
    }

    /// Run a file's template. It may change the data stacked so far in place. `ymlpath` is the path
    /// of a data file.
    pub fn render<'f>(
        &self,
        file: &'f File,
        stack: &mut Value,
        ymlpath: Option<&str>,
    ) -> Result<Text<'f>> {
        if let Some(text) = self.rendered_outside(file, stack, ymlpath.is_some()) {
            return text;
        }
        let source = match self.kind {
            StackKind::PillarStack => file.unmarked()?,
            StackKind::MakoStack => text_for_mako(file)?,
        };
        if let Some(plain) = self.without_marks(source) {
            return Ok(Text::plain(file, plain));
        }
        let live = Obj::from(stack.clone());
        let mut locals = Names::default();
        locals.insert("stack".into(), live.clone());
        if let (StackKind::PillarStack, Some(path)) = (self.kind, ymlpath) {
            locals.insert("ymlpath".into(), Obj::from(path));
        }
        let lookup = self.lookup(file, ymlpath.is_some());
        let mut variables = self.variables.clone();
        if self.kind == StackKind::MakoStack {
            variables.retain(|name, _| mako::may_use(source, name));
            locals.retain(|name, _| mako::may_use(source, name));
        }
        let find = |path: &str| self.further(lookup, path);
        let template = OtherTemplate {
            file,
            source,
            variables,
            locals,
            dialect: &PillarStack,
            find: &find,
        };
        let failed = |e: Box<mapstack_pyobject::Error>| self.run.template_error(*e, file);
        let sync = || {
            let changed = self.run.sync_facts();
            changed.map_err(|e| failed(e).note("the minion's facts were changed to this"))
        };
        let rendered = if self.kind == StackKind::MakoStack {
            let rendered = self.run.with_request(template, |request| {
                mako::render(&request, stack, self.run.interpreter())
            });
            sync()?;
            rendered.map_err(|e| self.run.mako_error(*e, file, source))?
        } else {
            let rendered = self.run.with_request(template, render);
            let (changed, missing) = live
                .to_value_lossy()
                .map_err(|e| failed(e).note("this template put it into stack"))?;
            *stack = changed;
            self.run.warn_of_no_data(file, "stack", &missing);
            let rendered = rendered.map_err(failed)?;
            sync()?;
            rendered
        };
        Ok(Text::rendered(file, rendered.text, rendered.map))
    }

    fn lookup(&self, file: &File, is_data: bool) -> Lookup {
        match self.kind {
            StackKind::PillarStack => Lookup::Jinja,
            // A file of an absolute name finds others by absolute names.
            StackKind::MakoStack => Lookup::Mako {
                from_root: is_data && file.path.starts_with('/'),
            },
        }
    }

    /// The output of a template in which nothing is to be rendered.
    fn without_marks<'s>(&self, source: &'s str) -> Option<&'s str> {
        match self.kind {
            StackKind::PillarStack => {
                (!Syntax::has_marks(source)).then(|| without_final_newline(source))
            }
            StackKind::MakoStack => (!mako::has_marks(source)).then_some(source),
        }
    }

    /// The output of a template of Mako, if functions from outside run such templates.
    fn rendered_outside<'f>(
        &self,
        file: &'f File,
        stack: &mut Value,
        is_data: bool,
    ) -> Option<Result<Text<'f>>> {
        let is_plain = || text_for_mako(file).is_ok_and(|source| !mako::has_marks(source));
        if self.kind != StackKind::MakoStack || is_plain() {
            return None;
        }
        let root = (is_data && file.path.starts_with('/')).then_some("/");
        let directories = [self.base.directory].into_iter().chain(root);
        let directories: Value = directories.map(Value::from).collect();
        let call = Call::new("makostack.render")
            .arg(file.path.as_str())
            .arg(directories)
            .kwarg("stack", stack.clone());
        let failed = |e: mapstack_pyobject::Error| {
            self.run
                .mako_error(e, file, file.text().unwrap_or_default())
        };
        let changed = match self.run.changed_outside(&call)? {
            Ok(changed) => changed,
            Err(e) => return Some(Err(failed(*e))),
        };
        let field = |name: &str| changed.as_map().and_then(|map| map.get(name)).cloned();
        // An unchanged value stays the very same.
        if let Some(now) = field("stack").filter(|now| !now.is_same(stack)) {
            *stack = now;
        }
        let text = |name| {
            field(name)
                .as_ref()
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        Some(match text("error") {
            Some(message) => Err(failed(*mapstack_pyobject::Error::new(
                RenderErrorKind::Nested,
                message,
            ))),
            None => {
                let text = text("text").unwrap_or_default();
                Ok(Text::rendered(file, text, SourceMap::default()))
            }
        })
    }

    /// The source of another template.
    fn further(&self, lookup: Lookup, path: &str) -> mapstack_pyobject::Result<Option<Arc<str>>> {
        let failed = |e: Error| {
            let error = mapstack_pyobject::Error::new(
                RenderErrorKind::TemplateNotFound,
                &*e.diagnostic().message,
            );
            match &e.diagnostic().help {
                Some(help) => error.with_help(help),
                None => error,
            }
        };
        let found = match lookup {
            Lookup::Jinja => self.base.template(path),
            Lookup::Mako { from_root } => self.base.template_of_mako(path, from_root),
        };
        let Some(file) = found.map_err(failed)? else {
            return Ok(None);
        };
        self.run.note_on_disk(path, PathBuf::from(&file.shown));
        Ok(Some(file.text().map_err(failed)?.into()))
    }

    /// An error in what a template printed, with files a person can open.
    pub fn with_files(&self, error: Error) -> Error {
        error.with_files(|file| self.run.on_disk(file.strip_prefix("salt://")?))
    }
}

/// A file's text; what is wrong with it is the template's fault, as Mako decodes it.
fn text_for_mako(file: &File) -> Result<&str> {
    let as_template = |e: Error| {
        let Diagnostic {
            message,
            place,
            help,
            ..
        } = e.diagnostic().clone();
        let error = Error::new(ErrorKind::Template, message).at(place);
        match help {
            Some(help) => error.help(help),
            None => error,
        }
    };
    let text = file.unmarked().map_err(as_template)?;
    let Some(other) = mako::other_encoding(text) else {
        return Ok(text);
    };
    let end = text.find('\n').unwrap_or(text.len());
    let place = Place {
        file: file.shown.clone(),
        source: text.into(),
        start: 0,
        end,
    };
    let error = Error::new(
        ErrorKind::Template,
        format!("the encoding '{other}' is not read"),
    )
    .at(Some(place));
    Err(error.help("save the file as UTF-8 and drop the comment, or have it say utf-8"))
}

/// The text without marks, as Jinja leaves it.
pub(crate) fn without_final_newline(text: &str) -> &str {
    ["\r\n", "\n", "\r"]
        .into_iter()
        .find_map(|end| text.strip_suffix(end))
        .unwrap_or(text)
}

/// The places that further templates are loaded from.
#[derive(Clone, Copy)]
enum Lookup {
    /// Below the directory.
    Jinja,
    /// Below the directory, or else below the root of the file system.
    Mako { from_root: bool },
}

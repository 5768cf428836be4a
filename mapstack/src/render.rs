//! The template stage of a run: variables in, text and in-place changes out.

use std::borrow::Cow;
use std::sync::Arc;

use mapstack_render::jinja::{Names, Origin, Request, SourceMap, Syntax, render};
use mapstack_render::{ErrorKind as RenderErrorKind, Obj};
use mapstack_value::{Str, Value};
use mapstack_yaml::Mark;

use crate::diagnostic::{Diagnostic, Error, ErrorKind, Place, Result, Step};
use crate::engine::Run;
use crate::files::{File, offset};
use crate::host::RunHost;

/// Which template of the flow is run, and the variables that go with it.
pub(crate) enum Stage<'s> {
    /// A data-source file.
    Layer { tpldir: &'s str, tplroot: &'s str, custom_data: &'s Value },
    /// The template after the last layer.
    PostMap { tpldir: &'s str, tplroot: &'s str },
}

/// A text to be read as YAML, which knows the source it came from.
pub(crate) struct Text<'f> {
    file: &'f File,
    text: Cow<'f, str>,
    map: Option<SourceMap>,
}

impl<'f> Text<'f> {
    /// A file as it is.
    pub fn plain(file: &'f File, text: &'f str) -> Self {
        Text { file, text: Cow::Borrowed(text), map: None }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }

    pub fn is_rendered(&self) -> bool {
        self.map.is_some()
    }

    /// The place in the source behind a byte of the text.
    pub fn place(&self, offset: usize) -> Place {
        let located = self.map.as_ref().and_then(|map| map.locate(offset));
        match located {
            Some((place, _)) => {
                let file = match &place.template {
                    Some(name) if **name != *self.file.path => format!("salt://{name}"),
                    _ => self.file.shown.clone(),
                };
                Place { file, source: place.source, start: place.span.start as usize, end: place.span.end as usize }
            }
            // Nothing was printed there: the file as a whole is what is wrong.
            None if self.is_rendered() => Place {
                file: self.file.shown.clone(),
                source: self.file.text().unwrap_or_default().into(),
                start: 0,
                end: 0,
            },
            None => Place { file: self.file.shown.clone(), source: (&*self.text).into(), start: offset, end: offset },
        }
    }

    pub fn place_of_mark(&self, mark: Mark) -> Place {
        self.place(offset(&self.text, mark))
    }

    /// A YAML error, told in the source that produced the text.
    pub fn yaml_error(&self, e: &mapstack_yaml::Error) -> Error {
        let error = Error::new(ErrorKind::Yaml, e.kind().to_string());
        let Some(mark) = e.mark() else { return error.at(Some(self.place(0))) };
        let at = offset(&self.text, mark);
        let error = error.at(Some(self.place(at)));
        match self.map.as_ref().and_then(|map| map.locate(at)) {
            None => error,
            Some((_, origin)) => {
                let line = self.text.lines().nth(mark.line.saturating_sub(1) as usize).unwrap_or_default();
                let how = if origin == Origin::Computed { ", printed by the expression above" } else { "" };
                error.note(format!("line {} of the rendered text{how}: {line}", mark.line))
            }
        }
    }
}

impl Run<'_> {
    /// Whether a text can hold anything for the template stage to do.
    pub(crate) fn has_template_marks(&self, text: &str) -> bool {
        if self.syntax != Syntax::default() {
            return true;
        }
        let opens = |(brace, _): (usize, &str)| matches!(text.as_bytes().get(brace + 1), Some(b'{' | b'%' | b'#'));
        text.match_indices('{').any(opens) || text.contains("#jinja2:")
    }

    /// Run a template of the flow. `mapdata` is what it sees under that name, and takes what it
    /// changed there.
    pub(crate) fn render<'f>(
        &self,
        file: &'f File,
        source: Arc<str>,
        stage: &Stage<'_>,
        mapdata: &mut Value,
    ) -> Result<Text<'f>> {
        let live = Obj::from(mapdata.clone());
        let host = RunHost(self);
        let request = Request {
            source,
            name: Some(Str::from(&*file.path)),
            variables: self.variables(stage, &live),
            syntax: self.syntax.clone(),
            strict: self.strict,
            limits: self.engine.limits,
            host: &host,
            cache: Some(&self.engine.templates),
            fuel: Some(&self.fuel),
        };
        let rendered = render(request).map_err(|e| self.template_error(*e, file))?;
        let changed = live.to_value_lossy();
        let (value, missing) =
            changed.map_err(|e| self.template_error(*e, file).note("this template put it into mapdata"))?;
        *mapdata = value;
        for what in missing {
            // The reference returns the object itself, which fails when something uses it.
            let message = format!("{} puts something into mapdata that is no data: {what}", file.shown);
            let warning = Diagnostic::warning(ErrorKind::Template, message);
            self.warn(warning.with_help("it is null in the result; give it a value with |default(…)"));
        }
        self.sync_facts().map_err(|e| self.template_error(*e, file).note("the minion's facts were changed to this"))?;
        Ok(Text { file, text: Cow::Owned(rendered.text), map: Some(rendered.map) })
    }

    /// The variables a template of the flow has (Salt: `cp.get_template`;
    /// saltext-formula: `map.stack`).
    fn variables(&self, stage: &Stage<'_>, mapdata: &Obj) -> Names {
        let mut names = Names::default();
        let mut set = |name: &str, value: Obj| names.insert(name.into(), value);
        set("salt", self.live.salt.clone());
        set("grains", self.live.grains.clone());
        set("pillar", self.live.pillar.clone());
        set("opts", self.live_opts());
        set("saltenv", Obj::Str(self.saltenv.clone()));
        set("mapdata", mapdata.clone());
        match stage {
            Stage::Layer { tpldir, tplroot, custom_data } => {
                set("tpldir", Obj::from(*tpldir));
                set("tplroot", Obj::from(*tplroot));
                set("custom_data", Obj::from((*custom_data).clone()));
            }
            Stage::PostMap { tpldir, tplroot } => {
                set("tpldir", Obj::from(*tpldir));
                set("tplroot", Obj::from(*tplroot));
            }
        }
        names
    }

    /// A template's error with files a person can open.
    pub(crate) fn template_error(&self, e: mapstack_render::Error, file: &File) -> Error {
        let kind = match e.kind {
            RenderErrorKind::Limit => ErrorKind::Limit,
            _ => ErrorKind::Template,
        };
        let message = e.to_string();
        let place = |place: mapstack_render::Place| Place {
            file: match &place.template {
                Some(name) if **name == *file.path => file.shown.clone(),
                Some(name) => self.shown(name),
                None => file.shown.clone(),
            },
            start: place.span.start as usize,
            end: place.span.end as usize,
            source: place.source,
        };
        let steps = e.trace.into_iter().map(|frame| Step { what: frame.what, place: place(frame.place) });
        let mut steps: Vec<Step> = steps.collect();
        // A formula that asks for itself comes by the same place on every level.
        steps.dedup();
        let error = Error::new(kind, message).at(e.place.map(place)).trace(steps);
        match e.help {
            Some(help) => error.help(help),
            None => error,
        }
    }
}

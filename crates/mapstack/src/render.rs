//! The template stage of a run: runs templates and applies their changes in place.

use std::borrow::Cow;
use std::sync::Arc;

use mapstack_pyobject::{ErrorKind as RenderErrorKind, Obj};
use mapstack_salt_jinja::{
    self as jinja, EditLog, Names, OutputOrigin, Request, SourceMap, Syntax, request,
};
use mapstack_value::{Str, Value};

use crate::file::File;
use crate::hooks::{self, LayerTemplate};
#[cfg(feature = "tera")]
use crate::hooks::{MergedKind, StrategyOrigin};
use crate::host::RunHost;
use crate::python;
use crate::run::Run;
use crate::text::{Text, in_file};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Place, Result, Step};

/// The kind of template, with its variables.
pub(crate) enum TemplateStage<'s> {
    /// A data-source file.
    Layer(&'s LayerTemplate<'s>),
    /// The template after the last layer.
    PostMap { tpldir: &'s str, tplroot: &'s str },
}

/// The language of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Jinja,
    #[cfg(feature = "tera")]
    Tera,
    Mako,
    /// A Python module, whose `run()` returns the text.
    Py,
}

impl Language {
    /// True if the context of a managed file is a single variable `context`. For templates, Salt makes a variable of
    /// each entry; for modules it does not.
    pub fn takes_context_as_one(self) -> bool {
        self == Language::Py
    }

    /// The name of the renderer, if it is one that runs in Python.
    pub fn python(self) -> Option<&'static str> {
        match self {
            Language::Mako => Some("mako"),
            Language::Py => Some("py"),
            _ => None,
        }
    }
}

/// A template with everything that it needs to run.
pub(crate) struct Job<'j> {
    pub language: Language,
    pub variables: Names,
    pub syntax: &'j Syntax,
    /// The saltenv of templates that it loads.
    pub saltenv: &'j Str,
    /// Records the changes that the template makes in place.
    pub edit_log: Option<&'j EditLog>,
}

impl Run<'_> {
    /// True if a template can print a secret, for languages whose expressions are not tracked. It can if it mentions
    /// a variable that may contain secrets, or loads other templates.
    pub(crate) fn may_read_secrets(&self, source: &str) -> bool {
        const READS: [&str; 10] = [
            "pillar",
            "opts",
            "salt",
            "mapdata",
            "stack",
            "custom_data",
            "include",
            "import",
            "extends",
            "inherit",
        ];
        READS.iter().any(|word| source.contains(word))
            || (source.contains("grains") && self.has_secret_grains())
    }
}

impl Run<'_> {
    /// True if a text may contain template syntax.
    pub(crate) fn has_template_marks(&self, text: &str) -> bool {
        let plain = Syntax {
            ignores_header: self.jinja.syntax.ignores_header,
            ..Syntax::default()
        };
        if self.jinja.syntax != plain {
            return true;
        }
        Syntax::has_marks(text) || text.contains("#jinja2:")
    }

    /// Run a template of `map.data`. It sees `mapdata` under this name, and can change it.
    pub(crate) fn render<'f>(
        &self,
        file: &'f File,
        source: &Arc<str>,
        stage: &TemplateStage<'_>,
        mapdata: &mut Value,
    ) -> Result<Text<'f>> {
        let live = Obj::from(mapdata.clone());
        let is_observed = self.has_observed_values();
        let edit_log = is_observed.then(|| EditLog::new(live.clone()));
        let variables = self.variables(stage, &live);
        let (syntax, saltenv) = (&self.jinja.syntax, &self.saltenv);
        let job = Job {
            language: Language::Jinja,
            variables,
            syntax,
            saltenv,
            edit_log: edit_log.as_ref(),
        };
        let text = self.run_template(file, source, job, Vec::new())?;
        let changed = live.to_value_lossy();
        let (value, missing) = changed.map_err(|e| {
            self.template_error(*e, file)
                .note("this template put it into mapdata")
        })?;
        let before = std::mem::replace(mapdata, value);
        self.report_edits(
            file,
            &before,
            mapdata,
            edit_log.map(EditLog::into_edits).unwrap_or_default(),
        );
        self.warn_of_no_data(file, "mapdata", &missing);
        Ok(text)
    }

    /// Warn about values in a variable that are not data. The reference keeps such an object, and fails when
    /// something uses it.
    pub fn warn_of_no_data(&self, file: &File, variable: &str, missing: &[String]) {
        for what in missing {
            let message = format!(
                "{} puts something into {variable} that is not data: {what}",
                file.shown
            );
            let warning = Diagnostic::warning(ErrorKind::Template, message);
            self.warn(
                warning.with_help("it is null in the result; give it a value with |default(…)"),
            );
        }
    }

    /// Run a post-map template in Mako or Python. It sees `mapdata` under this name, and can change it.
    pub(crate) fn change_by_python(
        &self,
        language: Language,
        file: &File,
        stage: &TemplateStage<'_>,
        mapdata: &mut Value,
    ) -> Result<()> {
        self.runs_in(language);
        let host = RunHost::new(self);
        if let Some(changed) = host.change(language, file, stage, mapdata) {
            let value =
                changed.map_err(|e| self.stage_error(*e, language, &Text::plain(file, "")))?;
            let before = std::mem::replace(mapdata, value);
            self.report_edits(file, &before, mapdata, Vec::new());
            return Ok(());
        }
        let request = Request {
            name: Some(Str::from(&*file.path)),
            variables: self.variables(stage, &Obj::from(mapdata.clone())),
            limits: self.allowance.limits,
            fuel: Some(&self.allowance.fuel),
            ..request(file.unmarked()?, &host)
        };
        let ran = match language {
            Language::Py => {
                python::module(&request, &["mapdata"], &self.interpreter).map(|(_, it)| it)
            }
            _ => python::mako(&request, &["mapdata"], &self.interpreter).map(|(_, it)| it),
        };
        let changed = ran.map_err(|e| self.stage_error(*e, language, &Text::plain(file, "")))?;
        // Keep the value if it did not change, because the new one has lost its kind of mapping.
        if let Some((_, value)) = changed.into_iter().next()
            && value != *mapdata
        {
            let before = std::mem::replace(mapdata, value);
            self.report_edits(file, &before, mapdata, Vec::new());
        }
        Ok(())
    }

    /// Run a post-map template that prints a mapping, and merge the output over the data.
    #[cfg(feature = "tera")]
    pub(crate) fn merge_printed(
        &self,
        file: &File,
        stage: &TemplateStage<'_>,
        options: &mapstack_merge::Options,
        mapdata: &mut Value,
    ) -> Result<()> {
        let variables = self.variables(stage, &Obj::from(mapdata.clone()));
        let (syntax, saltenv) = (&self.jinja.syntax, &self.saltenv);
        let job = Job {
            language: Language::Tera,
            variables,
            syntax,
            saltenv,
            edit_log: None,
        };
        let text = self.run_template(file, &file.text()?.into(), job, Vec::new())?;
        let printed = mapstack_yaml::load(text.as_str()).map_err(|e| text.yaml_error(&e))?;
        match &printed {
            Value::None => Ok(()),
            Value::Map(_) => {
                let describe = || {
                    let kind = MergedKind::Printed { file, text: &text };
                    (kind, StrategyOrigin::Default)
                };
                let merged = self.merge_layer(std::mem::take(mapdata), &printed, options, describe);
                *mapdata = merged.map_err(|e| {
                    let error = Error::new(ErrorKind::Merge, e.to_string()).at(Some(text.place(0)));
                    error.note(format!("while merging what {} prints", file.shown))
                })?;
                Ok(())
            }
            other => {
                let message = format!(
                    "the post-map template prints {}, not a mapping",
                    other.kind().described()
                );
                let error = Error::new(ErrorKind::DataSource, message).at(Some(text.place(0)));
                Err(error
                    .help("print the keys to change, as YAML; print nothing to change nothing"))
            }
        }
    }

    /// Run a single template stage. `before` has the source maps of earlier stages.
    pub(crate) fn run_template<'f>(
        &self,
        file: &'f File,
        source: &Arc<str>,
        job: Job<'_>,
        before: Vec<SourceMap>,
    ) -> Result<Text<'f>> {
        self.run_template_for_names(file, source, job, before)
            .map(|(text, _)| text)
    }

    /// Run a single template stage. Also returns the variables at the top level of the template.
    pub(crate) fn run_template_for_names<'f>(
        &self,
        file: &'f File,
        source: &Arc<str>,
        job: Job<'_>,
        mut before: Vec<SourceMap>,
    ) -> Result<(Text<'f>, Names)> {
        let host = match job.language {
            // Salt's loader of Mako asks the client of the pillar, and then looks into the file roots.
            Language::Mako | Language::Py => RunHost::in_saltenv(self, job.saltenv),
            _ => RunHost::of_template(self, &job.variables, job.saltenv),
        };
        let hooks = self.observed.hooks.get().filter(|_| self.is_traced());
        let request = Request {
            dialect: &jinja::Salt,
            source: source.clone(),
            name: Some(Str::from(&*file.path)),
            variables: job.variables,
            locals: Names::default(),
            syntax: job.syntax.clone(),
            strict: self.jinja.strict,
            limits: self.allowance.limits,
            host: &host,
            cache: Some(&self.engine.templates),
            fuel: Some(&self.allowance.fuel),
            edit_log: job.edit_log,
            taint: self.taint(),
            tracer: hooks.as_deref().and_then(hooks::tracer),
        };
        self.runs_in(job.language);
        let rendered = match job.language {
            Language::Jinja => jinja::render(request),
            #[cfg(feature = "tera")]
            Language::Tera => mapstack_render::Language::render(&mapstack_render::Tera, request),
            Language::Mako => python::mako(&request, &[], &self.interpreter).map(|(it, _)| it),
            Language::Py => python::text(&request, &self.interpreter),
        };
        let rendered = match rendered {
            Ok(rendered) => rendered,
            Err(e) => {
                let source = Text::new(file, Cow::Borrowed(""), before);
                return Err(self.stage_error(*e, job.language, &source));
            }
        };
        self.sync_facts().map_err(|e| {
            self.template_error(*e, file)
                .note("the minion's facts were changed to this")
        })?;
        // The expressions of the other languages are not tracked.
        let map = match job.language {
            Language::Jinja => rendered.map,
            _ => self.with_secrets(source, rendered.map, &rendered.text),
        };
        before.push(map);
        let text = Text::new(file, Cow::Owned(rendered.text), before);
        Ok((text, rendered.exports))
    }

    /// A map in which all that a template computed is secret, if the template may read secrets.
    fn with_secrets(&self, source: &Arc<str>, map: SourceMap, text: &str) -> SourceMap {
        let Some(taint) = self.taint().filter(|_| self.may_read_secrets(source)) else {
            return map;
        };
        let map = map.with_secret_computed(text.len());
        // Errors quote this text before it becomes data, and later stages copy it.
        let printed = map.secret().iter();
        printed
            .filter_map(|range| text.get(range.clone()))
            .for_each(|text| taint.add(&Value::from(text)));
        map
    }

    /// Note the language of a template. Only in Jinja does the run see every read of facts and of the clock.
    pub(crate) fn runs_in(&self, language: Language) {
        if language != Language::Jinja {
            self.note_outside_input();
        }
    }

    /// Convert an error of a stage. Its places move to the file that the first stage read.
    pub(crate) fn stage_error(
        &self,
        mut e: mapstack_pyobject::Error,
        language: Language,
        source: &Text<'_>,
    ) -> Error {
        let back = |place: &mut mapstack_pyobject::TemplatePlace| {
            let is_own = place.template.as_deref() == Some(&*source.file.path);
            if is_own && let Some((mut found, origin)) = source.locate(place.span.start as usize) {
                if origin == OutputOrigin::Literal {
                    let length = place.span.end.saturating_sub(place.span.start);
                    found.span.end = found.span.end.min(found.span.start.saturating_add(length));
                }
                *place = found;
            }
        };
        e.place.iter_mut().for_each(back);
        e.trace
            .iter_mut()
            .map(|frame| &mut frame.place)
            .for_each(back);
        if language != Language::Jinja {
            self.note_quoted_secrets(&e.message, source.file.text().unwrap_or_default());
        }
        // The names of error kinds refer to Jinja, so leave them out for other languages.
        let message = match language {
            Language::Jinja => e.to_string(),
            #[cfg(feature = "tera")]
            Language::Tera => format!("Tera: {}", e.message),
            Language::Mako => format!("Mako: {}", e.message),
            Language::Py => format!("Python: {}", e.message),
        };
        self.located_error(message, e, &source.file)
    }

    /// The variables of a template of `map.data` (Salt: `cp.get_template`; saltext-formula: `map.stack`).
    fn variables(&self, stage: &TemplateStage<'_>, mapdata: &Obj) -> Names {
        let mut names = self.common_variables(&self.saltenv);
        let mut set = |name: &str, value: Obj| names.insert(name.into(), value);
        set("mapdata", mapdata.clone());
        match stage {
            TemplateStage::Layer(layer) => {
                set("tpldir", Obj::from(layer.tpldir));
                set("tplroot", Obj::from(layer.tplroot));
                set("custom_data", Obj::from(layer.custom_data.clone()));
            }
            TemplateStage::PostMap { tpldir, tplroot } => {
                set("tpldir", Obj::from(*tpldir));
                set("tplroot", Obj::from(*tplroot));
            }
        }
        names
    }

    /// The variables of every template.
    pub(crate) fn common_variables(&self, saltenv: &Str) -> Names {
        let of = |name: &str, value: Obj| (Str::from(name), value);
        Names::from_iter([
            of("salt", self.live.salt.clone()),
            of("grains", self.live_grains()),
            of("pillar", self.live_pillar()),
            of("opts", self.live_opts()),
            of("saltenv", Obj::Str(saltenv.clone())),
        ])
    }

    /// Convert an error of a template, with paths that a user can open.
    pub fn template_error(&self, e: mapstack_pyobject::Error, file: &File) -> Error {
        self.located_error(e.to_string(), e, file)
    }

    pub(crate) fn located_error(
        &self,
        message: String,
        e: mapstack_pyobject::Error,
        file: &File,
    ) -> Error {
        let kind = match e.kind {
            RenderErrorKind::Limit => ErrorKind::Limit,
            RenderErrorKind::Undefined => ErrorKind::Undefined,
            RenderErrorKind::Absent => ErrorKind::Unsupported,
            _ => ErrorKind::Template,
        };
        let cause = e.clone();
        let place = |place| self.place_in_template(place, file);
        let steps = e.trace.into_iter().map(|frame| Step {
            what: frame.what,
            place: place(frame.place),
        });
        let mut steps: Vec<Step> = steps.collect();
        // A formula that calls itself adds the same step on each level.
        steps.dedup();
        let error = Error::new(kind, message)
            .at(e.place.map(place))
            .trace(steps)
            .caused_by(cause);
        match e.help {
            Some(help) => error.help(help),
            None => error,
        }
    }

    /// A place in a template, or in one that it loads, with a path that a user can open.
    pub(crate) fn place_in_template(
        &self,
        place: mapstack_pyobject::TemplatePlace,
        file: &File,
    ) -> Place {
        let shown = match &place.template {
            Some(name) if **name == *file.path => file.shown.clone(),
            Some(name) => self.shown(name),
            None => file.shown.clone(),
        };
        in_file(place, shown)
    }
}

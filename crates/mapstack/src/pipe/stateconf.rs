//! Salt's renderer `stateconf`: a template, the data that it prints, and what [`crate::stateconf`] makes of that.

use std::borrow::Cow;

use crate::stateconf::{
    Arguments, Error as Refused, RendererCall, Renderers, Sls, end_marker, rewritten, sls_dir,
};
use mapstack_diagnostic::{Error, ErrorKind, Place, Result};
use mapstack_pyobject::Obj;
use mapstack_render::pipe::{PipeStage, Renderer};
use mapstack_salt_jinja::{Names, SourceMap};
use mapstack_value::{Path, Value};
use mapstack_yaml::load_rendered;

use super::{Data, PipeInput, RunningStage, StageOutput, context_of};
use crate::run::Run;
use crate::text::Text;

/// A render by `stateconf`.
struct Rewriting<'j, 'f> {
    command: &'j Arguments,
    source: &'j PipeInput<'f>,
    /// The `#!` line.
    place: Option<&'j Place>,
}

impl Rewriting<'_, '_> {
    /// A stage that the line names.
    fn stage(&self, call: &RendererCall) -> Result<PipeStage> {
        let Some(renderer) = Renderer::named(&call.name) else {
            let (shown, name) = (&self.source.file.shown, &call.name);
            let message = format!("{shown}: unknown renderer '{name}' for 'stateconf'");
            return Err(Error::new(ErrorKind::Options, message).at(self.place.cloned()));
        };
        Ok(PipeStage {
            renderer,
            name: call.name.clone(),
            argline: call.argline.clone(),
        })
    }
}

impl Run<'_> {
    /// Render a text and rewrite its data (Salt: `salt.renderers.stateconf.render`).
    pub(super) fn run_stateconf<'f>(
        &self,
        running: RunningStage<'_, 'f>,
        made: StageOutput<'f>,
    ) -> Result<StageOutput<'f>> {
        let source = running.source;
        // The result for a file depends on what earlier ones have set.
        self.note_outside_input();
        if source.is_called {
            // Whoever calls a renderer loads it, and with it what it remembers.
            self.stateconf.forget();
        }
        let argline = self.argline(running.stage, source)?;
        let command = Arguments::parse(&argline).map_err(|e| {
            running
                .error(format!("{}: {e}", source.file.shown))
                .help("write it as in #!stateconf -G yaml . jinja; the options are G, o, s and p")
        })?;
        let job = Rewriting {
            command: &command,
            source,
            place: running.place,
        };
        match (&command.pipe, made) {
            (None, StageOutput::Data(data)) => self
                .rewrite(&job, &data, None, false)
                .map(StageOutput::Data),
            (None, StageOutput::Text(_)) => {
                let message = format!(
                    "{}: 'stateconf -p' takes data, and no stage before it made any",
                    source.file.shown
                );
                Err(running
                    .error(message)
                    .help("write it as in #!jinja|yaml|stateconf -p"))
            }
            (Some(_), StageOutput::Data(data)) => Err(running.no_text(&data)),
            (Some(_), StageOutput::Text(_)) if source.context.is_some() => {
                let message =
                    "the renderer 'stateconf' has its own context, and fails if a caller gives one";
                Err(running.error(format!("{}: {message}", source.file.shown)))
            }
            (Some(pipe), StageOutput::Text(text)) => {
                let (maps, whole) = text.into_source();
                if let Some(end) = end_marker(&whole) {
                    self.run_pass(&job, pipe, &whole[..end], &maps, true)?;
                }
                self.run_pass(&job, pipe, &whole, &maps, false)
                    .map(StageOutput::Data)
            }
        }
    }

    /// Render a text, or the part that only sets something, and rewrite its data.
    fn run_pass(
        &self,
        job: &Rewriting<'_, '_>,
        pipe: &Renderers,
        text: &str,
        maps: &[SourceMap],
        is_first_pass: bool,
    ) -> Result<Data> {
        let sls = &job.source.sls;
        let mut context = Names::default();
        context.insert("sls_dir".into(), Obj::from(sls_dir(sls)));
        if !is_first_pass {
            let set = self.stateconf.variables(sls).into_iter();
            context.extend(set.map(|(name, values)| (name, Obj::from(Value::Map(values)))));
        }
        let source = PipeInput {
            argline: None,
            context: Some(context_of(context)),
            // The data is moved around, so its places are not those of the text.
            kept: None,
            allowed: None,
            ..job.source.clone()
        };
        let (data, template) = (job.stage(&pipe.data)?, job.stage(&pipe.template)?);
        let text = Text::new(source.file, Cow::Owned(text.to_owned()), maps.to_vec());
        let running = RunningStage {
            stage: &template,
            source: &source,
            previous: None,
            place: job.place,
        };
        let made = self.run_stage(running, StageOutput::Text(text))?;
        let printed = match &made {
            StageOutput::Text(text) => Some(text.clone()),
            StageOutput::Data(_) => None,
        };
        // It gets nothing by name.
        let source = PipeInput {
            context: None,
            extra: Names::default(),
            ..source.clone()
        };
        let running = RunningStage {
            stage: &data,
            source: &source,
            previous: Some(&template),
            place: job.place,
        };
        match self.run_stage(running, made)? {
            StageOutput::Data(data) => self.rewrite(job, &data, printed.as_ref(), is_first_pass),
            StageOutput::Text(_) => {
                let (shown, name) = (&source.file.shown, &data.name);
                Err(running.error(format!(
                    "{shown}: the renderer '{name}' makes text, and 'stateconf' needs data"
                )))
            }
        }
    }

    fn rewrite(
        &self,
        job: &Rewriting<'_, '_>,
        data: &Data,
        printed: Option<&Text<'_>>,
        is_first_pass: bool,
    ) -> Result<Data> {
        let sls = Sls {
            name: &job.source.sls,
            saltenv: &job.source.saltenv,
            is_shared: data.shared,
            is_first_pass,
        };
        let work = |vm: &mapstack_salt_jinja::Vm<'_>| {
            rewritten(&data.value, job.command, &sls, &self.stateconf, vm)
        };
        let value = self.on_vm(work).map_err(|refused| match refused {
            Refused::Limit(error) => {
                let message = error.message.clone();
                self.located_error(message, *error, job.source.file)
            }
            Refused::Usage(message) => Error::new(ErrorKind::Options, message),
            Refused::Data { message, path } => {
                let at = printed.and_then(|text| self.place_of(text, &path.into_iter().collect()));
                Error::new(
                    ErrorKind::DataSource,
                    format!("{}: {message}", job.source.file.shown),
                )
                .at(at.or_else(|| job.place.cloned()))
                .help("stateconf takes states, as in 'id: {file.managed: [{name: /etc/x}]}'")
            }
        })?;
        Ok(Data {
            value,
            shared: data.shared,
        })
    }

    /// The place in a YAML text of the value at a path, or of the last part of the path that exists.
    fn place_of(&self, text: &Text<'_>, path: &Path) -> Option<Place> {
        let limits = mapstack_salt_jinja::yaml_limits(&self.allowance.limits);
        let loaded = load_rendered(text.as_str(), &limits).ok()?;
        let steps = path.steps();
        let mark = (0..=steps.len()).rev().find_map(|count| {
            let part: Path = steps[..count].iter().map(|step| step.0.clone()).collect();
            let key = loaded.marks.key_at(&loaded.value, &part);
            key.or_else(|| {
                loaded
                    .marks
                    .at(&loaded.value, &part)
                    .map(mapstack_yaml::Marks::mark)
            })
        });
        mark.map(|mark| text.place_of_mark(mark))
    }
}

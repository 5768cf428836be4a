//! Salt's renderer `stateconf`: a template, the data that it prints, and what `mapstack_stateconf` makes of that.

use std::borrow::Cow;

use mapstack_diagnostic::{Error, ErrorKind, Place, Result};
use mapstack_render::Obj;
use mapstack_render::jinja::{Names, SourceMap};
use mapstack_stateconf::{
    Arguments, Error as Refused, Renderers, Sls, end_marker, rewritten, sls_dir,
};
use mapstack_value::{Path, Value};
use mapstack_yaml::load_rendered;

use super::shebang::{PipeStage, Renderer};
use super::{Data, Made, Source, no_text};
use crate::engine::Run;
use crate::text::Text;

/// A render by `stateconf`.
struct Rewriting<'j, 'f> {
    command: &'j Arguments,
    source: &'j Source<'f>,
    /// The `#!` line.
    place: Option<&'j Place>,
}

impl Run<'_> {
    /// Render a text and rewrite its data (Salt: `salt.renderers.stateconf.render`).
    pub(super) fn run_stateconf<'f>(
        &self,
        stage: &PipeStage,
        source: &Source<'f>,
        made: Made<'f>,
        previous: Option<&PipeStage>,
        place: Option<&Place>,
    ) -> Result<Made<'f>> {
        // What it makes of a file depends on what earlier ones have set.
        self.note_outside_input();
        if source.is_called {
            // Whoever calls a renderer loads it, and with it what it remembers.
            self.stateconf.forget();
        }
        let argline = self.argline(stage, source)?;
        let of_line = |message: String| Error::new(ErrorKind::Options, message).at(place.cloned());
        let command = Arguments::parse(&argline).map_err(|e| {
            of_line(format!("{}: {e}", source.file.shown))
                .help("write it as in #!stateconf -G yaml . jinja; the options are G, o, s and p")
        })?;
        let job = Rewriting {
            command: &command,
            source,
            place,
        };
        match (&command.pipe, made) {
            (None, Made::Data(data)) => self.rewrite(&job, &data, None, false).map(Made::Data),
            (None, Made::Text(_)) => {
                let message = format!(
                    "{}: 'stateconf -p' takes data, and no stage before it made any",
                    source.file.shown
                );
                Err(of_line(message).help("write it as in #!jinja|yaml|stateconf -p"))
            }
            (Some(_), Made::Data(data)) => Err(no_text(stage, &data, source, previous, place)),
            (Some(_), Made::Text(_)) if source.context.iter().flatten().next().is_some() => {
                let message = "the renderer 'stateconf' has a context of its own, and fails where a caller gives one";
                Err(of_line(format!("{}: {message}", source.file.shown)))
            }
            (Some(pipe), Made::Text(text)) => {
                let (maps, whole) = text.into_source();
                if let Some(end) = end_marker(&whole) {
                    self.run_pass(&job, pipe, (&whole[..end], &maps), true)?;
                }
                self.run_pass(&job, pipe, (&whole, &maps), false)
                    .map(Made::Data)
            }
        }
    }

    /// Render a text, or the part that only sets something, and rewrite its data.
    fn run_pass(
        &self,
        job: &Rewriting<'_, '_>,
        pipe: &Renderers,
        (text, maps): (&str, &[SourceMap]),
        is_first_pass: bool,
    ) -> Result<Data> {
        let sls = &job.source.sls;
        let mut context = Names::default();
        context.insert("sls_dir".into(), Obj::from(sls_dir(sls)));
        if !is_first_pass {
            let set = self.stateconf.variables(sls).into_iter();
            context.extend(set.map(|(name, values)| (name, Obj::from(Value::Map(values)))));
        }
        let source = Source {
            file: job.source.file,
            is_string: job.source.is_string,
            saltenv: job.source.saltenv.clone(),
            sls: sls.clone(),
            tmplpath: job.source.tmplpath.clone(),
            argline: None,
            context: Some(context),
            extra: job.source.extra.clone(),
            is_called: job.source.is_called,
            // The data is moved around, so its places are not those of the text.
            kept: None,
            allowed: None,
        };
        let stage = |stage: &mapstack_stateconf::RendererCall| match Renderer::named(&stage.name) {
            Some(renderer) => Ok(PipeStage {
                renderer,
                name: stage.name.clone(),
                argline: stage.argline.clone(),
            }),
            None => {
                let message = format!(
                    "{}: there is no renderer '{}', which 'stateconf' is to use",
                    source.file.shown, stage.name
                );
                Err(Error::new(ErrorKind::Options, message).at(job.place.cloned()))
            }
        };
        let (data, template) = (stage(&pipe.data)?, stage(&pipe.template)?);
        let text = Text {
            file: Cow::Borrowed(source.file),
            text: Cow::Owned(text.to_owned()),
            maps: maps.to_vec(),
            source: Default::default(),
        };
        let made = self.run_stage(&template, &source, Made::Text(text), None, job.place)?;
        let printed = match &made {
            Made::Text(text) => Some(text.clone()),
            Made::Data(_) => None,
        };
        match self.run_stage(&data, &source, made, Some(&template), job.place)? {
            Made::Data(data) => self.rewrite(job, &data, printed.as_ref(), is_first_pass),
            Made::Text(_) => {
                let message = format!(
                    "{}: the renderer '{}' makes text, and 'stateconf' needs data",
                    source.file.shown, data.name
                );
                Err(Error::new(ErrorKind::Options, message).at(job.place.cloned()))
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
        let work = |vm: &mapstack_render::jinja::Vm<'_>| {
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

    /// Where a text that was read as YAML has what a path leads to, or the last part of it that is there.
    fn place_of(&self, text: &Text<'_>, path: &Path) -> Option<Place> {
        let limits = mapstack_render::yaml_limits(&self.limits);
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

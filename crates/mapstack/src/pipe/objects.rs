//! Renderers that are Python: `py`, `pyobjects`, and those of the tree.

use mapstack_diagnostic::Result;
use mapstack_functions::{tree_has_renderer, tree_render};
use mapstack_pyobject::Obj;
use mapstack_render::pipe::{Allowed, Pipe, Renderer};
use mapstack_salt_jinja::{Request, request};
use mapstack_sandbox::{FunctionAnswer, RenderJob};
use mapstack_value::{Map, Str, Value};

use super::{Data, RunningStage, StageOutput};
use crate::host::RunHost;
use crate::python;
use crate::render::Language;
use crate::run::Run;
use crate::text::Text;

impl Run<'_> {
    /// Parse a pipe, whose names can be those of the tree's renderers.
    pub(super) fn parsed_pipe(&self, text: &str, allowed: &Allowed) -> Pipe {
        let host = RunHost::new(self);
        Pipe::parse(text, allowed, &|name, is_in_salt| {
            tree_has_renderer(&host, &|work| self.on_vm(|vm| work(vm)), name, is_in_salt)
        })
    }

    /// Run a Python module for its data (Salt: `salt.renderers.py.render`). It runs the file itself, even if earlier
    /// stages changed the text.
    pub(super) fn run_module<'f>(&self, running: RunningStage<'_, 'f>) -> Result<StageOutput<'f>> {
        let source = running.source;
        if source.is_string {
            return Err(running.error("the renderer 'py' runs a file, not a text".into()));
        }
        if source.tmplpath.as_str().map(|path| &**path) != Some(&*source.file.shown) {
            let shown = &source.file.shown;
            let message = format!(
                "{shown}: the renderer 'py' would run another file, which `tmplpath` names"
            );
            return Err(running.error(message).help("leave `tmplpath` out"));
        }
        let host = RunHost::in_saltenv(self, &source.saltenv);
        let request = Request {
            name: Some(Str::from(&*source.file.path)),
            variables: self.pipe_variables(running, Language::Py)?,
            limits: self.allowance.limits,
            fuel: Some(&self.allowance.fuel),
            ..request(source.file.unmarked()?, &host)
        };
        self.runs_in(Language::Py);
        let (value, _) = python::module(&request, &[], &self.interpreter)
            .map_err(|e| self.stage_error(*e, Language::Py, &Text::plain(source.file, "")))?;
        if let Some(taint) = self
            .taint()
            .filter(|_| self.may_read_secrets(&request.source))
        {
            taint.add(&value);
        }
        Ok(StageOutput::Data(Data::new(value)))
    }

    /// Render by `pyobjects` or a renderer of the tree (Salt: `salt.renderers.pyobjects.render`, `salt.loader.render`).
    pub(super) fn run_python<'f>(
        &self,
        running: RunningStage<'_, 'f>,
        made: StageOutput<'f>,
    ) -> Result<StageOutput<'f>> {
        let RunningStage { stage, source, .. } = running;
        // Python can read the clock, which no record of the run has.
        self.note_outside_input();
        let is_of_tree = stage.renderer == Renderer::Tree;
        let (text, data) = match made {
            StageOutput::Text(text) => (text, None),
            StageOutput::Data(data) if is_of_tree => {
                (Text::made(source.file, String::new()), Some(data))
            }
            StageOutput::Data(data) => return Err(running.no_text(&data)),
        };
        let job = RenderJob {
            renderer: is_of_tree.then(|| Str::from(&*stage.name)),
            source: text.as_str().into(),
            name: Some(Str::from(&*source.file.path)),
            data: data.map(|data| data.value),
            saltenv: source.saltenv.clone(),
            sls: source.sls.clone(),
            keywords: self.keywords(running)?,
        };
        let host = RunHost::in_saltenv(self, &source.saltenv);
        let rendered = self.on_vm(|vm| tree_render(&host, vm, job));
        let (answer, has_read_secrets) =
            rendered.map_err(|e| self.stage_error(*e, Language::Py, &text))?;
        let made = match answer {
            FunctionAnswer::Text(made) => StageOutput::Text(Text::made(source.file, made)),
            FunctionAnswer::Value(value) => StageOutput::Data(Data::new(value)),
            FunctionAnswer::Names(_) | FunctionAnswer::Missing(_) => {
                let (shown, name) = (&source.file.shown, &stage.name);
                return Err(running.error(format!("{shown}: the tree has no renderer '{name}'")));
            }
        };
        if let Some(taint) = self.taint().filter(|_| has_read_secrets) {
            match &made {
                StageOutput::Text(text) => taint.add(&Value::from(text.as_str())),
                StageOutput::Data(data) => taint.add(&data.value),
            }
        }
        Ok(made)
    }

    /// The keywords of a renderer (Salt: `compile_template`). Arguments that are not data are left out.
    fn keywords(&self, running: RunningStage<'_, '_>) -> Result<Vec<(Str, Value)>> {
        let source = running.source;
        let data = |object: &Obj| object.to_value().ok();
        let mut keywords: Vec<(Str, Value)> = Vec::new();
        keywords.extend(data(&source.tmplpath).map(|path| ("tmplpath".into(), path)));
        if running.stage.renderer == Renderer::Tree {
            let context = source.context.as_ref().and_then(data);
            keywords.extend(context.map(|context| ("context".into(), context)));
        } else if source.context.is_some()
            && self.engine.salt_version.behaviour().pyobjects_take_context
        {
            let context = running.context()?;
            let context = context.iter();
            let context = context.filter_map(|(name, value)| Some((&**name, data(value)?)));
            let context: Map = context.collect();
            keywords.push(("context".into(), context.into()));
        }
        let extra = source.extra.iter();
        keywords.extend(extra.filter_map(|(name, value)| Some((name.clone(), data(value)?))));
        let argline = running.argline().as_ref().and_then(data);
        keywords.extend(argline.map(|argline| (Str::from("argline"), argline)));
        Ok(keywords)
    }
}

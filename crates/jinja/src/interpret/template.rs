//! Templates that others extend, include, import, or read as data.

use std::rc::Rc;
use std::sync::Arc;

use crate::syntax::ast::{Expr, Span, Stmt, Target, Template};
use mapstack_pyobject::{Error, ErrorKind, Obj, Result, TemplatePlace, Undefined, to_str};
use mapstack_value::{Str, quote_str};

use super::{place, position, through};
use crate::module::Module;
use crate::output::{Output, OutputOrigin, SourceMap};
use crate::scope::{Context, Frame, ScopeChain};
use crate::tracer::BoundName;
use crate::vm::Vm;

impl Vm<'_> {
    /// Run a whole template, and the templates it extends.
    pub(crate) fn run_template(&self, frame: &Frame, out: &mut Output) -> Result<()> {
        let mut frame = frame.clone();
        for _ in 0..self.limits().depth {
            frame.hide(&frame.template.body);
            self.exec(&frame.template.body, &frame, out)?;
            let Some(parent) = frame.parent() else {
                return Ok(());
            };
            self.burn(1 + parent.blocks.len())?;
            frame = Frame::root(parent, frame.context.clone());
        }
        let most = self.limits().depth;
        Err(Error::limit(format!(
            "templates extend each other more than {most} levels deep"
        ))
        .with_help("look for a template that extends itself")
        .at(|| place(&frame, frame.template_span())))
    }

    pub(super) fn exec_extends(&self, parent: &Expr, frame: &Frame) -> Result<()> {
        if frame.is_silent() {
            return Err(Error::new(ErrorKind::Syntax, "extended multiple times"));
        }
        let (_, parent) = self.load_first(&self.eval(parent, frame)?)?;
        frame.context.add_blocks(&parent);
        frame.extend(parent);
        Ok(())
    }

    pub(super) fn exec_include(
        &self,
        template: &Expr,
        with_context: bool,
        ignore_missing: bool,
        frame: &Frame,
        out: &mut Output,
    ) -> Result<()> {
        let names = self.eval(template, frame)?;
        let (name, template) = match self.load_first(&names) {
            Ok(found) => found,
            Err(e) if ignore_missing && e.kind == ErrorKind::TemplateNotFound => return Ok(()),
            Err(e) => return Err(e),
        };
        if with_context {
            let context = Context::new(&template, frame.visible());
            return self.deeper(|| self.run_template(&Frame::root(template, context), out));
        }
        let module = self.deeper(|| self.shared_module(&name, &template))?;
        out.expect_secret(module.map.secret().to_vec());
        out.push(
            module.body(),
            &frame.template,
            frame.template_span(),
            OutputOrigin::Computed,
        )
    }

    /// The module of a template that a tag at `span` names.
    pub(super) fn import(
        &self,
        template: &Expr,
        with_context: bool,
        frame: &Frame,
        span: Span,
    ) -> Result<Rc<Module>> {
        let name = self.eval(template, frame)?;
        let load = || -> Result<Rc<Module>> {
            let (name, template) = self.load_first(&name)?;
            if with_context {
                return self.deeper(|| self.make_module(&template, frame.visible()));
            }
            self.deeper(|| self.shared_module(&name, &template))
        };
        load().map_err(|e| through("imported from here", e, frame, span))
    }

    /// Bind names of a module, given as pairs of the name there and the name here.
    pub(super) fn bind_imported(
        &self,
        module: &Module,
        names: &[(Str, Str)],
        span: Span,
        frame: &Frame,
    ) {
        for (there, here) in names {
            let found = module
                .get(there)
                .unwrap_or_else(|| self.not_exported(module, there, span, frame));
            if let Some(tracer) = self.tracer {
                let variable = |table, name| BoundName { table, name };
                let from = variable(module.table(), there);
                tracer.imported(from, variable(frame.table(), here), &found);
            }
            frame.set(here, found);
        }
    }

    fn not_exported(&self, module: &Module, name: &Str, span: Span, frame: &Frame) -> Obj {
        let (file, name) = (quote_str(module.file()), quote_str(name));
        let at = position(frame, span);
        let message = format!(
            "the template {file} (imported on {at}) does not export the requested name {name}"
        );
        Undefined::hint(message, self.strict()).into()
    }

    /// The data that the dialect reads from the text that a body printed.
    pub(super) fn exec_load(
        &self,
        tag: &str,
        target: &Target,
        body: &[Stmt],
        span: Span,
        frame: &Frame,
    ) -> Result<()> {
        let mut out = Output::mapped(self.limits().output);
        self.exec(body, &frame.detached().inside(body), &mut out)?;
        let (text, map) = out.finish();
        self.pay(1, text.len())?;
        let text = Obj::from(text);
        let value = self
            .dialect()
            .read(self, tag, &text, &map)
            .map_err(|e| through("loaded here", e, frame, span))?;
        self.note_loaded(&text, &map, &value);
        self.trace_loaded(&place(frame, span), &text, &map, &value);
        self.assign(target, value, frame)
    }

    /// The data that the dialect reads from the text that an imported template printed.
    pub(super) fn read_module(
        &self,
        tag: &str,
        module: &Module,
        span: Span,
        frame: &Frame,
    ) -> Result<Obj> {
        let text = Obj::from(module.body());
        let read = self.dialect().read(self, tag, &text, &module.map);
        let value = read.map_err(|mut e| {
            if e.help.is_none() {
                e.help = self.dialect().about_import(tag, module.file());
            }
            through("imported from here", e, frame, span)
        })?;
        self.note_loaded(&text, &module.map, &value);
        let whole = TemplatePlace {
            template: module.name.clone(),
            ..place(frame, span)
        };
        self.trace_loaded(&whole, &text, &module.map, &value);
        Ok(value)
    }

    /// Load a template by the name a tag gave, once per render.
    fn load(&self, name: &Str) -> Result<Arc<Template>> {
        if let Some(found) = self.loaded.borrow().get(name) {
            return Ok(found.clone());
        }
        let (path, source) = self.dialect().load(self, name)?;
        let template = self.parse_as(Some(&path), &source, &self.syntax)?;
        self.loaded
            .borrow_mut()
            .insert(name.clone(), template.clone());
        Ok(template)
    }

    /// The module of a template imported without context; made once per render.
    fn shared_module(&self, name: &Str, template: &Arc<Template>) -> Result<Rc<Module>> {
        if let Some(found) = self.modules.borrow().get(name) {
            return Ok(found.clone());
        }
        let module = self.make_module(template, self.globals_now())?;
        self.modules
            .borrow_mut()
            .insert(name.clone(), module.clone());
        Ok(module)
    }

    /// Run a template for what it binds.
    fn make_module(&self, template: &Arc<Template>, given: Rc<ScopeChain>) -> Result<Rc<Module>> {
        let context = Context::new(template, given);
        let mut out = Output::mapped(self.limits().output);
        self.run_template(&Frame::root(template.clone(), context.clone()), &mut out)?;
        let (body, map) = out.finish();
        Ok(Rc::new(Module {
            name: template.name.clone(),
            context,
            body,
            map,
        }))
    }

    /// Load a template by name, or the first of a list of names.
    fn load_first(&self, names: &Obj) -> Result<(Str, Arc<Template>)> {
        let candidates = match names {
            Obj::Str(name) | Obj::Markup(name) => {
                return self.load(name).map(|t| (name.clone(), t));
            }
            Obj::Undefined(u) => return Err(u.error()),
            Obj::List(_) | Obj::Tuple(_) if !names.truthy()? => {
                let message = "Tried to select from an empty list of templates.";
                return Err(Error::new(ErrorKind::TemplateNotFound, message));
            }
            Obj::List(_) | Obj::Tuple(_) => names.collect(self)?,
            other => {
                return Err(Error::type_error(format!(
                    "a template's name must be text, not {}",
                    other.type_name()
                )));
            }
        };
        for candidate in &candidates {
            match self.load_first(candidate) {
                Err(e) if matches!(e.kind, ErrorKind::TemplateNotFound | ErrorKind::Undefined) => {}
                found => return found,
            }
        }
        let name = |candidate: &Obj| match candidate {
            Obj::Undefined(u) => Ok(u.error().message),
            name => to_str(name),
        };
        let tried = candidates
            .iter()
            .map(name)
            .collect::<Result<Vec<_>>>()?
            .join(", ");
        let message = format!("none of the templates given were found: {tried}");
        Err(Error::new(ErrorKind::TemplateNotFound, message))
    }

    /// Report to the tracer what a tag read from a text.
    fn trace_loaded(&self, template: &TemplatePlace, text: &Obj, map: &SourceMap, value: &Obj) {
        if let (Some(tracer), Some(text)) = (self.tracer, text.as_str()) {
            tracer.loaded(template, text, map, value);
        }
    }

    /// Values read from secret text are secret.
    fn note_loaded(&self, text: &Obj, map: &SourceMap, value: &Obj) {
        if let (Some(taint), Some(text)) = (self.taint, text.as_str())
            && let Ok((read, _)) = value.to_value_lossy()
        {
            taint.read_from(text, map.secret(), &read);
        }
    }
}

impl Frame {
    /// The whole template, for output that no single tag produced.
    fn template_span(&self) -> Span {
        Span {
            start: 0,
            end: u32::try_from(self.template.source.len()).unwrap_or(u32::MAX),
        }
    }
}

//! Statements.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::syntax::ast::{Block, Expr, For, Macro, Span, Stmt, StmtKind, Target};
use mapstack_pyobject::{Error, ErrorKind, Iter, Obj, Result};
use mapstack_value::{Str, quote_str};

use super::{Flow, place, through};
use crate::blocks::next_definition;
use crate::loops::{Loop, LoopObject, filtered};
use crate::macros::MacroObject;
use crate::module::{ModuleObject, attributes};
use crate::output::Output;
use crate::scope::Frame;
use crate::vm::Vm;

fn no_namespace() -> Box<Error> {
    Error::new(
        ErrorKind::Syntax,
        "cannot assign attribute on non-namespace object",
    )
}

impl Vm<'_> {
    /// Run a statement. The caller adds its place to errors.
    ///
    /// Those that run most often are here, so that they need little of the stack.
    pub(super) fn exec_kind(&self, stmt: &Stmt, frame: &Frame, out: &mut Output) -> Result<Flow> {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Text(_) | StmtKind::Output(_) if frame.is_silent() => {}
            StmtKind::Text(text) => self.print_literal(text, span, frame, out)?,
            StmtKind::Output(expr) => self.print_expr(expr, span, frame, out)?,
            StmtKind::If { arms, otherwise } => return self.exec_if(arms, otherwise, frame, out),
            StmtKind::For(definition) => return self.exec_for(definition, frame, out),
            StmtKind::Set { target, value } => {
                self.check_attributes(target, frame)?;
                self.assign(target, self.eval(value, frame)?, frame)?;
            }
            _ => return self.exec_rarer(stmt, frame, out),
        }
        Ok(Flow::Next)
    }

    /// All kinds are matched here, so that the compiler reports a missing one.
    #[inline(never)]
    #[expect(clippy::too_many_lines, reason = "one arm for each kind of statement")]
    fn exec_rarer(&self, stmt: &Stmt, frame: &Frame, out: &mut Output) -> Result<Flow> {
        let span = stmt.span;
        match &stmt.kind {
            StmtKind::Text(_)
            | StmtKind::Output(_)
            | StmtKind::If { .. }
            | StmtKind::For(_)
            | StmtKind::Set { .. } => {}
            StmtKind::SetBlock {
                target,
                filter,
                body,
            } => return self.exec_set_block(target, filter.as_ref(), body, frame),
            StmtKind::Macro(definition) => self.exec_macro(definition, frame),
            StmtKind::CallBlock { call, caller } => {
                self.exec_call_block(call, caller, span, frame, out)?;
            }
            StmtKind::FilterBlock { filter, body } => {
                return self.exec_filter_block(filter, body, span, frame, out);
            }
            StmtKind::With { bindings, body } => return self.exec_with(bindings, body, frame, out),
            StmtKind::Block(_) if frame.is_top_level() && frame.is_silent() => {}
            StmtKind::Block(block) => self.exec_block(block, span, frame, out)?,
            StmtKind::Do(expr) => {
                self.eval(expr, frame)?;
            }
            StmtKind::Break => return Ok(Flow::Break),
            StmtKind::Continue => return Ok(Flow::Continue),
            StmtKind::Autoescape { enabled, body } => {
                return self.exec_autoescape(enabled, body, frame, out);
            }
            StmtKind::Labelled { label, body, .. } => {
                self.eval(label, frame)?;
                return self.exec(body, frame, out);
            }
            StmtKind::Load { tag, target, body } => {
                self.exec_load(tag, target, body, span, frame)?;
            }
            StmtKind::Extends(parent) => self.exec_extends(parent, frame)?,
            StmtKind::Include {
                template,
                with_context,
                ignore_missing,
            } => self
                .exec_include(template, *with_context, *ignore_missing, frame, out)
                .map_err(|e| through("included from here", e, frame, span))?,
            StmtKind::Import {
                template,
                target,
                with_context,
            } => {
                let module = self.import(template, *with_context, frame, span)?;
                frame.set(target, Obj::native(ModuleObject(module)));
            }
            StmtKind::FromImport {
                template,
                names,
                with_context,
            } => {
                let module = self.import(template, *with_context, frame, span)?;
                self.bind_imported(&module, names, span, frame);
            }
            StmtKind::ImportData {
                tag,
                template,
                target,
                with_context,
            } => {
                let module = self.import(template, *with_context, frame, span)?;
                let value = self.read_module(tag, &module, span, frame)?;
                self.assign(target, value, frame)?;
            }
        }
        Ok(Flow::Next)
    }

    fn exec_if(
        &self,
        arms: &[(Expr, Vec<Stmt>)],
        otherwise: &[Stmt],
        frame: &Frame,
        out: &mut Output,
    ) -> Result<Flow> {
        for (condition, body) in arms {
            if self.test(condition, frame)? {
                return self.exec(body, frame, out);
            }
        }
        self.exec(otherwise, frame, out)
    }

    fn exec_for(&self, definition: &Arc<For>, frame: &Frame, out: &mut Output) -> Result<Flow> {
        let iterable = self.eval(&definition.iter, frame)?;
        self.run_loop(definition, &iterable, 0, frame, out)
            .map_err(|e| self.located(e, frame, &definition.iter))
    }

    fn exec_set_block(
        &self,
        target: &Target,
        filter: Option<&Expr>,
        body: &[Stmt],
        frame: &Frame,
    ) -> Result<Flow> {
        let captured = match self.capture(body, &frame.detached().inside(body))? {
            ControlFlow::Continue(captured) => captured,
            ControlFlow::Break(left) => return Ok(left),
        };
        let value = match filter {
            Some(filter) => self.eval_filter_chain(filter, captured, frame)?,
            None => captured,
        };
        self.assign_block(target, value, frame)?;
        Ok(Flow::Next)
    }

    fn exec_macro(&self, definition: &Arc<Macro>, frame: &Frame) {
        let object = Obj::native(MacroObject {
            definition: definition.clone(),
            closure: frame.detached(),
            is_anonymous: false,
        });
        self.holds_itself(frame);
        frame.set(&definition.name, object);
    }

    fn exec_call_block(
        &self,
        call: &Expr,
        caller: &Arc<Macro>,
        span: Span,
        frame: &Frame,
        out: &mut Output,
    ) -> Result<()> {
        let object = Obj::native(MacroObject {
            definition: caller.clone(),
            closure: frame.detached(),
            is_anonymous: true,
        });
        let traced = self.tracer.map(crate::tracer::Tracer::begin);
        let result = self.eval_call(call, frame, Some(object))?;
        self.trace(traced, call, frame, &result);
        self.print_block(&result, span, frame, out)
    }

    fn exec_filter_block(
        &self,
        filter: &Expr,
        body: &[Stmt],
        span: Span,
        frame: &Frame,
        out: &mut Output,
    ) -> Result<Flow> {
        let captured = match self.capture(body, &frame.inside(body))? {
            ControlFlow::Continue(captured) => captured,
            ControlFlow::Break(left) => return Ok(left),
        };
        let value = self.eval_filter_chain(filter, captured, frame)?;
        self.print_block(&value, span, frame, out)?;
        Ok(Flow::Next)
    }

    fn exec_with(
        &self,
        bindings: &[(Target, Expr)],
        body: &[Stmt],
        frame: &Frame,
        out: &mut Output,
    ) -> Result<Flow> {
        let inner = frame.inside(body);
        for (target, value) in bindings {
            self.assign(target, self.eval(value, frame)?, &inner)?;
        }
        self.exec(body, &inner, out)
    }

    fn exec_autoescape(
        &self,
        enabled: &Expr,
        body: &[Stmt],
        frame: &Frame,
        out: &mut Output,
    ) -> Result<Flow> {
        let enabled = self.eval(enabled, frame)?.truthy()?;
        let before = self.autoescape.replace(enabled);
        let flow = self.exec(body, &frame.inside(body), out);
        self.autoescape.set(before);
        flow
    }

    fn exec_block(&self, block: &Block, span: Span, frame: &Frame, out: &mut Output) -> Result<()> {
        let scope = if block.scoped {
            frame.scoped_block()
        } else {
            frame.plain_block()
        };
        if block.required && frame.context.block(&block.name, 1).is_none() {
            let name = quote_str(&block.name);
            return Err(Error::new(
                ErrorKind::Syntax,
                format!("Required block {name} not found"),
            ));
        }
        self.run_block(&block.name, 0, &scope, out).map_err(|e| {
            let elsewhere = e
                .place
                .as_ref()
                .is_some_and(|p| p.template != frame.template.name);
            if elsewhere {
                through("the block is here", e, frame, span)
            } else {
                e
            }
        })
    }

    /// Run a loop over an object; `depth0` counts recursive calls. `break` and `continue` in its `else` are for the loop
    /// around.
    pub(crate) fn run_loop(
        &self,
        definition: &Arc<For>,
        iterable: &Obj,
        depth0: usize,
        frame: &Frame,
        out: &mut Output,
    ) -> Result<Flow> {
        let mut iter = iterable.iter()?;
        let mut measured = iterable.clone();
        if definition.filter.is_some() {
            let filtered = filtered(iter, definition.clone(), frame.clone());
            iter = Iter::new("generator", filtered);
            measured = Obj::Iter(iter.clone());
        }
        // A loop that does not mention `loop` keeps no account of itself.
        let state = definition.uses_loop.then(|| {
            let again = (definition.clone(), frame.clone());
            let recursive = definition.recursive.then_some(again);
            Loop::new(measured, iter.clone(), depth0, recursive)
        });
        let handle = state.clone().map(|state| Obj::native(LoopObject(state)));
        let (mut round, mut is_done) = (0, false);
        let body = &definition.body;
        let mut inner = frame.inner();
        while let Some(item) = match &state {
            Some(state) => state.next(self)?,
            None => iter.next(self)?,
        } {
            // Each round has its own names. If nothing refers to those of the last round, their scope is used again.
            if round > 0 && !inner.forget() {
                inner = frame.inner();
            }
            inner.hide(body);
            if let Some(handle) = &handle {
                inner.set_own("loop", handle.clone());
            }
            self.take(definition, iterable, round, item, &inner)?;
            round += 1;
            match self.exec(body, &inner, out)? {
                Flow::Next => is_done = true,
                Flow::Continue => {}
                Flow::Break => break,
            }
        }
        // As Jinja2 compiles it: unless one round came to its end, `break` and `continue` included.
        if is_done {
            return Ok(Flow::Next);
        }
        let otherwise = &definition.otherwise;
        self.exec(otherwise, &frame.inside(otherwise), out)
    }

    /// Bind an item of a loop.
    fn take(
        &self,
        definition: &For,
        iterable: &Obj,
        round: usize,
        item: Obj,
        frame: &Frame,
    ) -> Result<()> {
        if let Some(taint) = self.taint {
            taint.gives(iterable, &item);
        }
        let traced = self.tracer.map(crate::tracer::Tracer::begin);
        if let Some(tracer) = self.tracer {
            tracer.takes(iterable, round, &item);
        }
        self.assign(&definition.target, item, frame)?;
        if let (Some(tracer), Some(traced)) = (self.tracer, traced) {
            tracer.forget(traced);
        }
        Ok(())
    }

    /// Run a block's definition, `depth` steps towards the base.
    pub(crate) fn run_block(
        &self,
        name: &Str,
        depth: usize,
        frame: &Frame,
        out: &mut Output,
    ) -> Result<()> {
        let Some((template, block)) = frame.context.block(name, depth) else {
            return Ok(());
        };
        let inner = frame.block(template, &block);
        if block.uses_super {
            inner.set_own("super", next_definition(self, name, depth, frame));
        }
        self.deeper(|| self.exec(&block.body, &inner, out))
            .map(|_| ())
    }

    /// Bind a value to a target.
    pub(crate) fn assign(&self, target: &Target, value: Obj, frame: &Frame) -> Result<()> {
        match target {
            Target::Name(name) => {
                if let Some(tracer) = self.tracer {
                    tracer.bound(frame.table(), name, &value);
                }
                frame.set(name, value);
                Ok(())
            }
            Target::Tuple(targets) => match &value {
                Obj::Tuple(items) => {
                    self.burn(items.len())?;
                    self.assign_items(targets, &value, items, frame)
                }
                other => self.assign_items(targets, &value, &self.unpacked(other)?, frame),
            },
            Target::Attribute(name, attribute) => {
                let object = self.lookup(name, frame);
                if let (Some(tracer), Some(table)) = (self.tracer, attributes(&object)) {
                    tracer.bound(table, attribute, &value);
                }
                let assigned = match object {
                    Obj::Native(native) => native.set_attr(attribute, value),
                    _ => false,
                };
                if assigned {
                    return Ok(());
                }
                Err(no_namespace())
            }
        }
    }

    /// Attributes are set on namespaces alone. Jinja2 looks before it evaluates the value.
    fn check_attributes(&self, target: &Target, frame: &Frame) -> Result<()> {
        match target {
            Target::Name(_) => Ok(()),
            Target::Tuple(targets) => {
                let mut targets = targets.iter();
                targets.try_for_each(|target| self.check_attributes(target, frame))
            }
            Target::Attribute(name, _) => match self.lookup(name, frame).type_name() {
                "Namespace" => Ok(()),
                _ => Err(no_namespace()),
            },
        }
    }

    /// Bind what a block printed. An attribute is an item here, if the object is not a namespace: Jinja2 does not look.
    fn assign_block(&self, target: &Target, value: Obj, frame: &Frame) -> Result<()> {
        let Target::Attribute(name, attribute) = target else {
            return self.assign(target, value, frame);
        };
        match self.lookup(name, frame) {
            Obj::Dict(dict) => {
                dict.insert(&**attribute, value);
                Ok(())
            }
            Obj::List(_) => Err(Error::type_error(
                "list indices must be integers or slices, not str",
            )),
            object if object.type_name() == "Namespace" => self.assign(target, value, frame),
            object => Err(Error::type_error(format!(
                "'{}' object does not support item assignment",
                object.type_name()
            ))),
        }
    }

    /// Bind the items of a value to the parts of a target.
    fn assign_items(
        &self,
        targets: &[Target],
        value: &Obj,
        items: &[Obj],
        frame: &Frame,
    ) -> Result<()> {
        if items.len() < targets.len() {
            let (want, got) = (targets.len(), items.len());
            return Err(Error::value_error(format!(
                "not enough values to unpack (expected {want}, got {got})"
            )));
        }
        if items.len() > targets.len() {
            return Err(Error::value_error(format!(
                "too many values to unpack (expected {})",
                targets.len()
            )));
        }
        for (index, (target, item)) in targets.iter().zip(items).enumerate() {
            if let Some(tracer) = self.tracer {
                tracer.takes(value, index, item);
            }
            self.assign(target, item.clone(), frame)?;
        }
        Ok(())
    }

    /// The items of what a tuple of names is set to.
    fn unpacked(&self, value: &Obj) -> Result<Vec<Obj>> {
        value.collect(self).map_err(|e| {
            if e.message == format!("'{}' object is not iterable", value.type_name()) {
                let kind = value.type_name();
                return Error::type_error(format!("cannot unpack non-iterable {kind} object"));
            }
            e
        })
    }

    pub(super) fn test(&self, condition: &Expr, frame: &Frame) -> Result<bool> {
        let verdict = self.eval(condition, frame)?.truthy();
        verdict.map_err(|e| self.explain(e, frame).at(|| place(frame, condition.span)))
    }
}

//! The interpreter: statements and expressions.

use std::rc::Rc;
use std::sync::Arc;

use mapstack_pyobject::{
    CallArgs, DictRef, Error, ErrorKind, Iter, Obj, Object, Place, Result, Undefined, binary,
    compare, get_item, hash_key, methods, negate, positive, to_str,
};
use mapstack_value::Str;

use mapstack_jinja_syntax::ast::{
    Args, Expr, ExprKind, For, Span, Stmt, StmtKind, Target, Template,
};

use super::blocks::{SelfObject, SuperObject};
use super::charge::Named;
use super::globals;
use super::host::{HostFunction, call_of_undefined};
use super::loops::{Loop, LoopObject, filtered};
use super::macros::MacroObject;
use super::module::{Module, ModuleObject};
use super::output::{Origin, Output, SourceMap};
use super::scope::{Context, Frame};
use super::suggest;
use super::taint::Taint;
use super::vm::Vm;

/// What the rest of a loop's body has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Flow {
    Next,
    Break,
    Continue,
}

impl Vm<'_> {
    /// Run a whole template, and the templates it extends.
    pub(super) fn run_template(&self, frame: &Frame, out: &mut Output) -> Result<()> {
        let mut frame = frame.clone();
        for _ in 0..self.limits().depth {
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

    /// Run statements.
    pub(super) fn exec(&self, body: &[Stmt], frame: &Frame, out: &mut Output) -> Result<Flow> {
        for stmt in body {
            let flow = self.exec_stmt(stmt, frame, out)?;
            if flow != Flow::Next {
                return Ok(flow);
            }
        }
        Ok(Flow::Next)
    }

    fn exec_stmt(&self, stmt: &Stmt, frame: &Frame, out: &mut Output) -> Result<Flow> {
        self.burn(1)?;
        let read = self.taint.map(Taint::begin);
        let flow = roomy(|| self.exec_kind(stmt, frame, out))
            .map_err(|e| e.at(|| place(frame, stmt.span)))?;
        if let (Some(taint), Some(read)) = (self.taint, read) {
            taint.forget(read);
        }
        if let Some(watch) = self.watch {
            watch.ran(|| place(frame, stmt.span));
        }
        Ok(flow)
    }

    fn exec_kind(&self, stmt: &Stmt, frame: &Frame, out: &mut Output) -> Result<Flow> {
        match &stmt.kind {
            StmtKind::Text(_) | StmtKind::Output(_) if frame.is_silent() => {}
            StmtKind::Text(text) => self.print_literal(text, stmt.span, frame, out)?,
            StmtKind::Output(expr) => {
                let printed = self.eval(expr, frame).and_then(|value| {
                    let is_text = matches!(value, Obj::Str(_)) && !self.writes_data(expr);
                    let printed = self.print(&value)?;
                    if let Some(taint) = self.taint {
                        out.expect_secret(taint.printed(&value, &printed));
                    }
                    Ok((
                        printed,
                        if is_text {
                            Origin::Text
                        } else {
                            Origin::Computed
                        },
                    ))
                });
                let (printed, origin) =
                    printed.map_err(|e| self.explain(e, frame).at(|| place(frame, expr.span)))?;
                out.push(&printed, &frame.template, stmt.span, origin)?;
            }
            StmtKind::If { arms, otherwise } => {
                for (condition, body) in arms {
                    if self.test(condition, frame)? {
                        return self.exec(body, frame, out);
                    }
                }
                return self.exec(otherwise, frame, out);
            }
            StmtKind::For(definition) => {
                let iterable = self.eval(&definition.iter, frame)?;
                self.run_loop(definition, &iterable, 0, frame, out)
                    .map_err(|e| {
                        self.explain(e, frame)
                            .at(|| place(frame, definition.iter.span))
                    })?;
            }
            StmtKind::Set { target, value } => {
                let value = self.eval(value, frame)?;
                self.assign(target, value, frame)?;
            }
            StmtKind::SetBlock {
                target,
                filter,
                body,
            } => {
                let captured = self.capture(body, &frame.detached().inner())?;
                let value = match filter {
                    Some(filter) => self.eval_filter_chain(filter, captured, frame)?,
                    None => captured,
                };
                self.assign(target, value, frame)?;
            }
            StmtKind::Macro(definition) => {
                let object = Obj::native(MacroObject {
                    definition: definition.clone(),
                    closure: frame.detached(),
                });
                self.holds_itself(frame);
                frame.set(&definition.name, object);
            }
            StmtKind::CallBlock { call, caller } => {
                let object = Obj::native(MacroObject {
                    definition: caller.clone(),
                    closure: frame.detached(),
                });
                let result = self.eval_call(call, frame, Some(object))?;
                self.print_block(&result, stmt.span, frame, out)?;
            }
            StmtKind::FilterBlock { filter, body } => {
                let captured = self.capture(body, &frame.inner())?;
                let value = self.eval_filter_chain(filter, captured, frame)?;
                self.print_block(&value, stmt.span, frame, out)?;
            }
            StmtKind::With { bindings, body } => {
                let inner = frame.inner();
                for (target, value) in bindings {
                    self.assign(target, self.eval(value, frame)?, &inner)?;
                }
                return self.exec(body, &inner, out);
            }
            StmtKind::Block(_) if frame.is_top_level() && frame.is_silent() => {}
            StmtKind::Block(block) => {
                let scope = if block.scoped {
                    frame.detached()
                } else {
                    Frame {
                        scope: None,
                        ..frame.detached()
                    }
                };
                if block.required && frame.context.block(&block.name, 1).is_none() {
                    let name = mapstack_value::quote_str(&block.name);
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
                        through("the block stands here", e, frame, stmt.span)
                    } else {
                        e
                    }
                })?;
            }
            StmtKind::Extends(_) if frame.is_silent() => {
                return Err(Error::new(ErrorKind::Syntax, "extended multiple times"));
            }
            StmtKind::Extends(name) => {
                let parent = self.load_one(&self.eval(name, frame)?)?;
                frame.context.add_blocks(&parent);
                frame.extend(parent);
            }
            StmtKind::Include {
                template,
                with_context,
                ignore_missing,
            } => {
                self.include(template, *with_context, *ignore_missing, frame, out)
                    .map_err(|e| through("included from here", e, frame, stmt.span))?;
            }
            StmtKind::Import {
                template,
                target,
                with_context,
            } => {
                let module = self.import(template, *with_context, frame, stmt.span)?;
                frame.set(target, Obj::native(ModuleObject(module)));
            }
            StmtKind::FromImport {
                template,
                names,
                with_context,
            } => {
                let module = self.import(template, *with_context, frame, stmt.span)?;
                for (there, here) in names {
                    frame.set(
                        here,
                        self.imported(&module, there, &position(frame, stmt.span)),
                    );
                }
            }
            StmtKind::Do(expr) => {
                self.eval(expr, frame)?;
            }
            StmtKind::Break => return Ok(Flow::Break),
            StmtKind::Continue => return Ok(Flow::Continue),
            StmtKind::Autoescape { enabled, body } => {
                let enabled = self.eval(enabled, frame)?.truthy()?;
                let before = self.autoescape.replace(enabled);
                let flow = self.exec(body, &frame.inner(), out);
                self.autoescape.set(before);
                return flow;
            }
            StmtKind::Load { tag, target, body } => {
                let mut out = Output::mapped(self.limits().output);
                self.exec(body, &frame.detached().inner(), &mut out)?;
                let (text, map) = out.finish();
                self.pay(1, text.len())?;
                let text = Obj::from(text);
                let value = self
                    .dialect()
                    .read(self, tag, &text, &map)
                    .map_err(|e| through("loaded here", e, frame, stmt.span))?;
                self.note_loaded(&text, &map, &value);
                self.assign(target, value, frame)?;
            }
            StmtKind::ImportData {
                tag,
                template,
                target,
                with_context,
            } => {
                let module = self.import(template, *with_context, frame, stmt.span)?;
                let text = Obj::from(module.body());
                let value =
                    self.dialect()
                        .read(self, tag, &text, &module.map)
                        .map_err(|mut e| {
                            if e.help.is_none() {
                                e.help = self.dialect().about_import(tag, module.file());
                            }
                            through("imported from here", e, frame, stmt.span)
                        })?;
                self.note_loaded(&text, &module.map, &value);
                self.assign(target, value, frame)?;
            }
            StmtKind::Labelled { label, body, .. } => {
                self.eval(label, frame)?;
                return self.exec(body, frame, out);
            }
        }
        Ok(Flow::Next)
    }

    /// Print what a block came to.
    fn print_block(&self, value: &Obj, span: Span, frame: &Frame, out: &mut Output) -> Result<()> {
        let printed = self.print(value)?;
        if let Some(taint) = self.taint {
            out.expect_secret(taint.printed_by_block(value, &printed));
        }
        out.push(&printed, &frame.template, span, Origin::Computed)
    }

    /// What was read from secret text is secret.
    fn note_loaded(&self, text: &Obj, map: &SourceMap, value: &Obj) {
        if let (Some(taint), Some(text)) = (self.taint, text.as_str())
            && let Ok((read, _)) = value.to_value_lossy()
        {
            taint.read_from(text, map.secret(), &read);
        }
    }

    /// Print text as it stands, but for the ends of lines that the syntax asks for.
    fn print_literal(&self, text: &str, span: Span, frame: &Frame, out: &mut Output) -> Result<()> {
        let newline = self.newline();
        if newline == "\n" {
            return out.push(text, &frame.template, span, Origin::Literal);
        }
        let mut start = span.start;
        for line in text.split_inclusive('\n') {
            let end = start.saturating_add(u32::try_from(line.len()).unwrap_or(u32::MAX));
            let (content, ends) = line
                .strip_suffix('\n')
                .map_or((line, false), |content| (content, true));
            out.push(
                content,
                &frame.template,
                Span { start, end },
                Origin::Literal,
            )?;
            if ends {
                out.push(
                    newline,
                    &frame.template,
                    Span {
                        start: end - 1,
                        end,
                    },
                    Origin::Computed,
                )?;
            }
            start = end;
        }
        Ok(())
    }

    /// Run a loop over an object; `depth0` counts recursive calls.
    pub(super) fn run_loop(
        &self,
        definition: &Arc<For>,
        iterable: &Obj,
        depth0: usize,
        frame: &Frame,
        out: &mut Output,
    ) -> Result<()> {
        let mut iter = iterable.iter()?;
        let mut measured = iterable.clone();
        if definition.filter.is_some() {
            let filtered = filtered(iter, definition.clone(), frame.clone());
            iter = Iter::new("generator", filtered);
            measured = Obj::Iter(iter.clone());
        }
        let recursive = definition
            .recursive
            .then(|| (definition.clone(), frame.clone()));
        let state = Loop::new(measured, iter, depth0, recursive);
        let handle = definition
            .uses_loop
            .then(|| Obj::native(LoopObject(state.clone())));
        let loop_name = Str::from("loop");
        let mut ran = false;
        let mut inner = frame.inner();
        while let Some(item) = state.next(self)? {
            // Each round has names of its own. Where nothing holds those of the last round, their place serves again.
            if ran && !inner.forget() {
                inner = frame.inner();
            }
            ran = true;
            if let Some(handle) = &handle {
                inner.set(&loop_name, handle.clone());
            }
            if let Some(taint) = self.taint {
                taint.gives(iterable, &item);
            }
            self.assign(&definition.target, item, &inner)?;
            if self.exec(&definition.body, &inner, out)? == Flow::Break {
                break;
            }
        }
        if !ran {
            self.exec(&definition.otherwise, &frame.inner(), out)?;
        }
        Ok(())
    }

    /// Run a block's definition, `depth` steps towards the base.
    pub(super) fn run_block(
        &self,
        name: &Str,
        depth: usize,
        frame: &Frame,
        out: &mut Output,
    ) -> Result<()> {
        let Some((template, block)) = frame.context.block(name, depth) else {
            return Ok(());
        };
        let inner = Frame {
            template,
            ..frame.detached().inner()
        };
        inner.set(
            &"super".into(),
            Obj::native(SuperObject {
                name: name.clone(),
                depth,
                frame: frame.clone(),
            }),
        );
        self.deeper(|| self.exec(&block.body, &inner, out))
            .map(|_| ())
    }

    /// Run statements for what they print.
    pub(super) fn capture(&self, body: &[Stmt], frame: &Frame) -> Result<Obj> {
        let mut out = Output::capture(self.limits().output);
        self.exec(body, frame, &mut out)?;
        self.captured(out)
    }

    /// Captured output as an object: safe text where autoescaping made it so.
    ///
    /// # Errors
    /// As [`pay`](Self::pay).
    pub(super) fn captured(&self, out: Output) -> Result<Obj> {
        let (text, secret) = out.into_text();
        let text = Str::from(text);
        if let Some(taint) = self.taint {
            taint.captured(&text, secret);
        }
        self.pay(1, text.len())?;
        Ok(if self.autoescape.get() {
            Obj::Markup(text)
        } else {
            Obj::Str(text)
        })
    }

    fn print(&self, value: &Obj) -> Result<Str> {
        match value {
            Obj::Markup(s) => Ok(s.clone()),
            Obj::Str(s) if !self.autoescape.get() => Ok(s.clone()),
            value => {
                let text = self.dialect().print(value)?;
                self.settle(text.len() / 16)?;
                Ok(if self.autoescape.get() {
                    mapstack_pytext::markup::escape(&text).into()
                } else {
                    text.into()
                })
            }
        }
    }

    /// Bind a value to a target.
    pub(super) fn assign(&self, target: &Target, value: Obj, frame: &Frame) -> Result<()> {
        match target {
            Target::Name(name) => {
                frame.set(name, value);
                Ok(())
            }
            Target::Tuple(targets) => {
                let items = value.collect(self)?;
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
                targets
                    .iter()
                    .zip(items)
                    .try_for_each(|(target, item)| self.assign(target, item, frame))
            }
            Target::Attribute(name, attribute) => {
                let assigned = match self.lookup(name, frame) {
                    Obj::Native(native) => native.set_attr(attribute, value),
                    Obj::Undefined(u) => return Err(u.error()),
                    _ => false,
                };
                if assigned {
                    return Ok(());
                }
                Err(Error::new(
                    ErrorKind::Syntax,
                    "cannot assign attribute on non-namespace object",
                ))
            }
        }
    }

    fn include(
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
            Origin::Computed,
        )
    }

    fn import(
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

    fn imported(&self, module: &Module, name: &Str, at: &str) -> Obj {
        module.get(name).unwrap_or_else(|| {
            let quoted = mapstack_value::quote_str(name);
            let file = mapstack_value::quote_str(module.file());
            let message = format!(
                "the template {file} (imported on {at}) does not export the requested name {quoted}"
            );
            Undefined::hint(message, self.strict()).into()
        })
    }

    fn load_one(&self, name: &Obj) -> Result<Arc<Template>> {
        self.load_first(name).map(|(_, template)| template)
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

    fn test(&self, condition: &Expr, frame: &Frame) -> Result<bool> {
        let verdict = self.eval(condition, frame)?.truthy();
        verdict.map_err(|e| self.explain(e, frame).at(|| place(frame, condition.span)))
    }

    /// Evaluate an expression.
    pub(super) fn eval(&self, expr: &Expr, frame: &Frame) -> Result<Obj> {
        self.burn(1)?;
        let read = self.taint.map(Taint::begin);
        let value = roomy(|| self.eval_kind(expr, frame))
            .map_err(|e| self.explain(e, frame).at(|| place(frame, expr.span)))?;
        if let (Some(taint), Some(read)) = (self.taint, read) {
            taint.end(read, expr, self.dialect(), &value);
        }
        Ok(value)
    }

    fn eval_kind(&self, expr: &Expr, frame: &Frame) -> Result<Obj> {
        Ok(match &expr.kind {
            ExprKind::Const(value) => Obj::from(value.clone()),
            ExprKind::Name(name) => self.lookup(name, frame),
            ExprKind::Tuple(items) => Obj::tuple(self.eval_items(items, frame)?),
            ExprKind::List(items) => Obj::list(self.eval_items(items, frame)?),
            ExprKind::Dict(entries) => {
                self.pay(2 + entries.len(), 0)?;
                let mut dict = mapstack_pyobject::Entries::default();
                for (key, value) in entries {
                    let key = hash_key(&self.eval(key, frame)?)?;
                    dict.insert(key, self.eval(value, frame)?);
                }
                Obj::Dict(DictRef::new(dict))
            }
            ExprKind::Attr(object, name) => {
                let value = self.eval(object, frame)?;
                self.get_attr(&value, name)
                    .map_err(|e| self.blame(e, frame, &[(&value, object)]))?
            }
            ExprKind::Item(object, key) => {
                let value = self.eval(object, frame)?;
                let index = self.eval(key, frame)?;
                self.get_key(&value, &index)
                    .map_err(|e| self.blame(e, frame, &[(&value, object), (&index, key)]))?
            }
            ExprKind::Slice {
                object,
                start,
                stop,
                step,
            } => {
                let object = self.eval(object, frame)?;
                let bound = |e: &Option<Box<Expr>>| {
                    e.as_ref().map_or(Ok(Obj::None), |e| self.eval(e, frame))
                };
                mapstack_pyobject::slice(
                    self,
                    &object,
                    &bound(start)?,
                    &bound(stop)?,
                    &bound(step)?,
                )?
            }
            ExprKind::Call { .. } => self.eval_call(expr, frame, None)?,
            ExprKind::Filter { input, .. } => {
                let input = input
                    .as_ref()
                    .map_or(Ok(Obj::None), |input| self.eval(input, frame))?;
                self.eval_filter(expr, input, frame)?
            }
            ExprKind::Test { input, name, args } => {
                let input = self.eval(input, frame)?;
                let args = self.eval_args(args, frame)?;
                Obj::Bool(self.apply_test(name, &input, args)?)
            }
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.eval(a, frame)?, self.eval(b, frame)?);
                binary(self, *op, &x, &y).map_err(|e| self.blame(e, frame, &[(&x, a), (&y, b)]))?
            }
            ExprKind::Neg(x) => negate(&self.eval(x, frame)?)?,
            ExprKind::Pos(x) => positive(&self.eval(x, frame)?)?,
            ExprKind::Not(x) => Obj::Bool(!self.eval(x, frame)?.truthy()?),
            ExprKind::And(a, b) => {
                let a = self.eval(a, frame)?;
                if a.truthy()? { self.eval(b, frame)? } else { a }
            }
            ExprKind::Or(a, b) => {
                let a = self.eval(a, frame)?;
                if a.truthy()? { a } else { self.eval(b, frame)? }
            }
            ExprKind::Compare(first, rest) => {
                let (mut left, mut before) = (self.eval(first, frame)?, &**first);
                for (op, operand) in rest {
                    let right = self.eval(operand, frame)?;
                    let verdict = compare(self, *op, &left, &right);
                    if !verdict
                        .map_err(|e| self.blame(e, frame, &[(&left, before), (&right, operand)]))?
                    {
                        return Ok(Obj::Bool(false));
                    }
                    (left, before) = (right, operand);
                }
                Obj::Bool(true)
            }
            ExprKind::Concat(parts) => {
                let mut text = String::new();
                for part in parts {
                    let value = self.eval(part, frame)?;
                    self.read_all(&[&value])?;
                    text.push_str(
                        &to_str(&value).map_err(|e| self.blame(e, frame, &[(&value, part)]))?,
                    );
                    methods::limit::size(self, text.len())?;
                }
                self.made(Obj::from(text))?
            }
            ExprKind::Cond {
                test,
                then,
                otherwise,
            } => {
                if self.test(test, frame)? {
                    self.eval(then, frame)?
                } else if let Some(otherwise) = otherwise {
                    self.eval(otherwise, frame)?
                } else {
                    // Jinja: a lenient undefined even in strict environments.
                    let at = position(frame, expr.span);
                    let message = format!(
                        "the inline if-expression on {at} evaluated to false and no else section was defined."
                    );
                    Undefined::hint(message, false).into()
                }
            }
        })
    }

    fn eval_all(&self, items: &[Expr], frame: &Frame) -> Result<Vec<Obj>> {
        let mut objects = Vec::with_capacity(items.len());
        for item in items {
            objects.push(self.eval(item, frame)?);
        }
        Ok(objects)
    }

    /// The items of a container that is made of them.
    fn eval_items(&self, items: &[Expr], frame: &Frame) -> Result<Vec<Obj>> {
        self.pay(1 + items.len(), 0)?;
        self.eval_all(items, frame)
    }

    fn lookup(&self, name: &Str, frame: &Frame) -> Obj {
        if let Some(found) = frame.local(name) {
            return found;
        }
        if &**name == "self" {
            return Obj::native(SelfObject(Frame {
                scope: None,
                ..frame.detached()
            }));
        }
        frame
            .get(name)
            .unwrap_or_else(|| Undefined::name(name, self.strict()).into())
    }

    fn eval_args(&self, args: &Args, frame: &Frame) -> Result<CallArgs> {
        let mut positional = self.eval_all(&args.positional, frame)?;
        let mut named = Vec::with_capacity(args.named.len());
        for (name, value) in &args.named {
            named.push((name.clone(), self.eval(value, frame)?));
        }
        if let Some(star) = &args.star {
            positional.extend(self.eval(star, frame)?.collect(self)?);
        }
        if let Some(star_star) = &args.star_star {
            let Obj::Dict(dict) = self.eval(star_star, frame)? else {
                return Err(Error::type_error("argument after ** must be a mapping"));
            };
            for (key, value) in dict.entries() {
                let Some(name) = key.as_str() else {
                    return Err(Error::type_error("keywords must be strings"));
                };
                if named.iter().any(|(n, _)| **n == *name) {
                    return Err(Error::type_error(format!(
                        "got multiple values for keyword argument '{name}'"
                    )));
                }
                named.push((name.into(), value));
            }
        }
        Ok(CallArgs { positional, named })
    }

    fn eval_call(&self, expr: &Expr, frame: &Frame, caller: Option<Obj>) -> Result<Obj> {
        let ExprKind::Call { callee, args } = &expr.kind else {
            return self.eval(expr, frame);
        };
        let with_caller = |mut args: CallArgs| {
            args.named.extend(caller.map(|c| (Str::from("caller"), c)));
            args
        };
        // A method call needs no method object.
        if let ExprKind::Attr(object, name) = &callee.kind {
            let object = self.eval(object, frame)?;
            if methods::has(&object, name) {
                let args = with_caller(self.eval_args(args, frame)?);
                return methods::call(self, &object, name, args);
            }
            if let Obj::Undefined(u) = &object
                && let Some(function) = u.function_in_module(name)
            {
                let args = with_caller(self.eval_args(args, frame)?);
                return Err(self
                    .host()
                    .unanswered(&function, &args)
                    .unwrap_or_else(|| u.error()));
            }
            let callee = self.get_attr(&object, name)?;
            let args = with_caller(self.eval_args(args, frame)?);
            return self
                .call(&callee, args)
                .map_err(|e| self.in_call(e, expr, frame));
        }
        let function = self.eval(callee, frame)?;
        let args = with_caller(self.eval_args(args, frame)?);
        let result = self.call(&function, args);
        result.map_err(|e| self.blame(self.in_call(e, expr, frame), frame, &[(&function, callee)]))
    }

    /// An error from inside a macro names the call, too.
    fn in_call(&self, error: Box<Error>, expr: &Expr, frame: &Frame) -> Box<Error> {
        if error.place.is_some() {
            through("called from here", error, frame, expr.span)
        } else {
            error
        }
    }

    /// Call an object.
    ///
    /// # Errors
    /// What it raises, or a `TypeError` if it cannot be called.
    pub fn call(&self, callee: &Obj, args: CallArgs) -> Result<Obj> {
        match callee {
            Obj::Native(native) => self.call_native(&**native, args),
            Obj::Undefined(u) => Err(call_of_undefined(self, u, &args)),
            other => Err(Error::type_error(format!(
                "'{}' object is not callable",
                other.type_name()
            ))),
        }
    }

    /// Call an object that is not plain data: those that are called all the time without the detour by a job.
    fn call_native(&self, native: &dyn Object, args: CallArgs) -> Result<Obj> {
        let Some(known) = native.as_any() else {
            return native.call(self, args);
        };
        if let Some(function) = known.downcast_ref::<HostFunction>() {
            function.call_in(self, args)
        } else if let Some(function) = known.downcast_ref::<globals::Function>() {
            function.call_in(self, args)
        } else if let Some(macro_) = known.downcast_ref::<MacroObject>() {
            macro_.call_in(self, args)
        } else {
            native.call(self, args)
        }
    }

    fn eval_filter(&self, expr: &Expr, input: Obj, frame: &Frame) -> Result<Obj> {
        let ExprKind::Filter { name, args, .. } = &expr.kind else {
            return Ok(input);
        };
        let args = self.eval_args(args, frame)?;
        self.apply_filter(name, input, args)
    }

    /// Apply a chain of filters whose innermost input is what a block printed.
    fn eval_filter_chain(&self, expr: &Expr, captured: Obj, frame: &Frame) -> Result<Obj> {
        let ExprKind::Filter { input, .. } = &expr.kind else {
            return self.eval(expr, frame);
        };
        let input = match input {
            Some(inner) => self.eval_filter_chain(inner, captured, frame)?,
            None => captured,
        };
        let read = self.taint.map(Taint::begin);
        if let Some(taint) = self.taint {
            taint.reads(&input);
        }
        let value = self
            .eval_filter(expr, input, frame)
            .map_err(|e| e.at(|| place(frame, expr.span)))?;
        if let (Some(taint), Some(read)) = (self.taint, read) {
            taint.end(read, expr, self.dialect(), &value);
        }
        Ok(value)
    }

    /// `input|name(args)`.
    ///
    /// # Errors
    /// What the filter raises, or that there is none of that name.
    pub fn apply_filter(&self, name: &str, input: Obj, args: CallArgs) -> Result<Obj> {
        match self.dialect().filter(name) {
            Some(filter) => {
                self.charged(Named::Filter, name, Some(&input), &args)?;
                self.made(filter(self, input, args)?)
            }
            None => Err(Error::new(
                ErrorKind::Syntax,
                format!("No filter named {} found.", mapstack_value::quote_str(name)),
            )),
        }
    }

    /// `input is name(args)`.
    ///
    /// # Errors
    /// What the test raises, or that there is none of that name.
    pub fn apply_test(&self, name: &str, input: &Obj, args: CallArgs) -> Result<bool> {
        match self.dialect().test(name) {
            Some(test) => {
                self.charged(Named::Test, name, Some(input), &args)?;
                let verdict = test(self, input, args)?;
                self.settle(0).map(|()| verdict)
            }
            None => Err(Error::new(
                ErrorKind::Syntax,
                format!("No test named {} found.", mapstack_value::quote_str(name)),
            )),
        }
    }

    /// `object.name`: an attribute, else an item (Jinja2: `SandboxedEnvironment.getattr`).
    ///
    /// # Errors
    /// An undefined error when the object is undefined.
    pub fn get_attr(&self, object: &Obj, name: &Str) -> Result<Obj> {
        // Jinja's undefined objects have Python's insides, too.
        if let Obj::Undefined(u) = object
            && !methods::is_hidden_of_undefined(name)
        {
            return Err(u.error());
        }
        if let Some(found) = self.own_attr(object, name)? {
            return Ok(found);
        }
        let item = match get_item(self, object, &Obj::Str(name.clone()))? {
            Some(item) => item,
            None => Undefined::attr(object, name, self.strict()).into(),
        };
        Ok(item)
    }

    /// `object[key]`: an item, else an attribute (Jinja2: `SandboxedEnvironment.getitem`).
    ///
    /// # Errors
    /// An undefined error when the object is undefined.
    pub fn get_key(&self, object: &Obj, key: &Obj) -> Result<Obj> {
        if let Some(item) = get_item(self, object, key)? {
            return Ok(item);
        }
        let attribute = key
            .as_str()
            .map_or(Ok(None), |name| self.own_attr(object, name))?;
        Ok(attribute.unwrap_or_else(|| Undefined::item(object, key, self.strict()).into()))
    }

    /// What Python's `getattr` finds, as far as the sandbox shows it.
    ///
    /// # Errors
    /// A security error for what a sandbox would hide where the reference has none.
    pub fn own_attr(&self, object: &Obj, name: &str) -> Result<Option<Obj>> {
        if methods::is_hidden(name) {
            let hidden = Undefined::unsafe_attr(object, name, self.strict());
            // Without a sandbox Python shows it, so that nothing in its place must not go unnoticed.
            return if self.dialect().is_sandboxed() {
                Ok(Some(hidden.into()))
            } else {
                Err(hidden.error())
            };
        }
        Ok(match object {
            Obj::Native(native) => native.attr(self, name),
            _ => methods::bound(object, name),
        })
    }

    /// Whether an expression's text is meant as code and not as a value: what a serialising filter wrote, or a macro.
    fn writes_data(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Filter { name, .. } => self.dialect().writes_data(name),
            ExprKind::Call { callee, .. } => matches!(callee.kind, ExprKind::Name(_)),
            _ => false,
        }
    }

    /// Say which operand an error about something undefined comes from.
    fn blame(&self, error: Box<Error>, frame: &Frame, operands: &[(&Obj, &Expr)]) -> Box<Error> {
        let undefined = |error: &Error| error.kind == ErrorKind::Undefined && error.place.is_none();
        match operands
            .iter()
            .find(|(value, _)| matches!(value, Obj::Undefined(_)))
        {
            Some((_, expr)) if undefined(&error) => {
                self.explain(error, frame).at(|| place(frame, expr.span))
            }
            _ => error,
        }
    }

    /// Give an error about an undefined name the names that were there.
    fn explain(&self, mut error: Box<Error>, frame: &Frame) -> Box<Error> {
        if error.kind == ErrorKind::Undefined && error.help.is_none() && error.place.is_none() {
            let is_builtin = |name: &str| self.dialect().globals().get(name).is_some();
            error.help = suggest::for_undefined(&error.message, is_builtin, || {
                frame.visible().flatten().into_keys().collect()
            });
        }
        error
    }
}

/// Run with enough stack for one more level; the parser bounds how many there are.
fn roomy<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(64 << 10, 2 << 20, run)
}

pub(super) fn place(frame: &Frame, span: Span) -> Place {
    Place {
        template: frame.template.name.clone(),
        source: frame.template.source.clone(),
        span,
    }
}

/// The line, and the template unless it was given as text, as messages of Jinja name them.
fn position(frame: &Frame, span: Span) -> String {
    let line = place(frame, span).line();
    match &frame.template.name {
        Some(name) => format!("line {line} in {}", mapstack_value::quote_str(name)),
        None => format!("line {line}"),
    }
}

fn through(what: &str, error: Box<Error>, frame: &Frame, span: Span) -> Box<Error> {
    if error.place.is_some() {
        error.through(what, place(frame, span))
    } else {
        error.at(|| place(frame, span))
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

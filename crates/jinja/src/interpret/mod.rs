//! The interpreter: what statements and expressions do.
//!
//! Each file adds methods to [`Vm`]. Statements run expressions, which call macros, which run statements; so the files
//! are parts of one thing, split by what a reader looks for.

mod access;
mod call;
mod expression;
mod print;
mod statement;
mod template;

use std::ops::ControlFlow;

use crate::syntax::ast::{Expr, ExprKind, Span, Stmt};
use mapstack_pyobject::{Error, ErrorKind, Obj, Result, TemplatePlace};
use mapstack_value::quote_str;

use crate::output::Output;
use crate::scope::Frame;
use crate::suggest;
use crate::taint::Taint;
use crate::vm::Vm;

/// The way in which a body continues after a statement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flow {
    Next,
    Break,
    Continue,
}

impl Vm<'_> {
    /// Run statements.
    pub(crate) fn exec(&self, body: &[Stmt], frame: &Frame, out: &mut Output) -> Result<Flow> {
        with_stack(|| {
            for stmt in body {
                let flow = self.exec_stmt(stmt, frame, out)?;
                if flow != Flow::Next {
                    return Ok(flow);
                }
            }
            Ok(Flow::Next)
        })
    }

    fn exec_stmt(&self, stmt: &Stmt, frame: &Frame, out: &mut Output) -> Result<Flow> {
        self.burn(1)?;
        if self.is_observed() || self.edit_log.is_some() {
            return self.exec_observed(stmt, frame, out);
        }
        match self.exec_kind(stmt, frame, out) {
            Err(e) if e.place.is_none() => Err(e.at(|| place(frame, stmt.span))),
            done => done,
        }
    }

    /// Run a statement whose effects are followed.
    fn exec_observed(&self, stmt: &Stmt, frame: &Frame, out: &mut Output) -> Result<Flow> {
        let read = self.taint.map(Taint::begin);
        let traced = self.tracer.map(crate::tracer::Tracer::begin);
        let flow = self
            .exec_kind(stmt, frame, out)
            .map_err(|e| e.at(|| place(frame, stmt.span)))?;
        if let (Some(taint), Some(read)) = (self.taint, read) {
            taint.forget(read);
        }
        if let (Some(tracer), Some(traced)) = (self.tracer, traced) {
            tracer.forget(traced);
        }
        if let Some(edit_log) = self.edit_log {
            edit_log.ran(|| place(frame, stmt.span));
        }
        Ok(flow)
    }

    /// Run statements for what they print. If they leave the loop around, that is lost.
    pub(super) fn capture(&self, body: &[Stmt], frame: &Frame) -> Result<ControlFlow<Flow, Obj>> {
        let mut out = self.capturing();
        Ok(match self.exec(body, frame, &mut out)? {
            Flow::Next => ControlFlow::Continue(self.captured(out)?),
            left => ControlFlow::Break(left),
        })
    }

    /// Point an error about something undefined to its operand.
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

    /// Add its place to an error that an expression raised.
    #[cold]
    fn located(&self, error: Box<Error>, frame: &Frame, expr: &Expr) -> Box<Error> {
        let span = unknown_name(&error, frame, expr).unwrap_or_else(|| own(frame, expr));
        self.explain(error, frame).at(|| place(frame, span))
    }

    /// Add the names in scope, or the nearest one, to an error about an undefined name.
    fn explain(&self, mut error: Box<Error>, frame: &Frame) -> Box<Error> {
        if error.kind == ErrorKind::Undefined && error.help.is_none() && error.place.is_none() {
            let is_builtin = |name: &str| self.dialect().builtins().globals().get(name).is_some();
            error.help = suggest::for_undefined(&error.message, is_builtin, || {
                frame.visible().flatten().into_keys().collect()
            });
        }
        error
    }
}

/// Levels of expressions for which there is [room](with_stack) if there is any; looking takes longer than going deeper.
const LEVELS: u32 = 8;

/// Run with enough stack for one more level of statements, or for [some](LEVELS) of expressions. The parser bounds how
/// many there are.
pub(crate) fn with_stack<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 << 10, 2 << 20, run)
}

pub(crate) fn place(frame: &Frame, span: Span) -> TemplatePlace {
    TemplatePlace {
        template: frame.template.name.clone(),
        source: frame.template.source.clone(),
        span,
    }
}

/// The line, and the template unless it was given as text, as messages of Jinja name them.
fn position(frame: &Frame, span: Span) -> String {
    let line = place(frame, span).line();
    match &frame.template.name {
        Some(name) => format!("line {line} in {}", quote_str(name)),
        None => format!("line {line}"),
    }
}

/// The span of an expression's error: the whole expression, but a filter or a test on a later line than the start of its value
/// is on that line.
fn own(frame: &Frame, expr: &Expr) -> Span {
    let source = &frame.template.source;
    let start = expr.span.start as usize;
    let is_later = |name: &Span| {
        let before = source.get(start..name.start as usize);
        before.is_some_and(|before| before.contains('\n'))
    };
    match name_span(source, expr).filter(is_later) {
        Some(Span { start, .. }) => Span { start, ..expr.span },
        None => expr.span,
    }
}

/// The place of a quoted name in an expression, if the error says that no filter or test has it.
fn unknown_name(error: &Error, frame: &Frame, expr: &Expr) -> Option<Span> {
    if error.kind != ErrorKind::Syntax || error.place.is_some() {
        return None;
    }
    let message = error.message.strip_prefix("No ")?.strip_suffix('.')?;
    let (_, name) = message.split_once(" named ")?;
    let quote = ['\'', '"'];
    let name = name.strip_prefix(quote)?.strip_suffix(quote)?;
    let (start, end) = (expr.span.start as usize, expr.span.end as usize);
    let text = frame.template.source.get(start..end)?;
    let quoted = [format!("'{name}'"), format!("\"{name}\"")];
    let at = quoted.iter().find_map(|quoted| text.find(quoted))?;
    let start = u32::try_from(start + at + 1).ok()?;
    Some(Span {
        start,
        end: start + u32::try_from(name.len()).ok()?,
    })
}

/// The place of the name of a filter or a test.
pub(crate) fn name_span(source: &str, expr: &Expr) -> Option<Span> {
    let (from, name) = match &expr.kind {
        ExprKind::Filter {
            input: Some(input),
            name,
            ..
        }
        | ExprKind::Test { input, name, .. } => (input.span.end as usize, name),
        ExprKind::Filter { name, .. } => (expr.span.start as usize, name),
        _ => return None,
    };
    let behind = source.get(from..expr.span.end as usize)?;
    let first = name.split('.').next().unwrap_or(name);
    let is_word = |at: usize| {
        let part_of_name = |c: char| c.is_alphanumeric() || c == '_';
        !behind[..at].ends_with(part_of_name)
            && !behind[at + first.len()..].starts_with(part_of_name)
    };
    let (at, _) = behind.match_indices(first).find(|(at, _)| is_word(*at))?;
    let length = match behind[at..].starts_with(&**name) {
        true => name.len(),
        false => first.len(),
    };
    let start = u32::try_from(from + at).ok()?;
    Some(Span {
        start,
        end: start + u32::try_from(length).ok()?,
    })
}

fn through(what: &str, error: Box<Error>, frame: &Frame, span: Span) -> Box<Error> {
    if error.place.is_some() {
        error.through(what, place(frame, span))
    } else {
        error.at(|| place(frame, span))
    }
}

//! What Jinja refuses when it compiles a template: filters and tests that do not exist.
//!
//! Inside the branches of an `if` Jinja waits until the branch runs, so that a template can probe
//! for a filter.

use super::ast::{Args, Expr, ExprKind, Macro, Span, Stmt, StmtKind, Template};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::{filters, tests};

pub(super) fn check(template: &Template) -> Result<()> {
    Checker { template }.body(&template.body, false)
}

struct Checker<'t> {
    template: &'t Template,
}

impl Checker<'_> {
    fn body(&self, body: &[Stmt], soft: bool) -> Result<()> {
        body.iter().try_for_each(|stmt| self.stmt(stmt, soft))
    }

    fn stmt(&self, stmt: &Stmt, soft: bool) -> Result<()> {
        match &stmt.kind {
            StmtKind::Text(_) | StmtKind::Break | StmtKind::Continue => Ok(()),
            StmtKind::Output(e) | StmtKind::Do(e) | StmtKind::Extends(e) => self.expr(e, soft),
            StmtKind::If { arms, otherwise } => {
                for (condition, body) in arms {
                    self.expr(condition, true)?;
                    self.body(body, true)?;
                }
                self.body(otherwise, true)
            }
            StmtKind::For(f) => {
                self.expr(&f.iter, soft)?;
                f.filter.iter().try_for_each(|e| self.expr(e, false))?;
                self.body(&f.body, false)?;
                self.body(&f.otherwise, false)
            }
            StmtKind::Macro(m) => self.makro(m),
            StmtKind::CallBlock { call, caller } => {
                self.expr(call, soft)?;
                self.makro(caller)
            }
            StmtKind::FilterBlock { filter, body } => {
                self.expr(filter, false)?;
                self.body(body, false)
            }
            StmtKind::Set { value, .. } => self.expr(value, soft),
            StmtKind::SetBlock { filter, body, .. } => {
                filter.iter().try_for_each(|e| self.expr(e, soft))?;
                self.body(body, false)
            }
            StmtKind::With { bindings, body } => {
                bindings.iter().try_for_each(|(_, e)| self.expr(e, soft))?;
                self.body(body, false)
            }
            StmtKind::Block(block) => self.body(&block.body, false),
            StmtKind::Include { template, .. }
            | StmtKind::Import { template, .. }
            | StmtKind::FromImport { template, .. }
            | StmtKind::ImportData { template, .. } => self.expr(template, soft),
            StmtKind::Autoescape { enabled, body } => {
                self.expr(enabled, soft)?;
                self.body(body, false)
            }
            StmtKind::Load { body, .. } => self.body(body, false),
            StmtKind::Profile { label, body } => {
                self.expr(label, soft)?;
                self.body(body, soft)
            }
        }
    }

    fn makro(&self, m: &Macro) -> Result<()> {
        m.params.iter().filter_map(|p| p.default.as_ref()).try_for_each(|e| self.expr(e, false))?;
        self.body(&m.body, false)
    }

    fn expr(&self, expr: &Expr, soft: bool) -> Result<()> {
        let all = |items: &[Expr]| items.iter().try_for_each(|e| self.expr(e, soft));
        match &expr.kind {
            ExprKind::Const(_) | ExprKind::Name(_) => Ok(()),
            ExprKind::Tuple(items) | ExprKind::List(items) | ExprKind::Concat(items) => all(items),
            ExprKind::Dict(entries) => entries.iter().try_for_each(|(k, v)| {
                self.expr(k, soft)?;
                self.expr(v, soft)
            }),
            ExprKind::Attr(e, _) | ExprKind::Neg(e) | ExprKind::Pos(e) | ExprKind::Not(e) => self.expr(e, soft),
            ExprKind::Item(a, b) | ExprKind::Binary(_, a, b) | ExprKind::And(a, b) | ExprKind::Or(a, b) => {
                self.expr(a, soft)?;
                self.expr(b, soft)
            }
            ExprKind::Slice { object, start, stop, step } => {
                self.expr(object, soft)?;
                [start, stop, step].into_iter().flatten().try_for_each(|e| self.expr(e, soft))
            }
            ExprKind::Call { callee, args } => {
                self.expr(callee, soft)?;
                self.args(args, soft)
            }
            ExprKind::Filter { input, name, args } => {
                if !soft && filters::find(name).is_none() {
                    return Err(self.missing("filter", name, expr.span, filters::names()));
                }
                input.iter().try_for_each(|e| self.expr(e, soft))?;
                self.args(args, soft)
            }
            ExprKind::Test { input, name, args } => {
                if !soft && tests::find(name).is_none() {
                    return Err(self.missing("test", name, expr.span, tests::names()));
                }
                self.expr(input, soft)?;
                self.args(args, soft)
            }
            ExprKind::Compare(first, rest) => {
                self.expr(first, soft)?;
                rest.iter().try_for_each(|(_, e)| self.expr(e, soft))
            }
            ExprKind::Cond { test, then, otherwise } => {
                self.expr(test, true)?;
                self.expr(then, true)?;
                otherwise.iter().try_for_each(|e| self.expr(e, true))
            }
        }
    }

    fn args(&self, args: &Args, soft: bool) -> Result<()> {
        args.positional.iter().try_for_each(|e| self.expr(e, soft))?;
        args.named.iter().try_for_each(|(_, e)| self.expr(e, soft))?;
        [&args.star, &args.star_star].into_iter().flatten().try_for_each(|e| self.expr(e, soft))
    }

    fn missing(&self, what: &str, name: &str, span: Span, known: Vec<&'static str>) -> Box<Error> {
        let template = self.template;
        let mut error = Error::new(ErrorKind::Syntax, format!("No {what} named {}.", mapstack_value::quote_str(name)));
        if let Some(near) = crate::suggest::nearest(name, known) {
            error = error.with_help(format!("did you mean '{near}'?"));
        }
        error.at(|| Place { template: template.name.clone(), source: template.source.clone(), span })
    }
}

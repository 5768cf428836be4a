//! Walking over a template's tree.

use super::ast::{Expr, ExprKind, Macro, Stmt, StmtKind, Template};

/// A node that a walk meets.
#[derive(Debug, Clone, Copy)]
pub enum Node<'t> {
    /// A statement, before what is in it.
    Stmt(&'t Stmt),
    /// An expression, before its operands.
    Expr(&'t Expr),
}

/// Visit every statement and expression of a template, outer ones first, in the order of the
/// source.
///
/// The second argument of `visit` says whether the node is in a branch of an `if` statement or expression, which Jinja
/// compiles only when the branch runs.
///
/// # Errors
/// The first error of `visit`.
///
/// ```
/// use mapstack_jinja::syntax::{Node, Syntax, parse, visit};
/// use mapstack_jinja::syntax::ast::ExprKind;
/// let template = parse("{{ a }}{% for b in c %}{{ b|upper }}{% endfor %}", None, &Syntax::default(), &[]).unwrap();
/// let mut names = Vec::new();
/// let walked: Result<(), ()> = visit(&template, &mut |node, _| {
///     if let Node::Expr(e) = node && let ExprKind::Name(name) = &e.kind {
///         names.push(name.to_string());
///     }
///     Ok(())
/// });
/// assert_eq!((walked, names.join(" ")), (Ok(()), "a c b".to_string()));
/// ```
pub fn visit<'t, E>(
    template: &'t Template,
    visit: &mut dyn FnMut(Node<'t>, bool) -> Result<(), E>,
) -> Result<(), E> {
    SyntaxWalk { visit }.body(&template.body, false)
}

struct SyntaxWalk<'v, 't, E> {
    visit: &'v mut dyn FnMut(Node<'t>, bool) -> Result<(), E>,
}

impl<'t, E> SyntaxWalk<'_, 't, E> {
    fn body(&mut self, body: &'t [Stmt], soft: bool) -> Result<(), E> {
        body.iter().try_for_each(|stmt| self.stmt(stmt, soft))
    }

    fn stmt(&mut self, stmt: &'t Stmt, soft: bool) -> Result<(), E> {
        (self.visit)(Node::Stmt(stmt), soft)?;
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
                self.exprs(&f.filter, false)?;
                self.body(&f.body, false)?;
                self.body(&f.otherwise, false)
            }
            StmtKind::Macro(m) => self.function(m),
            StmtKind::CallBlock { call, caller } => {
                self.expr(call, soft)?;
                self.function(caller)
            }
            StmtKind::FilterBlock { filter, body } => {
                self.expr(filter, false)?;
                self.body(body, false)
            }
            StmtKind::Set { value, .. } => self.expr(value, soft),
            StmtKind::SetBlock { filter, body, .. } => {
                self.exprs(filter, soft)?;
                self.body(body, false)
            }
            StmtKind::With { bindings, body } => {
                self.exprs(bindings.iter().map(|(_, e)| e), soft)?;
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
            StmtKind::Labelled { label, body, .. } => {
                self.expr(label, soft)?;
                self.body(body, soft)
            }
        }
    }

    fn function(&mut self, m: &'t Macro) -> Result<(), E> {
        self.exprs(m.params.iter().filter_map(|p| p.default.as_ref()), false)?;
        self.body(&m.body, false)
    }

    fn exprs(&mut self, exprs: impl IntoIterator<Item = &'t Expr>, soft: bool) -> Result<(), E> {
        exprs.into_iter().try_for_each(|e| self.expr(e, soft))
    }

    fn expr(&mut self, expr: &'t Expr, soft: bool) -> Result<(), E> {
        (self.visit)(Node::Expr(expr), soft)?;
        let soft = soft || matches!(expr.kind, ExprKind::Cond { .. });
        expr.try_each_operand(&mut |operand| self.expr(operand, soft))
    }
}

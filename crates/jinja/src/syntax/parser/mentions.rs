//! The special names that a body reads.
//!
//! A macro takes extra arguments if its body reads `varargs` or `kwargs`, and a loop needs its
//! `loop` object only if the body reads it. As in Jinja, a name counts unless the body assigned it
//! before, and nested blocks do not count.

use std::convert::Infallible;

use super::super::ast::{Expr, ExprKind, For, Macro, Stmt, StmtKind, Target};

/// For each of the names, whether the body reads it.
pub(super) fn mentions<const N: usize>(body: &[Stmt], names: [&str; N]) -> [bool; N] {
    let mut search = MentionSearch {
        names,
        assigned: [false; N],
        found: [false; N],
    };
    search.body(body);
    search.found
}

struct MentionSearch<'n, const N: usize> {
    names: [&'n str; N],
    assigned: [bool; N],
    found: [bool; N],
}

impl<const N: usize> MentionSearch<'_, N> {
    fn position(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|wanted| *wanted == name)
    }

    fn read(&mut self, name: &str) {
        if let Some(i) = self.position(name) {
            self.found[i] |= !self.assigned[i];
        }
    }

    fn assign(&mut self, name: &str) {
        if let Some(i) = self.position(name) {
            self.assigned[i] = true;
        }
    }

    fn target(&mut self, target: &Target) {
        match target {
            Target::Name(name) => self.assign(name),
            Target::Tuple(targets) => targets.iter().for_each(|target| self.target(target)),
            Target::Attribute(..) => {}
        }
    }

    fn body(&mut self, body: &[Stmt]) {
        for stmt in body {
            if self.found.iter().all(|found| *found) {
                return;
            }
            self.stmt(&stmt.kind);
        }
    }

    // The order in which the parts of a statement are visited is that of Jinja's nodes: it
    // decides whether a name was assigned before it was read.
    #[expect(clippy::too_many_lines, reason = "one arm for each kind of statement")]
    fn stmt(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Text(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Block(_) => {}
            StmtKind::Output(expr) | StmtKind::Do(expr) | StmtKind::Extends(expr) => {
                self.expr(expr);
            }
            StmtKind::For(node) => self.for_loop(node),
            StmtKind::If { arms, otherwise } => {
                for (test, body) in arms {
                    self.expr(test);
                    self.body(body);
                }
                self.body(otherwise);
            }
            StmtKind::Macro(node) => self.function(node),
            StmtKind::CallBlock { call, caller } => {
                self.expr(call);
                self.function(caller);
            }
            StmtKind::FilterBlock { filter, body } => {
                self.body(body);
                self.expr(filter);
            }
            StmtKind::Set { target, value } => {
                self.target(target);
                self.expr(value);
            }
            StmtKind::SetBlock {
                target,
                filter,
                body,
            } => {
                self.target(target);
                self.exprs(filter);
                self.body(body);
            }
            StmtKind::With { bindings, body } => {
                bindings.iter().for_each(|(target, _)| self.target(target));
                bindings.iter().for_each(|(_, value)| self.expr(value));
                self.body(body);
            }
            StmtKind::Include { template, .. }
            | StmtKind::Import { template, .. }
            | StmtKind::FromImport { template, .. } => self.expr(template),
            StmtKind::Load { target, body, .. } => {
                self.body(body);
                self.target(target);
            }
            StmtKind::ImportData {
                template, target, ..
            } => {
                self.expr(template);
                self.target(target);
            }
            StmtKind::Autoescape {
                enabled: expr,
                body,
            }
            | StmtKind::Labelled {
                label: expr, body, ..
            } => {
                self.expr(expr);
                self.body(body);
            }
        }
    }

    fn for_loop(&mut self, node: &For) {
        self.target(&node.target);
        self.expr(&node.iter);
        self.body(&node.body);
        self.body(&node.otherwise);
        self.exprs(&node.filter);
    }

    fn function(&mut self, node: &Macro) {
        node.params
            .iter()
            .for_each(|param| self.assign(&param.name));
        node.params
            .iter()
            .for_each(|param| self.exprs(&param.default));
        self.body(&node.body);
    }

    fn exprs<'e>(&mut self, exprs: impl IntoIterator<Item = &'e Expr>) {
        exprs.into_iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: &Expr) {
        if let ExprKind::Name(name) = &expr.kind {
            self.read(name);
        }
        let Ok(()) = expr.try_each_operand(&mut |operand| {
            self.expr(operand);
            Ok::<(), Infallible>(())
        });
    }
}

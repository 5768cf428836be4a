//! The work of Jinja2's compiler on parts of a template, as far as their form shows.

use super::ast::{Expr, ExprKind, Span, Stmt, StmtKind, Template};

impl Template {
    /// The expressions that would be printed after an `extends`, in the order of the source. Jinja2 does not compile
    /// it.
    ///
    /// ```
    /// use mapstack_jinja::syntax::{Syntax, parse};
    /// let template = parse("{{ a }}{% extends 'b' %}{{ c }}", None, &Syntax::default(), &[]).unwrap();
    /// let unprinted = template.unprinted();
    /// assert_eq!((unprinted.len(), unprinted[0].start), (1, 24));
    /// ```
    #[must_use]
    pub fn unprinted(&self) -> Vec<Span> {
        let mut spans = Vec::new();
        let after = self
            .body
            .iter()
            .skip_while(|stmt| !matches!(stmt.kind, StmtKind::Extends(_)));
        after.for_each(|stmt| outputs(stmt, &mut spans));
        spans
    }
}

/// The spans that a statement prints itself; blocks, macros and captures print elsewhere.
fn outputs(stmt: &Stmt, spans: &mut Vec<Span>) {
    let mut each = |body: &[Stmt]| body.iter().for_each(|stmt| outputs(stmt, spans));
    match &stmt.kind {
        StmtKind::Output(_) => spans.push(stmt.span),
        StmtKind::For(f) => {
            each(&f.body);
            each(&f.otherwise);
        }
        StmtKind::FilterBlock { body, .. }
        | StmtKind::With { body, .. }
        | StmtKind::Autoescape { body, .. } => {
            each(body);
        }
        _ => {}
    }
}

impl Expr {
    /// True if Jinja2 computes the expression when it compiles it, if it can. Literals and containers are computed as
    /// operands only (`jinja2.compiler.optimizeconst`).
    ///
    /// ```
    /// use mapstack_jinja::syntax::ast::StmtKind;
    /// use mapstack_jinja::syntax::{Syntax, parse};
    /// let is_folded = |source| {
    ///     let template = parse(source, None, &Syntax::default(), &[]).unwrap();
    ///     let StmtKind::Output(expr) = &template.body[0].kind else { panic!() };
    ///     expr.is_folded()
    /// };
    /// assert!(is_folded("{{ [1]|first }}") && !is_folded("{{ [1] }}"));
    /// ```
    #[must_use]
    pub fn is_folded(&self) -> bool {
        !matches!(
            self.kind,
            ExprKind::Const(_)
                | ExprKind::Name(_)
                | ExprKind::Tuple(_)
                | ExprKind::List(_)
                | ExprKind::Dict(_)
        )
    }

    /// True if computing the expression may fail in a way that Jinja2 does not catch: an operand that is made of
    /// literals may be undefined where its truth or text counts, or may be a key that no dict can have
    /// (`jinja2.nodes`: the `as_const` of each class).
    ///
    /// ```
    /// use mapstack_jinja::syntax::ast::StmtKind;
    /// use mapstack_jinja::syntax::{Syntax, parse};
    /// let is_risky = |source| {
    ///     let template = parse(source, None, &Syntax::default(), &[]).unwrap();
    ///     let StmtKind::Output(expr) = &template.body[0].kind else { panic!() };
    ///     expr.folds_with_risk()
    /// };
    /// assert!(is_risky("{{ ''|first or 1 }}") && is_risky("{{ {[]: 1} }}"));
    /// assert!(!is_risky("{{ x|first or 1 }}") && !is_risky("{{ {'a': 1} }}"));
    /// ```
    #[must_use]
    pub fn folds_with_risk(&self) -> bool {
        match &self.kind {
            ExprKind::And(left, _) | ExprKind::Or(left, _) => left.may_fold_to_undefined(),
            ExprKind::Cond { test, .. } => test.may_fold_to_undefined(),
            ExprKind::Concat(parts) => parts.iter().any(Expr::may_fold_to_undefined),
            ExprKind::Dict(entries) => entries.iter().any(|(key, _)| {
                !matches!(key.kind, ExprKind::Const(_)) && key.starts_with_literal()
            }),
            _ => false,
        }
    }

    fn may_fold_to_undefined(&self) -> bool {
        matches!(
            self.kind,
            ExprKind::Attr(..)
                | ExprKind::Item(..)
                | ExprKind::Filter { .. }
                | ExprKind::And(..)
                | ExprKind::Or(..)
                | ExprKind::Cond { .. }
        ) && self.starts_with_literal()
    }

    /// True if what is evaluated first is a literal; in nearly all expressions it is a variable.
    fn starts_with_literal(&self) -> bool {
        let mut expr = self;
        loop {
            expr = match &expr.kind {
                ExprKind::Name(_)
                | ExprKind::Call { .. }
                | ExprKind::Filter { input: None, .. } => return false,
                ExprKind::Filter {
                    input: Some(first), ..
                }
                | ExprKind::Attr(first, _)
                | ExprKind::Item(first, _)
                | ExprKind::Slice { object: first, .. }
                | ExprKind::And(first, _)
                | ExprKind::Or(first, _)
                | ExprKind::Cond { test: first, .. } => first,
                _ => return true,
            };
        }
    }
}

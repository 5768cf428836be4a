//! What Jinja refuses when it compiles a template: filters and tests that do not exist, and dicts that cannot be made.
//!
//! Jinja computes what is made of literals when it compiles an expression; where a dict in it has a list as a key, that
//! fails, whether the expression would ever run or not.
//!
//! Inside the branches of an `if` Jinja waits until the branch runs, so that a template can probe
//! for a filter. What would be printed after an `extends` is not compiled at all.

use mapstack_pyobject::{Error, ErrorKind, Result, TemplatePlace};

use mapstack_jinja_syntax::ast::{Expr, ExprKind, Span, Stmt, StmtKind, Template};
use mapstack_jinja_syntax::{Node, visit};

use super::dialect::Dialect;

pub(super) fn check(template: &Template, dialect: &dyn Dialect) -> Result<()> {
    let builtins = dialect.builtins();
    let unprinted = unprinted(template);
    let compiled = |span: Span| {
        !unprinted
            .iter()
            .any(|output| (output.start..output.end).contains(&span.start))
    };
    visit(template, &mut |node, conditional| {
        let Node::Expr(e) = node else {
            return Ok(());
        };
        if !template.unhashable.is_empty() && is_computed(e) {
            unhashable(template, e)?;
        }
        match &e.kind {
            _ if conditional || !compiled(e.span) => Ok(()),
            ExprKind::Filter { name, .. } if builtins.filter(name).is_none() => {
                let known = builtins.filters().map(|(name, _)| name);
                Err(missing(template, "filter", name, e.span, known))
            }
            ExprKind::Test { name, .. } if builtins.test(name).is_none() => {
                let known = builtins.tests().map(|(name, _)| name);
                Err(missing(template, "test", name, e.span, known))
            }
            _ => Ok(()),
        }
    })
}

/// Whether Jinja computes an expression when it compiles it, if it can.
fn is_computed(expr: &Expr) -> bool {
    !matches!(
        expr.kind,
        ExprKind::Const(_)
            | ExprKind::Name(_)
            | ExprKind::Tuple(_)
            | ExprKind::List(_)
            | ExprKind::Dict(_)
    )
}

/// Refuse an expression that holds a dict of literals which cannot be made.
fn unhashable(template: &Template, expr: &Expr) -> Result<()> {
    expr.try_each_operand(&mut |operand| {
        let Span { start, end } = operand.span;
        // The place of an expression in parentheses is that of the parentheses.
        let found = match operand.kind {
            ExprKind::Dict(_) => template.unhashable.range(start..end).next(),
            _ => None,
        };
        match found {
            Some((_, kind)) => Err(Error::new(
                ErrorKind::Syntax,
                format!("unhashable type: '{kind}'"),
            )
            .at(|| TemplatePlace {
                template: template.name.clone(),
                source: template.source.clone(),
                span: operand.span,
            })),
            None => unhashable(template, operand),
        }
    })
}

/// Where a template that extends another one would print.
fn unprinted(template: &Template) -> Vec<Span> {
    let mut spans = Vec::new();
    let after = template
        .body
        .iter()
        .skip_while(|stmt| !matches!(stmt.kind, StmtKind::Extends(_)));
    after.for_each(|stmt| outputs(stmt, &mut spans));
    spans
}

/// What a statement prints itself; blocks, macros and captures print elsewhere.
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

fn missing(
    template: &Template,
    what: &str,
    name: &str,
    span: Span,
    known: impl Iterator<Item = &'static str>,
) -> Box<Error> {
    let mut error = Error::new(
        ErrorKind::Syntax,
        format!("No {what} named {}.", mapstack_value::quote_str(name)),
    );
    if let Some(near) = mapstack_diagnostic::nearest(name, known) {
        error = error.with_help(format!("did you mean '{near}'?"));
    }
    error.at(|| TemplatePlace {
        template: template.name.clone(),
        source: template.source.clone(),
        span,
    })
}

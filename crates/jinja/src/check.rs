//! The errors of Jinja's compiler: filters and tests that do not exist, and [constants](super::fold) that cannot be
//! computed.
//!
//! Inside the branches of an `if` Jinja waits until the branch runs, so that a template can probe
//! for a filter. What would be printed after an `extends` is not compiled at all.

use std::sync::Arc;

use crate::syntax::ast::{ExprKind, Span, Template};
use crate::syntax::{Node, visit};
use mapstack_pyobject::{Error, ErrorKind, Result, TemplatePlace};

use super::dialect::Dialect;
use super::fold::Folding;
use super::interpret::name_span;

/// `strict` says whether undefined values are errors.
pub(super) fn check(template: &Arc<Template>, dialect: &dyn Dialect, strict: bool) -> Result<()> {
    let builtins = dialect.builtins();
    let unprinted = template.unprinted();
    let compiled = |span: Span| {
        let before = unprinted.partition_point(|output| output.start <= span.start);
        unprinted[..before]
            .last()
            .is_none_or(|output| output.end <= span.start)
    };
    let mut folding = Folding::new(template, dialect, strict);
    visit(template, &mut |node, conditional| {
        let e = match node {
            Node::Expr(e) => e,
            Node::Stmt(stmt) => {
                folding.enter(stmt);
                return Ok(());
            }
        };
        if !compiled(e.span) {
            return Ok(());
        }
        folding.meet(e)?;
        let (what, name, exists) = match &e.kind {
            ExprKind::Filter { name, .. } => ("filter", name, builtins.filter(name).is_some()),
            ExprKind::Test { name, .. } => ("test", name, builtins.test(name).is_some()),
            _ => return Ok(()),
        };
        if exists || conditional || folding.is_left_out(e) {
            return Ok(());
        }
        let known: Vec<&str> = match what {
            "filter" => builtins.filters().map(|(name, _)| name).collect(),
            _ => builtins.tests().map(|(name, _)| name).collect(),
        };
        let span = name_span(&template.source, e).unwrap_or(e.span);
        Err(missing(template, what, name, span, known))
    })
}

fn missing(
    template: &Template,
    what: &str,
    name: &str,
    span: Span,
    known: Vec<&str>,
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

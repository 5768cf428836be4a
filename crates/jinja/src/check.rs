//! What Jinja refuses when it compiles a template: filters and tests that do not exist, and [constants](super::fold) that
//! cannot be computed.
//!
//! Inside the branches of an `if` Jinja waits until the branch runs, so that a template can probe
//! for a filter. What would be printed after an `extends` is not compiled at all.

use std::sync::Arc;

use mapstack_jinja_syntax::ast::{ExprKind, Span, Template};
use mapstack_jinja_syntax::{Node, visit};
use mapstack_pyobject::{Error, ErrorKind, Result, TemplatePlace};

use super::dialect::Dialect;
use super::fold::Folding;

/// `strict` says whether undefined values are errors.
pub(super) fn check(template: &Arc<Template>, dialect: &dyn Dialect, strict: bool) -> Result<()> {
    let builtins = dialect.builtins();
    let unprinted = template.unprinted();
    let compiled = |span: Span| {
        let before = unprinted.partition_point(|output| output.start <= span.start);
        !unprinted[..before]
            .last()
            .is_some_and(|output| span.start < output.end)
    };
    let mut folding = Folding::new(template, dialect, strict);
    visit(template, &mut |node, conditional| {
        let Node::Expr(e) = node else {
            return Ok(());
        };
        if !compiled(e.span) {
            return Ok(());
        }
        folding.meet(e)?;
        match &e.kind {
            _ if conditional => Ok(()),
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

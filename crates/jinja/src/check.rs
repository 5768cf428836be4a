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
use super::suggest;

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
        let help = match what {
            "filter" => suggest::for_filter(dialect, name),
            _ => suggest::for_test(dialect, name),
        };
        let span = name_span(&template.source, e).unwrap_or(e.span);
        Err(missing(template, what, name, span, help))
    })
}

fn missing(
    template: &Template,
    what: &str,
    name: &str,
    span: Span,
    help: Option<String>,
) -> Box<Error> {
    let mut error = Error::new(
        ErrorKind::Syntax,
        format!("No {what} named {}.", mapstack_value::quote_str(name)),
    );
    error.help = help;
    error.at(|| TemplatePlace {
        template: template.name.clone(),
        source: template.source.clone(),
        span,
    })
}

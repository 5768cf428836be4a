//! What Jinja refuses when it compiles a template: filters and tests that do not exist.
//!
//! Inside the branches of an `if` Jinja waits until the branch runs, so that a template can probe
//! for a filter.

use super::Dialect;
use super::ast::{ExprKind, Span, Template};
use super::visit::{Node, visit};
use crate::error::{Error, ErrorKind, Place, Result};
use crate::tests;

pub(super) fn check(template: &Template, dialect: Dialect) -> Result<()> {
    visit(template, &mut |node, conditional| match node {
        Node::Expr(e) if !conditional => match &e.kind {
            ExprKind::Filter { name, .. } if dialect.filter(name).is_none() => {
                Err(missing(template, "filter", name, e.span, dialect.filter_names()))
            }
            ExprKind::Test { name, .. } if dialect.test(name).is_none() => {
                Err(missing(template, "test", name, e.span, tests::names()))
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    })
}

fn missing(template: &Template, what: &str, name: &str, span: Span, known: Vec<&'static str>) -> Box<Error> {
    let mut error = Error::new(ErrorKind::Syntax, format!("No {what} named {}.", mapstack_value::quote_str(name)));
    if let Some(near) = crate::suggest::nearest(name, known) {
        error = error.with_help(format!("did you mean '{near}'?"));
    }
    error.at(|| Place { template: template.name.clone(), source: template.source.clone(), span })
}

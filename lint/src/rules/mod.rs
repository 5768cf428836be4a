//! The rules: each looks at a [`Subject`] and says what it finds.

mod calls;
mod failures;
mod layers;
mod merging;
mod meta;
mod reach;
mod scalars;
mod schema;
mod syntax;

use crate::finding::Finding;
use crate::subject::Subject;

pub(crate) use failures::unanswered_calls;
pub(crate) use schema::check as schema;

/// Everything that is found, in no order.
pub(crate) fn all(subject: &Subject<'_>) -> Vec<Finding> {
    let rules = [
        syntax::check,
        scalars::check,
        layers::check,
        merging::check,
        meta::check,
        reach::check,
        calls::check,
        failures::check,
    ];
    rules.iter().flat_map(|rule| rule(subject)).collect()
}

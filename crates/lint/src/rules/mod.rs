//! The rules: each looks at a [`FormulaSubject`] and says what it finds.

mod calls;
mod comparisons;
mod cures;
mod failures;
pub(crate) mod folders;
mod imports;
mod includes;
mod keys;
mod layers;
mod macros;
mod merging;
mod meta;
mod misused;
mod reach;
mod refused;
mod scalars;
mod schema;
mod sources;
mod spelling;
mod syntax;
mod tops;
mod unseen;
mod unused;

use crate::finding::Finding;
use crate::subject::FormulaSubject;

pub(crate) use failures::unanswered_calls;
pub use failures::{
    CallsWithoutAnswer, NOT_FETCHED, of_assumed_grains, offline, on, rule_of_failure, unanswered_by,
};
pub use scalars::traps;
pub(crate) use schema::check as schema;
pub use schema::{Violations, not_checked, origin, read_schema};
pub use unseen::{accidents, joined};

/// Everything that is found, in no order, and the number of rules that the budget of the run was too small for.
pub(crate) fn all(subject: &FormulaSubject<'_>) -> (Vec<Finding>, usize) {
    let rules = [
        syntax::check,
        scalars::check,
        layers::check,
        merging::check,
        meta::check,
        reach::check,
        calls::check,
        failures::check,
        imports::check,
        macros::check,
        includes::check,
        refused::check,
        misused::check,
        sources::check,
        tops::check,
        keys::check,
        spelling::check,
        comparisons::check,
        unseen::check,
        unused::check,
    ];
    let mut findings = Vec::new();
    for (done, rule) in rules.iter().enumerate() {
        if subject.engine.spent().is_some() {
            return (findings, rules.len() - done);
        }
        findings.extend(rule(subject));
    }
    (findings, 0)
}

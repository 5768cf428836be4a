//! The rules: each looks at what the pillars of many minions have shown.

mod causes;
mod ciphertext;
mod failures;
mod lookups;
mod merging;
mod reach;
mod scalars;
mod secrets;
mod strategies;
mod subject;

use crate::Finding;

pub(crate) use failures::unanswered;
pub(crate) use reach::unread;
pub(crate) use subject::PillarSubject;

/// Everything that is found, in no order.
pub(crate) fn all(subject: &PillarSubject<'_>) -> Vec<Finding> {
    let rules = [
        reach::tops,
        reach::targets,
        reach::unused,
        failures::check,
        failures::externals,
        merging::check,
        secrets::check,
        scalars::check,
        ciphertext::check,
        lookups::check,
        strategies::check,
    ];
    rules.iter().flat_map(|rule| rule(subject)).collect()
}

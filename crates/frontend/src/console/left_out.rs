//! The sls that are left out of states.

use mapstack::Error;
use mapstack_report::left_out::LeftOutRow;

use super::Reporter;
use crate::inputs::{Highstate, Refused};

/// The sls that are left out of a minion's states. Their errors are added to others.
pub fn left_out<'i>(
    id: &'i str,
    states: &Highstate<'_>,
    refused: &mut Vec<(&'i str, Error)>,
    reporter: &Reporter,
) -> Vec<LeftOutRow> {
    let redact = |text: &str| reporter.redact(&text.to_owned()).to_string();
    let all = states.left_out().iter();
    let errors = all.clone().flat_map(|one| &one.errors);
    refused.extend(errors.map(|error| (id, error.clone())));
    all.map(|one| LeftOutRow::new(id, one, &redact)).collect()
}

/// True if the sls of a minion are several, of which some may compile.
#[must_use]
pub fn has_parts(states: &Result<Highstate<'_>, Refused>) -> bool {
    states.as_ref().is_ok_and(|states| states.count() > 1)
}

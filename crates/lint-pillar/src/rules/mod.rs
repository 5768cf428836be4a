//! The rules: each looks at what the pillars of many minions have shown.

mod failures;
mod merging;
mod reach;
mod secrets;

use mapstack::secrets::Secrets;
use mapstack_lint::{Document, Finding};

use crate::files::Files;
use crate::seen::Seen;

pub(crate) use failures::unanswered;
pub(crate) use reach::unread;

/// What rules look at.
pub(crate) struct Subject<'s> {
    pub seen: &'s Seen,
    pub files: &'s Files,
    /// What sls amount to: as they render for minions, or as they are if none gets them.
    pub documents: &'s [Document],
    pub secrets: &'s Secrets,
    /// Whether the minions are the ones that the pillar is for.
    pub is_fleet: bool,
}

/// Everything that is found, in no order.
pub(crate) fn all(subject: &Subject<'_>) -> Vec<Finding> {
    let rules = [
        reach::targets,
        reach::unused,
        failures::check,
        merging::check,
        secrets::check,
    ];
    rules.iter().flat_map(|rule| rule(subject)).collect()
}

//! Remarks beside findings.

use std::collections::BTreeMap;

use mapstack::Error;
use mapstack::loader::{NotServed, Unserved};
use mapstack::secrets::Redacted;

use super::text::NAMED;
use crate::words::{count, reason, some};

/// The subjects that could not be looked at, and findings that are left out.
#[derive(Debug, Default)]
pub struct UncheckedSubjects {
    /// The minions that could not be read.
    pub broken: Vec<(String, Redacted<Error>)>,
    /// The names below the roots that are not served, with its formula, or `None` for the pillar.
    pub unserved: Vec<(Option<String>, Unserved)>,
    /// The number of findings that are left out, as this revision has them as well.
    pub old: Option<(String, usize)>,
}

impl UncheckedSubjects {
    /// A line for each reason why something is not served.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut reasons: BTreeMap<(bool, NotServed), Vec<&str>> = BTreeMap::new();
        for (of, one) in &self.unserved {
            let names = reasons.entry((of.is_none(), one.why)).or_default();
            names.push(&one.path);
        }
        let line = |((of_pillar, why), paths): ((bool, NotServed), Vec<&str>)| {
            let of = if of_pillar { "pillar: " } else { "" };
            format!(
                "{of}not looked at: {} ({})",
                some(&paths, NAMED),
                reason(why)
            )
        };
        reasons.into_iter().map(line).collect()
    }

    /// The ends of a summary.
    pub(super) fn counts(&self) -> Vec<String> {
        let mut counts = Vec::new();
        if !self.broken.is_empty() {
            let minions = count(self.broken.len(), "minion");
            counts.push(format!("{minions} not looked at"));
        }
        if let Some((revision, old)) = &self.old {
            counts.push(match old {
                1 => format!("1 finding that {revision} has as well is not shown"),
                _ => format!("{old} findings that {revision} has as well are not shown"),
            });
        }
        counts
    }
}

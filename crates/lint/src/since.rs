//! The findings that another state of the files does not have.

use std::collections::HashMap;
use std::hash::Hash;

use crate::{Finding, LintReport, Rule};

/// Texts of messages and paths of files, in the form that two states of the files have in common.
pub type InCommon<'c> = dyn Fn(&str) -> String + 'c;

/// A finding, as far as the lines above it do not matter.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FindingKey {
    rule: Rule,
    file: String,
    message: String,
    /// The text of its line.
    line: String,
}

impl FindingKey {
    fn of(finding: &Finding, in_common: &InCommon<'_>) -> Self {
        let place = &finding.place;
        let line = match finding.whole_file {
            true => "",
            false => place.line_text(),
        };
        FindingKey {
            rule: finding.rule,
            file: in_common(&place.file),
            message: in_common(&finding.message),
            line: line.trim().to_owned(),
        }
    }
}

/// The findings of a state before; each accounts for one of now.
struct OldFindings(Vec<Option<FindingKey>>);

impl OldFindings {
    /// Match findings that have the same key, as often as both states have it.
    fn matching<'s, K: Hash + Eq>(
        &mut self,
        found: &'s [FindingKey],
        is_old: &mut [bool],
        key: impl for<'a> Fn(&'a FindingKey) -> K,
    ) {
        let mut left: HashMap<K, Vec<usize>> = HashMap::new();
        for (at, old) in self.0.iter().enumerate() {
            if let Some(old) = old {
                left.entry(key(old)).or_default().push(at);
            }
        }
        for (one, is_old) in found.iter().zip(is_old) {
            if *is_old {
                continue;
            }
            let at = left.get_mut(&key(one)).and_then(Vec::pop);
            if let Some(old) = at.and_then(|at| self.0.get_mut(at)) {
                *old = None;
                *is_old = true;
            }
        }
    }
}

/// Take the findings out of reports that those of a state before have as well, wherever their lines are now, and count
/// them. The functions give the form in which paths and messages of now, and of the state before, are the same.
pub fn only_new(
    reports: &mut [(String, LintReport)],
    now: &InCommon<'_>,
    before: &[(String, LintReport)],
    then: &InCommon<'_>,
) -> usize {
    let of_before = before.iter().flat_map(|(_, report)| &report.findings);
    let mut old = OldFindings(
        of_before
            .map(|one| Some(FindingKey::of(one, then)))
            .collect(),
    );
    let found = reports.iter().flat_map(|(_, report)| &report.findings);
    let found: Vec<FindingKey> = found.map(|one| FindingKey::of(one, now)).collect();
    let mut is_old = vec![false; found.len()];
    let text = String::clone;
    old.matching(&found, &mut is_old, |one| {
        (
            one.rule,
            text(&one.file),
            text(&one.message),
            text(&one.line),
        )
    });
    // The line itself was changed, and has the mistake that it had.
    old.matching(&found, &mut is_old, |one| {
        (one.rule, text(&one.file), text(&one.message))
    });
    // The file has another name now.
    old.matching(&found, &mut is_old, |one| {
        (one.rule, text(&one.message), text(&one.line))
    });
    let count = is_old.iter().filter(|is_old| **is_old).count();
    let mut is_old = is_old.into_iter();
    for (_, report) in reports {
        report
            .findings
            .retain(|_| !is_old.next().unwrap_or_default());
    }
    count
}

//! Equal results of several cases, each once.

use std::collections::HashMap;

use mapstack::Error;
use mapstack::secrets::Redacted;
use mapstack_expect::{Case, CaseOutcome, Difference};

use super::{ShownDifference, TestReport};
use crate::words::{count, joined};

/// Cases that a failure or some differences concern.
pub(super) type Cases<'r> = Vec<&'r Case>;

/// A failure, and the cases that fail with it.
pub(super) struct FoldedFailure<'r> {
    /// As the first case has it.
    pub error: &'r Error,
    pub redacted: Redacted<Error>,
    pub cases: Cases<'r>,
}

/// Differences that the same cases of a formula have.
pub(super) struct Differences<'r> {
    /// Each with the places of the first case.
    pub all: Vec<(&'r Difference, ShownDifference)>,
    pub cases: Cases<'r>,
}

/// The failures without secrets, in the order of their first cases.
pub(super) fn failures(report: &TestReport) -> Vec<FoldedFailure<'_>> {
    let mut found: Vec<FoldedFailure<'_>> = Vec::new();
    let mut by_message: HashMap<String, Vec<usize>> = HashMap::new();
    for case in &report.cases {
        let CaseOutcome::Fails(error) = &case.outcome else {
            continue;
        };
        let redacted = report.failure(case, error);
        let alike = by_message.entry(redacted.to_string()).or_default();
        // The way to an error can differ where the message does not.
        match alike.iter().find(|at| found[**at].redacted == redacted) {
            Some(at) => found[*at].cases.push(case),
            None => {
                alike.push(found.len());
                found.push(FoldedFailure {
                    error,
                    redacted,
                    cases: vec![case],
                });
            }
        }
    }
    found
}

/// The differences, in the order of their first cases. Two are equal if their texts are, but for the place of
/// the expected value: each case has a different file.
pub(super) fn differences(report: &TestReport) -> Vec<Differences<'_>> {
    let mut found: Vec<(&Difference, ShownDifference, Cases<'_>)> = Vec::new();
    let mut known: HashMap<(&str, String), usize> = HashMap::new();
    let values = |shown: &ShownDifference| {
        [&shown.expected, &shown.actual].map(|value| value.as_ref().map(|value| value.repr()))
    };
    for case in &report.cases {
        let CaseOutcome::Differs(all) = &case.outcome else {
            continue;
        };
        let secrets = report.secrets(case);
        for one in all {
            let shown = report.shown(&secrets, one);
            let path = joined(&shown.path);
            let read = format!("{:?}", (path, values(&shown), &shown.actual_at));
            let at = *known
                .entry((&case.expectation.formula, read))
                .or_insert(found.len());
            match found.get_mut(at) {
                Some((_, _, cases)) => cases.push(case),
                None => found.push((one, shown, vec![case])),
            }
        }
    }
    together(found)
}

/// Put differences of the same cases together.
fn together<'r>(all: Vec<(&'r Difference, ShownDifference, Cases<'r>)>) -> Vec<Differences<'r>> {
    let mut found: Vec<Differences<'r>> = Vec::new();
    let mut known: HashMap<Vec<*const Case>, usize> = HashMap::new();
    for (one, shown, cases) in all {
        let key = cases.iter().map(|case| std::ptr::from_ref(*case)).collect();
        let at = *known.entry(key).or_insert(found.len());
        match found.get_mut(at) {
            Some(same) => same.all.push((one, shown)),
            None => found.push(Differences {
                all: vec![(one, shown)],
                cases,
            }),
        }
    }
    found
}

/// The formulas of some cases, and which cases they are, if there are several: "on 2 cases: debian-12, debian-13".
pub(super) fn concerned(cases: &[&Case]) -> (String, Option<String>) {
    let mut formulas: Vec<&str> = Vec::new();
    for case in cases {
        if !formulas.contains(&case.expectation.formula.as_str()) {
            formulas.push(&case.expectation.formula);
        }
    }
    if let [case] = cases {
        let title = format!("{} {}", case.expectation.formula, case.name());
        return (title, None);
    }
    let name = |case: &&Case| match formulas.len() {
        1 => case.name(),
        _ => format!("{} {}", case.expectation.formula, case.name()),
    };
    let names: Vec<String> = cases.iter().map(name).collect();
    let on = format!("on {}: {}", count(cases.len(), "case"), names.join(", "));
    (formulas.join(", "), Some(on))
}

//! Results for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use mapstack_expect::{Case, CaseOutcome};

use super::{ShownDifference, TestReport, folded, summary};
use crate::diff::changed;
use crate::room::Room;
use crate::terminal::{KEY, Styled};
use crate::words::joined;

/// The results for people.
#[must_use]
pub fn text(report: &TestReport) -> Styled {
    let mut text = Styled::default();
    let mut room = Room::default();
    // Both are in the order of their first cases.
    let mut failures = folded::failures(report).into_iter().peekable();
    let mut differences = folded::differences(report).into_iter().peekable();
    for case in &report.cases {
        let is_first = |cases: &[&Case]| cases.first().is_some_and(|one| std::ptr::eq(*one, case));
        match &case.outcome {
            CaseOutcome::Same | CaseOutcome::Skipped(_) => {}
            CaseOutcome::Differs(_) => {
                while let Some(one) = differences.next_if(|one| is_first(&one.cases)) {
                    differing(&one, &mut room, &mut text);
                }
            }
            CaseOutcome::Fails(error) => {
                if let Some(one) = failures.next_if(|one| is_first(&one.cases)) {
                    text.in_room(&mut room, |text| {
                        titled(&one.cases, "fails", "fail", text);
                        // Writing to text does not fail.
                        let _ = writeln!(text, "\n  {}\n", report.message(case, error));
                    });
                }
            }
            CaseOutcome::Written { was_there, clear } => {
                text.add(
                    KEY,
                    &format!("{} {}", case.expectation.formula, case.name()),
                );
                text.plain(&written(case, *was_there, *clear));
            }
        }
    }
    if report
        .cases
        .iter()
        .any(|case| matches!(case.outcome, CaseOutcome::Written { .. }))
    {
        text.plain("\n");
    }
    if let Some(left_out) = room.left_out("difference") {
        let _ = writeln!(text, "{left_out}\n");
    }
    for (reason, names) in skipped(report) {
        let _ = writeln!(text, "skipped {}: {reason}", names.join(", "));
    }
    let _ = writeln!(text, "{}", summary(&report.counts()));
    text
}

/// Add the line above what some cases have in common.
fn titled(cases: &[&Case], one: &str, many: &str, text: &mut Styled) {
    let (formulas, on) = folded::concerned(cases);
    let verb = if formulas.contains(", ") { many } else { one };
    let on = on.map(|on| format!(" {on}")).unwrap_or_default();
    text.add(KEY, &formulas);
    text.plain(&format!(" {verb}{on}"));
}

fn differing(one: &folded::Differences<'_>, room: &mut Room, text: &mut Styled) {
    titled(&one.cases, "differs", "differ", text);
    text.plain("\n");
    for (_, shown) in &one.all {
        text.in_room(room, |text| difference(shown, text));
    }
    text.plain("\n");
}

fn written(case: &Case, was_there: bool, clear: bool) -> String {
    let what = if was_there {
        "recorded again"
    } else {
        "recorded"
    };
    let warning = if clear {
        ", with values of the pillar or of keys like *password* in clear"
    } else {
        ""
    };
    format!(" {what} in {}{warning}\n", case.file())
}

/// The differences of one case.
#[must_use]
pub fn differences(report: &TestReport, case: &Case) -> Styled {
    let mut text = Styled::default();
    if let CaseOutcome::Differs(differences) = &case.outcome {
        let secrets = report.secrets(case);
        for one in differences {
            difference(&report.shown(&secrets, one), &mut text);
        }
    }
    text
}

/// Add a difference, with its places.
fn difference(shown: &ShownDifference, text: &mut Styled) {
    let path = joined(&shown.path);
    let path = if path.is_empty() { "the whole" } else { &path };
    let places = [shown.expected_at.clone(), shown.actual_at.clone()];
    let (expected, actual) = (shown.expected.as_ref(), shown.actual.as_ref());
    text.plain(&format!("  {path}\n"));
    changed(expected, actual, &places, text);
}

/// The skipped cases, by reason.
fn skipped(report: &TestReport) -> Vec<(&str, Vec<String>)> {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for case in &report.cases {
        if let CaseOutcome::Skipped(reason) = &case.outcome {
            let names = reasons.entry(reason).or_default();
            let name = format!("{} {}", case.expectation.formula, case.name());
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    reasons.into_iter().collect()
}

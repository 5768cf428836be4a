//! Results for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use mapstack_expect::{Case, CaseOutcome, Difference};

use super::{Report, Shown, folded, summary};
use crate::diff::changed;
use crate::terminal::Paint;
use crate::words::joined;

/// The results for people.
pub fn text(report: &Report, colored: bool) -> String {
    let paint = Paint { colored };
    let mut text = String::new();
    let failures = folded::failures(report);
    let differences = folded::differences(report);
    for case in &report.cases {
        let is_first = |cases: &[&Case]| cases.first().is_some_and(|one| std::ptr::eq(*one, case));
        match &case.outcome {
            CaseOutcome::Same | CaseOutcome::Skipped(_) => {}
            CaseOutcome::Differs(_) => {
                let own = differences.iter().filter(|one| is_first(&one.cases));
                own.for_each(|one| text.push_str(&differing(one, &paint)));
            }
            CaseOutcome::Fails(error) => {
                if let Some(one) = failures.iter().find(|one| is_first(&one.cases)) {
                    let title = titled(&one.cases, "fails", "fail", &paint);
                    // Writing to text does not fail.
                    let _ = writeln!(text, "{title}\n  {}\n", report.message(case, error));
                }
            }
            CaseOutcome::Written { was_there, clear } => {
                let title = paint.key(&format!("{} {}", case.expectation.formula, case.name()));
                text.push_str(&written(case, &title, *was_there, *clear));
            }
        }
    }
    if report
        .cases
        .iter()
        .any(|case| matches!(case.outcome, CaseOutcome::Written { .. }))
    {
        text.push('\n');
    }
    for (reason, names) in skipped(report) {
        let _ = writeln!(text, "skipped {}: {reason}", names.join(", "));
    }
    let _ = writeln!(text, "{}", summary(&report.counts()));
    text
}

/// The line above what some cases have in common.
fn titled(cases: &[&Case], one: &str, many: &str, paint: &Paint) -> String {
    let (formulas, on) = folded::concerned(cases);
    let verb = if formulas.contains(", ") { many } else { one };
    let on = on.map(|on| format!(" {on}")).unwrap_or_default();
    format!("{} {verb}{on}", paint.key(&formulas))
}

fn differing(one: &folded::Differences<'_>, paint: &Paint) -> String {
    let mut text = format!("{}\n", titled(&one.cases, "differs", "differ", paint));
    for (of, shown) in &one.all {
        text.push_str(&difference(of, shown, paint));
    }
    text.push('\n');
    text
}

fn written(case: &Case, title: &str, was_there: bool, clear: bool) -> String {
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
    format!("{title} {what} in {}{warning}\n", case.file())
}

/// The differences of one case.
pub fn differences(report: &Report, case: &Case, paint: &Paint) -> String {
    let CaseOutcome::Differs(differences) = &case.outcome else {
        return String::new();
    };
    let secrets = report.secrets(case);
    let shown = |one| difference(one, &report.shown(&secrets, one), paint);
    differences.iter().map(shown).collect()
}

/// A difference, with its places.
pub(super) fn difference(of: &Difference, shown: &Shown, paint: &Paint) -> String {
    let path = joined(&of.change.path);
    let path = if path.is_empty() { "the whole" } else { &path };
    let places = [shown.expected_at.clone(), shown.actual_at.clone()];
    let (expected, actual) = (shown.expected.as_ref(), shown.actual.as_ref());
    let mut text = format!("  {path}\n");
    for line in changed(expected, actual, &places, paint).lines() {
        // Writing to text does not fail.
        let _ = writeln!(text, "  {line}");
    }
    text
}

/// The skipped cases, by reason.
fn skipped(report: &Report) -> Vec<(&str, Vec<String>)> {
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

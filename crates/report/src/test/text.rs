//! Results for people.

use std::collections::BTreeMap;
use std::fmt::Write;

use mapstack_expect::{Case, Outcome};

use super::{Report, summary};
use crate::diff::changed;
use crate::terminal::Paint;
use crate::words::joined;

/// The results for people.
pub fn text(report: &Report, colored: bool) -> String {
    let paint = Paint { colored };
    let mut text = String::new();
    for case in &report.cases {
        let title = paint.key(&format!("{} {}", case.expectation.formula, case.name()));
        // Writing to text does not fail.
        let _ = match &case.outcome {
            Outcome::Same | Outcome::Skipped(_) => continue,
            Outcome::Differs(_) => writeln!(
                text,
                "{title} differs\n{}",
                differences(report, case, &paint)
            ),
            Outcome::Fails(error) => {
                writeln!(text, "{title} fails\n  {}\n", report.message(case, error))
            }
            Outcome::Written { was_there, clear } => {
                let what = if *was_there {
                    "recorded again"
                } else {
                    "recorded"
                };
                let warning = if *clear {
                    ", with values of the pillar or of keys like *password* in clear"
                } else {
                    ""
                };
                writeln!(text, "{title} {what} in {}{warning}", case.file())
            }
        };
    }
    if report
        .cases
        .iter()
        .any(|case| matches!(case.outcome, Outcome::Written { .. }))
    {
        text.push('\n');
    }
    for (reason, names) in skipped(report) {
        let _ = writeln!(text, "skipped {}: {reason}", names.join(", "));
    }
    let _ = writeln!(text, "{}", summary(&report.counts()));
    text
}

/// The differences of one case.
pub fn differences(report: &Report, case: &Case, paint: &Paint) -> String {
    let Outcome::Differs(differences) = &case.outcome else {
        return String::new();
    };
    let secrets = report.secrets(case);
    let mut text = String::new();
    for difference in differences {
        let shown = report.shown(&secrets, difference);
        let path = joined(&difference.change.path);
        let _ = writeln!(
            text,
            "  {}",
            if path.is_empty() { "the whole" } else { &path }
        );
        let places = [shown.expected_at, shown.actual_at];
        for line in changed(
            shown.expected.as_ref(),
            shown.actual.as_ref(),
            &places,
            paint,
        )
        .lines()
        {
            let _ = writeln!(text, "  {line}");
        }
    }
    text
}

/// What was skipped, by reason.
fn skipped(report: &Report) -> Vec<(&str, Vec<String>)> {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for case in &report.cases {
        if let Outcome::Skipped(reason) = &case.outcome {
            let names = reasons.entry(reason).or_default();
            let name = format!("{} {}", case.expectation.formula, case.name());
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    reasons.into_iter().collect()
}

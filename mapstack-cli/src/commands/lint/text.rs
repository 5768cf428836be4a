//! Findings for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use mapstack_lint::{Level, Report, Rule, Unanswered};

use super::counts;
use crate::output::{self, count};
use crate::report::{Failure, Reporter};

/// Print findings with excerpts, and count them on standard error.
pub fn print(reports: &[(String, Report)], reporter: &Reporter) -> Result<(), Failure> {
    let mut text = String::new();
    for (_, report) in reports {
        for finding in &report.findings {
            let level = finding.level;
            if level == Level::Error || !reporter.is_quiet() {
                text.push_str(&reporter.finding(
                    &report.diagnostic(finding),
                    level,
                    finding.rule.name(),
                    finding.whole_file,
                ));
                text.push_str("\n\n");
            }
        }
    }
    output::write(&text)?;
    for (formula, report) in reports {
        for (function, unanswered) in &report.unanswered {
            reporter.say(&not_followed(formula, function, unanswered));
        }
        for (why, files) in by_reason(report) {
            reporter.say(&format!(
                "{formula}: not looked at: {} ({why})",
                some(&files)
            ));
        }
    }
    reporter.say(&summary(reports));
    Ok(())
}

/// What was not looked at, and what to do about it.
fn not_followed(formula: &str, function: &str, unanswered: &Unanswered) -> String {
    let names = |all: &BTreeSet<String>| some(&all.iter().map(String::as_str).collect::<Vec<_>>());
    let (minions, files) = (names(&unanswered.minions), names(&unanswered.files));
    format!(
        "{formula} was not followed beyond {function} in {files} on {minions}: nothing answers it here; see --stub and --allow"
    )
}

/// The files that nothing looked into, by the reason.
fn by_reason(report: &Report) -> BTreeMap<&str, Vec<&str>> {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, why) in &report.ignored {
        reasons.entry(why).or_default().push(path);
    }
    reasons
}

/// The first of some names, and how many more there are.
fn some(names: &[&str]) -> String {
    let shown = names.iter().take(3).copied().collect::<Vec<_>>().join(", ");
    match names.len().checked_sub(3) {
        None | Some(0) => shown,
        Some(more) => format!("{shown} and {more} more"),
    }
}

/// How much was found, and in what.
fn summary(reports: &[(String, Report)]) -> String {
    let found: Vec<String> = counts(reports)
        .into_iter()
        .filter(|(_, n)| *n > 0)
        .map(|(level, n)| count(n, level.name()))
        .collect();
    let found = if found.is_empty() {
        "nothing found".to_owned()
    } else {
        found.join(", ")
    };
    let files = reports.iter().map(|(_, report)| report.files).sum();
    let minions = reports
        .iter()
        .map(|(_, report)| report.minions)
        .max()
        .unwrap_or_default();
    let formulas = count(reports.len(), "formula");
    let mut text = format!(
        "{found} in {formulas} ({}), on {}",
        count(files, "file"),
        count(minions, "minion")
    );
    let silenced: usize = reports.iter().map(|(_, report)| report.suppressed).sum();
    if silenced > 0 {
        text.push_str(&format!("; {silenced} silenced by comments"));
    }
    text
}

/// The rules, each on a line.
pub fn rules() -> String {
    let width = Rule::ALL
        .iter()
        .map(|rule| rule.name().len())
        .max()
        .unwrap_or_default();
    let mut text = String::new();
    for rule in Rule::ALL {
        // Writing to text does not fail.
        let _ = writeln!(
            text,
            "{:width$}  {:7}  {}",
            rule.name(),
            rule.level().name(),
            rule.about()
        );
    }
    text
}

//! Findings for people.

use std::collections::BTreeSet;
use std::fmt::Write;

use mapstack_lint::{Level, Report, Rule};

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
        for (function, minions) in &report.unanswered {
            reporter.say(&not_followed(formula, function, minions));
        }
    }
    reporter.say(&summary(reports));
    Ok(())
}

/// What was not looked at, and what to do about it.
fn not_followed(formula: &str, function: &str, minions: &BTreeSet<String>) -> String {
    let shown: Vec<&str> = minions.iter().take(3).map(String::as_str).collect();
    let more =
        if minions.len() > shown.len() { format!(" and {} more", minions.len() - shown.len()) } else { String::new() };
    format!(
        "{formula} was not followed beyond {function} on {}{more}: nothing answers it here; see --stub and --allow",
        shown.join(", ")
    )
}

/// How much was found, and in what.
fn summary(reports: &[(String, Report)]) -> String {
    let found: Vec<String> =
        counts(reports).into_iter().filter(|(_, n)| *n > 0).map(|(level, n)| count(n, level.name())).collect();
    let found = if found.is_empty() { "nothing found".to_owned() } else { found.join(", ") };
    let files = reports.iter().map(|(_, report)| report.files).sum();
    let minions = reports.iter().map(|(_, report)| report.minions).max().unwrap_or_default();
    let formulas = count(reports.len(), "formula");
    let mut text = format!("{found} in {formulas} ({}), on {}", count(files, "file"), count(minions, "minion"));
    let silenced: usize = reports.iter().map(|(_, report)| report.suppressed).sum();
    if silenced > 0 {
        text.push_str(&format!("; {silenced} silenced by comments"));
    }
    text
}

/// The rules, each on a line.
pub fn rules() -> String {
    let width = Rule::ALL.iter().map(|rule| rule.name().len()).max().unwrap_or_default();
    let mut text = String::new();
    for rule in Rule::ALL {
        // Writing to text does not fail.
        let _ = writeln!(text, "{:width$}  {:7}  {}", rule.name(), rule.level().name(), rule.about());
    }
    text
}

//! Findings for people.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use mapstack::Means;
use mapstack_lint::fix::FixedFile;
use mapstack_lint::{CallsWithoutAnswer, Finding, Level, LintReport, Rule, SlsCounts};

use super::most::ShownFindings;
use super::{Folded, UncheckedSubjects, folded};
use crate::line_diff::patch;
use crate::words::{count, some};

/// Reports for people: findings of one cause are shown once.
pub struct LintText<'r> {
    reports: &'r [(String, LintReport)],
    aside: &'r UncheckedSubjects,
    /// The causes of each report.
    causes: Vec<Vec<Folded<'r>>>,
}

impl<'r> LintText<'r> {
    /// The reports by the names of what they are about.
    #[must_use]
    pub fn new(reports: &'r [(String, LintReport)], aside: &'r UncheckedSubjects) -> Self {
        let findings = reports.iter().map(|(_, report)| &report.findings[..]);
        LintText {
            reports,
            aside,
            causes: folded(findings),
        }
    }

    /// The findings with excerpts, as `finding` prints one: one for each cause, or each by itself.
    pub fn findings(
        &self,
        only_errors: bool,
        each: bool,
        finding: impl Fn(&LintReport, &Finding) -> String,
    ) -> String {
        let (mut text, mut most) = (String::new(), ShownFindings::default());
        for ((_, report), causes) in self.reports.iter().zip(&self.causes) {
            let shown = |one: &&Finding| one.level == Level::Error || !only_errors;
            let mut add = |one: &Finding| {
                most.show(one.rule, || {
                    let before = text.len();
                    text.push_str(&finding(report, one));
                    text.push_str("\n\n");
                    text.len() - before
                });
            };
            match each {
                true => report.findings.iter().filter(shown).for_each(add),
                false => {
                    let causes = causes.iter().filter(|one| shown(&one.first));
                    causes.for_each(|one| add(&one.finding()));
                }
            }
        }
        for left_out in most.left_out() {
            text.push_str(&format!("{left_out}\n\n"));
        }
        text
    }

    /// The notes beside the findings: what nothing looked at, and how much was found.
    #[must_use]
    pub fn notes(&self) -> Vec<String> {
        let mut notes = not_looked_at(self.reports);
        notes.extend(self.aside.notes());
        let causes = self.causes.iter().flatten();
        notes.push(summary(self.reports, self.aside, causes));
        notes
    }
}

/// The files that nothing looked at, of each report.
fn not_looked_at(reports: &[(String, LintReport)]) -> Vec<String> {
    let mut notes = Vec::new();
    for (formula, report) in reports {
        let (supported, all) = (report.supported, report.minions);
        if supported < all {
            notes.push(format!(
                "{formula}: failures on {} of {} do not count: its FORMULA file is not for such systems",
                all - supported,
                count(all, "minion")
            ));
        }
        if let Some(reached) = &report.reached {
            let notes_of = of_estate(report, reached).into_iter();
            notes.extend(notes_of.map(|note| format!("{formula}: {note}")));
            continue;
        }
        for (function, unanswered) in &report.unanswered {
            notes.push(not_followed(formula, function, unanswered));
        }
        for (why, files) in by_reason(report) {
            let files = some(&files, NAMED);
            notes.push(format!("{formula}: not looked at: {files} ({why})"));
        }
        let remarks = report.remarks.iter();
        notes.extend(remarks.map(|remark| format!("{formula}: {remark}")));
    }
    notes
}

/// The states of an estate that were looked at, and those that were not: a line for each kind, as there can be hundreds
/// of files.
fn of_estate(report: &LintReport, reached: &SlsCounts) -> Vec<String> {
    let minions = count(report.minions, "minion");
    let mut looked = Vec::new();
    if reached.has_top {
        looked.push(format!(
            "{} that {minions} {} by top files",
            reached.gotten,
            if report.minions == 1 { "gets" } else { "get" }
        ));
    }
    if reached.unnamed > 0 {
        let why = match reached.has_top {
            true => "that none gets, each rendered for one minion",
            false => "rendered for one minion, as there is no top file",
        };
        looked.push(format!("{} {why}", reached.unnamed));
    }
    let mut notes = Vec::new();
    if !looked.is_empty() {
        let all = reached.gotten + reached.unnamed;
        notes.push(format!("{all} sls: {}", looked.join(", ")));
    }
    if !report.unanswered.is_empty() {
        let functions: Vec<&String> = report.unanswered.keys().collect();
        let files: BTreeSet<&String> = report
            .unanswered
            .values()
            .flat_map(|one| &one.files)
            .collect();
        let files: Vec<&String> = files.into_iter().collect();
        notes.push(format!(
            "nothing answers {} here, so {} were not followed to the end; {} prints a file of \
             answers to fill in, for {}",
            some(&functions, NAMED_FOLDERS),
            some(&files, NAMED),
            Means::Answers,
            Means::Stub
        ));
    }
    let (sls, others): (Vec<_>, Vec<_>) = report
        .ignored
        .iter()
        .partition(|(path, _)| path.ends_with(".sls"));
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, why) in sls {
        reasons.entry(why).or_default().push(path);
    }
    for (why, files) in reasons {
        let files = some(&files, NAMED);
        notes.push(format!("not looked at: {files} ({why})"));
    }
    if !others.is_empty() {
        notes.push(format!(
            "not looked at: {} that Salt reads without rendering (judged by name)",
            count(others.len(), "other file")
        ));
    }
    notes.extend(report.remarks.iter().cloned());
    notes
}

/// Files and minions that are named.
pub(super) const NAMED: usize = 3;

/// The note about what was not looked at, and what to do about it.
fn not_followed(formula: &str, function: &str, unanswered: &CallsWithoutAnswer) -> String {
    let names = |all: &BTreeSet<String>| some(&all.iter().collect::<Vec<_>>(), NAMED);
    let (minions, files) = (names(&unanswered.minions), names(&unanswered.files));
    format!(
        "{formula} was not followed beyond {function} in {files} on {minions}: nothing answers it here; see {} and {}",
        Means::Stub,
        Means::Permission(None)
    )
}

/// The files that nothing looked into, by the reason.
fn by_reason(report: &LintReport) -> BTreeMap<&str, Vec<&str>> {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (path, why) in &report.ignored {
        reasons.entry(why).or_default().push(path);
    }
    reasons
}

/// The number of findings, and what they are in.
fn summary<'f>(
    reports: &[(String, LintReport)],
    aside: &UncheckedSubjects,
    causes: impl Iterator<Item = &'f Folded<'f>>,
) -> String {
    let all: usize = reports
        .iter()
        .map(|(_, report)| report.findings.len())
        .sum();
    let causes: Vec<Level> = causes.map(|one| one.first.level).collect();
    let mut found: Vec<String> = [Level::Error, Level::Warning, Level::Note]
        .into_iter()
        .map(|level| (level, causes.iter().filter(|one| **one == level).count()))
        .filter(|(_, n)| *n > 0)
        .map(|(level, n)| count(n, level.name()))
        .collect();
    if all > causes.len()
        && let Some(last) = found.last_mut()
    {
        last.push_str(&format!(" (at {all} places)"));
    }
    let is_cut = reports.iter().any(|(_, report)| report.unfinished > 0);
    let found = if found.is_empty() {
        match is_cut {
            true => "nothing found so far".to_owned(),
            false => "nothing found".to_owned(),
        }
    } else {
        found.join(", ")
    };
    let minions = reports
        .iter()
        .map(|(_, report)| report.minions)
        .max()
        .unwrap_or_default();
    let mut text = format!(
        "{found} in {} ({}), on {}",
        subjects(reports),
        looked(reports),
        count(minions, "minion")
    );
    let missed = missed(reports, aside.unserved.len());
    if !missed.is_empty() {
        text.push_str(&format!("; {}", missed.join(", ")));
    }
    let silenced: usize = reports.iter().map(|(_, report)| report.suppressed).sum();
    if silenced > 0 {
        text.push_str(&format!("; {silenced} silenced by comments"));
    }
    for more in aside.counts() {
        text.push_str(&format!("; {more}"));
    }
    text
}

/// The formulas and the pillar that were looked at.
fn subjects(reports: &[(String, LintReport)]) -> String {
    let is = |is_it: fn(&LintReport) -> bool| reports.iter().filter(|(_, one)| is_it(one)).count();
    let pillars = is(|report| report.is_pillar);
    let states = is(|report| report.reached.is_some());
    let formulas = reports.len() - pillars - states;
    let mut subjects = Vec::new();
    if states > 0 {
        subjects.push("the states".to_owned());
    }
    if formulas > 0 || subjects.is_empty() && pillars == 0 {
        subjects.push(count(formulas, "formula"));
    }
    if pillars > 0 {
        subjects.push("the pillar".into());
    }
    match subjects.pop() {
        Some(last) if !subjects.is_empty() => format!("{} and {last}", subjects.join(", ")),
        last => last.unwrap_or_default(),
    }
}

/// The number of files, and how many of each kind were looked at.
fn looked(reports: &[(String, LintReport)]) -> String {
    let sum = |of: fn(&LintReport) -> usize| reports.iter().map(|(_, report)| of(report)).sum();
    let kinds: [(usize, &str); 4] = [
        (sum(|report| report.looked.states), "sls file"),
        (sum(|report| report.looked.parameters), "parameter file"),
        (sum(|report| report.looked.data), "data file"),
        (sum(|report| report.looked.templates), "template"),
    ];
    let kinds: Vec<String> = kinds
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, kind)| count(n, kind))
        .collect();
    let files = count(sum(|report| report.files), "file");
    match kinds.is_empty() {
        true => files,
        false => format!("{files}: {}", kinds.join(", ")),
    }
}

/// The numbers of files that were not looked at, or only in part.
fn missed(reports: &[(String, LintReport)], unserved: usize) -> Vec<String> {
    let distinct = |of: fn(&LintReport) -> Vec<&String>| -> usize {
        let files: BTreeSet<&String> = reports.iter().flat_map(|(_, report)| of(report)).collect();
        files.len()
    };
    let missed = [
        (
            distinct(|report| report.ignored.keys().collect()) + unserved,
            "not looked at",
        ),
        (
            distinct(|report| {
                let unanswered = report.unanswered.values();
                unanswered.flat_map(|one| &one.files).collect()
            }),
            "not followed to the end",
        ),
        (
            distinct(|report| report.lacking.iter().collect()),
            "needing facts of other minions",
        ),
    ];
    missed
        .into_iter()
        .filter(|(n, _)| *n > 0)
        .map(|(n, what)| format!("{} {what}", count(n, "file")))
        .collect()
}

/// The number of folders that are named of those left out.
const NAMED_FOLDERS: usize = 10;

/// The folders with states that are not formulas and were left out.
pub fn not_formulas(others: &BTreeSet<String>) -> Option<String> {
    let names: Vec<&str> = others.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| {
        format!(
            "not looked at: {} (no parameters/, map.jinja or init.sls; name it to have it checked)",
            some(&names, NAMED_FOLDERS)
        )
    })
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

/// The changes, without what secrets there are in the lines around them.
pub fn fixes(files: &BTreeMap<String, FixedFile>, starred: &dyn Fn(&str) -> String) -> String {
    let of = |(file, change): (&String, &FixedFile)| {
        let (before, after) = (starred(&change.before), starred(&change.after));
        patch(&before, &after, file, file)
    };
    files.iter().map(of).collect()
}

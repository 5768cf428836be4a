//! Findings for programs.

use std::borrow::Cow;
use std::collections::BTreeSet;

use mapstack_lint::{Level, LintReport};
use serde::Serialize;

use super::{UncheckedSubjects, counts};
use crate::document::{DocumentSubject, names};

/// Names that are not served and are listed.
const MAX_UNSERVED: usize = 100;

/// Mistakes in formulas and pillars.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Findings<'r> {
    /// The formulas that were checked.
    formulas: Vec<&'r str>,
    /// True if the pillar was checked.
    pillar: bool,
    findings: Vec<Finding<'r>>,
    /// Functions that cannot be answered, so that what depends on them was not checked.
    not_followed: Vec<NotFollowed<'r>>,
    not_looked_at: Vec<NotLookedAt<'r>>,
    /// The minions that could not be read.
    minions_not_looked_at: Vec<Broken<'r>>,
    /// Remarks on what else was not checked.
    remarks: Vec<&'r str>,
    /// Files that fail for want of a fact that minions here do not have.
    lacking_facts: Vec<LackingFacts<'r>>,
    summary: Summary,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct NotFollowed<'r> {
    /// None for the pillar.
    formula: Option<&'r str>,
    function: &'r str,
    /// Their ids, sorted.
    minions: &'r BTreeSet<String>,
    files: &'r BTreeSet<String>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct NotLookedAt<'r> {
    /// None for the pillar.
    formula: Option<&'r str>,
    file: &'r str,
    why: Cow<'r, str>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Broken<'r> {
    minion: &'r str,
    error: String,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct LackingFacts<'r> {
    /// None for the pillar.
    formula: Option<&'r str>,
    file: &'r str,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Summary {
    /// Findings that are errors.
    errors: usize,
    /// Findings that are warnings.
    warnings: usize,
    /// Findings that are notes.
    notes: usize,
    /// Findings that a comment silences.
    silenced: usize,
    /// Files that were checked.
    files: usize,
    /// Minions that they were checked for.
    minions: usize,
    /// Minions that could not be read.
    minions_not_looked_at: usize,
    /// The names below the roots that are not served: links to nothing, names that are not UTF-8 and the like. The first
    /// hundred are in `not_looked_at`.
    not_served: usize,
    /// With --since: findings that the revision has as well, which are left out.
    old: Option<usize>,
    looked_at: LookedAt,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct LookedAt {
    /// States and sls of the pillar.
    sls_files: usize,
    /// Layers of formulas.
    parameter_files: usize,
    /// Other files of data.
    data_files: usize,
    /// Other templates.
    templates: usize,
}

/// A mistake. One about a whole file has no line.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Finding<'r> {
    /// docs/lint.md describes each.
    rule: &'r str,
    level: LevelName,
    message: &'r str,
    of: DocumentSubject,
    /// None for the pillar.
    formula: Option<&'r str>,
    #[serde(flatten)]
    place: FindingPlace<'r>,
    /// Other places that it is about.
    related: Vec<RelatedRow<'r>>,
    notes: &'r [String],
    /// The advice.
    help: Option<&'r str>,
    /// The edits that `--fix` makes.
    fix: Vec<Edit<'r>>,
}

names! {
    LevelName of Level, "lowercase": Error, Warning, Note
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct FindingPlace<'r> {
    /// As the command was given its root, with /.
    file: &'r str,
    #[serde(flatten)]
    range: Option<Range>,
}

/// A part of a text.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct Range {
    #[cfg_attr(feature = "schemas", schemars(range(min = 1)))]
    pub line: usize,
    /// In characters.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1)))]
    pub column: usize,
    #[cfg_attr(feature = "schemas", schemars(range(min = 1)))]
    pub end_line: usize,
    /// Behind the last character.
    #[cfg_attr(feature = "schemas", schemars(range(min = 1)))]
    pub end_column: usize,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct RelatedRow<'r> {
    /// As the command was given its root, with /.
    file: &'r str,
    #[serde(flatten)]
    range: Range,
    what: &'r str,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Edit<'r> {
    /// As the command was given its root, with /.
    file: &'r str,
    #[serde(flatten)]
    range: Range,
    /// The text to put there.
    text: &'r str,
}

impl<'r> Findings<'r> {
    /// One document with everything.
    pub fn new(reports: &'r [(String, LintReport)], aside: &'r UncheckedSubjects) -> Self {
        let findings = reports.iter().flat_map(|of| {
            let findings = of.1.findings.iter();
            findings.map(move |one| Finding::of(of, one))
        });
        let not_followed = reports.iter().flat_map(|of| {
            let unanswered = of.1.unanswered.iter();
            unanswered.map(move |(function, unanswered)| NotFollowed {
                formula: formula(of),
                function,
                minions: &unanswered.minions,
                files: &unanswered.files,
            })
        });
        let not_looked_at = reports.iter().flat_map(|of| {
            let formula = formula(of);
            let ignored = of.1.ignored.iter();
            ignored.map(move |(file, why)| NotLookedAt {
                formula,
                file,
                why: why.as_str().into(),
            })
        });
        let unserved = aside.unserved.iter().take(MAX_UNSERVED);
        let unserved = unserved.map(|(formula, one)| NotLookedAt {
            formula: formula.as_deref(),
            file: &one.path,
            why: crate::words::reason(one.why).into(),
        });
        let broken = aside.broken.iter().map(|(minion, error)| Broken {
            minion,
            error: error.to_string(),
        });
        let lacking_facts = reports.iter().flat_map(|of| {
            let formula = formula(of);
            let lacking = of.1.lacking.iter();
            lacking.map(move |file| LackingFacts { formula, file })
        });
        let remarks = reports.iter().flat_map(|(_, report)| &report.remarks);
        Findings {
            formulas: reports.iter().filter_map(formula).collect(),
            pillar: reports.iter().any(|(_, report)| report.is_pillar),
            findings: findings.collect(),
            not_followed: not_followed.collect(),
            not_looked_at: not_looked_at.chain(unserved).collect(),
            minions_not_looked_at: broken.collect(),
            remarks: remarks.map(String::as_str).collect(),
            lacking_facts: lacking_facts.collect(),
            summary: Summary::of(reports, aside),
        }
    }
}

impl Summary {
    fn of(reports: &[(String, LintReport)], aside: &UncheckedSubjects) -> Self {
        let [errors, warnings, notes] = counts(reports).map(|(_, n)| n);
        let sum = |of: fn(&LintReport) -> usize| reports.iter().map(|(_, report)| of(report)).sum();
        let minions = reports.iter().map(|(_, report)| report.minions);
        Summary {
            errors,
            warnings,
            notes,
            silenced: sum(|report| report.suppressed),
            files: sum(|report| report.files),
            minions: minions.max().unwrap_or_default(),
            minions_not_looked_at: aside.broken.len(),
            not_served: aside.unserved.len(),
            old: aside.old.as_ref().map(|(_, old)| *old),
            looked_at: LookedAt {
                sls_files: sum(|report| report.looked.states),
                parameter_files: sum(|report| report.looked.parameters),
                data_files: sum(|report| report.looked.data),
                templates: sum(|report| report.looked.templates),
            },
        }
    }
}

/// The formula that something is about; none for the pillar.
fn formula((name, report): &(String, LintReport)) -> Option<&str> {
    (!report.is_pillar).then_some(name)
}

impl<'r> Finding<'r> {
    fn of(of: &'r (String, LintReport), finding: &'r mapstack_lint::Finding) -> Self {
        let related = finding.related.iter().map(|step| RelatedRow {
            file: &step.place.file,
            range: Range::of(&step.place),
            what: &step.what,
        });
        let fix = finding.fix.iter().map(|edit| Edit {
            file: &finding.place.file,
            range: Range::of(&mapstack::Place {
                start: edit.start,
                end: edit.end,
                ..finding.place.clone()
            }),
            text: &edit.text,
        });
        Finding {
            rule: finding.rule.name(),
            level: finding.level.into(),
            message: &finding.message,
            of: DocumentSubject::new(of.1.is_pillar),
            formula: formula(of),
            place: FindingPlace {
                file: &finding.place.file,
                range: (!finding.whole_file).then(|| Range::of(&finding.place)),
            },
            related: related.collect(),
            notes: &finding.notes,
            help: finding.help.as_deref(),
            fix: fix.collect(),
        }
    }
}

impl Range {
    /// From the first character to behind the last.
    pub(super) fn of(place: &mapstack::Place) -> Self {
        let behind = mapstack::Place {
            start: place.end.max(place.start),
            ..place.clone()
        };
        Range {
            line: place.line(),
            column: place.column(),
            end_line: behind.line(),
            end_column: behind.column(),
        }
    }
}

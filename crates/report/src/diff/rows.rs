//! Differences for programs.

use std::collections::{BTreeSet, HashMap};

use mapstack::minion::SaltVersion;
use mapstack::{ConfigurationMethod, Error, message_text};
use mapstack_fleet::{self as fleet, ChangeGroup, ComparedResult, ErrorTurn};
use serde::Serialize;

use super::DiffReport;
use super::departed::{self, DepartedRow};
use super::renames::renames;
use super::state_rows::{self, OrderRow, StateRow, UnknownInBoth};
use crate::document::{Data, Document, DocumentSubject, Steps, names};
use crate::origin::OriginRow;

/// Names that are not served and are listed.
const MAX_UNSERVED: usize = 100;

/// The effects of a change of the files on minions.
///
/// `mapstack watch -o jsonl` prints one such object a line, with `files`.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Differences<'r> {
    /// Only from `watch`: the files that changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    files: Option<&'r [String]>,
    /// The state before.
    from: &'r str,
    /// The state after.
    to: &'r str,
    /// The versions of Salt before and after, where they differ.
    salt_versions: Option<[&'static str; 2]>,
    /// The formulas that were compared.
    formulas: BTreeSet<&'r str>,
    /// The way in which each formula makes its configuration.
    configurations: Vec<Configuration<'r>>,
    /// The number of files that differ.
    files_changed: usize,
    /// Changed files that no compared result depends on, by kind.
    not_compared: &'r [String],
    /// Files that no compared result depends on and that have another name now.
    renamed: Vec<RenameRow<'r>>,
    /// Changed files that do not matter to Salt, such as documents and tests; they are not counted.
    unrelated: &'r [String],
    /// The number of names below the roots that are not served, such as links to nothing and names that are not UTF-8, and
    /// are different or may be.
    not_served_count: usize,
    /// The first hundred of them.
    not_served: Vec<&'r str>,
    /// True if pillars were compared.
    pillars: bool,
    /// Changed files of the pillar that no minion gets.
    not_compared_of_pillar: &'r [String],
    /// Changed files outside of all roots.
    not_compared_elsewhere: usize,
    /// Changed files outside of the repository that nothing compared reads.
    not_compared_outside: &'r [String],
    /// Why changes outside of the repository are not known.
    not_looked_at: Option<&'r str>,
    /// Why pillars were not compared.
    pillars_not_compared: Option<&'r str>,
    /// The number of minions.
    minions: usize,
    /// The number of them that could not be compared.
    minions_not_compared: usize,
    /// The number of minions that get something else, or fail in another way.
    affected: usize,
    /// The number of minions that get the same.
    unaffected: usize,
    /// The number of minions in which something fails before and after, each counted once.
    fail_in_both: usize,
    /// The number of them that have other errors now.
    fail_otherwise: usize,
    /// The number of minions that fail now, where nothing failed before.
    fail_now: usize,
    /// The number of minions in which nothing fails any more.
    work_again: usize,
    changes: Vec<Change<'r>>,
    /// True if states and files were compared.
    states_compared: bool,
    /// States that appear, vanish or change.
    states: Vec<StateRow<'r>>,
    /// States that run before or after others than they did.
    order: Vec<OrderRow<'r>>,
    /// The functions and arguments that Salt no longer has in the version of the later state.
    departed: Vec<DepartedRow<'r>>,
    /// The outcomes that are unknown in both states of the files.
    unknown: Vec<UnknownInBoth>,
    failing: Vec<FailureRow<'r>>,
    /// Minions whose facts cannot be read.
    broken: Vec<Broken<'r>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct RenameRow<'r> {
    from: &'r str,
    to: &'r str,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Configuration<'r> {
    formula: &'r str,
    of: MadeBy,
}

names! {
    /// By map.data's parameters or by the formula's own map.jinja.
    MadeBy of ConfigurationMethod, "lowercase": Data, Map
}

/// One change, for all minions that have it.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Change<'r> {
    /// The path with : between its steps.
    key: String,
    path: Steps,
    what: ChangeSubject,
    /// The key, or the formula, that has a value which is gone here.
    renamed_to: Option<String>,
    /// The key, or the formula, that had a value which is new here.
    renamed_from: Option<String>,
    /// Masked, if it is a secret.
    old: Option<Data>,
    /// Masked, if it is a secret.
    new: Option<Data>,
    /// The place of the old value.
    old_origin: Option<OriginRow>,
    /// The place of the new value.
    new_origin: Option<OriginRow>,
    of: DocumentSubject,
    /// The formulas that it is in.
    formulas: Vec<&'r str>,
    /// The number of minions that it is for.
    count: usize,
    /// Their ids, sorted.
    minions: &'r [String],
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum ChangeSubject {
    Added,
    Removed,
    Changed,
}

/// A result that fails before or after, or in both states.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct FailureRow<'r> {
    turn: TurnName,
    of: DocumentSubject,
    /// None for the pillar.
    formula: Option<&'r str>,
    error: String,
    /// The number of minions that it is for.
    count: usize,
    /// Their ids, sorted.
    minions: &'r [String],
}

names! {
    TurnName of ErrorTurn, "lowercase": Broken, Otherwise, Less, Fixed, Still
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Broken<'r> {
    minion: &'r str,
    error: String,
}

impl<'r> From<&'r DiffReport<'_>> for Differences<'r> {
    fn from(report: &'r DiffReport<'_>) -> Self {
        let (differences, accounting) = (report.differences, report.accounting);
        let secrets = report.secrets();
        let broken = differences.broken.iter().map(|(minion, error)| Broken {
            minion,
            error: message_text(&error.to_string(), &secrets),
        });
        let failing = differences.failures();
        Differences {
            files: None,
            from: report.from,
            to: report.to,
            salt_versions: accounting.versions.map(|both| both.map(SaltVersion::name)),
            formulas: report.names(),
            configurations: accounting
                .configurations
                .iter()
                .map(Configuration::of)
                .collect(),
            files_changed: accounting.changed,
            not_compared: &accounting.not_compared,
            renamed: accounting
                .renamed
                .iter()
                .map(|(from, to)| RenameRow { from, to })
                .collect(),
            unrelated: &accounting.unrelated,
            not_served_count: accounting.unserved.len(),
            not_served: accounting
                .unserved
                .iter()
                .take(MAX_UNSERVED)
                .map(|one| one.path.as_str())
                .collect(),
            pillars: accounting.pillars.is_some(),
            not_compared_of_pillar: accounting.unread_pillar(),
            not_compared_elsewhere: accounting.elsewhere,
            not_compared_outside: &accounting.outside,
            not_looked_at: accounting.unknown_outside.as_deref(),
            pillars_not_compared: accounting.no_pillars.as_deref(),
            minions: differences.minions,
            minions_not_compared: differences.not_compared,
            affected: differences.affected(),
            unaffected: differences.unaffected,
            fail_in_both: differences.failing_minions.both,
            fail_otherwise: differences.failing_minions.otherwise,
            fail_now: differences.failing_minions.now,
            work_again: differences.failing_minions.again,
            changes: changes(report),
            states_compared: differences.states.are_compared(),
            states: state_rows::states(report),
            order: state_rows::order(report),
            departed: departed::rows(&differences.states),
            unknown: state_rows::unknown(report),
            failing: failing
                .map(|(turn, one)| FailureRow::of(report, turn, one))
                .collect(),
            broken: broken.collect(),
        }
    }
}

/// The changes, each with the one that it is a new name of.
fn changes<'r>(report: &'r DiffReport<'_>) -> Vec<Change<'r>> {
    let groups: Vec<&ChangeGroup> = report.differences.groups().iter().collect();
    let to = renames(&groups);
    let from: HashMap<usize, usize> = to.iter().map(|(gone, new)| (*new, *gone)).collect();
    let name = |at: Option<&usize>| {
        let group = groups.get(*at?)?;
        Some(match group.change.is_of_whole() {
            true => report.subjects(&group.subjects),
            false => report.key(group),
        })
    };
    let changes = groups.iter().enumerate().map(|(at, group)| Change {
        renamed_to: name(to.get(&at)),
        renamed_from: name(from.get(&at)),
        ..Change::of(report, group)
    });
    changes.collect()
}

/// The differences of one change among several on one line of JSON, with the files that are different.
///
/// # Errors
/// As [`Document::json`].
pub fn line(report: &DiffReport<'_>, files: &[String]) -> Result<String, Error> {
    let differences = Differences {
        files: Some(files),
        ..Differences::from(report)
    };
    differences.json_line()
}

impl<'r> Configuration<'r> {
    fn of((formula, way): &'r (String, ConfigurationMethod)) -> Self {
        Configuration {
            formula,
            of: (*way).into(),
        }
    }
}

impl<'r> Change<'r> {
    fn of(report: &'r DiffReport<'_>, group: &'r ChangeGroup) -> Self {
        let (old, new) = report.values(group);
        Change {
            key: report.key(group),
            path: report.path(group),
            what: match (&old, &new) {
                (None, _) => ChangeSubject::Added,
                (_, None) => ChangeSubject::Removed,
                _ => ChangeSubject::Changed,
            },
            renamed_to: None,
            renamed_from: None,
            old: old.map(Data),
            new: new.map(Data),
            old_origin: group.old_origin.as_ref().map(OriginRow::from),
            new_origin: group.new_origin.as_ref().map(OriginRow::from),
            of: DocumentSubject::new(group.subjects.contains(&ComparedResult::Pillar)),
            formulas: formulas(report, &group.subjects).collect(),
            count: group.minions.len(),
            minions: &group.minions,
        }
    }
}

/// The formulas among what changed.
fn formulas<'r>(
    report: &'r DiffReport<'_>,
    subjects: &[ComparedResult],
) -> impl Iterator<Item = &'r str> {
    subjects.iter().filter_map(|subject| match subject {
        ComparedResult::Formula(index) => report.formulas.get(*index).map(String::as_str),
        ComparedResult::Pillar | ComparedResult::States => None,
    })
}

impl<'r> FailureRow<'r> {
    fn of(report: &'r DiffReport<'_>, turn: ErrorTurn, failing: &'r fleet::SharedFailure) -> Self {
        FailureRow {
            turn: turn.into(),
            of: match failing.subject {
                ComparedResult::States => DocumentSubject::States,
                subject => DocumentSubject::new(subject == ComparedResult::Pillar),
            },
            formula: formulas(report, &[failing.subject]).next(),
            error: report.message(failing),
            count: failing.minions.len(),
            minions: &failing.minions,
        }
    }
}

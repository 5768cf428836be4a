//! Changes of what states do, for programs.

use mapstack::secrets::Secrets;
use mapstack_fleet::Change;
use mapstack_fleet::states::{
    Causes, FileCauses, FileChange, OrderChange, PlanChange, StateChange, StateName, StatesGroup,
};
use serde::Serialize;

use super::DiffReport;
use super::causes::{CauseRow, LineRow};
use super::states::{kind, secrets, shown_values, texts};
use crate::document::Data;
use crate::words::{joined, shown_path};

/// A state that appears, vanishes or changes, for all minions that have the change.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct StateRow<'r> {
    what: StateFate,
    /// The state now, or the one that is gone.
    state: NameRow,
    /// The state before, if it had another name.
    was: Option<NameRow>,
    /// The file and the line of the state before.
    old_place: Option<&'r str>,
    /// The file and the line of the state now.
    new_place: Option<&'r str>,
    /// The arguments and parts of the name that changed, without those that the change of a file shows.
    arguments: Vec<ArgumentRow>,
    /// The files that changed.
    files: Vec<ChangedFileRow>,
    /// Of a state that is gone, the places that it came from: the value that its name is made of, or the entry that gave the minion
    /// its sls. Of changes that differ only in the names of minions, the first has places, here and below.
    old_origins: Vec<CauseRow>,
    /// The same of a state that is new.
    new_origins: Vec<CauseRow>,
    /// The states that react, such as `restarts service ssh`.
    reactions: Vec<String>,
    /// The sls that are run one by one, without top files.
    runs: Vec<&'r str>,
    /// The number of minions that it is for.
    count: usize,
    /// Their ids, sorted.
    minions: &'r [String],
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum StateFate {
    Added,
    Removed,
    Changed,
}

/// The name of a state.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct NameRow {
    saltenv: String,
    sls: String,
    id: String,
    /// The function, such as `pkg.installed`.
    function: String,
    name: String,
}

/// An argument that changed.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct ArgumentRow {
    /// The argument with : between its keys.
    argument: String,
    /// Masked, if it is a secret.
    old: Option<Data>,
    /// Masked, if it is a secret.
    new: Option<Data>,
    /// The places of the old value, or of what it was made of; of a list, those of the items that go.
    old_origins: Vec<CauseRow>,
    /// The same of the new value.
    new_origins: Vec<CauseRow>,
}

/// A file that changed.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct ChangedFileRow {
    what: StateFate,
    /// The path on the minion.
    path: String,
    /// file, part of file, directory, link, absent file
    kind: &'static str,
    /// The source before.
    old_source: Option<String>,
    /// The source now.
    new_source: Option<String>,
    /// The attributes that changed, such as the mode.
    attributes: Vec<ArgumentRow>,
    /// True if the text changed, or is unknown in one state alone.
    text: bool,
    /// The lines of the text that go and come, with a sign, and some around them. Of many lines there are the first.
    diff: Vec<String>,
    /// The places that these lines come from, as far as they are known.
    lines: Vec<LineRow>,
}

/// A state that runs before or after another one now.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct OrderRow<'r> {
    state: NameRow,
    /// The file and the line of the state.
    place: Option<&'r str>,
    runs: Runs,
    other: NameRow,
    /// The number of minions that it is for.
    count: usize,
    /// Their ids, sorted.
    minions: &'r [String],
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
enum Runs {
    Before,
    After,
}

/// A thing about a state that is unknown in both states of the files.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub(super) struct UnknownInBoth {
    /// The kind of reason.
    reason: String,
    state: NameRow,
    /// The number of minions that it is for.
    count: usize,
}

impl NameRow {
    fn of(name: &StateName, secrets: &Secrets) -> Self {
        let shown = |text: &str| secrets.scrubbed(text);
        NameRow {
            saltenv: name.saltenv.to_string(),
            sls: name.sls.to_string(),
            id: shown(&name.id),
            function: format!("{}.{}", name.module, name.function),
            name: shown(&name.name),
        }
    }
}

impl ArgumentRow {
    fn of(change: &Change, causes: Option<&Causes>, secrets: &Secrets) -> Self {
        let [old, new] = shown_values(change, secrets);
        let [old_origins, new_origins] = rows_of(causes, secrets);
        ArgumentRow {
            argument: joined(&shown_path(&change.path, secrets)),
            old: old.map(Data),
            new: new.map(Data),
            old_origins,
            new_origins,
        }
    }
}

impl ChangedFileRow {
    fn of(file: &FileChange, causes: Option<&FileCauses>, secrets: &Secrets) -> Option<Self> {
        let one = file.new.as_ref().or(file.old.as_ref())?;
        let source = |side: &Option<mapstack_fleet::states::PlannedFile>| {
            side.as_ref()?
                .source
                .as_deref()
                .map(|source| secrets.scrubbed(source))
        };
        let lines = file.has_text.then(|| texts(file, None, secrets));
        let lines = lines.unwrap_or_default();
        let attributes = file.attributes.iter().enumerate();
        let of_attribute = |at: usize| causes.and_then(|causes| causes.attributes.get(at));
        Some(ChangedFileRow {
            what: fate(file.old.is_some(), file.new.is_some()),
            path: secrets.scrubbed(&one.path),
            kind: kind(one),
            old_source: source(&file.old),
            new_source: source(&file.new),
            attributes: attributes
                .map(|(at, change)| ArgumentRow::of(change, of_attribute(at), secrets))
                .collect(),
            text: file.has_text,
            lines: causes
                .map(|causes| LineRow::all(&lines, causes, secrets))
                .unwrap_or_default(),
            diff: lines
                .into_iter()
                .map(|line| format!("{} {}", line.sign.as_char(), line.text))
                .collect(),
        })
    }
}

/// The causes on both sides.
fn rows_of(causes: Option<&Causes>, secrets: &Secrets) -> [Vec<CauseRow>; 2] {
    let nothing = Causes::default();
    let causes = causes.unwrap_or(&nothing);
    causes
        .each_ref()
        .map(|causes| CauseRow::all(causes, secrets))
}

fn fate(was: bool, is: bool) -> StateFate {
    match (was, is) {
        (false, _) => StateFate::Added,
        (_, false) => StateFate::Removed,
        _ => StateFate::Changed,
    }
}

/// The states that appear, vanish or change.
pub(super) fn states<'r>(report: &'r DiffReport<'_>) -> Vec<StateRow<'r>> {
    let groups = report.differences.states.groups().iter();
    let row = |group: &'r StatesGroup| match &group.change {
        PlanChange::State(change) => row(report, group, change),
        PlanChange::Order(_) => None,
    };
    groups.filter_map(row).collect()
}

fn row<'r>(
    report: &DiffReport<'_>,
    group: &'r StatesGroup,
    change: &'r StateChange,
) -> Option<StateRow<'r>> {
    let secrets = secrets(report, group);
    let name = change.new.as_ref().or(change.old.as_ref())?;
    let was = change.old.as_ref().filter(|old| *old != name);
    let [old_place, new_place] = group.places.each_ref().map(Option::as_deref);
    let arguments = change.arguments.iter().enumerate();
    let causes = group.causes.as_ref();
    let [old_origins, new_origins] = rows_of(causes.map(|causes| &causes.state), &secrets);
    Some(StateRow {
        what: fate(change.old.is_some(), change.new.is_some()),
        state: NameRow::of(name, &secrets),
        was: was.map(|name| NameRow::of(name, &secrets)),
        old_place,
        new_place,
        arguments: arguments
            .map(|(at, change)| {
                let of = causes.and_then(|causes| causes.arguments.get(at));
                ArgumentRow::of(change, of, &secrets)
            })
            .collect(),
        files: change
            .files
            .iter()
            .enumerate()
            .filter_map(|(at, file)| {
                let of = causes.and_then(|causes| causes.files.get(at));
                ChangedFileRow::of(file, of, &secrets)
            })
            .collect(),
        old_origins,
        new_origins,
        reactions: change
            .reactions
            .iter()
            .map(|reaction| secrets.scrubbed(&reaction.to_string()))
            .collect(),
        runs: group.runs.iter().map(String::as_str).collect(),
        count: group.minions.len(),
        minions: &group.minions,
    })
}

/// The states that moved.
pub(super) fn order<'r>(report: &'r DiffReport<'_>) -> Vec<OrderRow<'r>> {
    let groups = report.differences.states.groups().iter();
    let row = |group: &'r StatesGroup| {
        let PlanChange::Order(change) = &group.change else {
            return None;
        };
        let change: &OrderChange = change;
        let secrets = secrets(report, group);
        Some(OrderRow {
            state: NameRow::of(&change.state, &secrets),
            place: group.places[1].as_deref(),
            runs: match change.is_before {
                true => Runs::Before,
                false => Runs::After,
            },
            other: NameRow::of(&change.other, &secrets),
            count: group.minions.len(),
            minions: &group.minions,
        })
    };
    groups.filter_map(row).collect()
}

/// An outcome that is unknown in both states.
pub(super) fn unknown(report: &DiffReport<'_>) -> Vec<UnknownInBoth> {
    let secrets = report.secrets();
    let all = report.differences.states.unknown();
    all.map(|group| UnknownInBoth {
        reason: group.cause.reason.clone(),
        state: NameRow::of(&group.cause.state, &secrets),
        count: group.minions,
    })
    .collect()
}

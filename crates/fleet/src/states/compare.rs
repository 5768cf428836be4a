//! The changes between two plans of a minion.

use std::sync::Arc;

use mapstack::value::{Key, Map, Str, Value};
use mapstack_files::Attributes;
use mapstack_states::compile::is_of_every_state;

use super::arguments::{attribute, is_text};
use super::order::{OrderChange, moved};
use super::pairing::pairs;
use super::plan::{MinionPlan, PlannedFile, PlannedState, PlannedText, StateName};
use super::plans::ShownParts;
use super::reactions::{Reaction, reactions};
use super::unknown::{UnknownCause, unknown};
use crate::change::{Change, changes};

/// The changes between two plans, each of which is there once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlanChanges {
    /// The states that appear, vanish or change, in the order in which they run.
    pub states: Vec<StateChange>,
    /// The states that run before or after others than they did.
    pub order: Vec<OrderChange>,
    /// The outcomes that are unknown in both plans.
    pub unknown: Vec<UnknownCause>,
    /// The states with a changed list of sources of which the same one is chosen.
    pub relisted: Vec<StateName>,
}

/// A state that appears, vanishes or changes.
#[derive(Debug, Clone, PartialEq)]
pub struct StateChange {
    /// The state before; nothing if it appears.
    pub old: Option<StateName>,
    /// The state now; nothing if it vanishes.
    pub new: Option<StateName>,
    /// The parts of its name and its arguments that changed. What the change of a file shows is not among them.
    pub arguments: Vec<Change>,
    /// Its files that changed, by their paths.
    pub files: Vec<FileChange>,
    /// The states that react to the change.
    pub reactions: Vec<Reaction>,
}

/// A file of a state that is not what it was.
#[derive(Debug, Clone, PartialEq)]
pub struct FileChange {
    /// The file before, if it was there.
    pub old: Option<PlannedFile>,
    /// The file now, if it is there.
    pub new: Option<PlannedFile>,
    /// Its attributes that changed, such as the mode.
    pub attributes: Vec<Change>,
    /// True if its text changed, or is known in one state of the files alone.
    pub has_text: bool,
}

impl PlanChanges {
    /// Leave out what is not shown.
    pub(crate) fn keep(&mut self, shown: ShownParts) {
        if !shown.states {
            self.order.clear();
            self.states.retain(|change| !change.files.is_empty());
            for change in &mut self.states {
                change.arguments.clear();
            }
        }
        if !shown.files {
            for change in &mut self.states {
                change.files.clear();
            }
            let is_said = |change: &StateChange| {
                change.old.is_none() || change.new.is_none() || !change.arguments.is_empty()
            };
            self.states.retain(is_said);
        }
    }

    /// True if nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.states.is_empty() && self.order.is_empty()
    }
}

/// The changes from one plan to another.
///
/// ```
/// use mapstack_fleet::states::{MinionPlan, compare};
/// let plan = MinionPlan::default();
/// assert!(compare(&plan, &plan).is_empty());
/// ```
#[must_use]
pub fn compare(before: &MinionPlan, after: &MinionPlan) -> PlanChanges {
    let (old, new) = (&before.states[..], &after.states[..]);
    let mut found = PlanChanges::default();
    let mut both = Vec::new();
    for pair in pairs(old, new) {
        let change = match pair {
            (Some(gone), None) => Some(vanished(&old[gone])),
            (None, Some(at)) => Some(appeared(&new[at])),
            (Some(from), Some(to)) => {
                both.push((from, to));
                found.unknown.extend(unknown(&old[from], &new[to]));
                let is_relisted = old[from].sources != new[to].sources
                    && old[from].arguments.get("source") == new[to].arguments.get("source");
                if is_relisted {
                    found.relisted.push(new[to].name.clone());
                }
                match Arc::ptr_eq(&old[from], &new[to]) {
                    true => None,
                    false => changed(&old[from], &new[to]),
                }
            }
            (None, None) => None,
        };
        let Some(mut change) = change else { continue };
        if let (Some(at), true) = (pair.1, does_something(&change)) {
            change.reactions = reactions(new, at);
        }
        found.states.push(change);
    }
    found.order = moved(&both, new);
    found
}

/// True if a change makes the state report changes, to which other states react.
fn does_something(change: &StateChange) -> bool {
    let is_own = |change: &Change| {
        let name = change.path.first().and_then(Key::as_str);
        !name.is_some_and(|name| is_of_every_state(name) || matches!(name, "ID" | "sls"))
    };
    change.old.is_none()
        || change.files.iter().any(|file| file.new.is_some())
        || change.arguments.iter().any(is_own)
}

fn vanished(state: &PlannedState) -> StateChange {
    StateChange {
        old: Some(state.name.clone()),
        new: None,
        arguments: Vec::new(),
        files: Vec::new(),
        reactions: Vec::new(),
    }
}

fn appeared(state: &PlannedState) -> StateChange {
    let files: Vec<FileChange> = state.files.iter().map(new_file).collect();
    let found = changes(&Map::new().into(), &state.arguments.clone().into());
    StateChange {
        old: None,
        new: Some(state.name.clone()),
        arguments: beside(found, &files),
        files,
        reactions: Vec::new(),
    }
}

fn changed(old: &PlannedState, new: &PlannedState) -> Option<StateChange> {
    let found = changes(&old.arguments.clone().into(), &new.arguments.clone().into());
    let mut files = file_changes(old, new);
    let sets_attribute = |change: &Change| {
        let name = change.path.first().and_then(Key::as_str);
        name.is_some_and(|name| attribute(name).is_some())
    };
    // The same attribute of all files of a state is said once.
    if new.files.len() > 1 && found.iter().any(sets_attribute) {
        for file in &mut files {
            if file.old.is_some() && file.new.is_some() {
                file.attributes.clear();
            }
        }
        files.retain(|file| file.has_text || !file.attributes.is_empty() || is_one_sided(file));
    }
    let mut arguments = names(&old.name, &new.name);
    arguments.extend(beside(found, &files));
    (!arguments.is_empty() || !files.is_empty()).then(|| StateChange {
        old: Some(old.name.clone()),
        new: Some(new.name.clone()),
        arguments,
        files,
        reactions: Vec::new(),
    })
}

fn is_one_sided(file: &FileChange) -> bool {
    file.old.is_none() || file.new.is_none()
}

/// The parts of a name that changed.
fn names(old: &StateName, new: &StateName) -> Vec<Change> {
    let parts = [
        ("saltenv", &old.saltenv, &new.saltenv),
        ("sls", &old.sls, &new.sls),
        ("ID", &old.id, &new.id),
        ("function", &old.function, &new.function),
        ("name", &old.name, &new.name),
    ];
    let parts = parts.into_iter().filter(|(_, old, new)| old != new);
    parts
        .map(|(part, old, new)| of_text(part, Some(old), Some(new)))
        .collect()
}

fn of_text(part: &str, old: Option<&Str>, new: Option<&Str>) -> Change {
    let value = |text: &Str| Value::Str(text.clone());
    Change {
        path: vec![part.into()],
        old: old.map(value),
        new: new.map(value),
    }
}

/// The changes of arguments without those that changes of files show.
fn beside(found: Vec<Change>, files: &[FileChange]) -> Vec<Change> {
    let has_text = files.iter().any(shows_text);
    let is_shown = |change: &Change| {
        let Some(name) = change.path.first().and_then(Key::as_str) else {
            return false;
        };
        let by_attribute = attribute(name).is_some_and(|attribute| {
            let shows =
                |change: &Change| change.path.first().and_then(Key::as_str) == Some(attribute);
            files.iter().any(|file| file.attributes.iter().any(shows))
        });
        // The source of a new file is named with it.
        let is_source = name == "source" && matches!(files, [file] if is_new_of_source(file));
        is_source || by_attribute || (has_text && is_text(name))
    };
    found
        .into_iter()
        .filter(|change| !is_shown(change))
        .collect()
}

fn is_new_of_source(file: &FileChange) -> bool {
    let source = file.new.as_ref().and_then(|new| new.source.as_ref());
    file.old.is_none() && source.is_some_and(|source| source.starts_with("salt://"))
}

/// True if the text is one that can be shown, as far as there is any.
fn shows_text(file: &FileChange) -> bool {
    let is_known =
        |file: &Option<PlannedFile>| file.as_ref().is_none_or(|file| file.text.is_known());
    file.has_text && is_known(&file.old) && is_known(&file.new)
}

fn file_changes(old: &PlannedState, new: &PlannedState) -> Vec<FileChange> {
    if let ([old], [new]) = (&old.files[..], &new.files[..]) {
        return file_change(old, new).into_iter().collect();
    }
    let of = |files: &'_ [PlannedFile], path: &str| -> Option<PlannedFile> {
        files.iter().find(|file| file.path == path).cloned()
    };
    let mut paths: Vec<&str> = old.files.iter().map(|file| &*file.path).collect();
    paths.extend(new.files.iter().map(|file| &*file.path));
    paths.sort_unstable();
    paths.dedup();
    let changes =
        paths
            .into_iter()
            .filter_map(|path| match (of(&old.files, path), of(&new.files, path)) {
                (Some(old), Some(new)) => file_change(&old, &new),
                (None, Some(new)) => Some(new_file(&new)),
                (Some(old), None) => Some(FileChange {
                    old: Some(old),
                    new: None,
                    attributes: Vec::new(),
                    has_text: false,
                }),
                (None, None) => None,
            });
    changes.collect()
}

fn new_file(file: &PlannedFile) -> FileChange {
    let nothing = PlannedFile {
        path: file.path.clone(),
        kind: file.kind,
        attributes: Attributes::default(),
        source: None,
        text: PlannedText::Nothing,
    };
    FileChange {
        old: None,
        attributes: attributes(&nothing, file),
        has_text: file.text != PlannedText::Nothing,
        new: Some(file.clone()),
    }
}

fn file_change(old: &PlannedFile, new: &PlannedFile) -> Option<FileChange> {
    let attributes = attributes(old, new);
    let has_text = is_other_text(&old.text, &new.text);
    (has_text || !attributes.is_empty()).then(|| FileChange {
        old: Some(old.clone()),
        new: Some(new.clone()),
        attributes,
        has_text,
    })
}

/// The attributes of a file that changed.
fn attributes(old: &PlannedFile, new: &PlannedFile) -> Vec<Change> {
    let all = |file: &PlannedFile| {
        let kind = ("kind", Value::from(file.kind.name()));
        std::iter::once(kind).chain(file.attributes.entries())
    };
    let set = |value: Value| (!value.is_none()).then_some(value);
    let parts = all(old).zip(all(new));
    let parts = parts.map(|((part, old), (_, new))| (part, set(old), set(new)));
    let is_other = |old: &Option<Value>, new: &Option<Value>| match (old, new) {
        (Some(old), Some(new)) => !old.is_same(new),
        (old, new) => old.is_some() || new.is_some(),
    };
    let parts = parts.filter(|(_, old, new)| is_other(old, new));
    parts
        .map(|(part, old, new)| Change {
            path: vec![part.into()],
            old,
            new,
        })
        .collect()
}

/// True if a text is not what it was. Of two that are unknown that is not known.
fn is_other_text(old: &PlannedText, new: &PlannedText) -> bool {
    match (old, new) {
        (PlannedText::Unknown { .. }, PlannedText::Unknown { .. }) => false,
        (PlannedText::Failed { said: old, .. }, PlannedText::Failed { said: new, .. }) => {
            without_sources(old) != without_sources(new)
        }
        (old, new) => old != new,
    }
}

/// A message without the list of sources at its end, which has the minion's id.
fn without_sources(said: &str) -> &str {
    said.split_once(": salt://").map_or(said, |(said, _)| said)
}

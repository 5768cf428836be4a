//! Outcomes that the machine decides, unknown in both states of the files.

use mapstack::value::Value;

use super::plan::{PlannedState, PlannedText, StateName};

/// A thing about a state that is unknown in both states of the files.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UnknownCause {
    /// The kind of reason.
    pub reason: String,
    /// The state.
    pub state: StateName,
}

/// Arguments by which the machine decides if a state runs.
const CONDITIONS: [&str; 3] = ["onlyif", "unless", "creates"];

/// The outcomes of a state that are unknown before and after.
pub(super) fn unknown(old: &PlannedState, new: &PlannedState) -> Vec<UnknownCause> {
    let both_have = |name: &&&str| {
        let has = |state: &PlannedState| state.arguments.contains_key(**name);
        has(old) && has(new)
    };
    let conditions = CONDITIONS.iter().filter(both_have);
    let mut reasons: Vec<String> = conditions.map(ToString::to_string).collect();
    let is_slot = |state: &PlannedState| state.arguments.values().any(has_slot);
    if new.files.is_empty() && is_slot(old) && is_slot(new) {
        reasons.push("a slot".into());
    }
    for file in &new.files {
        let path = |other: &&super::plan::PlannedFile| other.path == file.path;
        let before = match (&old.files[..], &new.files[..]) {
            ([one], [_]) => Some(one),
            (several, _) => several.iter().find(path),
        };
        let reason = match (before.map(|before| &before.text), &file.text) {
            (Some(PlannedText::Unknown { .. }), PlannedText::Unknown { reason, .. }) => {
                reason.described().to_owned()
            }
            (Some(PlannedText::Failed { .. }), PlannedText::Failed { .. }) => {
                "a file that Salt refuses in both states".to_owned()
            }
            _ => continue,
        };
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let cause = |reason| UnknownCause {
        reason,
        state: new.name.clone(),
    };
    reasons.into_iter().map(cause).collect()
}

fn has_slot(value: &Value) -> bool {
    match value {
        Value::Str(text) => text.starts_with("__slot__:"),
        Value::List(items) => items.iter().any(has_slot),
        Value::Map(map) => map.values().any(has_slot),
        _ => false,
    }
}

//! States that react to what changes.

use std::sync::Arc;

use mapstack::value::Value;

use super::plan::{PlannedState, ReactionKind, StateName};

/// A state that does something because another one changes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Reaction {
    /// The reaction as a verb, such as `restarts`.
    pub verb: &'static str,
    /// The state module, such as `service`.
    pub module: String,
    /// The name that its function gets.
    pub name: String,
}

impl std::fmt::Display for Reaction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.verb, self.module, self.name)
    }
}

/// The states that react to a state, and those that react to these, in the order in which they run.
pub(super) fn reactions(states: &[Arc<PlannedState>], changed: usize) -> Vec<Reaction> {
    let mut changes = vec![false; states.len()];
    if let Some(changes) = changes.get_mut(changed) {
        *changes = true;
    }
    let mut found = Vec::new();
    // A state can listen to a later one, so this repeats until it finds nothing new.
    loop {
        let before = found.len();
        for (at, state) in states.iter().enumerate() {
            let reacts = state.reacts.iter();
            let mut reacts = reacts.filter(|(to, how)| {
                let counts = *how == ReactionKind::Running || state.watches;
                counts && changes.get(*to).copied().unwrap_or(false)
            });
            if changes[at] {
                continue;
            }
            if let Some((_, how)) = reacts.next() {
                changes[at] = true;
                found.push((at, reaction(state, *how)));
            }
        }
        if found.len() == before {
            break;
        }
    }
    found.sort();
    found.into_iter().map(|(_, reaction)| reaction).collect()
}

fn reaction(state: &PlannedState, how: ReactionKind) -> Reaction {
    let StateName {
        module,
        function,
        name,
        ..
    } = &state.name;
    let is_on = |argument: &str| state.arguments.get(argument).is_some_and(Value::truthy);
    let verb = match (how, &**module, &**function) {
        (ReactionKind::Running, ..) | (_, "cmd" | "module", _) => "runs",
        (_, "service", "dead" | "disabled" | "masked") => "stops",
        (_, "service", _) if is_on("reload") => "reloads",
        (_, "service", _) => "restarts",
        _ => "triggers",
    };
    Reaction {
        verb,
        module: module.to_string(),
        name: name.to_string(),
    }
}

//! Pillars: what they are made of, the outcome of each file, what a pillar loses in JSON, and messages in it.

use mapstack::value::{Map, Value};

mod json_form;
mod messages;
mod reasons;
mod sources;
mod trace;

pub use json_form::{check, lost};
pub use messages::add_messages;
pub use sources::PillarSources;
pub use trace::{Trace, TracedMinions};

/// The pillar of the only minion that is meant, or those of many by their ids.
#[must_use]
pub fn of_one_or_many(mut all: Map, many: bool) -> Value {
    match all.pop() {
        Some((_, one)) if !many => one,
        Some((id, last)) => {
            all.insert(id, last);
            all.into()
        }
        None => Value::map(),
    }
}

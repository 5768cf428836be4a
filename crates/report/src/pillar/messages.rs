//! Messages in a pillar, for a master that reads nothing else.

use mapstack::value::{Map, Value};

use crate::terminal::sanitize;

/// The keys that messages go to. Salt knows the first: a minion with errors in its pillar applies no states.
const ERRORS: &str = "_errors";
const WARNINGS: &str = "_warnings";

/// The beginning of messages: their reader looks at a minion, which has several external pillars.
const WHO: &str = "mapstack pillar";

/// Put messages into a pillar, behind those that it has.
///
/// ```
/// use mapstack::value::Map;
/// let mut pillar = Map::from_iter([("a", 1)]);
/// mapstack_report::pillar::add_messages(&mut pillar, &["b".into()], &[]);
/// assert_eq!(mapstack::value::Value::from(pillar).repr(), "{'a': 1, '_errors': ['mapstack pillar: b']}");
/// ```
pub fn add_messages(pillar: &mut Map, errors: &[String], warnings: &[String]) {
    append(pillar, ERRORS, errors);
    append(pillar, WARNINGS, warnings);
}

fn append(pillar: &mut Map, name: &str, messages: &[String]) {
    if messages.is_empty() {
        return;
    }
    let there = match pillar.get(name) {
        Some(Value::List(there)) => there.to_vec(),
        Some(other) => vec![other.clone()],
        None => Vec::new(),
    };
    let own = messages
        .iter()
        .map(|message| Value::from(format!("{WHO}: {}", sanitize(message))));
    pillar.insert(name, there.into_iter().chain(own).collect::<Value>());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_behind_those_that_a_pillar_has() {
        let mut pillar: Map = [
            ("_errors", Value::from_iter(["a"])),
            ("_warnings", "b".into()),
        ]
        .into_iter()
        .collect();
        add_messages(&mut pillar, &["c".into()], &["d\u{1b}".into()]);
        let expected = "{'_errors': ['a', 'mapstack pillar: c'], '_warnings': ['b', 'mapstack pillar: d\u{fffd}']}";
        assert_eq!(Value::from(pillar).repr(), expected);
    }
}

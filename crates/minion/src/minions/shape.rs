//! Telling by its shape what a mapping says of minions.

use mapstack_value::{Map, Value};

use crate::error::{ReadError, ReadErrorKind};
use crate::read::{KEYS, LOCAL, Positions, minion_of};
use crate::{Minion, Part};

/// Grains by which a mapping is recognised as grains: every minion has most of them, and as text.
const GRAINS: [&str; 8] = [
    "cpuarch",
    "fqdn",
    "host",
    "kernel",
    "os",
    "os_family",
    "osfinger",
    "saltversion",
];

/// Salt's text for a minion that did not answer.
const NO_ANSWER: &str = "Minion did not return";

/// The part of a minion that is there.
pub(super) enum MinionPart {
    Minion(Minion),
    /// It did not answer, and this was said instead.
    Silent(String),
}

/// The meaning of a mapping at the top of a text.
pub(super) enum Shape {
    /// A document with `id`, `grains`, `pillar` and `opts`, or at least meant to be one.
    Document,
    /// The grains of one minion.
    Grains,
    /// The same as what `salt-call` prints: below `local`.
    Local,
    /// Minions by their ids.
    ByIds,
}

impl Shape {
    pub fn of(map: &Map) -> Self {
        match () {
            () if is_grains(map) => Shape::Grains,
            () if is_document(map) => Shape::Document,
            () if map.len() == 1 && map.get(LOCAL).and_then(Value::as_map).is_some() => {
                Shape::Local
            }
            () => Shape::ByIds,
        }
    }
}

/// The facts about one minion.
pub(super) fn found(value: &Value, at: &Positions<'_>) -> Result<MinionPart, ReadError> {
    let said = match value {
        Value::Map(map) if is_grains(map) => return Ok(MinionPart::Minion(of_grains(map, at))),
        Value::Map(map) if is_document(map) => return minion_of(map, at).map(MinionPart::Minion),
        Value::Map(_) => return Err(at.error(ReadErrorKind::NoFacts)),
        Value::Bool(false) => "false".to_owned(),
        other => match other.as_str() {
            Some(text) => text
                .lines()
                .next()
                .unwrap_or_default()
                .trim_end()
                .to_owned(),
            None => {
                return Err(at.error(ReadErrorKind::NotAMapping {
                    what: "a minion",
                    found: other.kind(),
                }));
            }
        },
    };
    match value.as_str() {
        Some(text) if !text.starts_with(NO_ANSWER) => {
            Err(at.error(ReadErrorKind::NoAnswer { said }))
        }
        _ => Ok(MinionPart::Silent(said)),
    }
}

/// A minion that says its id in its grains.
pub(super) fn of_grains(grains: &Map, at: &Positions<'_>) -> Minion {
    let mut minion = Minion {
        grains: grains.clone(),
        ..Minion::default()
    };
    minion
        .sources
        .inside(at.name, at.start(), Some(Part::Grains));
    minion
}

fn is_grains(map: &Map) -> bool {
    let text = |name: &&str| {
        map.get(*name)
            .and_then(Value::as_str)
            .is_some_and(|text| !text.starts_with(NO_ANSWER))
    };
    GRAINS.iter().any(text)
}

/// True if it has only a document's keys, or is a part of one.
fn is_document(map: &Map) -> bool {
    let parts = [Part::Grains, Part::Pillar, Part::Opts];
    map.keys()
        .all(|key| key.as_str().is_some_and(|key| KEYS.contains(&key)))
        || parts
            .iter()
            .any(|part| map.get(part.name()).and_then(Value::as_map).is_some())
}

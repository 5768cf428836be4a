//! The states and managed files of a formula's sls, before and after the conversion.

use mapstack::minion::Minion;
use mapstack::value::{Key, Map, Value};
use mapstack::{Engine, Error, ErrorKind};
use mapstack_files::{FileOfMinion, SharedFiles};
use mapstack_fleet::changes;
use mapstack_states::compile::is_requisite;
use mapstack_states::{Gatherer, TopOptions};

/// One side of the conversion, with the results that minions share.
pub(crate) struct ConvertedSide<'e> {
    gatherer: Gatherer<'e>,
    files: SharedFiles<'e>,
}

/// The states that an sls gives a minion, and their files.
pub(crate) struct SlsStates {
    pub low: ConvertedStates,
    pub files: Vec<FileOfMinion>,
}

/// The states that an sls gives a minion, or the kind of the fault.
pub(crate) enum ConvertedStates {
    States(Vec<Value>),
    Fails { kind: String, message: String },
}

impl<'e> ConvertedSide<'e> {
    pub fn new(engine: &'e Engine) -> Self {
        ConvertedSide {
            gatherer: Gatherer::new(engine, TopOptions::default()).keeping_low(),
            files: SharedFiles::new(engine),
        }
    }

    /// The states of an sls, with those that it includes.
    ///
    /// `is_empty` is true for a map that was `None` and is now an empty mapping; the two are then equal.
    pub fn given(&self, minion: &Minion, saltenv: &str, sls: &str, is_empty: bool) -> SlsStates {
        let compiled = self
            .gatherer
            .compiled_sls(minion, saltenv, &[sls.to_owned()]);
        match compiled.errors.first() {
            Some(error) => SlsStates {
                low: ConvertedStates::Fails {
                    kind: kind_of(error),
                    message: error.to_string(),
                },
                files: Vec::new(),
            },
            None => SlsStates {
                low: ConvertedStates::States(
                    compiled
                        .low
                        .iter()
                        .map(|chunk| comparable(chunk, is_empty))
                        .collect(),
                ),
                files: self.files.of(minion, &compiled),
            },
        }
    }
}

/// The kind of an error. Statements that moved to `post-map.jinja` now fail with the errors of a template.
pub(crate) fn kind_of(error: &Error) -> String {
    match error.kind() {
        ErrorKind::Undefined => format!("{:?}", ErrorKind::Template),
        // The first words of a refusal are its kind; the names after them are its subject.
        ErrorKind::DataSource => {
            let message = &error.diagnostic().message;
            let words = message.split(['\'', '`', ':']).next();
            words.unwrap_or_default().to_owned()
        }
        kind => format!("{kind:?}"),
    }
}

/// A chunk without the parts that always differ: the number of its place, and the arguments of `map.data`.
fn comparable(chunk: &Value, is_empty: bool) -> Value {
    match chunk {
        Value::Map(map) => {
            let kept = map.iter().filter(|(key, _)| {
                !matches!(key, Key::Str(name) if matches!(&**name, "map_jinja" | "order"))
            });
            let kept = kept.map(|(key, value)| (key.clone(), comparable(value, is_empty)));
            let kept: Map = kept.collect();
            match is_empty && kept.is_empty() {
                true => Value::None,
                false => kept.into(),
            }
        }
        Value::List(items) => {
            let items = items.iter().map(|item| comparable(item, is_empty));
            items.collect::<Vec<_>>().into()
        }
        other => other.clone(),
    }
}

/// The comparison of two lists of states.
pub(crate) enum Compared {
    Same,
    /// The same states in another order.
    Reordered,
    /// The first state that differs: before and after.
    Differ([Option<Value>; 2]),
}

/// Compare the states before and after.
pub(crate) fn compared(before: &[Value], after: &[Value]) -> Compared {
    let differs = |(a, b): &(&Value, &Value)| !changes(a, b).is_empty();
    let mut pairs = before.iter().zip(after);
    let Some((first, second)) = pairs.find(differs) else {
        return match before.len() == after.len() {
            true => Compared::Same,
            false => {
                let at = before.len().min(after.len());
                Compared::Differ([before.get(at).cloned(), after.get(at).cloned()])
            }
        };
    };
    // States in another order give others their requisites in another order, too.
    let mut rest: Vec<Value> = after.iter().map(with_sorted_requisites).collect();
    for state in before {
        let own = with_sorted_requisites(state);
        let found = rest
            .iter()
            .position(|other| changes(&own, other).is_empty());
        match found {
            Some(at) => drop(rest.swap_remove(at)),
            None => {
                let same = after.iter().find(|other| is_same_state(state, other));
                return Compared::Differ(match same {
                    Some(same) => [Some(state.clone()), Some(same.clone())],
                    None => [Some(first.clone()), Some(second.clone())],
                });
            }
        }
    }
    match rest.first() {
        None => Compared::Reordered,
        Some(more) => Compared::Differ([None, Some(more.clone())]),
    }
}

/// A chunk whose requisites are in the order of their texts.
fn with_sorted_requisites(chunk: &Value) -> Value {
    let Value::Map(map) = chunk else {
        return chunk.clone();
    };
    let sorted = map.iter().map(|(key, value)| {
        let value = match (key, value) {
            (Key::Str(name), Value::List(items)) if is_requisite(name) => {
                let mut items: Vec<Value> = items.iter().cloned().collect();
                items.sort_by_cached_key(Value::repr);
                items.into()
            }
            _ => value.clone(),
        };
        (key.clone(), value)
    });
    sorted.collect::<Map>().into()
}

/// True if two chunks belong to one state, even if their arguments differ.
fn is_same_state(a: &Value, b: &Value) -> bool {
    let identity = |chunk: &Value| {
        let chunk = chunk.as_map()?;
        Some(["state", "fun", "__id__", "name"].map(|key| chunk.get(key).cloned()))
    };
    identity(a).is_some_and(|own| {
        identity(b).is_some_and(|other| {
            let mut pairs = own.iter().zip(&other);
            pairs.all(|(a, b)| match (a, b) {
                (Some(a), Some(b)) => a.is_same(b),
                (a, b) => a.is_none() && b.is_none(),
            })
        })
    })
}

//! The size of a value, with shared storage counted at each use.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::Value;

/// The number of values of a value, and how deep it is nested.
///
/// ```
/// use mapstack_value::{Extent, Value};
/// let mut list = Value::from_iter([1, 2]);
/// for _ in 0..40 {
///     list = Value::from_iter([list.clone(), list]);
/// }
/// assert_eq!(Extent::of(&list).depth, 41);
/// assert!(Extent::of(&list).values > 1 << 41);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Scalars, containers and keys.
    pub values: usize,
    /// Containers inside each other.
    pub depth: usize,
}

impl Extent {
    /// The extent of a value. This takes as long as there are containers, however often they are shared.
    #[must_use]
    pub fn of(value: &Value) -> Self {
        measure(value, &mut HashMap::default())
    }
}

const SCALAR: Extent = Extent {
    values: 1,
    depth: 0,
};

fn measure(value: &Value, known: &mut HashMap<usize, Extent, RandomState>) -> Extent {
    let identity = match value {
        Value::List(list) => list.address(),
        Value::Map(map) => map.address(),
        Value::Tuple(items) => return all(items.iter(), 0, known),
        Value::Set(set) => {
            return Extent {
                values: 1 + set.len(),
                depth: 1,
            };
        }
        _ => return SCALAR,
    };
    if let Some(found) = known.get(&identity) {
        return *found;
    }
    let extent = match value {
        Value::List(list) => all(list.iter(), 0, known),
        Value::Map(map) => all(map.values(), map.len(), known),
        _ => SCALAR,
    };
    known.insert(identity, extent);
    extent
}

fn all<'v>(
    items: impl Iterator<Item = &'v Value>,
    keys: usize,
    known: &mut HashMap<usize, Extent, RandomState>,
) -> Extent {
    items.fold(
        Extent {
            values: 1 + keys,
            depth: 1,
        },
        |all, item| {
            let inner = measure(item, known);
            Extent {
                values: all.values.saturating_add(inner.values),
                depth: all.depth.max(inner.depth + 1),
            }
        },
    )
}

/// The size of a value: bytes of text, and entries. Shared storage counts at each use.
///
/// ```
/// use mapstack_value::{Value, weight};
/// assert_eq!(weight(&Value::from("text")), 4);
/// assert_eq!(weight(&["text", ""].into_iter().collect::<Value>()), 5);
/// ```
#[must_use]
pub fn weight(value: &Value) -> usize {
    match value {
        Value::Str(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
        Value::List(items) => items.iter().map(weight).sum::<usize>() + 1,
        Value::Tuple(items) => items.iter().map(weight).sum::<usize>() + 1,
        Value::Map(map) => {
            map.iter()
                .map(|(_, value)| weight(value) + 1)
                .sum::<usize>()
                + 1
        }
        Value::Set(set) => set.len() + 1,
        _ => 1,
    }
}

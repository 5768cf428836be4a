//! The values in data other than mappings, and data with some of them changed.

use mapstack::value::{Key, Map, Value};

/// The paths to all values other than mappings, and to empty mappings.
pub(crate) fn leaves(map: &Map) -> Vec<Vec<Key>> {
    let mut found = Vec::new();
    collect(map, &mut Vec::new(), &mut found);
    found
}

/// The depth below which data is taken as a whole.
const DEPTH: usize = 24;

fn collect(map: &Map, path: &mut Vec<Key>, found: &mut Vec<Vec<Key>>) {
    for (key, value) in map {
        path.push(key.clone());
        match value {
            Value::Map(inner) if !inner.is_empty() && path.len() < DEPTH => {
                collect(inner, path, found);
            }
            _ => found.push(path.clone()),
        }
        path.pop();
    }
}

/// Data in which a function replaces each value other than a mapping; `None` takes it out.
pub(crate) fn mapped(map: &Map, change: &dyn Fn(&Value) -> Option<Value>) -> Map {
    let mut changed = Map::new();
    for (key, value) in map {
        let value = match value {
            Value::Map(inner) if !inner.is_empty() => Some(mapped(inner, change).into()),
            other => change(other),
        };
        if let Some(value) = value {
            changed.insert(key.clone(), value);
        }
    }
    changed
}

/// Data with one value replaced, or taken out.
pub(crate) fn with(map: &Map, path: &[Key], value: Option<Value>) -> Map {
    let mut changed = map.clone();
    let Some((key, rest)) = path.split_first() else {
        return changed;
    };
    match (rest.is_empty(), value) {
        (true, None) => drop(changed.shift_remove(key)),
        (true, Some(value)) => drop(changed.insert(key.clone(), value)),
        (false, value) => {
            let inner = changed.get(key).and_then(Value::as_map).cloned();
            changed.insert(key.clone(), with(&inner.unwrap_or_default(), rest, value));
        }
    }
    changed
}

/// The value at a path.
pub(crate) fn at<'v>(map: &'v Map, path: &[Key]) -> Option<&'v Value> {
    let (key, rest) = path.split_first()?;
    let value = map.get(key)?;
    match rest.is_empty() {
        true => Some(value),
        false => at(value.as_map()?, rest),
    }
}

/// The keys of a path with colons between them.
pub(crate) fn joined(path: &[Key]) -> String {
    let keys = path.iter().map(ToString::to_string);
    keys.collect::<Vec<_>>().join(":")
}

/// The keys of several mappings, with the first value of each.
pub(crate) fn union(into: &mut Map, other: &Map) {
    for (key, value) in other {
        match (into.get_mut(key), value) {
            (Some(Value::Map(mine)), Value::Map(theirs)) => union(mine, theirs),
            (Some(_), _) => {}
            (None, value) => drop(into.insert(key.clone(), value.clone())),
        }
    }
}

/// Data with the keys of all mappings sorted, in lists too.
pub(crate) fn sorted(value: &Value) -> Value {
    match value {
        Value::Map(map) => {
            let mut entries: Vec<(&Key, &Value)> = map.iter().collect();
            entries.sort_by_cached_key(|(key, _)| key.to_string());
            let entries = entries
                .into_iter()
                .map(|(key, value)| (key.clone(), sorted(value)));
            entries.collect::<Map>().into()
        }
        Value::List(items) => items.iter().map(sorted).collect::<Vec<_>>().into(),
        other => other.clone(),
    }
}

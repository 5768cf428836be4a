//! The arguments of states, as far as people wrote them.

use mapstack::value::{Key, Map, MapKind, Str, Value};

/// Entries of low data that Salt numbers or adds by itself, as 3006 does `prerequired`, or that name the state.
const NAMES: [&str; 6] = ["state", "fun", "name", "order", "name_order", "prerequired"];

/// The arguments of a chunk of low data, without what Salt adds and what names the state.
pub(super) fn arguments(chunk: &Map) -> Map {
    let is_said = |key: &Key| {
        let name = key.as_str().unwrap_or_default();
        !name.starts_with("__") && !NAMES.contains(&name)
    };
    let said = chunk.iter().filter(|(key, _)| is_said(key));
    // The kinds of mappings depend on the way that they were made, and mean nothing to states.
    said.map(|(key, value)| (key.clone(), value.with_map_kind(MapKind::Dict)))
        .collect()
}

/// An entry of a chunk as text.
pub(super) fn text_of(chunk: &Map, name: &str) -> Str {
    match chunk.get(name) {
        Some(Value::Str(text)) => text.clone(),
        Some(other) => other.to_string().into(),
        None => Str::default(),
    }
}

/// The module and the ID or name of each state that an argument such as `listen` names.
pub(super) fn named(arguments: &Map, argument: &str) -> Vec<(String, String)> {
    let entries = arguments.get(argument).and_then(Value::as_list);
    let named = entries.unwrap_or_default().iter().filter_map(Value::as_map);
    let named = named.flat_map(|entry| entry.iter());
    named
        .map(|(module, name)| (module.to_string(), name.to_string()))
        .collect()
}

/// Arguments that hold the text of a file, or of a fragment.
const TEXTS: [&str; 7] = [
    "contents",
    "dataset",
    "text",
    "content",
    "repl",
    "regex",
    "key_values",
];

/// True if an argument is the text of a file.
pub(super) fn is_text(argument: &str) -> bool {
    TEXTS.contains(&argument)
}

/// The attribute of a file that an argument sets.
pub(super) fn attribute(argument: &str) -> Option<&'static str> {
    match argument {
        "user" | "owner" => Some("user"),
        "group" => Some("group"),
        "mode" | "file_mode" | "dir_mode" | "sym_mode" => Some("mode"),
        "attrs" => Some("attrs"),
        "target" => Some("target"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_mapping_is_no_change() {
        let of = |kind| {
            let requisite = Value::from(Map::from_iter([("pkg", "docker")])).with_map_kind(kind);
            let require: Value = [requisite].into_iter().collect();
            Value::from(arguments(&Map::from_iter([("require", require)])))
        };
        assert!(of(MapKind::Dict).is_same(&of(MapKind::Ordered)));
    }
}

//! Data as text.

use mapstack::value::{Path as KeyPath, Value};
use mapstack::{Error, ErrorKind, yaml};

use crate::document::{Document, Plain};

/// YAML that Salt's loader reads back.
pub fn as_yaml(value: &Value) -> String {
    yaml::dump(value, &yaml::DumpOptions::output())
}

/// JSON for people and programs: indented, and text as it is, as Salt's own outputter prints it.
///
/// # Errors
/// There is something in the data for which JSON has no form, such as bytes.
pub fn as_json(value: &Value) -> Result<String, Error> {
    Plain(value.clone()).json()
}

/// The value under a path, which was written as `key`.
///
/// # Errors
/// Nothing is there.
pub fn pick(value: &Value, key: &str, path: &KeyPath) -> Result<Value, Error> {
    yaml::traverse(value, path).ok_or_else(|| {
        let error = missing(value, key);
        let meant = key.replace('.', ":");
        let is_there = KeyPath::split(&meant, ":")
            .is_ok_and(|path| key.contains('.') && yaml::traverse(value, &path).is_some());
        match is_there {
            true => error.help(format!("steps have : between them: '{meant}'")),
            false => error,
        }
    })
}

/// The failure to find a key, at the first of its steps that leads nowhere.
fn missing(value: &Value, key: &str) -> Error {
    let ends = key.match_indices(':').map(|(at, _)| at);
    let inside = |at: usize| {
        let path = KeyPath::split(&key[..at], ":").ok()?;
        Some((yaml::traverse(value, &path)?, at))
    };
    match ends.filter_map(inside).next_back() {
        None => nothing_under(value, key.split(':').next().unwrap_or(key), ""),
        Some((inside, at)) => {
            let rest = &key[at + 1..];
            let step = rest.split(':').next().unwrap_or(rest);
            nothing_under(&inside, step, &key[..at])
        }
    }
}

/// The failure to find a key in a value, which is what a path leads to.
pub fn nothing_under(value: &Value, key: &str, path: &str) -> Error {
    let whole = if path.is_empty() {
        "the result".into()
    } else {
        format!("'{path}'")
    };
    let mut message = format!("{whole} has nothing under '{key}'");
    let names: Vec<String> = value
        .as_map()
        .map(|m| m.keys().map(ToString::to_string).collect())
        .unwrap_or_default();
    if let Some(near) = mapstack::nearest(key, &names) {
        message.push_str(&format!("; did you mean '{near}'?"));
    } else if !names.is_empty() {
        message.push_str(&format!("; it has {}", names.join(", ")));
    } else if let Some(items) = value.as_list() {
        message.push_str(&format!("; it is a list of {}", items.len()));
    }
    Error::new(ErrorKind::Lookup, message)
}

//! `slsutil.serialize('configparser', …)`: data as Python's `configparser` writes it (Salt:
//! `salt.serializers.configparser`).

mod read;

use std::fmt::Write;

use mapstack_pyobject::{Error, Result};
use mapstack_value::{Map, Value};

pub(super) use read::deserialize;

/// The section whose entries hold for all others.
const DEFAULT: &str = "DEFAULT";

/// A section's name and its entries.
type Section = (String, Entries);

/// Names and texts in order.
type Entries = Vec<(String, String)>;

/// Sections of data, each a mapping of names to values; names are in lower case.
///
/// # Errors
/// `SerializationError` for what is not a mapping of mappings, for `None` as a value, for a section named twice, and for
/// a `%` that begins no reference.
pub(super) fn serialize(data: &Value) -> Result<String> {
    let Value::Map(data) = data else {
        let kind = data.kind().python_name();
        return Err(refused(format!(
            "configparser can only serialize dictionaries, not <class '{kind}'>"
        )));
    };
    let mut text = String::new();
    let (defaults, sections) = read(data)?;
    let defaults = (DEFAULT.to_string(), defaults);
    for (name, entries) in Some(&defaults)
        .filter(|(_, entries)| !entries.is_empty())
        .into_iter()
        .chain(&sections)
    {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "[{name}]");
        for (key, value) in entries {
            let _ = writeln!(text, "{key} = {}", value.replace('\n', "\n\t"));
        }
        text.push('\n');
    }
    Ok(text)
}

/// The entries for all sections, and the sections.
fn read(data: &Map) -> Result<(Entries, Vec<Section>)> {
    let (mut defaults, mut sections): (Vec<_>, Vec<Section>) = (Vec::new(), Vec::new());
    for (name, entries) in data {
        let name = name.to_string();
        if name != DEFAULT {
            if sections.iter().any(|(known, _)| *known == name) {
                return Err(refused(format!("Section '{name}' already exists")));
            }
            sections.push((name.clone(), Vec::new()));
        }
        let Value::Map(entries) = entries else {
            let kind = entries.kind().python_name();
            return Err(refused(format!("'{kind}' object has no attribute 'items'")));
        };
        // Options in a section without a name hold for all, as in Python.
        let target = match sections.last_mut() {
            Some((_, entries)) if name != DEFAULT && !name.is_empty() => entries,
            _ => &mut defaults,
        };
        for (key, value) in entries {
            set(target, key.to_string().to_lowercase(), value)?;
        }
    }
    Ok((defaults, sections))
}

fn set(entries: &mut Vec<(String, String)>, key: String, value: &Value) -> Result<()> {
    if value.is_none() {
        return Err(refused("option values must be strings")
            .with_help("a configuration file has no null; leave it out"));
    }
    let value = value.to_string();
    if let Some(position) = stray_percent(&value) {
        let shown = Value::from(&value).repr();
        return Err(refused(format!(
            "invalid interpolation syntax in {shown} at position {position}"
        ))
        .with_help("write `%%` for a percent sign"));
    }
    match entries.iter_mut().find(|(known, _)| *known == key) {
        Some((_, old)) => *old = value,
        None => entries.push((key, value)),
    }
    Ok(())
}

/// The position of a `%` that neither is doubled nor begins `%(name)s`, in characters of the text without those that do.
fn stray_percent(value: &str) -> Option<usize> {
    let doubled = value.replace("%%", "");
    let mut rest = &*doubled;
    let mut before = 0;
    while let Some(at) = rest.find('%') {
        before += rest[..at].chars().count();
        let end = rest[at..].strip_prefix("%(").and_then(|name| {
            name.find(')')
                .filter(|end| *end > 0 && name[*end..].starts_with(")s"))
        });
        match end {
            Some(end) => rest = &rest[at + "%(".len() + end + ")s".len()..],
            None => return Some(before),
        }
    }
    None
}

fn refused(message: impl Into<String>) -> Box<Error> {
    Error::python("SerializationError", message.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `salt.serializers.configparser.serialize(…)` of Salt 3008.3 for each.
    #[test]
    fn sections_are_written_as_python_writes_them() {
        let table = [
            ("{}", Ok("")),
            (
                "{DEFAULT: {x: 1}, s: {}}",
                Ok("[DEFAULT]\nx = 1\n\n[s]\n\n"),
            ),
            ("{1: {2: 1.5}}", Ok("[1]\n2 = 1.5\n\n")),
            (
                "{a: {b: '%%', c: '%(x)s'}}",
                Ok("[a]\nb = %%\nc = %(x)s\n\n"),
            ),
            (
                "{a: {b: [1], '': 2, c: ''}}",
                Ok("[a]\nb = [1]\n = 2\nc = \n\n"),
            ),
            ("{a: {A: 1, a: 2}}", Ok("[a]\na = 2\n\n")),
            ("{DEFAULT: {}, a: {k: true}}", Ok("[a]\nk = True\n\n")),
            ("{'': {a: 1}}", Ok("[DEFAULT]\na = 1\n\n[]\n\n")),
            (
                "{a: {b: \"l1\\n\\nl2\\n\"}}",
                Ok("[a]\nb = l1\n\t\n\tl2\n\t\n\n"),
            ),
            (
                "3",
                Err("configparser can only serialize dictionaries, not <class 'int'>"),
            ),
            ("{a: 1}", Err("'int' object has no attribute 'items'")),
            ("{a: {b: ~}}", Err("option values must be strings")),
            (
                "{a: {b: 50%}}",
                Err("invalid interpolation syntax in '50%' at position 2"),
            ),
            (
                "{a: {b: 'é%(x)s%(y)'}}",
                Err("invalid interpolation syntax in 'é%(x)s%(y)' at position 1"),
            ),
            ("{1: {}, '1': {}}", Err("Section '1' already exists")),
        ];
        for (data, expected) in table {
            let outcome =
                serialize(&mapstack_yaml::load(data).unwrap()).map_err(|error| error.to_string());
            match (outcome, expected) {
                (Ok(text), Ok(expected)) => assert_eq!(text, expected, "{data}"),
                (Err(error), Err(expected)) => assert!(error.contains(expected), "{data}: {error}"),
                (outcome, _) => panic!("{data}: {outcome:?}"),
            }
        }
    }
}

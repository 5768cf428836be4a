//! Reads records of the reference and compares them.

#![allow(dead_code, reason = "every test file uses its own part of this")]

use mapstack::minion::Minion;
use mapstack::value::{Map, Value, json};

/// The records of a file.
pub fn records(text: &str) -> Vec<Map> {
    let Value::List(records) = json::loads(text).unwrap() else {
        panic!("a list")
    };
    records
        .iter()
        .map(|record| record.as_map().unwrap().clone())
        .collect()
}

/// A mapping in a record; empty if the record does not have it.
pub fn map(record: &Map, key: &str) -> Map {
    record
        .get(key)
        .and_then(Value::as_map)
        .cloned()
        .unwrap_or_default()
}

/// The minion with the facts of a record.
pub fn minion(record: &Map) -> Minion {
    let (grains, pillar, opts) = (
        map(record, "grains"),
        map(record, "pillar"),
        map(record, "opts"),
    );
    Minion {
        grains,
        pillar,
        opts,
        ..Minion::default()
    }
    .complete()
}

/// Check each record. Records that are listed with a reason must differ, all others must not.
pub fn assert_repeated(
    records: &[Map],
    differences: &[(&str, &str)],
    mut check: impl FnMut(&Map) -> Result<(), String>,
) {
    assert!(!records.is_empty(), "nothing is recorded");
    let mut problems = Vec::new();
    for record in records {
        let name = record.get("name").unwrap().to_string();
        let expected = differences.iter().any(|(known, _)| *known == name);
        match check(record) {
            Ok(()) if expected => {
                problems.push(format!("{name}: is equal now; strike it from the list"));
            }
            Err(problem) if !expected => problems.push(format!("{name}\n    {problem}")),
            _ => {}
        }
    }
    assert!(
        problems.is_empty(),
        "{} of {} differ:\n{}",
        problems.len(),
        records.len(),
        problems.join("\n")
    );
}

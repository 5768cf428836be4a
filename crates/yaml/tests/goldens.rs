//! Recorded results of the reference; every record must come out the same here.

use std::sync::Arc;

use mapstack_value::{Int, Key, Map, Path, Set, Value, json};
use mapstack_yaml::{DumpOptions, dump, load, traverse};
use serde_json::Value as Json;

/// Texts whose value contains itself in the reference. Values here are trees, so these are
/// errors.
const CYCLIC: [&str; 2] = ["&a [*a]", "&a {k: *a}"];

fn records(data: &str) -> Vec<Json> {
    serde_json::from_str(data).unwrap()
}

fn text<'j>(record: &'j Json, field: &str) -> &'j str {
    record[field].as_str().unwrap()
}

/// A value in the recorded form that names types.
fn typed(node: &Json) -> Value {
    let value = &node["value"];
    let items = || value.as_array().unwrap().iter().map(typed);
    match text(node, "type") {
        "null" => Value::None,
        "bool" => value.as_bool().unwrap().into(),
        "int" => value
            .to_string()
            .trim_matches('"')
            .parse::<Int>()
            .unwrap()
            .into(),
        "float" => value
            .to_string()
            .trim_matches('"')
            .parse::<f64>()
            .unwrap()
            .into(),
        "str" => value.as_str().unwrap().into(),
        "bytes" => Value::Bytes(hex(value.as_str().unwrap())),
        "list" => items().collect(),
        "tuple" => Value::Tuple(items().collect()),
        "set" => Value::Set(items().map(|v| Key::try_from(&v).unwrap()).collect::<Set>()),
        "map" => {
            let pair = |pair: &Json| (Key::try_from(&typed(&pair[0])).unwrap(), typed(&pair[1]));
            Value::Map(value.as_array().unwrap().iter().map(pair).collect())
        }
        other => panic!("unknown type {other}"),
    }
}

fn hex(digits: &str) -> Arc<[u8]> {
    (0..digits.len())
        .step_by(2)
        .map(|i| u8::from_str_radix(&digits[i..i + 2], 16).unwrap())
        .collect()
}

/// A value in plain JSON.
fn plain(value: &Json) -> Value {
    match value {
        Json::Null => Value::None,
        Json::Bool(b) => (*b).into(),
        Json::Number(n) => {
            let digits = n.to_string();
            digits
                .parse::<Int>()
                .map_or_else(|_| digits.parse::<f64>().unwrap().into(), Value::from)
        }
        Json::String(s) => s.into(),
        Json::Array(items) => items.iter().map(plain).collect(),
        Json::Object(entries) => Value::Map(
            entries
                .iter()
                .map(|(k, v)| (k.as_str(), plain(v)))
                .collect(),
        ),
    }
}

/// Types and order count: `1`, `1.0` and `True` are equal, but print differently.
fn assert_same(actual: &Value, expected: &Value, about: &str) {
    assert_eq!(
        with_sorted_sets(actual).repr(),
        with_sorted_sets(expected).repr(),
        "{about}"
    );
}

/// Python's sets have no order to compare.
fn with_sorted_sets(value: &Value) -> Value {
    match value {
        Value::Set(set) => {
            let mut elements: Vec<_> = set.iter().cloned().collect();
            elements.sort_by_key(ToString::to_string);
            Value::Set(elements.into_iter().collect())
        }
        Value::List(items) => Value::List(items.iter().map(with_sorted_sets).collect()),
        Value::Tuple(items) => Value::Tuple(items.iter().map(with_sorted_sets).collect()),
        Value::Map(map) => Value::Map(
            map.iter()
                .map(|(k, v)| (k.clone(), with_sorted_sets(v)))
                .collect::<Map>(),
        ),
        other => other.clone(),
    }
}

#[test]
fn loads_as_recorded() {
    let records = records(include_str!("data/yaml_scalars.json"));
    assert!(!records.is_empty());
    for record in &records {
        let input = text(record, "input");
        match (load(input), record.get("error")) {
            (Err(error), None) if CYCLIC.contains(&input) => {
                assert!(error.to_string().contains("contain itself"), "{error}");
            }
            (Ok(value), None) => assert_same(&value, &typed(record), input),
            (Err(error), Some(class)) => {
                assert_eq!(
                    error.reference_class(),
                    class.as_str().unwrap(),
                    "{input}: {error}"
                );
            }
            (Ok(value), Some(class)) => panic!("{input:?} should raise {class}, gives {value:?}"),
            (Err(error), None) => panic!("{input:?}: {error}"),
        }
    }
}

#[test]
fn dumps_as_recorded() {
    let records = records(include_str!("data/yaml_dump.json"));
    assert!(!records.is_empty());
    let filter_json = json::DumpOptions {
        sort_keys: true,
        ensure_ascii: false,
        ..json::DumpOptions::default()
    };
    for record in &records {
        let value = match record
            .get("value_special")
            .map(|special| special.as_str().unwrap())
        {
            Some(float) => float.parse::<f64>().unwrap().into(),
            None => plain(&record["value"]),
        };
        let value = if record.get("note").is_some() {
            with_one_storage(&value)
        } else {
            value
        };
        let about = value.repr();
        assert_eq!(
            dump(&value, &DumpOptions::filter(true)),
            text(record, "yaml_flow"),
            "{about}"
        );
        assert_eq!(
            dump(&value, &DumpOptions::filter(false)),
            text(record, "yaml_block"),
            "{about}"
        );
        if record.get("json").is_some() {
            assert_eq!(
                json::dumps(&value, &filter_json).unwrap(),
                text(record, "json")
            );
            assert_eq!(value.to_string(), text(record, "py_str"));
            assert_eq!(value.repr(), text(record, "py_repr"));
        }
    }
}

/// The same value with its first item or entry in every place.
fn with_one_storage(value: &Value) -> Value {
    match value {
        Value::List(items) => items.iter().map(|_| items[0].clone()).collect(),
        Value::Map(map) => {
            let first = map.entry_at(0).unwrap().1;
            Value::Map(
                map.keys()
                    .map(|key| (key.clone(), first.clone()))
                    .collect::<Map>(),
            )
        }
        other => other.clone(),
    }
}

#[test]
fn traverses_as_recorded() {
    let records = records(include_str!("data/traverse.json"));
    assert!(!records.is_empty());
    for record in &records {
        let path = match &record["key"] {
            Json::String(key) => {
                Path::split(key, text(record, "delimiter")).map_err(|_| "ValueError")
            }
            Json::Array(steps) => Ok(steps
                .iter()
                .map(|step| Key::try_from(&plain(step)).unwrap())
                .collect()),
            Json::Number(step) => Ok([Key::Int(step.to_string().parse().unwrap())]
                .into_iter()
                .collect()),
            // No path can be made of these, which is Python's TypeError.
            _ => Err("TypeError"),
        };
        match (path, record.get("error")) {
            (Ok(path), None) => {
                let found = traverse(&typed(&record["data"]), &path);
                assert_eq!(
                    found.is_some(),
                    record["found"].as_bool().unwrap(),
                    "{path:?} in {}",
                    record["data"]
                );
                if let Some(found) = found {
                    assert_same(&found, &typed(&record["result"]), &format!("{path:?}"));
                }
            }
            (Err(class), Some(expected)) => assert_eq!(class, expected.as_str().unwrap()),
            (path, error) => panic!("{path:?}: {error:?}"),
        }
    }
}

//! Values as JSON.

use mapstack_value::{Key, Value};
use serde_json::{Map, Number, Value as Json};

/// A value as JSON has it: keys become text, sets and tuples lists, bytes text as far as they are.
pub(crate) fn json(value: &Value) -> Json {
    match value {
        Value::None => Json::Null,
        Value::Bool(flag) => Json::Bool(*flag),
        Value::Int(_) | Value::Float(_) => number(value),
        Value::Str(text) => Json::String(text.to_string()),
        Value::List(items) => items.iter().map(json).collect(),
        Value::Tuple(items) => items.iter().map(json).collect(),
        Value::Map(map) => map
            .iter()
            .map(|(key, inside)| (key.to_string(), json(inside)))
            .collect::<Map<_, _>>()
            .into(),
        other => Json::String(other.to_string()),
    }
}

/// Infinities and NaN have no JSON form.
fn number(value: &Value) -> Json {
    let text = match value {
        Value::Float(float) if !float.is_finite() => return Json::Null,
        other => other.to_string(),
    };
    text.parse::<Number>().map_or(Json::Null, Json::Number)
}

/// The keys and indices behind the steps of a JSON pointer.
pub(crate) fn path<'p>(value: &Value, steps: impl Iterator<Item = &'p str>) -> Vec<Key> {
    let (mut here, mut path) = (Some(value), Vec::new());
    for step in steps {
        let (key, next) = match here {
            Some(Value::Map(map)) => match map.iter().find(|(key, _)| key.to_string() == step) {
                Some((key, inside)) => (key.clone(), Some(inside)),
                None => (Key::from(step), None),
            },
            Some(Value::List(items)) => item(items, step),
            Some(Value::Tuple(items)) => item(items, step),
            _ => (Key::from(step), None),
        };
        path.push(key);
        here = next;
    }
    path
}

fn item<'v>(items: &'v [Value], step: &str) -> (Key, Option<&'v Value>) {
    match step.parse::<i64>() {
        Ok(index) => (
            Key::from(index),
            usize::try_from(index)
                .ok()
                .and_then(|index| items.get(index)),
        ),
        Err(_) => (Key::from(step), None),
    }
}

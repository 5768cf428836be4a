//! Data between Python's values and Tera's, which are JSON.

use mapstack_value::{List, Map, Value};
use serde_json::{Number, Value as Json};

/// A value as Tera sees it.
///
/// Tuples and sets are arrays, keys are text as Python prints them. What JSON has no number for,
/// such as integers beyond 64 bits and infinity, is text.
pub(super) fn to_json(value: &Value) -> Json {
    match value {
        Value::None => Json::Null,
        Value::Bool(b) => Json::Bool(*b),
        Value::Int(int) => {
            let text = int.to_string();
            let signed = text.parse::<i64>().map(Number::from);
            signed
                .or_else(|_| text.parse::<u64>().map(Number::from))
                .map_or(Json::String(text), Json::Number)
        }
        Value::Float(float) => {
            Number::from_f64(*float).map_or_else(|| Json::String(value.to_string()), Json::Number)
        }
        Value::Str(text) => Json::String(text.to_string()),
        Value::Bytes(bytes) => Json::String(String::from_utf8_lossy(bytes).into_owned()),
        Value::List(items) => items.iter().map(to_json).collect(),
        Value::Tuple(items) => items.iter().map(to_json).collect(),
        Value::Set(items) => items.iter().map(|key| to_json(&key.to_value())).collect(),
        Value::Map(map) => Json::Object(
            map.iter()
                .map(|(key, value)| (key.to_string(), to_json(value)))
                .collect(),
        ),
    }
}

/// The data that Tera made, as a value.
pub(super) fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::None,
        Json::Bool(b) => Value::Bool(*b),
        Json::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(int), _) => Value::from(int),
            (None, Some(int)) => Value::from(int),
            (None, None) => number.as_f64().map_or(Value::None, Value::from),
        },
        Json::String(text) => Value::from(text.as_str()),
        Json::Array(items) => Value::List(items.iter().map(from_json).collect::<List>()),
        Json::Object(map) => map
            .iter()
            .map(|(key, value)| (key.as_str(), from_json(value)))
            .collect::<Map>()
            .into(),
    }
}

/// About how many bytes a value takes.
pub(super) fn size(json: &Json) -> usize {
    const EACH: usize = 16;
    EACH + match json {
        Json::String(text) => text.len(),
        Json::Array(items) => items.iter().map(size).sum(),
        Json::Object(map) => map.iter().map(|(key, value)| key.len() + size(value)).sum(),
        Json::Null | Json::Bool(_) | Json::Number(_) => 0,
    }
}

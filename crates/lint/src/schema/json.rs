//! Values as JSON.

use mapstack_value::Value;
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

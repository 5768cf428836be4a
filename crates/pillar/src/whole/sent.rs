//! What a pillar is for the minion that a master sends it to (Salt: `salt.transport.frame.decode_embedded_strs`).

use mapstack_value::{Key, Map, Value};

/// The value with text in place of bytes that are UTF-8; `None` if it has no bytes.
pub fn sent(value: &Value) -> Option<Value> {
    has_bytes(value).then(|| decoded(value))
}

fn has_bytes(value: &Value) -> bool {
    match value {
        Value::Bytes(_) => true,
        Value::Map(map) => map
            .iter()
            .any(|(key, value)| matches!(key, Key::Bytes(_)) || has_bytes(value)),
        Value::List(items) => items.iter().any(has_bytes),
        _ => false,
    }
}

fn decoded(value: &Value) -> Value {
    let key = |key: &Key| match key {
        Key::Bytes(bytes) => {
            std::str::from_utf8(bytes).map_or_else(|_| Key::Bytes(bytes.clone()), Key::from)
        }
        other => other.clone(),
    };
    match value {
        Value::Bytes(bytes) => {
            std::str::from_utf8(bytes).map_or_else(|_| value.clone(), Value::from)
        }
        Value::Map(map) => {
            let entries = map.iter().map(|(name, value)| (key(name), decoded(value)));
            Value::Map(entries.collect::<Map>())
        }
        Value::List(items) => Value::from_iter(items.iter().map(decoded)),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_text_arrive_as_text() {
        let of = |text: &str| sent(&mapstack_yaml::load(text).unwrap()).map(|value| value.repr());
        assert_eq!(of("{a: [1, x, {b: null}]}"), None);
        let text = of("{a: [!!binary aGk=, {!!binary aGk=: !!binary /w==}], b: 1}");
        assert_eq!(
            text.as_deref(),
            Some("{'a': ['hi', {'hi': b'\\xff'}], 'b': 1}")
        );
    }
}

//! Text in place of bytes.

use crate::{Key, Map, Value};

/// The value with text in place of bytes that are UTF-8, as Salt keeps grains; `None` if it has no bytes.
///
/// ```
/// use mapstack_value::{Value, text_for_bytes};
/// let value = Value::from_iter([Value::Bytes(b"a".as_slice().into()), Value::from(1)]);
/// assert_eq!(text_for_bytes(&value).unwrap().repr(), "['a', 1]");
/// assert!(text_for_bytes(&"a".into()).is_none());
/// ```
#[must_use]
pub fn text_for_bytes(value: &Value) -> Option<Value> {
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
        let bytes = |bytes: &[u8]| Value::Bytes(bytes.into());
        let plain: Map = [("a", Value::from_iter([1, 2]))].into_iter().collect();
        assert_eq!(text_for_bytes(&plain.into()), None);
        let inner: Map = [(Key::Bytes(b"hi"[..].into()), bytes(b"\xff"))]
            .into_iter()
            .collect();
        let map: Map = [
            ("a", Value::from_iter([bytes(b"hi"), inner.into()])),
            ("b", 1.into()),
        ]
        .into_iter()
        .collect();
        assert_eq!(
            text_for_bytes(&map.into()).unwrap().repr(),
            "{'a': ['hi', {'hi': b'\\xff'}], 'b': 1}"
        );
    }
}

//! Data as it arrives from another of Salt's processes.

use crate::{Int, Key, Map, Value};

/// The value as a minion gets it from its master, or a master from its minion (Salt: `salt.payload`); `None` if it is
/// the same. Bytes that are UTF-8 become text, sets and tuples become lists, and integers of more than 64 bits become
/// text.
///
/// ```
/// use mapstack_value::{Int, Value, sent};
/// let number: Int = "18446744073709551616".parse().unwrap();
/// let value = Value::from_iter([Value::Bytes(b"a".as_slice().into()), Value::from(number), Value::from(1)]);
/// assert_eq!(sent(&value).unwrap().repr(), "['a', '18446744073709551616', 1]");
/// assert!(sent(&"a".into()).is_none());
/// ```
#[must_use]
pub fn sent(value: &Value) -> Option<Value> {
    changes(value).then(|| arrived(value))
}

fn changes(value: &Value) -> bool {
    match value {
        Value::Bytes(_) | Value::Set(_) | Value::Tuple(_) => true,
        Value::Int(number) => !fits(number),
        Value::Map(map) => map
            .iter()
            .any(|(key, value)| key_changes(key) || changes(value)),
        Value::List(items) => items.iter().any(changes),
        _ => false,
    }
}

fn key_changes(key: &Key) -> bool {
    match key {
        Key::Bytes(_) => true,
        Key::Int(number) => !fits(number),
        _ => false,
    }
}

/// True if MessagePack has the number: from -2⁶³ to 2⁶⁴ - 1.
fn fits(number: &Int) -> bool {
    number.to_i64().is_some() || (*number > Int::from(0) && number.bits() <= 64)
}

fn arrived(value: &Value) -> Value {
    match value {
        Value::Bytes(bytes) => {
            std::str::from_utf8(bytes).map_or_else(|_| value.clone(), Value::from)
        }
        Value::Int(number) if !fits(number) => number.to_string().into(),
        Value::Map(map) => {
            let entries = map
                .iter()
                .map(|(key, value)| (arrived_key(key), arrived(value)));
            Value::Map(entries.collect::<Map>())
        }
        Value::List(items) => Value::from_iter(items.iter().map(arrived)),
        Value::Tuple(items) => Value::from_iter(items.iter().map(arrived)),
        Value::Set(items) => items.iter().map(|item| arrived(&item.to_value())).collect(),
        other => other.clone(),
    }
}

fn arrived_key(key: &Key) -> Key {
    match key {
        Key::Bytes(bytes) => std::str::from_utf8(bytes).map_or_else(|_| key.clone(), Key::from),
        Key::Int(number) if !fits(number) => number.to_string().as_str().into(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_messagepack_lacks_arrives_as_something_else() {
        let bytes = |bytes: &[u8]| Value::Bytes(bytes.into());
        let plain: Map = [("a", Value::from_iter([1, 2]))].into_iter().collect();
        assert_eq!(sent(&plain.into()), None);
        let inner: Map = [(Key::Bytes(b"hi"[..].into()), bytes(b"\xff"))]
            .into_iter()
            .collect();
        let map: Map = [
            ("a", Value::from_iter([bytes(b"hi"), inner.into()])),
            ("b", 1.into()),
            ("c", Value::Tuple([1.into(), bytes(b"x")].into())),
        ]
        .into_iter()
        .collect();
        assert_eq!(
            sent(&map.into()).unwrap().repr(),
            "{'a': ['hi', {'hi': b'\\xff'}], 'b': 1, 'c': [1, 'x']}"
        );
    }

    #[test]
    fn integers_of_64_bits_stay() {
        for (number, arrives) in [
            ("18446744073709551615", None),
            ("18446744073709551616", Some("'18446744073709551616'")),
            ("-9223372036854775808", None),
            ("-9223372036854775809", Some("'-9223372036854775809'")),
        ] {
            let value = Value::from(number.parse::<Int>().unwrap());
            let found = sent(&value).map(|value| value.repr());
            assert_eq!(found.as_deref(), arrives, "{number}");
        }
    }
}

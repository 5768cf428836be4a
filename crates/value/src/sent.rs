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
    SentForm::Sent.of(value)
}

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
    SentForm::Text.of(value)
}

/// A form that data gets.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SentForm {
    /// Bytes become text; tuples, sets and integers stay.
    Text,
    /// MessagePack, with all that it lacks.
    Sent,
}

impl SentForm {
    fn of(self, value: &Value) -> Option<Value> {
        self.changes(value).then(|| self.made(value))
    }

    fn changes(self, value: &Value) -> bool {
        match value {
            Value::Bytes(_) => true,
            Value::Set(_) | Value::Tuple(_) => self == SentForm::Sent,
            Value::Int(number) => self.is_text(number),
            Value::Map(map) => map
                .iter()
                .any(|(key, value)| self.changes_key(key) || self.changes(value)),
            Value::List(items) => items.iter().any(|item| self.changes(item)),
            _ => false,
        }
    }

    fn changes_key(self, key: &Key) -> bool {
        match key {
            Key::Bytes(_) => true,
            Key::Int(number) => self.is_text(number),
            _ => false,
        }
    }

    /// True for an integer that becomes text: MessagePack has those from -2⁶³ to 2⁶⁴ - 1.
    fn is_text(self, number: &Int) -> bool {
        let fits = || number.to_i64().is_some() || (*number > Int::from(0) && number.bits() <= 64);
        self == SentForm::Sent && !fits()
    }

    fn made(self, value: &Value) -> Value {
        match value {
            Value::Bytes(bytes) => {
                std::str::from_utf8(bytes).map_or_else(|_| value.clone(), Value::from)
            }
            Value::Int(number) if self.is_text(number) => number.to_string().into(),
            Value::Map(map) => {
                let entries = map
                    .iter()
                    .map(|(key, value)| (self.made_key(key), self.made(value)));
                Value::Map(entries.collect::<Map>())
            }
            Value::List(items) => Value::from_iter(items.iter().map(|item| self.made(item))),
            Value::Tuple(items) if self == SentForm::Sent => {
                Value::from_iter(items.iter().map(|item| self.made(item)))
            }
            Value::Set(items) if self == SentForm::Sent => items
                .iter()
                .map(|item| self.made(&item.to_value()))
                .collect(),
            other => other.clone(),
        }
    }

    fn made_key(self, key: &Key) -> Key {
        match key {
            Key::Bytes(bytes) => std::str::from_utf8(bytes).map_or_else(|_| key.clone(), Key::from),
            Key::Int(number) if self.is_text(number) => number.to_string().as_str().into(),
            other => other.clone(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(bytes: &[u8]) -> Value {
        Value::Bytes(bytes.into())
    }

    /// Bytes that are text and bytes that are not, as values and as a key.
    fn nested() -> Value {
        let inner: Map = [(Key::Bytes(b"hi"[..].into()), bytes(b"\xff"))]
            .into_iter()
            .collect();
        Value::from_iter([bytes(b"hi"), inner.into()])
    }

    #[test]
    fn what_messagepack_lacks_arrives_as_something_else() {
        let plain: Map = [("a", Value::from_iter([1, 2]))].into_iter().collect();
        assert_eq!(sent(&plain.into()), None);
        let map: Map = [
            ("a", nested()),
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

    #[test]
    fn bytes_that_are_text_arrive_as_text() {
        let plain: Map = [("a", Value::from_iter([1, 2]))].into_iter().collect();
        assert_eq!(text_for_bytes(&plain.into()), None);
        let map: Map = [("a", nested()), ("b", 1.into())].into_iter().collect();
        assert_eq!(
            text_for_bytes(&map.into()).unwrap().repr(),
            "{'a': ['hi', {'hi': b'\\xff'}], 'b': 1}"
        );
    }
}

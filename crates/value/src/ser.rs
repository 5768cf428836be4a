//! Serde output, as far as serde's model goes: sets and tuples are sequences there.

use serde::ser::{Error, Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::{Key, Map, Value};

impl Serialize for Value {
    /// Use [`json`](crate::json) for Python's own JSON.
    ///
    /// # Errors
    /// For integers beyond 128 bits, which serde does not know, and for what the format cannot hold.
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::None => s.serialize_unit(),
            Value::Bool(b) => s.serialize_bool(*b),
            Value::Int(i) => match i.to_i64() {
                Some(i) => s.serialize_i64(i),
                None => match i.to_string().parse::<i128>() {
                    Ok(i) => s.serialize_i128(i),
                    Err(_) => Err(S::Error::custom(format_args!(
                        "the integer {i} has more than 128 bits"
                    ))),
                },
            },
            Value::Float(f) => s.serialize_f64(*f),
            Value::Str(t) => s.serialize_str(t),
            Value::Bytes(b) => s.serialize_bytes(b),
            Value::List(items) => sequence(s, items.iter()),
            Value::Tuple(items) => sequence(s, items.iter()),
            Value::Set(set) => {
                sequence(s, set.iter().map(Key::to_value).collect::<Vec<_>>().iter())
            }
            Value::Map(map) => map.serialize(s),
        }
    }
}

fn sequence<'a, S: Serializer>(
    s: S,
    items: impl ExactSizeIterator<Item = &'a Value>,
) -> Result<S::Ok, S::Error> {
    let mut out = s.serialize_seq(Some(items.len()))?;
    for item in items {
        out.serialize_element(item)?;
    }
    out.end()
}

impl Serialize for Map {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        let mut out = s.serialize_map(Some(self.len()))?;
        for (key, value) in self {
            out.serialize_entry(&key.to_value(), value)?;
        }
        out.end()
    }
}

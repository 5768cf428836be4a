//! Serde input: a value of whatever a format says about itself.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

use crate::{Int, Key, Map, Value};

/// The only key of the mapping as which `serde_json` hands over a number when its feature `arbitrary_precision` is on.
const NUMBER: &str = "$serde_json::private::Number";

impl<'de> Deserialize<'de> for Value {
    /// Sequences become lists, byte strings [`Value::Bytes`], and of equal keys the last one's value counts.
    ///
    /// # Errors
    /// For a key that Python cannot hash (a sequence is read as a tuple, a mapping is refused), and where the format
    /// does not say of what type a value is.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

impl<'de> Deserialize<'de> for Map {
    /// # Errors
    /// As for [`Value`], and for what is not a mapping.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_map(AnyValue)? {
            Value::Map(map) => Ok(map),
            other => Err(D::Error::custom(format_args!(
                "expected a mapping, found {}",
                other.kind().described()
            ))),
        }
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::None)
    }

    fn visit_none<E>(self) -> Result<Value, E> {
        Ok(Value::None)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(
        self,
        deserializer: D,
    ) -> Result<Value, D::Error> {
        Value::deserialize(deserializer)
    }

    fn visit_bool<E>(self, b: bool) -> Result<Value, E> {
        Ok(b.into())
    }

    fn visit_i64<E>(self, i: i64) -> Result<Value, E> {
        Ok(i.into())
    }

    fn visit_u64<E>(self, i: u64) -> Result<Value, E> {
        Ok(i.into())
    }

    fn visit_i128<E>(self, i: i128) -> Result<Value, E> {
        Ok(Int::from(i).into())
    }

    fn visit_u128<E: Error>(self, i: u128) -> Result<Value, E> {
        i.to_string()
            .parse::<Int>()
            .map(Value::from)
            .map_err(E::custom)
    }

    fn visit_f64<E>(self, f: f64) -> Result<Value, E> {
        Ok(f.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_string<E>(self, text: String) -> Result<Value, E> {
        Ok(text.into())
    }

    fn visit_bytes<E>(self, bytes: &[u8]) -> Result<Value, E> {
        Ok(Value::Bytes(bytes.into()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut items: Vec<Value> = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(items.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some((key, value)) = access.next_entry::<Value, Value>()? {
            map.insert(hashable(&key).map_err(A::Error::custom)?, value);
        }
        let number = map
            .get(NUMBER)
            .filter(|_| map.len() == 1)
            .and_then(Value::as_str)
            .and_then(number);
        Ok(number.unwrap_or_else(|| map.into()))
    }
}

/// A key; sequences as tuples, since formats know no others.
pub(crate) fn hashable(key: &Value) -> Result<Key, crate::Unhashable> {
    match key {
        Value::List(items) => Ok(Key::Tuple(
            items.iter().map(hashable).collect::<Result<_, _>>()?,
        )),
        other => Key::try_from(other),
    }
}

/// A number as JSON writes it.
pub(crate) fn number(text: &str) -> Option<Value> {
    match text.parse::<Int>() {
        Ok(i) => Some(i.into()),
        Err(_) => text.parse::<f64>().ok().map(Value::from),
    }
}

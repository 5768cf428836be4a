//! Python's `key in x`, `x[key]` and `x[key] = y` on values of any kind.
//!
//! Strategies `list` and `overwrite` use these on what they take for mappings. On other kinds the
//! outcome is an accident, but one that decides between a result and an error, and which.

use mapstack_value::{Key, Value};

use crate::error::Exception;

type PythonResult<T> = Result<T, Exception>;

/// `item in container`.
pub(crate) fn contains(container: &Value, item: &Value) -> PythonResult<bool> {
    match (container, item) {
        (Value::Map(map), item) => Ok(map.contains_key(&hashable(item)?)),
        (Value::Set(set), item) => Ok(set.contains(&hashable(item)?)),
        (Value::List(items), item) => Ok(items.contains(item)),
        (Value::Tuple(items), item) => Ok(items.contains(item)),
        (Value::Str(text), Value::Str(part)) => Ok(text.contains(&**part)),
        (Value::Bytes(bytes), Value::Bytes(part)) => {
            Ok(part.is_empty() || bytes.windows(part.len()).any(|window| window == &**part))
        }
        (Value::Bytes(bytes), item) => {
            let byte = integer(item).ok_or(Exception::Type)?;
            Ok(bytes.contains(&u8::try_from(byte.unwrap_or(-1)).map_err(|_| Exception::Value)?))
        }
        _ => Err(Exception::Type),
    }
}

/// `container[item]`.
pub(crate) fn subscript(container: &Value, item: &Value) -> PythonResult<Value> {
    match container {
        // Callers ask for what is contained.
        Value::Map(map) => map.get(&hashable(item)?).cloned().ok_or(Exception::Index),
        Value::List(items) => Ok(items[position(items.len(), item)?].clone()),
        Value::Tuple(items) => Ok(items[position(items.len(), item)?].clone()),
        Value::Bytes(bytes) => Ok(i64::from(bytes[position(bytes.len(), item)?]).into()),
        // A text can only contain a text, and a text is not an index.
        _ => Err(Exception::Type),
    }
}

/// The error of the reference when `overwrite` meets a side that is not a mapping: it first copies what
/// the sides share, as if both were mappings, and only then looks at what they are.
pub(crate) fn overwrite_failure(base: &Value, overlay: &Value) -> Exception {
    copy_shared(base.clone(), overlay)
        .err()
        .unwrap_or(Exception::Type)
}

fn copy_shared(mut base: Value, overlay: &Value) -> PythonResult<()> {
    for item in iterate(overlay)? {
        if contains(&base, &item)? {
            let value = subscript(overlay, &item)?;
            assign(&mut base, &item, value)?;
        }
    }
    Ok(())
}

/// `container[item] = value`.
fn assign(container: &mut Value, item: &Value, value: Value) -> PythonResult<()> {
    match container {
        Value::Map(map) => {
            map.insert(hashable(item)?, value);
            Ok(())
        }
        Value::List(items) => {
            let index = position(items.len(), item)?;
            items.make_mut()[index] = value;
            Ok(())
        }
        _ => Err(Exception::Type),
    }
}

/// `list(value)`. Characters are left out: what contains one cannot be indexed with it, which is the same failure.
fn iterate(value: &Value) -> PythonResult<Vec<Value>> {
    Ok(match value {
        Value::Map(map) => map.keys().map(Key::to_value).collect(),
        Value::Set(set) => set.iter().map(Key::to_value).collect(),
        Value::List(items) => items.to_vec(),
        Value::Tuple(items) => items.to_vec(),
        Value::Bytes(bytes) => bytes.iter().map(|b| i64::from(*b).into()).collect(),
        _ => return Err(Exception::Type),
    })
}

fn hashable(item: &Value) -> PythonResult<Key> {
    Key::try_from(item).map_err(|_| Exception::Type)
}

/// The number an item is as an index; the inner `None` is one too large for any sequence.
fn integer(item: &Value) -> Option<Option<i64>> {
    match item {
        Value::Int(i) => Some(i.to_i64()),
        Value::Bool(b) => Some(Some(i64::from(*b))),
        _ => None,
    }
}

/// The index of an item in a sequence of a length, from the end if it is negative.
fn position(len: usize, item: &Value) -> PythonResult<usize> {
    let index = integer(item)
        .ok_or(Exception::Type)?
        .ok_or(Exception::Index)?;
    let from_start = if index < 0 {
        index.saturating_add_unsigned(len as u64)
    } else {
        index
    };
    usize::try_from(from_start)
        .ok()
        .filter(|i| *i < len)
        .ok_or(Exception::Index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(items: impl IntoIterator<Item = impl Into<Value>>) -> Value {
        Value::List(items.into_iter().map(Into::into).collect())
    }

    fn tuple(item: i64) -> Value {
        Value::Tuple([Value::from(item)].into())
    }

    fn set(item: i64) -> Value {
        Value::Set([Key::from(item)].into_iter().collect())
    }

    fn bytes(bytes: &[u8]) -> Value {
        Value::Bytes(bytes.into())
    }

    fn map(keys: impl IntoIterator<Item = impl Into<Key>>) -> Value {
        let entry = |key: Key| (key, Value::from(1));
        let entries = keys.into_iter().map(Into::into).map(entry);
        Value::Map(entries.collect())
    }

    /// Each row is what `salt.utils.dictupdate.merge_overwrite` raises.
    #[test]
    fn a_refusal_is_the_first_failure_of_copying() {
        use Exception::{Index, Type, Value as OfValue};
        let large = Value::Int("1000000000000000000000000000000".parse().unwrap());
        let rows = [
            (map([5]), list([5]), Index),
            (map([0, 5]), list([0, 5]), Index),
            (map([-2]), list([-2]), Index),
            (map([true]), list([true]), Index),
            (map([5]), tuple(5), Index),
            (map([5]), bytes(b"\x05"), Index),
            (map([1]), set(1), Type),
            (map(["a"]), "a".into(), Type),
            (map([5]), 5.into(), Type),
            (set(5), list([5]), Index),
            (list([5]), map([5]), Index),
            (list([0, -7]), map([-7]), Index),
            (list([1]), set(1), Type),
            (list(["a"]), "a".into(), Type),
            (tuple(5), list([5]), Index),
            (tuple(5), map([5]), Type),
            ("abc".into(), list(["a"]), Type),
            ("abc".into(), "a".into(), Type),
            (bytes(b"ab"), list([bytes(b"a"), 300.into()]), Type),
            (bytes(b"ab"), list([bytes(b"z"), 300.into()]), OfValue),
            (bytes(b"ab"), set(300), OfValue),
            (bytes(b"ab"), "a".into(), Type),
            (bytes(b"a"), list([large]), OfValue),
            (5.into(), map([5]), Type),
            (list([1]), list([list([1])]), Type),
        ];
        for (base, overlay, expected) in rows {
            let found = overwrite_failure(&base, &overlay);
            assert_eq!(found, expected, "{} over {}", overlay.repr(), base.repr());
        }
    }
}

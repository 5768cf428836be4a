//! Python's `key in x`, `x[key]` and `x[key] = y` on values of any kind.
//!
//! Strategies `list` and `overwrite` use these on what they take for mappings. On other kinds the
//! outcome is an accident, but one that decides between a result and an error, and which.

use mapstack_value::{Key, Value};

use crate::error::Exception;

type Raises<T> = Result<T, Exception>;

/// `item in container`.
pub(crate) fn contains(container: &Value, item: &Value) -> Raises<bool> {
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
pub(crate) fn subscript(container: &Value, item: &Value) -> Raises<Value> {
    match container {
        // Callers ask for what is contained.
        Value::Map(map) => map.get(&hashable(item)?).cloned().ok_or(Exception::Index),
        Value::List(items) => Ok(items[position(items.len(), item)?].clone()),
        Value::Tuple(items) => Ok(items[position(items.len(), item)?].clone()),
        Value::Bytes(bytes) => Ok(i64::from(bytes[position(bytes.len(), item)?]).into()),
        Value::Str(text) => {
            let characters: Vec<char> = text.chars().collect();
            Ok(characters[position(characters.len(), item)?]
                .to_string()
                .into())
        }
        _ => Err(Exception::Type),
    }
}

/// How the reference fails when `overwrite` meets a side that is not a mapping: it first copies what
/// the sides share, as if both were mappings, and only then looks at what they are.
pub(crate) fn overwrite_failure(base: &Value, overlay: &Value) -> Exception {
    copy_shared(base.clone(), overlay)
        .err()
        .unwrap_or(Exception::Type)
}

fn copy_shared(mut base: Value, overlay: &Value) -> Raises<()> {
    for item in iterate(overlay)? {
        if contains(&base, &item)? {
            let value = subscript(overlay, &item)?;
            assign(&mut base, &item, value)?;
        }
    }
    Ok(())
}

/// `container[item] = value`.
fn assign(container: &mut Value, item: &Value, value: Value) -> Raises<()> {
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

/// `list(value)`.
fn iterate(value: &Value) -> Raises<Vec<Value>> {
    Ok(match value {
        Value::Map(map) => map.keys().map(Key::to_value).collect(),
        Value::Set(set) => set.iter().map(Key::to_value).collect(),
        Value::List(items) => items.to_vec(),
        Value::Tuple(items) => items.to_vec(),
        Value::Str(text) => text.chars().map(|c| c.to_string().into()).collect(),
        Value::Bytes(bytes) => bytes.iter().map(|b| i64::from(*b).into()).collect(),
        _ => return Err(Exception::Type),
    })
}

fn hashable(item: &Value) -> Raises<Key> {
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
fn position(len: usize, item: &Value) -> Raises<usize> {
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

//! Writing MessagePack, as Salt's serializer `msgpack` does.

use mapstack_value::{Int, Value, ValueKind};
use rmp::encode::{self, RmpWrite};

/// Data that MessagePack has no form for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PackError {
    /// A type that MessagePack does not have.
    #[error("can not serialize '{}' object", .0.python_name())]
    NoForm(ValueKind),
    /// A number of more than 64 bits.
    #[error("Integer value out of range")]
    TooLarge,
    /// More items or bytes than a length can say.
    #[error("MessagePack has at most 4294967295 items or bytes in one value")]
    TooLong,
    /// Nesting that Python's library refuses as well.
    #[error("recursion limit exceeded")]
    TooDeep,
}

/// Python's library packs no deeper.
const MAX_DEPTH: usize = 511;

/// The bytes of a value, each part in its shortest form (`msgpack.packb`).
///
/// ```
/// use mapstack_functions::formats::msgpack::pack;
/// use mapstack_value::{Int, Value, json};
/// assert_eq!(pack(&json::loads(r#"{"a": [1, 2.5]}"#).unwrap()).unwrap(), b"\x81\xa1a\x92\x01\xcb\x40\x04\0\0\0\0\0\0");
/// let big: Int = "18446744073709551616".parse().unwrap();
/// assert_eq!(pack(&Value::from(big)).unwrap_err().to_string(), "Integer value out of range");
/// ```
///
/// # Errors
/// [`PackError`].
pub fn pack(value: &Value) -> Result<Vec<u8>, PackError> {
    let mut out = Vec::new();
    push(&mut out, value, MAX_DEPTH)?;
    Ok(out)
}

fn length(length: usize) -> Result<u32, PackError> {
    u32::try_from(length).map_err(|_| PackError::TooLong)
}

fn push(out: &mut Vec<u8>, value: &Value, depth: usize) -> Result<(), PackError> {
    let Some(below) = depth.checked_sub(1) else {
        return Err(PackError::TooDeep);
    };
    // Writing into memory does not fail.
    let written = match value {
        Value::None => encode::write_nil(out).is_ok(),
        Value::Bool(truth) => encode::write_bool(out, *truth).is_ok(),
        Value::Int(number) => return integer(out, number),
        Value::Float(number) => encode::write_f64(out, *number).is_ok(),
        Value::Str(text) => {
            encode::write_str_len(out, length(text.len())?).is_ok()
                && out.write_bytes(text.as_bytes()).is_ok()
        }
        Value::Bytes(bytes) => {
            encode::write_bin_len(out, length(bytes.len())?).is_ok()
                && out.write_bytes(bytes).is_ok()
        }
        Value::List(items) => return list(out, items, below),
        Value::Tuple(items) => return list(out, items, below),
        Value::Map(map) => {
            let is_begun = encode::write_map_len(out, length(map.len())?).is_ok();
            for (key, value) in map {
                push(out, &key.to_value(), below)?;
                push(out, value, below)?;
            }
            is_begun
        }
        Value::Set(_) => return Err(PackError::NoForm(value.kind())),
    };
    debug_assert!(written);
    Ok(())
}

fn list(out: &mut Vec<u8>, items: &[Value], depth: usize) -> Result<(), PackError> {
    let is_begun = encode::write_array_len(out, length(items.len())?).is_ok();
    debug_assert!(is_begun);
    items.iter().try_for_each(|item| push(out, item, depth))
}

fn integer(out: &mut Vec<u8>, number: &Int) -> Result<(), PackError> {
    let is_written = match (number.to_i64(), number.to_string().parse::<u64>()) {
        (Some(number), _) => encode::write_sint(out, number).is_ok(),
        (None, Ok(number)) => encode::write_uint(out, number).is_ok(),
        (None, Err(_)) => return Err(PackError::TooLarge),
    };
    debug_assert!(is_written);
    Ok(())
}

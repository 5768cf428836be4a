//! Python's ways with data that has the wrong shape.

use mapstack_value::{Int, Map, Value};

/// The items that Python iterates over; `None` for what it refuses with a `TypeError`.
pub(crate) fn items(value: &Value) -> Option<Vec<Value>> {
    match value {
        Value::Str(text) => Some(text.chars().map(|c| Value::from(c.to_string())).collect()),
        Value::List(items) => Some(items.to_vec()),
        Value::Tuple(items) => Some(items.to_vec()),
        Value::Map(map) => Some(keys(map)),
        Value::Set(set) => Some(set.iter().map(mapstack_value::Key::to_value).collect()),
        Value::Bytes(bytes) => Some(bytes.iter().map(|b| Value::from(i64::from(*b))).collect()),
        _ => None,
    }
}

fn keys(map: &Map) -> Vec<Value> {
    map.keys().map(mapstack_value::Key::to_value).collect()
}

/// The result of Python's `int()` for a value that is not an integer.
pub(crate) enum Number {
    Is(Int),
    /// It raises a `ValueError`.
    Bad,
    /// It raises a `TypeError`.
    Unfit,
    /// It raises an `OverflowError`.
    Endless,
}

pub(crate) fn int(value: &Value) -> Number {
    match value {
        Value::Int(int) => Number::Is(int.clone()),
        Value::Bool(b) => Number::Is(i64::from(*b).into()),
        Value::Float(f) if f.is_nan() => Number::Bad,
        Value::Float(f) => Int::from_f64(f.trunc()).map_or(Number::Endless, Number::Is),
        Value::Str(text) => digits(text).map_or(Number::Bad, Number::Is),
        _ => Number::Unfit,
    }
}

/// Digits with single underscores between them, behind an optional sign.
fn digits(text: &str) -> Option<Int> {
    let text = text.trim();
    let (sign, digits) = match text.strip_prefix(['+', '-']) {
        Some(rest) => (if text.starts_with('-') { "-" } else { "" }, rest),
        None => ("", text),
    };
    let groups: Vec<&str> = digits.split('_').collect();
    let is_number = |group: &&str| !group.is_empty() && group.bytes().all(|b| b.is_ascii_digit());
    if !groups.iter().all(is_number) {
        return None;
    }
    format!("{sign}{}", groups.concat()).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_python_reads_them() {
        let read = |value: Value| match int(&value) {
            Number::Is(int) => int.to_string(),
            Number::Bad => "ValueError".into(),
            Number::Unfit => "TypeError".into(),
            Number::Endless => "OverflowError".into(),
        };
        for (text, expected) in [
            ("5", "5"),
            (" -7 ", "-7"),
            ("1_0", "10"),
            ("1__0", "ValueError"),
            ("x", "ValueError"),
            ("", "ValueError"),
        ] {
            assert_eq!(read(text.into()), expected, "{text}");
        }
        assert_eq!(read(Value::Float(1.9)), "1");
        assert_eq!(read(Value::Float(f64::INFINITY)), "OverflowError");
        assert_eq!(read(Value::None), "TypeError");
        assert_eq!(read(true.into()), "1");
    }

    #[test]
    fn text_is_iterated_by_character() {
        assert_eq!(items(&"ab".into()).unwrap().len(), 2);
        assert!(items(&Value::None).is_none());
        assert!(items(&1.into()).is_none());
    }
}

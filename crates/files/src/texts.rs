//! Texts as Salt reads and writes them.

use mapstack_value::Value;
use mapstack_value::split::{is_line_break, lines};

/// The lines of an argument that is a text or a list of some (Salt: `_validate_str_list`).
pub(crate) fn parts(value: &Value) -> Vec<String> {
    let each = |items: &[Value]| items.iter().map(ToString::to_string).collect();
    match value {
        Value::List(items) => each(items),
        Value::Tuple(items) => each(items),
        Value::Set(items) => items.iter().map(ToString::to_string).collect(),
        one => vec![one.to_string()],
    }
}

/// Texts with one line after the other, each of which ends.
pub(crate) fn joined(parts: &[String], line_end: &str) -> String {
    let mut text = String::new();
    for line in parts
        .iter()
        .flat_map(|part| lines(part, false, is_line_break))
    {
        text.push_str(line.trim_end_matches('\n').trim_end_matches('\r'));
        text.push_str(line_end);
    }
    text
}

/// The bytes that decide over a file.
const LOOKED_AT: usize = 2048;

/// True if bytes are hardly those of a text (Salt: `salt.utils.files.is_binary`).
///
/// ```ignore
/// assert!(is_binary(b"a\0b"));
/// assert!(!is_binary("naïve".as_bytes()));
/// ```
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    let bytes = &bytes[..bytes.len().min(LOOKED_AT)];
    if bytes.contains(&0) {
        return true;
    }
    // A character that is cut off at the end does no harm.
    let is_text = std::str::from_utf8(bytes).map_or_else(|e| e.error_len().is_none(), |_| true);
    let is_usual = |byte: &u8| match byte {
        32..=126 | b'\n' | b'\r' | b'\t' | 8 | 12 => true,
        128..=254 => is_text,
        _ => false,
    };
    let odd = bytes.iter().filter(|byte| !is_usual(byte)).count();
    odd * 10 > bytes.len() * 3
}

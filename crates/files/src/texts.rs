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

/// Texts as lines, each with a line break at its end.
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

/// True if bytes are probably not a text.
pub(crate) fn is_binary(bytes: &[u8]) -> bool {
    mapstack_value::pytext::is_binary(&bytes[..bytes.len().min(LOOKED_AT)])
}

//! TOML to values.

use std::fmt::Write;

use mapstack_value::{Int, Map, Value};
use toml::Spanned;
use toml::de::{DeInteger, DeTable, DeValue};
use toml::value::{Datetime, Offset, Time};

/// A text is not TOML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ReadError {
    /// The message.
    pub message: String,
    /// The byte of the text where it is wrong.
    pub at: usize,
}

/// Tables and lists nest this deep at most, keys with dots counted.
const MAX_DEPTH: usize = 80;

/// Python refuses to read decimal integers with more digits than this.
const MAX_DECIMAL_DIGITS: usize = 4300;

/// The table in a text. Dates and times are the text that Python prints for them; keys are in the order
/// in which they are first named.
///
/// ```
/// use mapstack_functions::formats::toml::read;
/// let value = read("[b.c]\nx = 0xFF\n[a]\nday = 1979-05-27T07:32:00Z\n").unwrap();
/// assert_eq!(value.repr(), "{'b': {'c': {'x': 255}}, 'a': {'day': '1979-05-27 07:32:00+00:00'}}");
/// assert_eq!(read("a = 1\na = 2\n").unwrap_err().at, 6);
/// ```
///
/// # Errors
/// [`ReadError`]: the text is not TOML, or nests too deep.
pub fn read(text: &str) -> Result<Value, ReadError> {
    check_keys(text)?;
    let table = DeTable::parse(text).map_err(|e| ReadError {
        message: e.message().to_owned(),
        at: e.span().map_or(0, |span| span.start),
    })?;
    mapping(table.get_ref(), 0).map(|(value, _)| value)
}

/// Refuse keys with too many parts before their tables nest too deep.
fn check_keys(text: &str) -> Result<(), ReadError> {
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if line.len() > MAX_DEPTH && line.matches('.').count() > MAX_DEPTH {
            check_key(line, start)?;
        }
        start += line.len();
    }
    Ok(())
}

/// Dots between the parts of keys are those that blanks or quotes surround, or letters, digits and dashes; texts have
/// others as well, so that only runs of parts count that are as short as those of keys.
fn check_key(line: &str, start: usize) -> Result<(), ReadError> {
    let (mut run, mut is_quoted, mut before) = (0, None, ' ');
    for (at, c) in line.char_indices() {
        match (is_quoted, c) {
            (Some(quote), c) if c == quote => is_quoted = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => is_quoted = Some(c),
            // A part of a key is not empty.
            (None, '.') => run = if before == '.' { 0 } else { run + 1 },
            (None, c) if c.is_alphanumeric() || matches!(c, ' ' | '\t' | '_' | '-') => {}
            (None, '#') => return Ok(()),
            (None, _) => run = 0,
        }
        if run > MAX_DEPTH {
            return Err(too_deep(start + at));
        }
        before = c;
    }
    Ok(())
}

fn too_deep(at: usize) -> ReadError {
    ReadError {
        message: format!("tables and lists are nested more than {MAX_DEPTH} levels deep"),
        at,
    }
}

/// The data of a table, and the first byte that names it or something in it.
fn mapping(table: &DeTable<'_>, depth: usize) -> Result<(Value, usize), ReadError> {
    let mut entries = Vec::with_capacity(table.len());
    for (key, inner) in table {
        let (inner, first) = value(inner, depth + 1)?;
        entries.push((key.span().start.min(first), &**key.get_ref(), inner));
    }
    // The parser moves a table to where its own header is; Python's package leaves it where it is first named.
    entries.sort_by_key(|(first, ..)| *first);
    let first = entries.first().map_or(usize::MAX, |(first, ..)| *first);
    let entries = entries.into_iter();
    let map: Map = entries.map(|(_, key, inner)| (key, inner)).collect();
    Ok((map.into(), first))
}

fn value(spanned: &Spanned<DeValue<'_>>, depth: usize) -> Result<(Value, usize), ReadError> {
    let at = spanned.span().start;
    if depth > MAX_DEPTH {
        return Err(too_deep(at));
    }
    let value = match spanned.get_ref() {
        DeValue::Table(table) => return mapping(table, depth),
        DeValue::Array(items) => {
            let (mut values, mut first) = (Vec::with_capacity(items.len()), usize::MAX);
            for item in items {
                let (item, named) = value(item, depth + 1)?;
                values.push(item);
                first = first.min(named);
            }
            return Ok((values.into(), first));
        }
        scalar => self::scalar(scalar).map_err(|message| ReadError {
            message: message.to_owned(),
            at,
        })?,
    };
    Ok((value, at))
}

fn scalar(scalar: &DeValue<'_>) -> Result<Value, &'static str> {
    Ok(match scalar {
        DeValue::String(text) => Value::from(&**text),
        DeValue::Integer(number) => integer(number)
            .ok_or("the integer has too many digits")?
            .into(),
        DeValue::Float(number) => number
            .as_str()
            .parse::<f64>()
            .map_err(|_| "this is not a float")?
            .into(),
        DeValue::Boolean(truth) => (*truth).into(),
        DeValue::Datetime(time) => printed(time).into(),
        DeValue::Array(_) | DeValue::Table(_) => Value::None,
    })
}

fn integer(number: &DeInteger<'_>) -> Option<Int> {
    let text = number.as_str();
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    if number.radix() == 10 && digits.len() > MAX_DECIMAL_DIGITS {
        return None;
    }
    let size = Int::from_str_radix(digits, number.radix())?;
    Some(if text.starts_with('-') {
        size.neg()
    } else {
        size
    })
}

/// The text of Python's `str`.
fn printed(datetime: &Datetime) -> String {
    let mut text = String::new();
    if let Some(date) = &datetime.date {
        let _ = write!(text, "{:04}-{:02}-{:02}", date.year, date.month, date.day);
    }
    if let Some(time) = &datetime.time {
        if !text.is_empty() {
            text.push(' ');
        }
        push_time(&mut text, time);
    }
    match datetime.offset {
        None => {}
        Some(Offset::Z) => text.push_str("+00:00"),
        Some(Offset::Custom { minutes }) => {
            let sign = if minutes < 0 { '-' } else { '+' };
            let minutes = minutes.unsigned_abs();
            let _ = write!(text, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
        }
    }
    text
}

fn push_time(text: &mut String, time: &Time) {
    let second = time.second.unwrap_or_default();
    let _ = write!(text, "{:02}:{:02}:{second:02}", time.hour, time.minute);
    // Python's times are in microseconds.
    match time.nanosecond.unwrap_or_default() / 1000 {
        0 => {}
        micros => {
            let _ = write!(text, ".{micros:06}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_printed_as_python_prints_them() {
        let text = "a = 1979-05-27T00:32:00.5-07:00\nb = 1979-05-27 07:32:00.0000001\nc = 1979-05-27\nd = 07:32:00\n";
        assert_eq!(
            read(text).unwrap().repr(),
            "{'a': '1979-05-27 00:32:00.500000-07:00', 'b': '1979-05-27 07:32:00', 'c': '1979-05-27', 'd': '07:32:00'}"
        );
    }

    #[test]
    fn depth_is_bounded() {
        let deep = |n: usize| {
            [
                format!("a = {}{}", "[".repeat(n), "]".repeat(n)),
                format!("{} = 1", vec!["a"; n].join(".")),
                format!("[{}]", vec!["a"; n].join(" . ")),
                format!("[{}]", vec!["'a'"; n].join(".")),
                format!("[[{}]]", vec!["a"; n].join(".")),
                format!("x = {{ {} = 1 }}", vec!["a"; n].join(".")),
                format!("x = {}1{}", "{a = ".repeat(n), "}".repeat(n)),
            ]
        };
        for text in deep(200_000).into_iter().chain(deep(90)) {
            let error = read(&text).unwrap_err();
            assert!(
                error.to_string().contains("nested") || error.to_string().contains("recursion"),
                "{error}"
            );
        }
        for text in deep(30) {
            read(&text).unwrap();
        }
        let dots = format!(
            "a = '{}'\nb = 1 # {}",
            "a.".repeat(1_000),
            "a.".repeat(1_000)
        );
        read(&dots).unwrap();
    }

    #[test]
    fn integers_have_any_size() {
        let value = read("a = 123456789012345678901234567890\nb = -0x0\nc = 1_000\nd = -5\n");
        assert!(
            value.is_err()
                || value
                    .unwrap()
                    .repr()
                    .contains("123456789012345678901234567890")
        );
    }
}

//! `str()` and `repr()` as Python prints them.

use std::fmt::{self, Write};

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

use crate::{Key, Value};

impl Value {
    /// Python's `repr()`.
    ///
    /// ```
    /// use mapstack_value::Value;
    /// assert_eq!(Value::from("it's").repr(), "\"it's\"");
    /// assert_eq!(Value::from(1e16).repr(), "1e+16");
    /// ```
    #[must_use]
    pub fn repr(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = write_repr(self, &mut out);
        out
    }
}

/// Python's `str()`.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Str(s) => f.write_str(s),
            other => write_repr(other, f),
        }
    }
}

fn write_repr(value: &Value, out: &mut dyn Write) -> fmt::Result {
    match value {
        Value::None => out.write_str("None"),
        Value::Bool(true) => out.write_str("True"),
        Value::Bool(false) => out.write_str("False"),
        Value::Int(i) => write!(out, "{i}"),
        Value::Float(x) => out.write_str(&float_repr(*x)),
        Value::Str(s) => out.write_str(&quote_str(s)),
        Value::Bytes(b) => out.write_str(&quote_bytes(b)),
        Value::List(items) => write_items(items, out, "[", "]"),
        Value::Tuple(items) if items.len() == 1 => write_items(items, out, "(", ",)"),
        Value::Tuple(items) => write_items(items, out, "(", ")"),
        Value::Map(map) => {
            out.write_char('{')?;
            for (i, (key, value)) in map.iter().enumerate() {
                if i > 0 {
                    out.write_str(", ")?;
                }
                write_key(key, out)?;
                out.write_str(": ")?;
                write_repr(value, out)?;
            }
            out.write_char('}')
        }
        Value::Set(set) if set.is_empty() => out.write_str("set()"),
        Value::Set(set) => {
            let items: Vec<Value> = set.iter().map(Key::to_value).collect();
            write_items(&items, out, "{", "}")
        }
    }
}

fn write_key(key: &Key, out: &mut dyn Write) -> fmt::Result {
    match key {
        Key::Str(s) => out.write_str(&quote_str(s)),
        other => write_repr(&other.to_value(), out),
    }
}

fn write_items(items: &[Value], out: &mut dyn Write, open: &str, close: &str) -> fmt::Result {
    out.write_str(open)?;
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            out.write_str(", ")?;
        }
        write_repr(item, out)?;
    }
    out.write_str(close)
}

/// `repr()` of a float: the shortest digits that read back, `e` notation outside 1e-4 … 1e16.
///
/// ```
/// use mapstack_value::float_repr;
/// assert_eq!(float_repr(1e15), "1000000000000000.0");
/// assert_eq!(float_repr(0.00001), "1e-05");
/// ```
#[must_use]
pub fn float_repr(x: f64) -> String {
    if x.is_nan() {
        return "nan".into();
    }
    if x.is_infinite() {
        return if x > 0.0 { "inf".into() } else { "-inf".into() };
    }
    let scientific = format!("{x:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if x != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{digits}e{sign}{:02}", exponent.abs());
    }
    let plain = format!("{x}");
    if plain.contains('.') {
        plain
    } else {
        plain + ".0"
    }
}

/// `repr()` of text: single quotes unless the text has one and no double quote; what does not
/// print is escaped.
#[must_use]
pub fn quote_str(s: &str) -> String {
    let quote = if s.contains('\'') && !s.contains('"') {
        '"'
    } else {
        '\''
    };
    let mut out = String::with_capacity(s.len() + 2);
    out.push(quote);
    for c in s.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c if is_printable(c) => out.push(c),
            c => {
                let _ = match u32::from(c) {
                    n if n < 0x100 => write!(out, "\\x{n:02x}"),
                    n if n < 0x1_0000 => write!(out, "\\u{n:04x}"),
                    n => write!(out, "\\U{n:08x}"),
                };
            }
        }
    }
    out.push(quote);
    out
}

fn quote_bytes(bytes: &[u8]) -> String {
    let quote = if bytes.contains(&b'\'') && !bytes.contains(&b'"') {
        '"'
    } else {
        '\''
    };
    let mut out = format!("b{quote}");
    for &byte in bytes {
        match byte {
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            b if char::from(b) == quote => {
                out.push('\\');
                out.push(quote);
            }
            0x20..=0x7e => out.push(char::from(byte)),
            _ => {
                let _ = write!(out, "\\x{byte:02x}");
            }
        }
    }
    out.push(quote);
    out
}

/// Python's `str.isprintable()` for one character: everything but separators other than the plain
/// space, and the control, format, surrogate, private and unassigned characters.
#[must_use]
pub fn is_printable(c: char) -> bool {
    if c.is_ascii() {
        return (' '..='~').contains(&c);
    }
    !matches!(
        c.general_category(),
        GeneralCategory::Control
            | GeneralCategory::Format
            | GeneralCategory::Surrogate
            | GeneralCategory::PrivateUse
            | GeneralCategory::Unassigned
            | GeneralCategory::LineSeparator
            | GeneralCategory::ParagraphSeparator
            | GeneralCategory::SpaceSeparator
    )
}

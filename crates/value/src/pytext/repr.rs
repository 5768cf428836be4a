//! `repr()` of texts, bytes and floats.

use std::fmt::Write;

use unicode_properties::{GeneralCategory, UnicodeGeneralCategory};

/// `repr()` of a float: the shortest digits that read back, `e` notation outside 1e-4 … 1e16.
///
/// ```
/// use mapstack_value::pytext::float_repr;
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
///
/// ```
/// assert_eq!(mapstack_value::pytext::quote_str("a\u{feff}\n"), r"'a\ufeff\n'");
/// ```
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

/// `repr()` of bytes.
///
/// ```
/// assert_eq!(mapstack_value::pytext::quote_bytes(b"a\xff"), r"b'a\xff'");
/// ```
#[must_use]
pub fn quote_bytes(bytes: &[u8]) -> String {
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
///
/// ```
/// use mapstack_value::pytext::is_printable;
/// assert!(is_printable('ü') && !is_printable('\u{a0}'));
/// ```
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

//! `str()` and `repr()` as Python prints them.

use std::fmt::{self, Write};

use crate::pytext::{float_repr, quote_bytes, quote_str};

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

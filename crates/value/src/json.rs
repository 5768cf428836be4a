//! JSON as Python's `json` module reads and writes it.
//!
//! ```
//! use mapstack_value::json::{DumpOptions, dumps, loads};
//!
//! let value = loads(r#"{"b": [1.0, NaN], "a": "é"}"#).unwrap();
//! assert_eq!(dumps(&value, &DumpOptions::default()).unwrap(), r#"{"b": [1.0, NaN], "a": "\u00e9"}"#);
//! let filter = DumpOptions { sort_keys: true, ensure_ascii: false, ..DumpOptions::default() };
//! assert_eq!(dumps(&value, &filter).unwrap(), r#"{"a": "é", "b": [1.0, NaN]}"#);
//! ```

use std::fmt::Write;

pub use crate::json_reader::{loads, raw_decode};
use crate::value::ValueKind;
use crate::{Incomparable, Key, Map, Value, float_repr, sort_by_key};

/// Collections may be nested this deep, in both directions.
pub(crate) const MAX_DEPTH: usize = 200;

/// The options for printing: the keyword arguments of `json.dumps`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DumpOptions {
    /// Spaces a level is indented by; `None` prints everything on one line.
    pub indent: Option<usize>,
    /// Sort the keys of mappings; an error where they have no order.
    pub sort_keys: bool,
    /// Write everything beyond ASCII as escapes.
    pub ensure_ascii: bool,
    /// The text between items, and between a key and its value. `None` is `(", ", ": ")`, and
    /// `(",", ": ")` with `indent`.
    pub separators: Option<(String, String)>,
    /// Refuse keys that become the same text, of which readers keep one. Python prints both.
    pub distinct_keys: bool,
    /// Write bytes and sets as the text that Python shows, as Salt's outputters do.
    pub shows_others: bool,
}

impl Default for DumpOptions {
    /// Python's defaults.
    fn default() -> Self {
        DumpOptions {
            indent: None,
            sort_keys: false,
            ensure_ascii: true,
            separators: None,
            distinct_keys: false,
            shows_others: false,
        }
    }
}

/// Why a value has no JSON form, or why a text is not JSON; worded as Python words it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// A value of a type JSON does not have.
    #[error("Object of type {} is not JSON serializable", .0.python_name())]
    NotSerializable(ValueKind),
    /// A key of a type that has no text.
    #[error("keys must be str, int, float, bool or None, not {}", .0.python_name())]
    BadKey(ValueKind),
    /// Two keys of a mapping that become the same text, by the path to them.
    #[error("two keys become the same text: {0}")]
    SameText(String),
    /// Keys to be sorted that have no order.
    #[error(transparent)]
    Incomparable(#[from] Incomparable),
    /// Collections in collections without end.
    #[error("collections are nested more than {MAX_DEPTH} levels deep; flatten them")]
    TooDeep,
    /// The text is not JSON.
    #[error("{message}: line {line} column {column}")]
    Syntax {
        /// The expected token.
        message: &'static str,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
    },
}

impl JsonError {
    /// The error of a mapping or a list with this as one of its values.
    fn below(self, key: &Key) -> Self {
        match self {
            JsonError::SameText(path) => JsonError::SameText(format!("{key}:{path}")),
            other => other,
        }
    }
}

fn have_distinct_texts(map: &Map) -> Result<(), JsonError> {
    for key in map.keys().filter(|key| !matches!(key, Key::Str(_))) {
        let text = key_text(key)?;
        if map.contains_key(&*text) {
            return Err(JsonError::SameText(text));
        }
    }
    Ok(())
}

/// `json.dumps(value, …)`.
///
/// # Errors
/// [`JsonError`] for bytes and sets unless they are shown, for keys without text, keys without order when sorting, and
/// extreme nesting.
pub fn dumps(value: &Value, options: &DumpOptions) -> Result<String, JsonError> {
    let default = if options.indent.is_some() {
        (",", ": ")
    } else {
        (", ", ": ")
    };
    let (item, key) = options
        .separators
        .as_ref()
        .map_or(default, |(item, key)| (item, key));
    let mut writer = Writer {
        out: String::new(),
        options,
        item,
        key,
    };
    writer.value(value, 0)?;
    Ok(writer.out)
}

struct Writer<'o> {
    out: String,
    options: &'o DumpOptions,
    item: &'o str,
    key: &'o str,
}

impl Writer<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), JsonError> {
        if depth > MAX_DEPTH {
            return Err(JsonError::TooDeep);
        }
        match value {
            Value::Str(s) => self.string(s),
            Value::List(items) => self.items(items, depth)?,
            Value::Tuple(items) => self.items(items, depth)?,
            Value::Map(map) => self.map(map, depth)?,
            Value::Bytes(_) | Value::Set(_) if self.options.shows_others => {
                self.string(&value.repr());
            }
            Value::Bytes(_) | Value::Set(_) => {
                return Err(JsonError::NotSerializable(value.kind()));
            }
            Value::None => self.out.push_str("null"),
            Value::Bool(b) => self.out.push_str(if *b { "true" } else { "false" }),
            Value::Int(i) => self.display(i),
            Value::Float(f) => self.out.push_str(&float(*f)),
        }
        Ok(())
    }

    fn items(&mut self, items: &[Value], depth: usize) -> Result<(), JsonError> {
        self.out.push('[');
        for (i, item) in items.iter().enumerate() {
            self.between(i, depth + 1);
            self.value(item, depth + 1)
                .map_err(|error| error.below(&Key::of_index(i)))?;
        }
        self.close(']', items.is_empty(), depth);
        Ok(())
    }

    fn map(&mut self, map: &Map, depth: usize) -> Result<(), JsonError> {
        if self.options.distinct_keys {
            have_distinct_texts(map)?;
        }
        self.out.push('{');
        if self.options.sort_keys {
            let entries = sort_by_key(map.iter().collect(), |entry| entry.0)?;
            self.entries(entries.into_iter(), depth)?;
        } else {
            self.entries(map.iter(), depth)?;
        }
        self.close('}', map.is_empty(), depth);
        Ok(())
    }

    fn entries<'m>(
        &mut self,
        entries: impl Iterator<Item = (&'m Key, &'m Value)>,
        depth: usize,
    ) -> Result<(), JsonError> {
        for (i, (key, value)) in entries.enumerate() {
            self.between(i, depth + 1);
            match key {
                Key::Str(s) => self.string(s),
                other => self.string(&key_text(other)?),
            }
            self.out.push_str(self.key);
            self.value(value, depth + 1)
                .map_err(|error| error.below(key))?;
        }
        Ok(())
    }

    fn between(&mut self, i: usize, depth: usize) {
        if i > 0 {
            self.out.push_str(self.item);
        }
        self.new_line(depth);
    }

    fn close(&mut self, bracket: char, empty: bool, depth: usize) {
        if !empty {
            self.new_line(depth);
        }
        self.out.push(bracket);
    }

    fn new_line(&mut self, depth: usize) {
        if let Some(indent) = self.options.indent {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n(' ', indent * depth));
        }
    }

    fn string(&mut self, s: &str) {
        self.out.push('"');
        let is_plain = |byte: u8| match byte {
            b'"' | b'\\' => false,
            b' '..=b'~' => true,
            byte => byte >= 0x7f && !self.options.ensure_ascii,
        };
        let mut rest = s;
        while let Some(at) = rest.bytes().position(|byte| !is_plain(byte)) {
            // The other part begins with a whole character, as the part before it has whole ones.
            let (plain, escaped) = rest.split_at(at);
            self.out.push_str(plain);
            let mut chars = escaped.chars();
            chars.by_ref().take(1).for_each(|c| self.escaped(c));
            rest = chars.as_str();
        }
        self.out.push_str(rest);
        self.out.push('"');
    }

    fn escaped(&mut self, c: char) {
        match c {
            '"' => self.out.push_str("\\\""),
            '\\' => self.out.push_str("\\\\"),
            '\n' => self.out.push_str("\\n"),
            '\r' => self.out.push_str("\\r"),
            '\t' => self.out.push_str("\\t"),
            '\x08' => self.out.push_str("\\b"),
            '\x0c' => self.out.push_str("\\f"),
            c => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    self.display(format_args!("\\u{unit:04x}"));
                }
            }
        }
    }

    fn display(&mut self, what: impl std::fmt::Display) {
        // Writing to a String cannot fail.
        let _ = write!(self.out, "{what}");
    }
}

fn key_text(key: &Key) -> Result<String, JsonError> {
    Ok(match key {
        Key::Str(s) => s.to_string(),
        Key::None => "null".into(),
        Key::Bool(b) => b.to_string(),
        Key::Int(i) => i.to_string(),
        Key::Float(f) => float(*f),
        Key::Bytes(_) | Key::Tuple(_) => return Err(JsonError::BadKey(key.kind())),
    })
}

fn float(f: f64) -> String {
    match f {
        f if f.is_nan() => "NaN".into(),
        f64::INFINITY => "Infinity".into(),
        f64::NEG_INFINITY => "-Infinity".into(),
        f => float_repr(f),
    }
}

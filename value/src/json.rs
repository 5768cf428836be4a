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

use crate::value::Kind;
use crate::{Incomparable, Int, Key, Map, Value, float_repr, sort_by_key};

/// Collections may be nested this deep, in both directions.
const MAX_DEPTH: usize = 200;

/// How to print: the keyword arguments of `json.dumps`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DumpOptions {
    /// Spaces a level is indented by; `None` prints everything on one line.
    pub indent: Option<usize>,
    /// Sort the keys of mappings; an error where they have no order.
    pub sort_keys: bool,
    /// Write everything beyond ASCII as escapes.
    pub ensure_ascii: bool,
    /// What stands between items, and between a key and its value. `None` is `(", ", ": ")`, and
    /// `(",", ": ")` with `indent`.
    pub separators: Option<(String, String)>,
}

impl Default for DumpOptions {
    /// Python's defaults.
    fn default() -> Self {
        DumpOptions { indent: None, sort_keys: false, ensure_ascii: true, separators: None }
    }
}

/// Why a value has no JSON, or a text is none; worded as Python words it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JsonError {
    /// A value of a type JSON does not have.
    #[error("Object of type {} is not JSON serializable", .0.python_name())]
    NotSerializable(Kind),
    /// A key of a type that has no text.
    #[error("keys must be str, int, float, bool or None, not {}", .0.python_name())]
    BadKey(Kind),
    /// Keys to be sorted that have no order.
    #[error(transparent)]
    Incomparable(#[from] Incomparable),
    /// Collections in collections without end.
    #[error("collections are nested more than {MAX_DEPTH} levels deep; flatten them")]
    TooDeep,
    /// The text is not JSON.
    #[error("{message}: line {line} column {column}")]
    Syntax {
        /// What was expected.
        message: &'static str,
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
    },
}

/// `json.dumps(value, …)`.
///
/// # Errors
/// [`JsonError`] for bytes, sets, keys without text, keys without order when sorting, and
/// extreme nesting.
pub fn dumps(value: &Value, options: &DumpOptions) -> Result<String, JsonError> {
    let default = if options.indent.is_some() { (",", ": ") } else { (", ", ": ") };
    let (item, key) = options.separators.as_ref().map_or(default, |(item, key)| (item, key));
    let mut writer = Writer { out: String::new(), options, item, key };
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
            Value::Bytes(_) | Value::Set(_) => return Err(JsonError::NotSerializable(value.kind())),
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
            self.value(item, depth + 1)?;
        }
        self.close(']', items.is_empty(), depth);
        Ok(())
    }

    fn map(&mut self, map: &Map, depth: usize) -> Result<(), JsonError> {
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
            self.value(value, depth + 1)?;
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
            // What is not plain begins a character, as all before it is whole ones.
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

/// `json.loads(text)`: integers stay exact, `NaN` and `Infinity` are numbers, and the last of
/// equal keys wins.
///
/// ```
/// use mapstack_value::json::loads;
/// assert_eq!(loads("[1, ]").unwrap_err().to_string(), "Expecting value: line 1 column 5");
/// ```
///
/// # Errors
/// [`JsonError::Syntax`] where Python raises `JSONDecodeError`, and for lone surrogates, which
/// text cannot hold here; [`JsonError::TooDeep`].
pub fn loads(text: &str) -> Result<Value, JsonError> {
    let mut reader = Reader { text, at: 0 };
    reader.blanks();
    let value = reader.value(0)?;
    reader.blanks();
    if reader.at < text.len() { Err(reader.error("Extra data", reader.at)) } else { Ok(value) }
}

/// `JSONDecoder().raw_decode(text, at)`: the value that starts at an offset, and the offset behind
/// it, where anything may follow.
///
/// ```
/// use mapstack_value::json::raw_decode;
/// let (first, end) = raw_decode("[1] [2]", 0).unwrap();
/// assert_eq!((first.repr().as_str(), end), ("[1]", 3));
/// ```
///
/// # Errors
/// As [`loads`], also for an offset that is behind the text or within a character.
pub fn raw_decode(text: &str, at: usize) -> Result<(Value, usize), JsonError> {
    let mut reader = Reader { text, at: if text.is_char_boundary(at) { at } else { text.len() } };
    let value = reader.value(0)?;
    Ok((value, reader.at))
}

struct Reader<'t> {
    text: &'t str,
    /// Offset of what comes next; always between characters.
    at: usize,
}

/// Python refuses to read integers with more digits than this.
const MAX_DIGITS: usize = 4300;

impl<'t> Reader<'t> {
    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, literal: &str) -> bool {
        let found = self.rest().starts_with(literal);
        if found {
            self.at += literal.len();
        }
        found
    }

    fn blanks(&mut self) {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let blanks = rest.iter().position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        self.at += blanks.unwrap_or(rest.len());
    }

    fn error(&self, message: &'static str, at: usize) -> JsonError {
        let before = &self.text[..at];
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        JsonError::Syntax { message, line, column }
    }

    fn value(&mut self, depth: usize) -> Result<Value, JsonError> {
        if depth > MAX_DEPTH {
            return Err(JsonError::TooDeep);
        }
        match self.peek() {
            Some(b'"') => Ok(self.string()?.into()),
            Some(b'{') => self.map(depth),
            Some(b'[') => self.list(depth),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'n') if self.eat("null") => Ok(Value::None),
            Some(b't') if self.eat("true") => Ok(true.into()),
            Some(b'f') if self.eat("false") => Ok(false.into()),
            Some(b'N') if self.eat("NaN") => Ok(f64::NAN.into()),
            Some(b'I') if self.eat("Infinity") => Ok(f64::INFINITY.into()),
            _ => Err(self.error("Expecting value", self.at)),
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.at += 1;
        let mut items = Vec::new();
        self.blanks();
        if self.eat("]") {
            return Ok(items.into());
        }
        loop {
            items.push(self.value(depth + 1)?);
            self.blanks();
            if self.eat("]") {
                return Ok(items.into());
            }
            if !self.eat(",") {
                return Err(self.error("Expecting ',' delimiter", self.at));
            }
            self.blanks();
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.at += 1;
        let mut map = Map::new();
        self.blanks();
        if self.eat("}") {
            return Ok(map.into());
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.error("Expecting property name enclosed in double quotes", self.at));
            }
            let key = self.string()?;
            self.blanks();
            if !self.eat(":") {
                return Err(self.error("Expecting ':' delimiter", self.at));
            }
            self.blanks();
            let value = self.value(depth + 1)?;
            map.insert(key, value);
            self.blanks();
            if self.eat("}") {
                return Ok(map.into());
            }
            if !self.eat(",") {
                return Err(self.error("Expecting ',' delimiter", self.at));
            }
            self.blanks();
        }
    }

    fn number(&mut self) -> Result<Value, JsonError> {
        let start = self.at;
        if self.eat("-Infinity") {
            return Ok(f64::NEG_INFINITY.into());
        }
        self.eat("-");
        if !self.eat("0") && self.digits() == 0 {
            return Err(self.error("Expecting value", start));
        }
        let integer_end = self.at;
        let before_fraction = self.at;
        if self.eat(".") && self.digits() == 0 {
            self.at = before_fraction;
        }
        let before_exponent = self.at;
        if self.eat("e") || self.eat("E") {
            let _sign = self.eat("+") || self.eat("-");
            if self.digits() == 0 {
                self.at = before_exponent;
            }
        }
        let digits = &self.text[start..self.at];
        if self.at > integer_end {
            return digits.parse::<f64>().map(Value::Float).map_err(|_| self.error("Expecting value", start));
        }
        if digits.len() > MAX_DIGITS {
            return Err(self.error("Exceeds the limit (4300 digits) for integer string conversion", start));
        }
        digits.parse::<Int>().map(Value::Int).map_err(|_| self.error("Expecting value", start))
    }

    /// How many digits were there.
    fn digits(&mut self) -> usize {
        let n = self.rest().bytes().take_while(u8::is_ascii_digit).count();
        self.at += n;
        n
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let start = self.at;
        let unterminated = "Unterminated string starting at";
        self.at += 1;
        let mut out = String::new();
        loop {
            let rest = self.rest();
            // None of these bytes is part of a longer character.
            let plain = rest.bytes().position(|byte| byte < b' ' || byte == b'"' || byte == b'\\');
            let plain = plain.ok_or_else(|| self.error(unterminated, start))?;
            out.push_str(&rest[..plain]);
            self.at += plain;
            if self.eat("\"") {
                return Ok(out);
            }
            if !self.eat("\\") {
                return Err(self.error("Invalid control character at", self.at));
            }
            let escape = self.rest().chars().next().ok_or_else(|| self.error(unterminated, start))?;
            self.at += escape.len_utf8();
            out.push(match escape {
                '"' | '\\' | '/' => escape,
                'b' => '\x08',
                'f' => '\x0c',
                'n' => '\n',
                'r' => '\r',
                't' => '\t',
                'u' => self.unicode()?,
                other => return Err(self.error("Invalid \\escape", self.at - other.len_utf8() - 1)),
            });
        }
    }

    /// The character of one `\u` escape, or of two that are a surrogate pair.
    fn unicode(&mut self) -> Result<char, JsonError> {
        let first = self.hex4()?;
        if let Some(c) = char::from_u32(u32::from(first)) {
            return Ok(c);
        }
        let lone = self.error("Lone surrogate in \\uXXXX escape", self.at - 5);
        if !self.eat("\\u") {
            return Err(lone);
        }
        let second = self.hex4()?;
        match char::decode_utf16([first, second]).next() {
            Some(Ok(c)) => Ok(c),
            _ => Err(lone),
        }
    }

    fn hex4(&mut self) -> Result<u16, JsonError> {
        let digits = self.rest().get(..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.error("Invalid \\uXXXX escape", self.at - 1))?;
        self.at += 4;
        Ok(unit)
    }
}

//! Documents for programs. Each is a type with [`Serialize`], from which its JSON Schema is generated.
//!
//! The types print themselves as JSON. Data in them is printed as Python prints it, whatever the values: integers of any
//! size, `NaN`, keys that are not text.

use std::borrow::{Borrow, Cow};
use std::io::{self, Write};

use mapstack::secrets::Redacted;
use mapstack::value::{Key, Value, json};
use mapstack::{Error, ErrorKind};
use serde::ser::{Error as _, Serialize, Serializer};
use serde_json::ser::Formatter;

use crate::terminal::printable_json;

/// A type with a form in JSON: every type with [`Serialize`].
///
/// ```
/// use mapstack_report::document::Document;
/// assert_eq!(["a", "b"].json_line().unwrap(), "[\"a\", \"b\"]\n");
/// assert_eq!(["a", "b"].json().unwrap(), "[\n  \"a\",\n  \"b\"\n]\n");
/// ```
pub trait Document: Serialize {
    /// Indented JSON that does not escape text beyond ASCII, like that of Salt's outputter.
    ///
    /// # Errors
    /// The data has keys without a form in JSON, such as bytes, or two keys that become the same text.
    fn json(&self) -> Result<String, Error> {
        printed(self, Some(2))
    }

    /// The same on one line.
    ///
    /// # Errors
    /// As [`Document::json`].
    fn json_line(&self) -> Result<String, Error> {
        printed(self, None)
    }
}

impl<T: Serialize + ?Sized> Document for T {}

/// The beginning of the error about keys that are the same in JSON.
const SAME_TEXT: &str = "two keys become the same text";

/// JSON without anything that acts on a terminal. A document can have hundreds of megabytes, so it is held once.
fn printed<T: Serialize + ?Sized>(document: &T, indent: Option<usize>) -> Result<String, Error> {
    let mut layout = Layout {
        indent,
        ..Layout::default()
    };
    let printed = document.serialize(&mut serde_json::Serializer::with_formatter(
        &mut layout,
        Raw,
    ));
    let text = printed.map_err(|e| e.to_string());
    let text = text.and_then(|()| String::from_utf8(layout.end()).map_err(|e| e.to_string()));
    let text = text.map_err(|e| {
        let message = format!("the result has no JSON form: {e}");
        let error = Error::new(ErrorKind::DataSource, message);
        error.help(match e.starts_with(SAME_TEXT) {
            true => "readers of JSON keep one of the two; YAML keeps both: -o yaml",
            false => "YAML has a form for it: -o yaml",
        })
    })?;
    let escaped = match printable_json(&text) {
        Cow::Borrowed(_) => None,
        Cow::Owned(escaped) => Some(escaped),
    };
    Ok(escaped.unwrap_or(text))
}

/// Takes compact JSON, and lays it out as Python does: on one line, or indented by this many spaces for each level.
#[derive(Default)]
struct Layout {
    out: Vec<u8>,
    indent: Option<usize>,
    depth: usize,
    /// True behind a bracket, of which the other one may follow.
    is_opened: bool,
    in_text: bool,
    is_escaped: bool,
}

impl Layout {
    fn take(&mut self, byte: u8) {
        if self.in_text {
            self.out.push(byte);
            self.in_text = byte != b'"' || self.is_escaped;
            self.is_escaped = byte == b'\\' && !self.is_escaped;
            return;
        }
        let is_end = matches!(byte, b'}' | b']');
        match (std::mem::take(&mut self.is_opened), is_end) {
            (true, false) => {
                self.depth += 1;
                self.space("");
            }
            (false, true) => {
                self.depth = self.depth.saturating_sub(1);
                self.space("");
            }
            _ => {}
        }
        self.out.push(byte);
        match byte {
            b'{' | b'[' => self.is_opened = true,
            b',' => self.space(" "),
            b':' => self.out.push(b' '),
            b'"' => self.in_text = true,
            _ => {}
        }
    }

    fn space(&mut self, on_a_line: &str) {
        match self.indent {
            None => self.out.extend_from_slice(on_a_line.as_bytes()),
            Some(indent) => {
                self.out.push(b'\n');
                let spaces = std::iter::repeat_n(b' ', indent * self.depth);
                self.out.extend(spaces);
            }
        }
    }

    fn end(mut self) -> Vec<u8> {
        self.out.push(b'\n');
        self.out
    }
}

impl Write for Layout {
    fn write(&mut self, json: &[u8]) -> io::Result<usize> {
        json.iter().for_each(|byte| self.take(*byte));
        Ok(json.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Data without secrets.
#[derive(Debug, Clone, PartialEq)]
pub struct Data(pub Redacted<Value>);

impl From<Redacted<Value>> for Data {
    fn from(value: Redacted<Value>) -> Self {
        Data(value)
    }
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, s)
    }
}

/// A value that is not secret, such as the id of a minion.
#[derive(Debug, Clone, PartialEq)]
pub struct Plain(pub Value);

impl Serialize for Plain {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, s)
    }
}

/// Keys and, in lists, indices from 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Steps(Value);

impl<K: Borrow<Key>> FromIterator<K> for Steps {
    fn from_iter<I: IntoIterator<Item = K>>(keys: I) -> Self {
        Steps(
            keys.into_iter()
                .map(|key| key.borrow().to_value())
                .collect(),
        )
    }
}

impl Serialize for Steps {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        serialize(&self.0, s)
    }
}

/// A property that is `true` or left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrueFlag;

impl Serialize for TrueFlag {
    fn serialize<S: Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_bool(true)
    }
}

/// The subject of a part of the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum DocumentSubject {
    /// A formula.
    Formula,
    /// The pillar.
    Pillar,
    /// The effects of states.
    States,
}

impl DocumentSubject {
    /// The pillar, or else a formula.
    pub fn new(is_pillar: bool) -> Self {
        match is_pillar {
            true => DocumentSubject::Pillar,
            false => DocumentSubject::Formula,
        }
    }
}

/// An enum of names for programs, one for each variant of an enum elsewhere.
macro_rules! names {
    ($(#[$about:meta])* $name:ident of $of:ident, $case:literal: $($variant:ident),*) => {
        $(#[$about])*
        #[derive(serde::Serialize, Debug, Clone, Copy, PartialEq, Eq)]
        #[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
        #[serde(rename_all = $case)]
        pub(crate) enum $name {
            $($variant),*
        }

        impl From<$of> for $name {
            fn from(given: $of) -> Self {
                match given {
                    $($of::$variant => $name::$variant),*
                }
            }
        }
    };
}
pub(crate) use names;

/// Serde's model lacks integers of any size, and `serde_json` lacks `NaN`. So data is serialized as the bytes of JSON
/// that Python would print, which [`Raw`] prints as they are; nothing else in a document is bytes.
fn serialize<S: Serializer>(value: &Value, s: S) -> Result<S::Ok, S::Error> {
    let options = json::DumpOptions {
        ensure_ascii: false,
        distinct_keys: true,
        shows_others: true,
        separators: Some((",".into(), ":".into())),
        ..json::DumpOptions::default()
    };
    let text = json::dumps(value, &options).map_err(S::Error::custom)?;
    s.serialize_bytes(text.as_bytes())
}

/// Compact JSON, in which bytes are JSON already.
struct Raw;

impl Formatter for Raw {
    fn write_byte_array<W: ?Sized + Write>(&mut self, out: &mut W, json: &[u8]) -> io::Result<()> {
        out.write_all(json)
    }
}

#[cfg(test)]
mod tests {
    use mapstack::yaml;
    use serde::Serialize;

    use super::*;

    #[derive(Serialize)]
    struct Sample {
        text: &'static str,
        items: Vec<Plain>,
        none: Vec<Plain>,
    }

    #[test]
    fn documents_are_printed_as_python_prints_their_data() {
        let data = "[{}, [], {a: [1, {}], 2: é, null: .nan}, 99999999999999999999999999999999999999999, \"a,\\n  \\\"b\", \
                    [.inf, 1e20, {b: {c: ''}}], '\\u007f\\x1f']";
        let value = yaml::load(data).unwrap();
        let text = "\u{1f}\u{7f}\\\"\n\té";
        let sample = Sample {
            text,
            items: value
                .as_list()
                .unwrap()
                .iter()
                .cloned()
                .map(Plain)
                .collect(),
            none: Vec::new(),
        };
        let whole: mapstack::value::Map = [
            ("text", Value::from(text)),
            ("items", value),
            ("none", Vec::<Value>::new().into_iter().collect()),
        ]
        .into_iter()
        .collect();
        for (indent, printed) in [(Some(2), sample.json()), (None, sample.json_line())] {
            let options = json::DumpOptions {
                indent,
                ensure_ascii: false,
                ..json::DumpOptions::default()
            };
            let expected = json::dumps(&whole.clone().into(), &options).unwrap();
            // All but characters that act on a terminal.
            let expected = expected.replace('\u{7f}', "\\u007f");
            assert_eq!(printed.unwrap(), expected + "\n");
        }
    }

    #[test]
    fn bytes_are_the_text_that_python_shows_but_not_as_keys() {
        let bytes = Value::Bytes(b"\xff'\n".as_slice().into());
        assert_eq!(
            [Plain(bytes)].json_line().unwrap(),
            "[\"b\\\"\\\\xff'\\\\n\\\"\"]\n"
        );
        let key = yaml::load("{!!binary /w==: 1}").unwrap();
        let error = [Plain(key)].json().unwrap_err();
        assert_eq!(
            error.diagnostic().message,
            "the result has no JSON form: keys must be str, int, float, bool or None, not bytes"
        );
    }
}

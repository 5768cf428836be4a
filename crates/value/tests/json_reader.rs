//! The reader of JSON against one as plain as can be.

use mapstack_value::json::{JsonError, loads, raw_decode};
use mapstack_value::{Int, Map, Value};
use proptest::prelude::*;

const MAX_DEPTH: usize = 200;

fn plain_loads(text: &str) -> Result<Value, JsonError> {
    let mut reader = Reader { text, at: 0 };
    reader.blanks();
    let value = reader.value(0)?;
    reader.blanks();
    if reader.at < text.len() {
        Err(reader.error("Extra data", reader.at))
    } else {
        Ok(value)
    }
}

fn plain_raw_decode(text: &str, at: usize) -> Result<(Value, usize), JsonError> {
    let mut reader = Reader {
        text,
        at: if text.is_char_boundary(at) {
            at
        } else {
            text.len()
        },
    };
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
        let blanks = rest
            .iter()
            .position(|byte| !matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
        self.at += blanks.unwrap_or(rest.len());
    }

    fn error(&self, message: &'static str, at: usize) -> JsonError {
        let before = &self.text[..at];
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            + 1;
        JsonError::Syntax {
            message,
            line,
            column,
        }
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
                return Err(
                    self.error("Expecting property name enclosed in double quotes", self.at)
                );
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
            return digits
                .parse::<f64>()
                .map(Value::Float)
                .map_err(|_| self.error("Expecting value", start));
        }
        if digits.len() > MAX_DIGITS {
            return Err(self.error(
                "Exceeds the limit (4300 digits) for integer string conversion",
                start,
            ));
        }
        digits
            .parse::<Int>()
            .map(Value::Int)
            .map_err(|_| self.error("Expecting value", start))
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
            let plain = rest
                .bytes()
                .position(|byte| byte < b' ' || byte == b'"' || byte == b'\\');
            let plain = plain.ok_or_else(|| self.error(unterminated, start))?;
            out.push_str(&rest[..plain]);
            self.at += plain;
            if self.eat("\"") {
                return Ok(out);
            }
            if !self.eat("\\") {
                return Err(self.error("Invalid control character at", self.at));
            }
            let escape = self
                .rest()
                .chars()
                .next()
                .ok_or_else(|| self.error(unterminated, start))?;
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
        let digits = self
            .rest()
            .get(..4)
            .filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.error("Invalid \\uXXXX escape", self.at - 1))?;
        self.at += 4;
        Ok(unit)
    }
}

/// Texts that look like JSON: keys and words out of few, so that they come again.
fn json_text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        "[a-d]{0,2}",
        "[ -~é😀]{0,20}",
        Just("key\\u00e9\\n\\ud83d\\ude00".to_owned()),
        "[a-z]{45,50}",
        Just("a\tb".to_owned()),
    ];
    let string = word.prop_map(|word| format!("\"{word}\""));
    let number = prop_oneof![
        "-?[0-9]{1,3}",
        "-?[0-9]{17,21}",
        "-?[0-9]{1,3}\\.[0-9]{0,3}([eE][+-]?[0-9]{0,3})?",
        Just("-Infinity".to_owned()),
        Just("NaN".to_owned()),
    ];
    let other = prop_oneof![
        Just("null"),
        Just("true"),
        Just("false"),
        Just("Infinity"),
        Just("nul")
    ];
    let leaf = prop_oneof![4 => string.clone(), 2 => number, 1 => other.prop_map(str::to_owned)];
    leaf.prop_recursive(4, 60, 8, move |inner| {
        let entry = (string.clone(), " ?", inner.clone())
            .prop_map(|(key, blank, value)| format!("{key}{blank}:{value}"));
        prop_oneof![
            proptest::collection::vec(inner, 0..6)
                .prop_map(|items| format!("[{}]", items.join(", "))),
            proptest::collection::vec(entry, 0..8)
                .prop_map(|entries| format!("{{{}}}", entries.join(" ,\n"))),
        ]
    })
}

fn same(one: &Result<Value, JsonError>, other: &Result<Value, JsonError>) -> bool {
    match (one, other) {
        // One NaN is as good as another.
        (Ok(one), Ok(other)) => {
            one.repr() == other.repr() && (one.repr().contains("nan") || one.is_same(other))
        }
        (one, other) => one.as_ref().err() == other.as_ref().err(),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn both_read_the_same(text in json_text(), more in json_text(), damage in any::<Option<(prop::sample::Index, char)>>()) {
        let mut damaged = text.clone();
        if let Some((at, c)) = damage {
            let at = at.index(text.len() + 1);
            if text.is_char_boundary(at) {
                damaged.insert(at, c);
            }
        }
        for text in [&text, &damaged, &format!(" {text} "), &format!("{text}{more}")] {
            prop_assert!(same(&loads(text), &plain_loads(text)), "{text}");
            for at in [0, text.len() / 2] {
                let (one, other) = (raw_decode(text, at), plain_raw_decode(text, at));
                prop_assert_eq!(one.as_ref().ok().map(|found| found.1), other.as_ref().ok().map(|found| found.1));
                prop_assert!(same(&one.map(|found| found.0), &other.map(|found| found.0)), "{text} at {at}");
            }
        }
    }

    #[test]
    fn both_fail_alike(text in "[\\[\\]{}:,\"\\\\u0-9aeE+.tnN \n-]{0,24}") {
        prop_assert!(same(&loads(&text), &plain_loads(&text)), "{text}");
    }
}

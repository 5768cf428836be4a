//! Reading JSON.

use std::cell::RefCell;

use crate::json::{JsonError, MAX_DEPTH};
use crate::keys::Keys;
use crate::{Int, Key, Map, Str, Value};

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
    read(text, 0, |reader| {
        reader.blanks();
        let value = reader.value(0)?;
        reader.blanks();
        if reader.at < text.len() {
            Err(reader.error("Extra data", reader.at))
        } else {
            Ok(value)
        }
    })
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
    let at = if text.is_char_boundary(at) {
        at
    } else {
        text.len()
    };
    read(text, at, |reader| Ok((reader.value(0)?, reader.at)))
}

/// Storage that the readers of a thread reuse: the next text often has the same keys.
#[derive(Default)]
struct ReusedStorage {
    keys: Keys,
    /// Items of the lists that are being read, the innermost last.
    items: Vec<Value>,
    /// Entries of the mappings that are being read, the innermost last.
    entries: Vec<(Key, Value)>,
}

/// Room for this many items and entries is kept for the next text.
const MAX_KEPT: usize = 1024;

thread_local! {
    static KEPT: RefCell<ReusedStorage> = RefCell::default();
}

fn read<T>(
    text: &str,
    at: usize,
    read: impl FnOnce(&mut Reader<'_>) -> Result<T, BoxedError>,
) -> Result<T, JsonError> {
    KEPT.with_borrow_mut(|kept| {
        let result = read(&mut Reader { text, at, kept });
        // After an error something is left of what was begun.
        kept.items.clear();
        kept.entries.clear();
        kept.items.shrink_to(MAX_KEPT);
        kept.entries.shrink_to(MAX_KEPT);
        result.map_err(|error| *error)
    })
}

struct Reader<'t> {
    text: &'t str,
    /// Offset of what comes next; always between characters.
    at: usize,
    kept: &'t mut ReusedStorage,
}

/// Errors are rare, and values are handed on from level to level: they shall not have room for both.
type BoxedError = Box<JsonError>;

/// Python refuses to read integers with more digits than this.
const MAX_DIGITS: usize = 4300;

const UNTERMINATED: &str = "Unterminated string starting at";

impl<'t> Reader<'t> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn eat(&mut self, literal: &str) -> bool {
        let rest = self.text.as_bytes().get(self.at..).unwrap_or_default();
        let found = rest.starts_with(literal.as_bytes());
        if found {
            self.at += literal.len();
        }
        found
    }

    fn eat_byte(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn blanks(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn error(&self, message: &'static str, at: usize) -> BoxedError {
        let before = &self.text[..at];
        let line = before.bytes().filter(|&b| b == b'\n').count() + 1;
        let column = before
            .rsplit('\n')
            .next()
            .unwrap_or_default()
            .chars()
            .count()
            + 1;
        Box::new(JsonError::Syntax {
            message,
            line,
            column,
        })
    }

    fn value(&mut self, depth: usize) -> Result<Value, BoxedError> {
        if depth > MAX_DEPTH {
            return Err(Box::new(JsonError::TooDeep));
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

    fn list(&mut self, depth: usize) -> Result<Value, BoxedError> {
        self.at += 1;
        let start = self.kept.items.len();
        self.blanks();
        if self.eat_byte(b']') {
            return Ok(Vec::new().into());
        }
        loop {
            let item = self.value(depth + 1)?;
            self.kept.items.push(item);
            self.blanks();
            if self.eat_byte(b']') {
                return Ok(self.kept.items.drain(start..).collect::<Vec<_>>().into());
            }
            if !self.eat_byte(b',') {
                return Err(self.error("Expecting ',' delimiter", self.at));
            }
            self.blanks();
        }
    }

    fn map(&mut self, depth: usize) -> Result<Value, BoxedError> {
        self.at += 1;
        let start = self.kept.entries.len();
        self.blanks();
        if self.eat_byte(b'}') {
            return Ok(Map::new().into());
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(
                    self.error("Expecting property name enclosed in double quotes", self.at)
                );
            }
            let key = self.key()?;
            self.blanks();
            if !self.eat_byte(b':') {
                return Err(self.error("Expecting ':' delimiter", self.at));
            }
            self.blanks();
            let value = self.value(depth + 1)?;
            self.kept.entries.push((Key::Str(key), value));
            self.blanks();
            if self.eat_byte(b'}') {
                return Ok(self.kept.entries.drain(start..).collect::<Map>().into());
            }
            if !self.eat_byte(b',') {
                return Err(self.error("Expecting ',' delimiter", self.at));
            }
            self.blanks();
        }
    }

    fn number(&mut self) -> Result<Value, BoxedError> {
        let start = self.at;
        if self.eat("-Infinity") {
            return Ok(f64::NEG_INFINITY.into());
        }
        self.eat_byte(b'-');
        if !self.eat_byte(b'0') && self.digits() == 0 {
            return Err(self.error("Expecting value", start));
        }
        let integer_end = self.at;
        if self.eat_byte(b'.') && self.digits() == 0 {
            self.at = integer_end;
        }
        let before_exponent = self.at;
        if self.eat_byte(b'e') || self.eat_byte(b'E') {
            let _sign = self.eat_byte(b'+') || self.eat_byte(b'-');
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
        // Python does not count the sign.
        if digits.trim_start_matches('-').len() > MAX_DIGITS {
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

    /// Pass digits, and return their number.
    fn digits(&mut self) -> usize {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        self.at - start
    }

    fn key(&mut self) -> Result<Str, BoxedError> {
        let start = self.at;
        let rest = self.text.as_bytes().get(start + 1..).unwrap_or_default();
        if let Some(key) = self.kept.keys.expected(rest) {
            self.at += key.len() + 2;
            return Ok(key);
        }
        self.at += 1;
        let plain = self.plain(start)?;
        if self.eat_byte(b'"') {
            return Ok(self.kept.keys.get(plain));
        }
        Ok(self.escaped(start, plain)?.into())
    }

    fn string(&mut self) -> Result<Str, BoxedError> {
        let start = self.at;
        self.at += 1;
        let plain = self.plain(start)?;
        if self.eat_byte(b'"') {
            return Ok(plain.into());
        }
        Ok(self.escaped(start, plain)?.into())
    }

    /// The string that starts at an offset, and begins with plain characters.
    fn escaped(&mut self, start: usize, plain: &str) -> Result<String, BoxedError> {
        let mut out = String::from(plain);
        while !self.eat_byte(b'"') {
            if !self.eat_byte(b'\\') {
                return Err(self.error("Invalid control character at", self.at));
            }
            out.push(self.escape(start)?);
            out.push_str(self.plain(start)?);
        }
        Ok(out)
    }

    /// The plain characters of the string that starts at an offset.
    fn plain(&mut self, start: usize) -> Result<&'t str, BoxedError> {
        let from = self.at;
        let rest = self.text.as_bytes().get(from..).unwrap_or_default();
        self.at += special(rest).ok_or_else(|| self.error(UNTERMINATED, start))?;
        Ok(&self.text[from..self.at])
    }

    /// The character of an escape, behind its backslash.
    fn escape(&mut self, start: usize) -> Result<char, BoxedError> {
        let escape = self.text[self.at..]
            .chars()
            .next()
            .ok_or_else(|| self.error(UNTERMINATED, start))?;
        self.at += escape.len_utf8();
        Ok(match escape {
            '"' | '\\' | '/' => escape,
            'b' => '\x08',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => self.unicode()?,
            other => return Err(self.error("Invalid \\escape", self.at - other.len_utf8() - 1)),
        })
    }

    /// The character of one `\u` escape, or of two that are a surrogate pair.
    fn unicode(&mut self) -> Result<char, BoxedError> {
        let first = self.hex4()?;
        if let Some(c) = char::from_u32(u32::from(first)) {
            return Ok(c);
        }
        let at = self.at - 5;
        let second = self.eat("\\u").then(|| self.hex4()).transpose()?;
        let pair = second.and_then(|second| char::decode_utf16([first, second]).next()?.ok());
        // Only an error may look for its line: there can be an escape for each character.
        pair.ok_or_else(|| self.error("Lone surrogate in \\uXXXX escape", at))
    }

    fn hex4(&mut self) -> Result<u16, BoxedError> {
        let digits = self.text[self.at..]
            .get(..4)
            .filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))
            // Python wants something behind them.
            .filter(|_| self.at + 4 < self.text.len());
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        let unit = unit.ok_or_else(|| self.error("Invalid \\uXXXX escape", self.at - 1))?;
        self.at += 4;
        Ok(unit)
    }
}

/// The first byte that is special in a string: a quote, a backslash, a control character. None of
/// these is part of a longer character.
fn special(bytes: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    // The high bit of each byte that is less than `n`, and maybe of some behind the first such.
    let less = |word: u64, n: u8| word.wrapping_sub(ONES * u64::from(n)) & !word & HIGH;
    let equal = |word: u64, byte: u8| less(word ^ (ONES * u64::from(byte)), 1);
    let (words, rest) = bytes.as_chunks::<8>();
    for (index, word) in words.iter().enumerate() {
        let word = u64::from_le_bytes(*word);
        let found = less(word, b' ') | equal(word, b'"') | equal(word, b'\\');
        if found != 0 {
            return Some(index * 8 + found.trailing_zeros() as usize / 8);
        }
    }
    let found = rest
        .iter()
        .position(|&byte| byte < b' ' || byte == b'"' || byte == b'\\');
    found.map(|at| words.len() * 8 + at)
}

//! The type of a plain scalar, by YAML 1.1's implicit patterns as PyYAML spells them.
//!
//! The patterns are matched by hand, chosen by the first byte: most scalars are text and are
//! settled by that byte alone.

/// The type of a node, from its tag or its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Tag {
    Null,
    Bool,
    Int,
    Float,
    Str,
    Timestamp,
    /// `<<`
    Merge,
    /// `=`
    Value,
    Binary,
    Seq,
    Map,
    Set,
    Omap,
    Pairs,
    Unknown(Box<str>),
}

const PREFIX: &str = "tag:yaml.org,2002:";

impl Tag {
    /// The type an explicit tag names.
    pub fn explicit(tag: &str) -> Self {
        match tag.strip_prefix(PREFIX) {
            Some("null") => Tag::Null,
            Some("bool") => Tag::Bool,
            Some("int") => Tag::Int,
            Some("float") => Tag::Float,
            Some("str" | "python/unicode") => Tag::Str,
            Some("timestamp") => Tag::Timestamp,
            Some("merge") => Tag::Merge,
            Some("value") => Tag::Value,
            Some("binary") => Tag::Binary,
            Some("seq") => Tag::Seq,
            Some("map") => Tag::Map,
            Some("set") => Tag::Set,
            Some("omap") => Tag::Omap,
            Some("pairs") => Tag::Pairs,
            Some(other) => Tag::Unknown(format!("!!{other}").into()),
            None => Tag::Unknown(tag.into()),
        }
    }

    /// The tag as it is written.
    pub fn written(&self) -> &'static str {
        match self {
            Tag::Null => "!!null",
            Tag::Bool => "!!bool",
            Tag::Int => "!!int",
            Tag::Float => "!!float",
            Tag::Str => "!!str",
            Tag::Timestamp => "!!timestamp",
            Tag::Merge => "!!merge",
            Tag::Value => "!!value",
            Tag::Binary => "!!binary",
            Tag::Seq => "!!seq",
            Tag::Map => "!!map",
            Tag::Set => "!!set",
            Tag::Omap => "!!omap",
            Tag::Pairs => "!!pairs",
            Tag::Unknown(_) => "!",
        }
    }
}

/// The type of a plain scalar.
pub(crate) fn implicit(text: &str) -> Tag {
    let Some(&first) = text.as_bytes().first() else {
        return Tag::Null;
    };
    // The reference's patterns end in `$`, which lets one final line break pass.
    let text = text.strip_suffix('\n').unwrap_or(text);
    match first {
        b'0'..=b'9' | b'+' | b'-' | b'.' => number(text),
        b'n' | b'N' if matches!(text, "null" | "Null" | "NULL") => Tag::Null,
        b'y' | b'Y' | b'n' | b'N' | b't' | b'T' | b'f' | b'F' | b'o' | b'O' if is_bool(text) => {
            Tag::Bool
        }
        b'~' if text == "~" => Tag::Null,
        b'<' if text == "<<" => Tag::Merge,
        b'=' if text == "=" => Tag::Value,
        _ => Tag::Str,
    }
}

fn is_bool(text: &str) -> bool {
    matches!(
        text,
        "yes"
            | "Yes"
            | "YES"
            | "no"
            | "No"
            | "NO"
            | "true"
            | "True"
            | "TRUE"
            | "false"
            | "False"
            | "FALSE"
            | "on"
            | "On"
            | "ON"
            | "off"
            | "Off"
            | "OFF"
    )
}

fn number(text: &str) -> Tag {
    if is_float(text) {
        Tag::Float
    } else if is_int(text) {
        Tag::Int
    } else if is_timestamp(text) {
        Tag::Timestamp
    } else {
        Tag::Str
    }
}

fn is_float(text: &str) -> bool {
    let mut at = Cursor::new(text);
    let signed = at.sign();
    match at.0 {
        b".inf" | b".Inf" | b".INF" => return true,
        b".nan" | b".NaN" | b".NAN" => return !signed,
        _ => {}
    }
    if at.eat(b'.') {
        return !signed
            && at.digit()
            && at.while_in(digit_or_underscore)
            && at.exponent()
            && at.done();
    }
    if !(at.digit() && at.while_in(digit_or_underscore)) {
        return false;
    }
    let sixty = at.groups_of_sixty();
    at.eat(b'.') && at.while_in(digit_or_underscore) && (sixty || at.exponent()) && at.done()
}

fn is_int(text: &str) -> bool {
    let mut at = Cursor::new(text);
    at.sign();
    if at.eat(b'0') {
        let allowed: fn(u8) -> bool = match at.0.first() {
            None => return true,
            Some(b'b') => |b| matches!(b, b'0' | b'1' | b'_'),
            Some(b'x') => |b| b.is_ascii_hexdigit() || b == b'_',
            Some(_) => return at.0.iter().all(|b| matches!(b, b'0'..=b'7' | b'_')),
        };
        return at.0.len() > 1 && at.0[1..].iter().copied().all(allowed);
    }
    if !(at.digit() && at.while_in(digit_or_underscore)) {
        return false;
    }
    at.groups_of_sixty();
    at.done()
}

fn is_timestamp(text: &str) -> bool {
    let mut at = Cursor::new(text);
    if !(at.digits(4, 4) && at.eat(b'-')) {
        return false;
    }
    let month = at.count_digits(2);
    if month == 0 || !at.eat(b'-') {
        return false;
    }
    let day = at.count_digits(2);
    if day == 0 {
        return false;
    }
    if at.done() {
        return month == 2 && day == 2;
    }
    let separated = at.eat(b'T') || at.eat(b't') || at.blanks() > 0;
    if !(separated
        && at.digits(1, 2)
        && at.eat(b':')
        && at.digits(2, 2)
        && at.eat(b':')
        && at.digits(2, 2))
    {
        return false;
    }
    if at.eat(b'.') {
        at.while_in(|b| b.is_ascii_digit());
    }
    if at.done() {
        return true;
    }
    at.blanks();
    if at.eat(b'Z') {
        return at.done();
    }
    // Blanks must be followed by a zone.
    at.sign() && at.digits(1, 2) && (at.done() || at.eat(b':') && at.digits(2, 2) && at.done())
}

fn digit_or_underscore(b: u8) -> bool {
    b.is_ascii_digit() || b == b'_'
}

/// A byte-wise matcher; every method consumes what it matches.
struct Cursor<'t>(&'t [u8]);

impl<'t> Cursor<'t> {
    fn new(text: &'t str) -> Self {
        Cursor(text.as_bytes())
    }

    fn done(&self) -> bool {
        self.0.is_empty()
    }

    fn eat(&mut self, byte: u8) -> bool {
        match self.0.split_first() {
            Some((&first, rest)) if first == byte => {
                self.0 = rest;
                true
            }
            _ => false,
        }
    }

    fn sign(&mut self) -> bool {
        self.eat(b'+') || self.eat(b'-')
    }

    /// One digit.
    fn digit(&mut self) -> bool {
        self.digits(1, 1)
    }

    /// Up to `max` digits; how many there were.
    fn count_digits(&mut self, max: usize) -> usize {
        let n = self
            .0
            .iter()
            .take(max)
            .take_while(|b| b.is_ascii_digit())
            .count();
        self.0 = &self.0[n..];
        n
    }

    fn digits(&mut self, min: usize, max: usize) -> bool {
        self.count_digits(max) >= min
    }

    fn blanks(&mut self) -> usize {
        let n = self
            .0
            .iter()
            .take_while(|b| matches!(b, b' ' | b'\t'))
            .count();
        self.0 = &self.0[n..];
        n
    }

    /// Any number of bytes of a class; always true.
    fn while_in(&mut self, class: fn(u8) -> bool) -> bool {
        let n = self.0.iter().take_while(|&&b| class(b)).count();
        self.0 = &self.0[n..];
        true
    }

    /// `[eE][-+][0-9]+`, if there; false only for a broken one.
    fn exponent(&mut self) -> bool {
        if !(self.eat(b'e') || self.eat(b'E')) {
            return true;
        }
        self.sign() && self.digit() && self.while_in(|b| b.is_ascii_digit())
    }

    /// `(:[0-5]?[0-9])*`; whether there was at least one.
    fn groups_of_sixty(&mut self) -> bool {
        let mut any = false;
        while let [b':', rest @ ..] = self.0 {
            let length = match rest {
                [b'0'..=b'5', b'0'..=b'9', ..] => 2,
                [b'0'..=b'9', ..] => 1,
                _ => return any,
            };
            self.0 = &rest[length..];
            any = true;
        }
        any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (expected, texts) in [
            (
                Tag::Float,
                "1. 1.5 .5 0.0 1_0.5 1.e+3 .5e-3 1:30.5 0:30. .inf -.INF .NaN",
            ),
            (
                Tag::Int,
                "0 00 -0 0644 +0_7 0b1_0 -0x1F 1__0 1_ 1:30 -1:5 10:20:30 0_ 0b_",
            ),
            (
                Tag::Timestamp,
                "2001-12-14 2001-1-2T1:02:03 2001-12-14t21:59:43.10-05:00 2001-12-14T01:01:01Z",
            ),
            (
                Tag::Str,
                "1e3 -.5 +.nan 08 1:60 01:30 0o17 . - + 0b 0x _1 1_e 2001-1-2 1:2:3e+1 1.5:3 -.nan 1.e3",
            ),
        ] {
            for text in texts.split(' ') {
                assert_eq!(implicit(text), expected, "{text}");
            }
        }
        assert_eq!(implicit("2001-12-14 21:59:43.10 -5"), Tag::Timestamp);
        assert_eq!(implicit("2001-12-14 21:59:43 "), Tag::Str);
    }
}

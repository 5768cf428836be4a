//! Numbers and strings.

use std::borrow::Cow;

use mapstack_value::Int;

use super::Tok;

/// Python does not read decimal integers with more digits than this.
const MAX_INTEGER_DIGITS: usize = 4300;

/// The number that a text starts with, and its length. After a dot (`x.1.5`) only integers count.
pub(super) fn number(text: &str, float_allowed: bool) -> Result<(Tok, usize), (String, usize)> {
    let bytes = text.as_bytes();
    if float_allowed && let Some(len) = float_len(bytes) {
        let value = plain(&text[..len]).parse();
        // The scanner accepts nothing that Rust does not read.
        return Ok((Tok::Float(value.unwrap_or(f64::NAN)), len));
    }
    let (len, radix) = integer_len(bytes);
    let skipped = if radix == 10 { 0 } else { 2 };
    let digits = plain(&text[skipped..len]);
    if radix == 10 && digits.len() > MAX_INTEGER_DIGITS {
        let message = format!(
            "the integer has {} digits; {MAX_INTEGER_DIGITS} is the limit",
            digits.len()
        );
        return Err((message, len));
    }
    Ok((
        Tok::Int(Int::from_str_radix(&digits, radix).unwrap_or_else(|| Int::from(0))),
        len,
    ))
}

/// Digits without the underscores between them.
fn plain(digits: &str) -> Cow<'_, str> {
    if digits.contains('_') {
        digits.replace('_', "").into()
    } else {
        digits.into()
    }
}

/// `12.5`, `1e5`, `1_0.0_1E-3`: how long it is.
fn float_len(bytes: &[u8]) -> Option<usize> {
    let whole = digits_end(bytes, 0)?;
    let fraction = (bytes.get(whole) == Some(&b'.'))
        .then(|| digits_end(bytes, whole + 1))
        .flatten();
    exponent_end(bytes, fraction.unwrap_or(whole)).or(fraction)
}

fn exponent_end(bytes: &[u8], at: usize) -> Option<usize> {
    if !matches!(bytes.get(at), Some(b'e' | b'E')) {
        return None;
    }
    let signed = matches!(bytes.get(at + 1), Some(b'+' | b'-'));
    digits_end(bytes, at + 1 + usize::from(signed))
}

/// The end of decimal digits with single underscores between them.
fn digits_end(bytes: &[u8], at: usize) -> Option<usize> {
    bytes
        .get(at)?
        .is_ascii_digit()
        .then(|| digit_run(bytes, at + 1, u8::is_ascii_digit))
}

/// The end of digits that may each have one underscore before them.
fn digit_run(bytes: &[u8], mut at: usize, is_digit: impl Fn(&u8) -> bool) -> usize {
    loop {
        let digit = at + usize::from(bytes.get(at) == Some(&b'_'));
        if !bytes.get(digit).is_some_and(&is_digit) {
            return at;
        }
        at = digit + 1;
    }
}

/// The length and the base of the integer that a digit starts.
fn integer_len(bytes: &[u8]) -> (usize, u32) {
    if bytes[0] != b'0' {
        return (digit_run(bytes, 1, u8::is_ascii_digit), 10);
    }
    let radix = match bytes.get(1) {
        Some(b'b' | b'B') => 2,
        Some(b'o' | b'O') => 8,
        Some(b'x' | b'X') => 16,
        _ => 10,
    };
    if radix != 10 {
        let end = digit_run(bytes, 2, |byte| char::from(*byte).is_digit(radix));
        if end > 2 {
            return (end, radix);
        }
    }
    (digit_run(bytes, 1, |byte| *byte == b'0'), 10)
}

/// The length of the quoted string that a text starts with, quotes included.
pub(super) fn string_len(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let quote = *bytes.first().filter(|byte| matches!(byte, b'\'' | b'"'))?;
    let mut at = 1;
    loop {
        match *bytes.get(at)? {
            b'\\' => at += 2,
            byte if byte == quote => return Some(at + 1),
            _ => at += 1,
        }
    }
}

/// Resolve the backslash escapes of a string as Python does.
pub(super) fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        let mut chars = rest[at + 1..].chars();
        let Some(c) = chars.next() else {
            return Err("\\ at end of string".into());
        };
        rest = chars.as_str();
        match c {
            '\n' => {}
            '\\' | '\'' | '"' => out.push(c),
            'a' => out.push('\x07'),
            'b' => out.push('\x08'),
            'f' => out.push('\x0c'),
            'n' => out.push('\n'),
            'r' => out.push('\r'),
            't' => out.push('\t'),
            'v' => out.push('\x0b'),
            '0'..='7' => {
                let more = rest
                    .bytes()
                    .take(2)
                    .take_while(|byte| matches!(byte, b'0'..=b'7'))
                    .count();
                let digits = format!("{c}{}", &rest[..more]);
                out.push(character(&digits, 8)?);
                rest = &rest[more..];
            }
            'x' => out.push(hexadecimal(&mut rest, 2, "truncated \\xXX escape")?),
            'u' => out.push(hexadecimal(&mut rest, 4, "truncated \\uXXXX escape")?),
            'U' => out.push(hexadecimal(&mut rest, 8, "truncated \\UXXXXXXXX escape")?),
            'N' => return Err(named(rest)),
            // Python's detour over ASCII turns the character itself into an escape, whose
            // backslash the one before it then quotes.
            c if !c.is_ascii() => out.push_str(&backslash_replaced(c)),
            c => out.extend(['\\', c]),
        }
    }
    out.push_str(rest);
    Ok(out)
}

fn hexadecimal(rest: &mut &str, len: usize, truncated: &str) -> Result<char, String> {
    let digits = rest
        .get(..len)
        .filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let digits = digits.ok_or(truncated)?;
    *rest = &rest[len..];
    character(digits, 16)
}

fn character(digits: &str, radix: u32) -> Result<char, String> {
    let code = u32::from_str_radix(digits, radix).unwrap_or(u32::MAX);
    char::from_u32(code).ok_or_else(|| match code {
        0xd800..=0xdfff => {
            format!("\\u{code:x} is half of a character; write the whole as \\UXXXXXXXX")
        }
        _ => "illegal Unicode character".into(),
    })
}

/// Advice about `\N`, given the text after it.
fn named(rest: &str) -> String {
    let name = rest
        .strip_prefix('{')
        .and_then(|rest| rest.split_once('}'))
        .map(|(name, _)| name);
    match name {
        None | Some("") => "malformed \\N character escape".into(),
        Some(name) => {
            format!("\\N{{{name}}}: characters cannot be given by name; write the character itself")
        }
    }
}

fn backslash_replaced(c: char) -> String {
    match u32::from(c) {
        code @ ..=0xff => format!("\\x{code:02x}"),
        code @ ..=0xffff => format!("\\u{code:04x}"),
        code => format!("\\U{code:08x}"),
    }
}

//! Numbers in text, as Python's `int` and `float` read them: with digits of any script, underscores, and white space
//! around.

use crate::pytext::classes::{is_decimal_digit, is_space};

/// An integer that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IntText {
    /// True if it has a minus sign.
    pub is_negative: bool,
    /// The base of its digits, from 2 to 36.
    pub radix: u32,
    /// Its digits, in ASCII.
    pub digits: String,
}

/// Python refuses to read longer decimal integers.
const MAX_DIGITS: usize = 4300;

/// `int(text, base)`: nothing if Python raises a `ValueError`.
///
/// ```
/// use mapstack_value::pytext::number::int;
/// let read = int(" -0x_1F ", 0).unwrap();
/// assert_eq!((read.is_negative, read.radix, &*read.digits), (true, 16, "1F"));
/// assert_eq!(int("٣", 10).unwrap().digits, "3");
/// assert_eq!(int("1__0", 10), None);
/// ```
#[must_use]
pub fn int(text: &str, base: u32) -> Option<IntText> {
    let text = text.trim_matches(is_space);
    let (is_negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = digits.get(..2).map(str::to_ascii_lowercase);
    let prefix = match lower.as_deref() {
        Some("0x") => 16,
        Some("0o") => 8,
        Some("0b") => 2,
        _ => 0,
    };
    let (digits, radix, prefixed) = match base {
        0 | 2 | 8 | 16 if prefix != 0 && (base == 0 || base == prefix) => {
            (&digits[2..], prefix, true)
        }
        0 => (digits, 10, false),
        base => (digits, base, false),
    };
    if !(2..=36).contains(&radix) {
        return None;
    }
    let digits = if prefixed {
        digits.strip_prefix('_').unwrap_or(digits)
    } else {
        digits
    };
    let digits = without_underscores(digits)?;
    let leading_zero =
        base == 0 && !prefixed && digits.starts_with('0') && digits.bytes().any(|b| b != b'0');
    if leading_zero || (digits.len() > MAX_DIGITS && !radix.is_power_of_two()) {
        return None;
    }
    let are_digits = digits.bytes().all(|b| char::from(b).is_digit(radix));
    are_digits.then_some(IntText {
        is_negative,
        radix,
        digits,
    })
}

/// `float(text)`: nothing if Python raises a `ValueError`.
///
/// ```
/// use mapstack_value::pytext::number::float;
/// assert_eq!(float(" 1_0.5e1\n"), Some(105.0));
/// assert_eq!(float("-Infinity"), Some(f64::NEG_INFINITY));
/// assert_eq!(float("1_.5"), None);
/// ```
#[must_use]
pub fn float(text: &str) -> Option<f64> {
    let text = text.trim_matches(is_space);
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    if unsigned.starts_with(['+', '-']) {
        return None;
    }
    let number = match unsigned.to_ascii_lowercase().as_str() {
        "inf" | "infinity" => f64::INFINITY,
        "nan" => f64::NAN,
        _ => {
            let between_digits = |s: &str| {
                let bytes = s.as_bytes();
                let digit =
                    |i: Option<usize>| i.and_then(|i| bytes.get(i)).is_some_and(u8::is_ascii_digit);
                (0..bytes.len())
                    .filter(|&i| bytes[i] == b'_')
                    .all(|i| digit(i.checked_sub(1)) && digit(Some(i + 1)))
            };
            let digits: String = unsigned.chars().map(ascii_digit).collect();
            let allowed =
                |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-' | '_');
            if !digits.chars().all(allowed) || !between_digits(&digits) {
                return None;
            }
            digits.replace('_', "").parse().ok()?
        }
    };
    Some(if text.starts_with('-') {
        -number
    } else {
        number
    })
}

/// Digits in ASCII without the single underscores between them.
fn without_underscores(digits: &str) -> Option<String> {
    if digits.is_empty()
        || digits.starts_with('_')
        || digits.ends_with('_')
        || digits.contains("__")
    {
        return None;
    }
    Some(
        digits
            .chars()
            .filter(|c| *c != '_')
            .map(ascii_digit)
            .collect(),
    )
}

/// A decimal digit of any script as ASCII.
fn ascii_digit(c: char) -> char {
    if c.is_ascii() || !is_decimal_digit(c) {
        return c;
    }
    // Digits of a script are one block of ten that begins with the zero.
    let mut value = 0;
    let mut code = u32::from(c);
    while value < 9 && char::from_u32(code - 1).is_some_and(is_decimal_digit) {
        code -= 1;
        value += 1;
    }
    char::from_digit(value, 10).unwrap_or(c)
}

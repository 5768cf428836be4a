//! The value of a scalar, once its type is known.

use mapstack_value::pytext::base64::{self, DecodeError};
use mapstack_value::{Int, Value};

use crate::ErrorKind;
use crate::error::excerpt;
use crate::resolve::Tag;

/// Python refuses to read decimal integers with more digits than this.
pub(crate) const MAX_DECIMAL_DIGITS: usize = 4300;

/// The value of a scalar, or `None` if the type is one for collections only.
pub(crate) fn construct(tag: &Tag, text: &str) -> Option<Result<Value, ErrorKind>> {
    Some(match tag {
        Tag::Str | Tag::Timestamp => Ok(text.into()),
        Tag::Null => Ok(Value::None),
        Tag::Bool => boolean(text).map(Value::Bool),
        Tag::Int => integer(text).map(Value::Int),
        Tag::Float => float(text).map(Value::Float),
        Tag::Binary => binary(text).map(|bytes| Value::Bytes(bytes.into())),
        Tag::Merge => Err(ErrorKind::BareIndicator { text: "<<" }),
        Tag::Value => Err(ErrorKind::BareIndicator { text: "=" }),
        Tag::Unknown(tag) => Err(ErrorKind::UnknownTag {
            tag: tag.to_string(),
        }),
        Tag::Seq | Tag::Map | Tag::Set | Tag::Omap | Tag::Pairs => return None,
    })
}

/// The tag of Salt's serializer for texts.
pub(crate) const ENCRYPTED: &str = "!encrypted";

/// The value of a scalar as PyYAML constructs it, without Salt's changes; `None` as for [`construct`].
pub(crate) fn construct_plain(tag: &Tag, text: &str) -> Option<Result<Value, ErrorKind>> {
    match tag {
        Tag::Int => Some(integer_of(text, text).map(Value::Int)),
        Tag::Timestamp => Some(Err(ErrorKind::Date {
            text: excerpt(text),
        })),
        _ => construct(tag, text),
    }
}

/// An integer as Salt spells it before reading it: unsigned leading zeros go, which turns what
/// would be octal into decimal.
pub(crate) fn without_leading_zeros(text: &str) -> &str {
    if !text.starts_with('0') || text.starts_with("0b") || text.starts_with("0x") {
        return text;
    }
    match text.trim_start_matches('0') {
        "" => &text[text.len() - 1..],
        rest => rest,
    }
}

fn boolean(text: &str) -> Result<bool, ErrorKind> {
    match text.to_lowercase().as_str() {
        "yes" | "true" | "on" => Ok(true),
        "no" | "false" | "off" => Ok(false),
        _ => Err(ErrorKind::BadBool {
            text: excerpt(text),
        }),
    }
}

fn integer(text: &str) -> Result<Int, ErrorKind> {
    // Most integers are a few plain digits.
    if text.len() < 18
        && text.bytes().all(|b| b.is_ascii_digit())
        && let Ok(i) = text.parse::<i64>()
    {
        return Ok(i.into());
    }
    integer_of(text, without_leading_zeros(text))
}

/// The integer of a scalar: `spelt` is parsed, and errors quote `text`.
fn integer_of(text: &str, spelt: &str) -> Result<Int, ErrorKind> {
    let bad = || ErrorKind::BadInt {
        text: excerpt(text),
    };
    let no_digits = || ErrorKind::NoDigits {
        text: excerpt(text),
    };
    let digits = spelt.replace('_', "");
    if digits.is_empty() {
        return Err(no_digits());
    }
    let negative = digits.starts_with('-');
    let digits = digits.strip_prefix(['-', '+']).unwrap_or(&digits);
    let first = digits.chars().next().ok_or_else(no_digits)?;
    let number = if digits == "0" {
        Some(Int::from(0))
    } else if let Some(digits) = digits.strip_prefix("0b") {
        python_int(digits, 2)
    } else if let Some(digits) = digits.strip_prefix("0x") {
        python_int(digits, 16)
    } else if first == '0' {
        python_int(digits, 8)
    } else if digits.contains(':') {
        sexagesimal(digits)
    } else {
        python_int(digits, 10)
    };
    let number = number.ok_or_else(bad)?;
    Ok(if negative { number.neg() } else { number })
}

fn sexagesimal(digits: &str) -> Option<Int> {
    digits.split(':').try_fold(Int::from(0), |sum, group| {
        Some(sum.mul(&Int::from(60)).ok()?.add(&python_int(group, 10)?))
    })
}

/// Python's `int(text, base)` without underscores: blanks around, a sign and the base's own
/// prefix are fine.
fn python_int(text: &str, base: u32) -> Option<Int> {
    let text = text.trim();
    let negative = text.starts_with('-');
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let prefix = match base {
        2 => ["0b", "0B"],
        8 => ["0o", "0O"],
        16 => ["0x", "0X"],
        _ => ["", ""],
    };
    let digits = prefix
        .iter()
        .find_map(|p| digits.strip_prefix(p))
        .unwrap_or(digits);
    if digits.starts_with(['-', '+']) || base == 10 && digits.len() > MAX_DECIMAL_DIGITS {
        return None;
    }
    let number = Int::from_str_radix(digits, base)?;
    Some(if negative { number.neg() } else { number })
}

fn float(text: &str) -> Result<f64, ErrorKind> {
    let digits = text.replace('_', "").to_lowercase();
    if digits.is_empty() {
        return Err(ErrorKind::NoDigits {
            text: excerpt(text),
        });
    }
    let negative = digits.starts_with('-');
    let digits = digits.strip_prefix(['-', '+']).unwrap_or(&digits);
    let bad = || ErrorKind::BadFloat {
        text: excerpt(text),
    };
    let number = match digits {
        ".inf" => f64::INFINITY,
        ".nan" => return Ok(f64::NAN),
        _ if digits.contains(':') => sexagesimal_float(digits).ok_or_else(bad)??,
        _ => python_float(digits).ok_or_else(bad)?,
    };
    Ok(if negative { -number } else { number })
}

/// The value of groups in base 60, added from the last one in floats: another order could round
/// differently.
fn sexagesimal_float(digits: &str) -> Option<Result<f64, ErrorKind>> {
    let groups = digits
        .split(':')
        .map(python_float)
        .collect::<Option<Vec<_>>>()?;
    let mut sum = 0.0;
    let mut base = Int::from(1);
    for (i, group) in groups.iter().rev().enumerate() {
        let Ok(weight) = base.to_f64() else {
            return Some(Err(ErrorKind::FloatOverflow));
        };
        sum += group * weight;
        if i + 1 < groups.len() {
            let Ok(next) = base.mul(&Int::from(60)) else {
                return Some(Err(ErrorKind::FloatOverflow));
            };
            base = next;
        }
    }
    Some(Ok(sum))
}

/// Python's `float(text)` without underscores.
fn python_float(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

/// The bytes of a `!!binary`. Missing padding is added up to a multiple of four characters.
fn binary(text: &str) -> Result<Vec<u8>, ErrorKind> {
    let wrong = |reason| ErrorKind::BadBase64 { reason };
    if !text.is_ascii() {
        return Err(wrong("this has characters beyond ASCII"));
    }
    let padded = [text, &"==="[..text.len().wrapping_neg() % 4]].concat();
    base64::decode(padded.as_bytes()).map_err(|problem| match problem {
        DecodeError::Alone { .. } => wrong("this has one character too many or too few"),
        DecodeError::Padding => wrong("its padding is wrong"),
    })
}

//! The format specification mini-language: `[[fill]align][sign][z][#][0][width][group][.precision][type]`.

use mapstack_pytext::float::{self, Style};
use mapstack_value::Int;

use super::number::{Layout, Parts, lay_out};
use crate::Interpreter;
use crate::error::{Error, Result};
use crate::methods::limit;
use crate::object::{Obj, to_str};
use mapstack_pytext::classes::is_decimal_digit;

/// `format(object, spec)`.
///
/// # Errors
/// Python's `ValueError`s for specifications that the type does not understand.
pub fn format_value(vm: &dyn Interpreter, object: &Obj, spec: &str) -> Result<String> {
    if let Obj::Undefined(u) = object {
        u.check()?;
    }
    if spec.is_empty() {
        return to_str(object);
    }
    match object {
        Obj::Str(s) | Obj::Markup(s) => {
            let spec = Spec::parse(spec, '<', 's', "str")?;
            format_text(vm, s, &spec)
        }
        Obj::Int(i) => format_int(vm, i, &Spec::parse(spec, '>', 'd', "int")?, "int"),
        Obj::Bool(b) => format_int(
            vm,
            &Int::from(i64::from(*b)),
            &Spec::parse(spec, '>', 'd', "bool")?,
            "bool",
        ),
        Obj::Float(f) => format_float(vm, *f, &Spec::parse(spec, '>', '\0', "float")?, "float"),
        other => Err(Error::type_error(format!(
            "unsupported format string passed to {}.__format__",
            other.type_name()
        ))),
    }
}

/// A specification taken apart.
struct Spec {
    fill: char,
    align: char,
    /// `+`, `-`, blank, or `\0` when not given.
    sign: char,
    no_negative_zero: bool,
    alternate: bool,
    width: usize,
    /// `,` or `_`.
    group: Option<char>,
    precision: Option<usize>,
    kind: char,
}

impl Spec {
    fn parse(text: &str, default_align: char, default_kind: char, type_name: &str) -> Result<Self> {
        let chars: Vec<char> = text.chars().collect();
        let at = |i: usize| chars.get(i).copied().unwrap_or('\0');
        let is_align = |c: char| matches!(c, '<' | '>' | '=' | '^');
        let mut i = 0;
        let mut spec = Spec {
            fill: ' ',
            align: default_align,
            sign: '\0',
            no_negative_zero: false,
            alternate: false,
            width: 0,
            group: None,
            precision: None,
            kind: default_kind,
        };
        let (mut fill_given, mut align_given) = (false, false);
        if is_align(at(1)) {
            (spec.fill, spec.align) = (at(0), at(1));
            (fill_given, align_given) = (true, true);
            i = 2;
        } else if is_align(at(0)) {
            spec.align = at(0);
            align_given = true;
            i = 1;
        }
        if matches!(at(i), '+' | '-' | ' ') {
            spec.sign = at(i);
            i += 1;
        }
        if at(i) == 'z' {
            spec.no_negative_zero = true;
            i += 1;
        }
        if at(i) == '#' {
            spec.alternate = true;
            i += 1;
        }
        if !fill_given && at(i) == '0' {
            spec.fill = '0';
            if !align_given && default_align == '>' {
                spec.align = '=';
            }
            i += 1;
        }
        if let Some(width) = number(&chars, &mut i)? {
            spec.width = width;
        }
        for symbol in [',', '_'] {
            if at(i) == symbol {
                if spec.group.is_some() {
                    return Err(Error::value_error("Cannot specify both ',' and '_'."));
                }
                spec.group = Some(symbol);
                i += 1;
            }
        }
        if at(i) == ',' && spec.group == Some('_') {
            return Err(Error::value_error("Cannot specify both ',' and '_'."));
        }
        if at(i) == '.' {
            i += 1;
            let precision = number(&chars, &mut i)?;
            spec.precision = Some(
                precision
                    .ok_or_else(|| Error::value_error("Format specifier missing precision"))?,
            );
        }
        match chars.len() - i.min(chars.len()) {
            0 => {}
            1 => spec.kind = at(i),
            _ => {
                let message =
                    format!("Invalid format specifier '{text}' for object of type '{type_name}'");
                return Err(Error::value_error(message));
            }
        }
        match (spec.group, spec.kind) {
            (None, _)
            | (Some(_), 'd' | 'e' | 'f' | 'g' | 'E' | 'F' | 'G' | '%' | '\0')
            | (Some('_'), 'b' | 'o' | 'x' | 'X') => {}
            (Some(group), kind) => {
                return Err(Error::value_error(format!(
                    "Cannot specify '{group}' with '{}'.",
                    shown(kind)
                )));
            }
        }
        Ok(spec)
    }

    fn layout(&self, group_size: usize) -> Layout {
        let groups = self.group.map(|symbol| (symbol, group_size));
        Layout {
            sign: self.sign,
            groups,
            fill: self.fill,
            align: self.align,
            width: self.width,
        }
    }
}

/// Digits at a position, as a number.
fn number(chars: &[char], at: &mut usize) -> Result<Option<usize>> {
    let start = *at;
    let mut number: usize = 0;
    while let Some(c) = chars.get(*at).filter(|c| is_decimal_digit(**c)) {
        let digit = c.to_digit(10).unwrap_or(0) as usize;
        number = number
            .checked_mul(10)
            .and_then(|n| n.checked_add(digit))
            .filter(|n| isize::try_from(*n).is_ok())
            .ok_or_else(|| Error::value_error("Too many decimal digits in format string"))?;
        *at += 1;
    }
    Ok((*at > start).then_some(number))
}

fn shown(c: char) -> String {
    if c > ' ' && c < '\u{80}' {
        c.to_string()
    } else {
        format!("\\x{:x}", u32::from(c))
    }
}

fn unknown_kind(kind: char, type_name: &str) -> Box<Error> {
    let message = format!(
        "Unknown format code '{}' for object of type '{type_name}'",
        shown(kind)
    );
    Error::value_error(message)
}

fn refuse(condition: bool, message: &str) -> Result<()> {
    if condition {
        Err(Error::value_error(message))
    } else {
        Ok(())
    }
}

fn format_text(vm: &dyn Interpreter, s: &str, spec: &Spec) -> Result<String> {
    if spec.kind != 's' {
        return Err(unknown_kind(spec.kind, "str"));
    }
    refuse(
        spec.sign == ' ',
        "Space not allowed in string format specifier",
    )?;
    refuse(
        spec.sign != '\0',
        "Sign not allowed in string format specifier",
    )?;
    refuse(
        spec.no_negative_zero,
        "Negative zero coercion (z) not allowed in string format specifier",
    )?;
    refuse(
        spec.alternate,
        "Alternate form (#) not allowed in string format specifier",
    )?;
    refuse(
        spec.align == '=',
        "'=' alignment not allowed in string format specifier",
    )?;
    pad(vm, &truncated(s, spec.precision), spec)
}

/// The first `precision` characters.
pub fn truncated(s: &str, precision: Option<usize>) -> String {
    match precision {
        Some(most) => s.chars().take(most).collect(),
        None => s.to_string(),
    }
}

fn pad(vm: &dyn Interpreter, s: &str, spec: &Spec) -> Result<String> {
    let missing = spec.width.saturating_sub(s.chars().count());
    limit::text(
        vm,
        s.len()
            .saturating_add(missing.saturating_mul(spec.fill.len_utf8())),
    )?;
    let (left, right) = match spec.align {
        '>' | '=' => (missing, 0),
        '^' => (missing / 2, missing - missing / 2),
        _ => (0, missing),
    };
    let fill = |n: usize| std::iter::repeat_n(spec.fill, n);
    Ok(fill(left).chain(s.chars()).chain(fill(right)).collect())
}

fn format_int(vm: &dyn Interpreter, i: &Int, spec: &Spec, type_name: &str) -> Result<String> {
    let radix = match spec.kind {
        'd' | 'n' | 'c' => 10,
        'b' => 2,
        'o' => 8,
        'x' | 'X' => 16,
        'e' | 'E' | 'f' | 'F' | 'g' | 'G' | '%' => {
            let f = i
                .to_f64()
                .map_err(|e| Error::python("OverflowError", e.to_string()))?;
            return format_float(vm, f, spec, type_name);
        }
        other => return Err(unknown_kind(other, type_name)),
    };
    refuse(
        spec.precision.is_some(),
        "Precision not allowed in integer format specifier",
    )?;
    refuse(
        spec.no_negative_zero,
        "Negative zero coercion (z) not allowed in integer format specifier",
    )?;
    if spec.kind == 'c' {
        refuse(
            spec.sign != '\0',
            "Sign not allowed with integer format specifier 'c'",
        )?;
        refuse(
            spec.alternate,
            "Alternate form (#) not allowed with integer format specifier 'c'",
        )?;
        let c = char_of(i)?;
        let whole = c.to_string();
        return lay_out(
            vm,
            &Parts {
                negative: false,
                prefix: "",
                whole: &whole,
                rest: "",
            },
            &spec.layout(3),
        );
    }
    let digits = digits_of(vm, &i.abs(), radix)?;
    let upper = spec.kind == 'X';
    let digits = if upper {
        digits.to_ascii_uppercase()
    } else {
        digits
    };
    let prefix = match (spec.alternate, spec.kind) {
        (true, 'b') => "0b",
        (true, 'o') => "0o",
        (true, 'x') => "0x",
        (true, 'X') => "0X",
        _ => "",
    };
    let parts = Parts {
        negative: i.is_negative(),
        prefix,
        whole: &digits,
        rest: "",
    };
    lay_out(vm, &parts, &spec.layout(if radix == 10 { 3 } else { 4 }))
}

/// Digits of a number that is not negative. Decimal digits of very large numbers cost much to
/// compute, and Python refuses them.
pub fn digits_of(vm: &dyn Interpreter, i: &Int, radix: u32) -> Result<String> {
    const MOST: usize = 4300;
    let Some(small) = i.to_i64() else {
        let digits = i.to_str_radix(radix);
        vm.burn(digits.len())?;
        if radix == 10 && digits.len() > MOST {
            let message = format!(
                "Exceeds the limit ({MOST} digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit"
            );
            return Err(Error::value_error(message));
        }
        return Ok(digits);
    };
    Ok(match radix {
        10 => small.to_string(),
        16 => format!("{small:x}"),
        _ => i.to_str_radix(radix),
    })
}

/// The character of a number (`%c`).
pub fn char_of(i: &Int) -> Result<char> {
    let number = i.to_i64().and_then(|i| u32::try_from(i).ok());
    number
        .and_then(char::from_u32)
        .ok_or_else(|| Error::python("OverflowError", "%c arg not in range(0x110000)"))
}

fn format_float(vm: &dyn Interpreter, mut x: f64, spec: &Spec, type_name: &str) -> Result<String> {
    let percent = spec.kind == '%';
    let (style, default) = match spec.kind {
        '\0' if spec.precision.is_none() => (Style::Shortest, 0),
        '\0' => (Style::General, 0),
        'e' | 'E' => (Style::Exponent, 6),
        'f' | 'F' | '%' => (Style::Fixed, 6),
        'g' | 'G' | 'n' => (Style::General, 6),
        other => return Err(unknown_kind(other, type_name)),
    };
    if percent {
        x *= 100.0;
    }
    let precision = spec.precision.unwrap_or(default);
    refuse(i32::try_from(precision).is_err(), "precision too big")?;
    limit::text(vm, precision)?;
    let mut text = float::digits(x, style, precision, spec.alternate, spec.kind == '\0');
    if spec.kind.is_ascii_uppercase() {
        text.make_ascii_uppercase();
    }
    if percent {
        text.push('%');
    }
    let zero = spec.no_negative_zero && is_zero_text(&text);
    let whole_len = if x.is_finite() {
        text.find(|c: char| !c.is_ascii_digit())
            .unwrap_or(text.len())
    } else {
        3
    };
    let (whole, rest) = text.split_at(whole_len.min(text.len()));
    let negative = float::is_negative(x) && !zero;
    lay_out(
        vm,
        &Parts {
            negative,
            prefix: "",
            whole,
            rest,
        },
        &spec.layout(3),
    )
}

/// Whether every digit of the mantissa is zero.
fn is_zero_text(text: &str) -> bool {
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    mantissa.starts_with('0') && mantissa.chars().all(|c| matches!(c, '0' | '.' | '%'))
}

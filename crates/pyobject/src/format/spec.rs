//! The format specification mini-language: `[[fill]align][sign][z][#][0][width][group][.precision][type]`.

use mapstack_value::Int;
use mapstack_value::pytext::float::{self, Style};

use super::number::{Layout, NumberParts, lay_out};
use crate::Interpreter;
use crate::limits::{Error, Result};
use crate::methods::limit;
use crate::object::{Obj, to_str};
use mapstack_value::pytext::spec::{Spec, shown};

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
            let spec = parse(spec, '<', 's', "str")?;
            format_text(vm, s, &spec)
        }
        Obj::Int(i) => format_int(vm, i, &parse(spec, '>', 'd', "int")?, "int"),
        Obj::Bool(b) => format_int(
            vm,
            &Int::from(i64::from(*b)),
            &parse(spec, '>', 'd', "bool")?,
            "bool",
        ),
        Obj::Float(f) => format_float(vm, *f, &parse(spec, '>', '\0', "float")?, "float"),
        other => Err(Error::type_error(format!(
            "unsupported format string passed to {}.__format__",
            other.type_name()
        ))),
    }
}

fn parse(text: &str, align: char, kind: char, type_name: &str) -> Result<Spec> {
    Spec::parse(text, align, kind, type_name).map_err(|e| Error::value_error(e.to_string()))
}

fn layout(spec: &Spec, group_size: usize) -> Layout {
    let groups = spec.group.map(|symbol| (symbol, group_size));
    Layout {
        sign: spec.sign,
        groups,
        fill: spec.fill,
        align: spec.align,
        width: spec.width,
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

/// The character with that code: the kind `c` of integers.
fn format_char(vm: &dyn Interpreter, i: &Int, spec: &Spec) -> Result<String> {
    refuse(
        spec.sign != '\0',
        "Sign not allowed with integer format specifier 'c'",
    )?;
    refuse(
        spec.alternate,
        "Alternate form (#) not allowed with integer format specifier 'c'",
    )?;
    let parts = NumberParts {
        negative: false,
        prefix: "",
        whole: &char_of(i)?.to_string(),
        rest: "",
    };
    lay_out(vm, &parts, &layout(spec, 3))
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
        return format_char(vm, i, spec);
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
    let parts = NumberParts {
        negative: i.is_negative(),
        prefix,
        whole: &digits,
        rest: "",
    };
    lay_out(vm, &parts, &layout(spec, if radix == 10 { 3 } else { 4 }))
}

/// Digits of a number that is not negative. Decimal digits of very large numbers cost much to
/// compute, and Python refuses them.
pub fn digits_of(vm: &dyn Interpreter, i: &Int, radix: u32) -> Result<String> {
    const MAX_DIGITS: usize = 4300;
    let Some(small) = i.to_i64() else {
        let digits = i.to_str_radix(radix);
        vm.burn(digits.len())?;
        if radix == 10 && digits.len() > MAX_DIGITS {
            let message = format!(
                "Exceeds the limit ({MAX_DIGITS} digits) for integer string conversion; use sys.set_int_max_str_digits() to increase the limit"
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
        &NumberParts {
            negative,
            prefix: "",
            whole,
            rest,
        },
        &layout(spec, 3),
    )
}

/// True if every digit of the mantissa is zero.
fn is_zero_text(text: &str) -> bool {
    let mantissa = text.split(['e', 'E']).next().unwrap_or(text);
    mantissa.starts_with('0') && mantissa.chars().all(|c| matches!(c, '0' | '.' | '%'))
}

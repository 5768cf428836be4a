//! Jinja2's filters for numbers.

use mapstack_pyobject::{CallArgs, Error, Obj, Result, as_float, as_index, binary, hash_key};
use mapstack_value::Int;
use mapstack_value::pytext::number;

use super::call::{builtin_of_one, flag, index_of, inner, misuse, plain};
use super::sequence::attribute_getter;
use crate::dialect::Filters;
use crate::syntax::ast::BinaryOp;
use crate::vm::Vm;

pub(super) const TABLE: Filters = &[
    ("abs", abs),
    ("filesizeformat", filesizeformat),
    ("float", float),
    ("int", int),
    ("round", round),
    ("sum", sum),
];

fn abs(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    builtin_of_one("abs", &args)?;
    match (&x, as_index(&x)) {
        (_, Some(i)) => Ok(Obj::Int(i.abs())),
        (Obj::Float(f), None) => Ok(Obj::Float(f.abs())),
        _ => Err(Error::type_error(format!(
            "bad operand type for abs(): '{}'",
            x.type_name()
        ))),
    }
}

fn sum(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [attribute, start] =
        inner("sync_do_sum", "iterable").bind(args, 0, ["attribute", "start"])?;
    let key = attribute_getter(attribute.as_ref());
    let items = x.iter()?;
    let mut total = start.unwrap_or_else(|| Obj::from(0));
    match &total {
        Obj::Str(_) | Obj::Markup(_) => {
            return Err(Error::type_error(
                "sum() can't sum strings [use ''.join(seq) instead]",
            ));
        }
        Obj::Bytes(_) => {
            return Err(Error::type_error(
                "sum() can't sum bytes [use b''.join(seq) instead]",
            ));
        }
        _ => {}
    }
    while let Some(item) = items.next(vm)? {
        let item = match attribute {
            None | Some(Obj::None) => item,
            Some(_) => key.get(vm, item, None)?,
        };
        total = binary(vm, BinaryOp::Add, &total, &item)?;
    }
    Ok(total)
}

/// The number that text is, as `int(text, base)` reads it.
pub fn parse_int(text: &str, base: u32) -> Option<Int> {
    let read = number::int(text, base)?;
    let value = Int::from_str_radix(&read.digits, read.radix)?;
    Some(if read.is_negative { value.neg() } else { value })
}

/// Why `float(x)` fails.
enum NotFloat {
    Type(String),
    Value(String),
    Other(Box<Error>),
}

impl From<NotFloat> for Box<Error> {
    fn from(reason: NotFloat) -> Self {
        match reason {
            NotFloat::Type(message) => Error::type_error(message),
            NotFloat::Value(message) => Error::value_error(message),
            NotFloat::Other(error) => error,
        }
    }
}

fn to_float(x: &Obj) -> Result<f64, NotFloat> {
    let unreadable = |x: &Obj| {
        NotFloat::Value(format!(
            "could not convert string to float: {}",
            super::call::quoted(x)
        ))
    };
    match x {
        Obj::Str(s) | Obj::Markup(s) => number::float(s).ok_or_else(|| unreadable(x)),
        Obj::Bytes(b) => std::str::from_utf8(b)
            .ok()
            .and_then(number::float)
            .ok_or_else(|| unreadable(x)),
        Obj::Undefined(u) => Err(NotFloat::Other(u.error())),
        other => match as_float(other) {
            Ok(Some(f)) => Ok(f),
            Ok(None) => {
                let found = other.type_name();
                Err(NotFloat::Type(format!(
                    "float() argument must be a string or a real number, not '{found}'"
                )))
            }
            Err(e) => Err(NotFloat::Other(e)),
        },
    }
}

/// `float(x)`.
///
/// # Errors
/// Python's errors for a value that is not a number.
pub fn float_of(x: &Obj) -> Result<f64> {
    to_float(x).map_err(Into::into)
}

fn float(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [default] = plain("do_float", "value").bind(args, 0, ["default"])?;
    match to_float(&x) {
        Ok(f) => Ok(Obj::Float(f)),
        Err(NotFloat::Other(e)) => Err(e),
        Err(_) => Ok(default.unwrap_or(Obj::Float(0.0))),
    }
}

fn int(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [default, base] = plain("do_int", "value").bind(args, 0, ["default", "base"])?;
    let read = match &x {
        Obj::Str(s) | Obj::Markup(s) => {
            let base = base.map_or(Some(Int::from(10)), |b| as_index(&b));
            base.and_then(|b| b.to_i64())
                .and_then(|b| u32::try_from(b).ok())
                .and_then(|base| parse_int(s, base))
        }
        Obj::Bytes(b) => std::str::from_utf8(b).ok().and_then(|s| parse_int(s, 10)),
        Obj::Float(f) if f.is_infinite() => {
            return Err(Error::python(
                "OverflowError",
                "cannot convert float infinity to integer",
            ));
        }
        Obj::Float(f) => Int::from_f64(f.trunc()),
        Obj::Undefined(u) => return Err(u.error()),
        other => as_index(other),
    };
    let read = read.or_else(|| {
        to_float(&x)
            .ok()
            .filter(|f| f.is_finite())
            .and_then(|f| Int::from_f64(f.trunc()))
    });
    Ok(read
        .map(Obj::Int)
        .or(default)
        .unwrap_or_else(|| Obj::from(0)))
}

fn round(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [precision, method] = plain("do_round", "value").bind(args, 0, ["precision", "method"])?;
    let precision = precision.unwrap_or_else(|| Obj::from(0));
    let method = method.unwrap_or_else(|| Obj::from("common"));
    // It is looked for in a set.
    hash_key(&method)?;
    let method = method.as_str().map_or("", |m| m);
    if method == "common" {
        return round_half_even(&x, &precision);
    }
    if method != "ceil" && method != "floor" {
        return Err(misuse("method must be common, ceil or floor"));
    }
    let scale = binary(vm, BinaryOp::Pow, &Obj::from(10), &precision)?;
    let scaled = binary(vm, BinaryOp::Mul, &x, &scale)?;
    let whole = match (&scaled, as_index(&scaled)) {
        (_, Some(i)) => i,
        (Obj::Float(f), None) => {
            let f = if method == "ceil" {
                f.ceil()
            } else {
                f.floor()
            };
            whole(f)?
        }
        (other, None) => {
            return Err(Error::type_error(format!(
                "must be real number, not {}",
                other.type_name()
            )));
        }
    };
    binary(vm, BinaryOp::Div, &Obj::Int(whole), &scale)
}

/// A float without fraction as integer.
pub fn whole(f: f64) -> Result<Int> {
    match Int::from_f64(f) {
        Some(i) => Ok(i),
        None if f.is_nan() => Err(Error::value_error("cannot convert float NaN to integer")),
        None => Err(Error::python(
            "OverflowError",
            "cannot convert float infinity to integer",
        )),
    }
}

/// Python's `round(x, precision)`.
fn round_half_even(x: &Obj, precision: &Obj) -> Result<Obj> {
    let places = match precision {
        Obj::None => None,
        other => Some(index_of(other)),
    };
    match (x, as_index(x)) {
        (_, Some(i)) => match places.transpose()? {
            Some(places) if places < 0 => round_int(&i, places.unsigned_abs()).map(Obj::Int),
            _ => Ok(Obj::Int(i)),
        },
        (Obj::Float(f), None) => match places.transpose()? {
            None => whole(f.round_ties_even()).map(Obj::Int),
            Some(places) => Ok(Obj::Float(round_float(*f, places))),
        },
        (other, None) => Err(Error::type_error(format!(
            "type {} doesn't define __round__ method",
            other.type_name()
        ))),
    }
}

fn round_int(i: &Int, places: u64) -> Result<Int> {
    let limit = |e: mapstack_value::ArithmeticError| Error::limit(e.to_string());
    let Some(places) = u32::try_from(places).ok().filter(|p| *p <= 10_000) else {
        return Ok(Int::from(0));
    };
    let unit = Int::from(10).pow(places).map_err(limit)?;
    let below = i.sub(&i.modulo(&unit).map_err(limit)?);
    let above = below.add(&unit);
    let (down, up) = (i.sub(&below), above.sub(i));
    let even = below
        .floor_div(&unit)
        .and_then(|q| q.modulo(&Int::from(2)))
        .map_err(limit)?
        .is_zero();
    Ok(if down < up || (down == up && even) {
        below
    } else {
        above
    })
}

fn round_float(f: f64, places: i64) -> f64 {
    if !f.is_finite() || places > 400 {
        return f;
    }
    if places < -400 {
        return 0.0 * f;
    }
    match usize::try_from(places) {
        // Formatting rounds the exact decimal value, ties to even, as Python does.
        Ok(places) => format!("{f:.places$}").parse().unwrap_or(f),
        Err(_) => {
            let unit = 10f64.powi(i32::try_from(-places).unwrap_or(i32::MAX));
            if unit.is_infinite() {
                0.0 * f
            } else {
                (f / unit).round_ties_even() * unit
            }
        }
    }
}

fn filesizeformat(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    const DECIMAL: [&str; 8] = ["kB", "MB", "GB", "TB", "PB", "EB", "ZB", "YB"];
    const BINARY: [&str; 8] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "ZiB", "YiB"];
    let [binary] = plain("do_filesizeformat", "value").bind(args, 0, ["binary"])?;
    let bytes = float_of(&x)?;
    let (base, units) = if flag(binary, false)? {
        (1024.0, BINARY)
    } else {
        (1000.0, DECIMAL)
    };
    if bytes == 1.0 {
        return Ok(Obj::from("1 Byte"));
    }
    if bytes < base {
        return Ok(Obj::from(format!("{} Bytes", whole(bytes.trunc())?)));
    }
    let mut unit: f64 = base * base;
    let mut i = 0;
    while bytes >= unit && i + 1 < units.len() {
        unit *= base;
        i += 1;
    }
    let amount = base * bytes / unit;
    let amount = if amount.is_nan() {
        "nan".into()
    } else {
        format!("{amount:.1}")
    };
    Ok(Obj::from(format!("{amount} {}", units[i])))
}

/// `int(x)` of text and numbers.
///
/// # Errors
/// `Ok(Err(…))` for text that is not a number, an error for other types.
pub fn int_of(x: &Obj) -> Result<Option<Int>> {
    match (x, as_index(x)) {
        (_, Some(i)) => Ok(Some(i)),
        (Obj::Str(s) | Obj::Markup(s), None) => Ok(parse_int(s, 10)),
        (Obj::Bytes(b), None) => Ok(std::str::from_utf8(b).ok().and_then(|s| parse_int(s, 10))),
        (Obj::Float(f), None) => whole(f.trunc()).map(Some),
        (Obj::Undefined(u), None) => Err(u.error()),
        (other, None) => {
            let found = other.type_name();
            let message = format!(
                "int() argument must be a string, a bytes-like object or a real number, not '{found}'"
            );
            Err(Error::type_error(message))
        }
    }
}

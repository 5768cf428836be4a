//! Methods and attributes of `int`, `bool` and `float`.

use mapstack_value::Int;

use super::limit;
use super::signature::{Call, flag_or, integer_or, text};
use crate::Interpreter;
use crate::limits::{Error, Result};
use crate::object::{CallArgs, Obj};

/// Every method of `int` (and `bool`).
pub const INT: &[&str] = &[
    "as_integer_ratio",
    "bit_count",
    "bit_length",
    "conjugate",
    "from_bytes",
    "to_bytes",
];

/// Every method of `float` that is known.
pub const FLOAT: &[&str] = &["as_integer_ratio", "conjugate", "hex", "is_integer"];

/// `int.real`, `float.imag` and their like.
pub fn attribute(object: &Obj, name: &str) -> Option<Obj> {
    match (object, name) {
        (Obj::Float(f), "real") => Some(Obj::Float(*f)),
        (Obj::Float(_), "imag") => Some(Obj::Float(0.0)),
        (Obj::Int(_) | Obj::Bool(_), "real" | "numerator") => {
            crate::object::as_index(object).map(Obj::Int)
        }
        (Obj::Int(_) | Obj::Bool(_), "imag") => Some(Obj::from(0)),
        (Obj::Int(_) | Obj::Bool(_), "denominator") => Some(Obj::from(1)),
        _ => None,
    }
}

/// `int.name(args)`.
pub fn call_int(vm: &dyn Interpreter, i: &Int, name: &str, args: CallArgs) -> Result<Obj> {
    let call = Call {
        owner: "int",
        name,
        args,
    };
    let bits = || i.abs().to_str_radix(2);
    match name {
        "bit_length" => call
            .none()
            .map(|()| Obj::from(if i.is_zero() { 0 } else { bits().len() })),
        "bit_count" => call.none().map(|()| Obj::from(bits().matches('1').count())),
        "conjugate" => call.none().map(|()| Obj::Int(i.clone())),
        "as_integer_ratio" => call
            .none()
            .map(|()| Obj::tuple([Obj::Int(i.clone()), Obj::from(1)])),
        "to_bytes" => to_bytes(vm, i, call),
        "from_bytes" => from_bytes(vm, call),
        _ => Err(super::no_attribute("int", name)),
    }
}

fn is_big_endian(order: Option<Obj>, method: &str) -> Result<bool> {
    let Some(order) = order else { return Ok(true) };
    match &*text(&order, |found| {
        format!("{method}() argument 'byteorder' must be str, not {found}")
    })? {
        "big" => Ok(true),
        "little" => Ok(false),
        _ => Err(Error::value_error(
            "byteorder must be either 'little' or 'big'",
        )),
    }
}

fn to_bytes(vm: &dyn Interpreter, i: &Int, call: Call<'_>) -> Result<Obj> {
    let [length, order, signed] = call.keywords(["length", "byteorder", "signed"], 0)?;
    let length = integer_or(length, 1)?;
    let big = is_big_endian(order, "to_bytes")?;
    let signed = flag_or(signed, false)?;
    let Ok(length) = usize::try_from(length) else {
        return Err(Error::value_error("length argument must be non-negative"));
    };
    limit::text(vm, length)?;
    if i.is_negative() && !signed {
        return Err(Error::python(
            "OverflowError",
            "can't convert negative int to unsigned",
        ));
    }
    let mut bytes = if signed {
        i.big().to_signed_bytes_le()
    } else {
        i.big().to_bytes_le().1
    };
    let fill = if i.is_negative() { 0xff } else { 0 };
    if i.is_zero() {
        bytes.clear();
    }
    if bytes.len() > length {
        return Err(Error::python("OverflowError", "int too big to convert"));
    }
    bytes.resize(length, fill);
    if big {
        bytes.reverse();
    }
    Ok(Obj::Bytes(bytes.into()))
}

/// Larger integers are refused, as they are in arithmetic.
const MAX_BYTES: usize = 1 << 14;

fn from_bytes(vm: &dyn Interpreter, call: Call<'_>) -> Result<Obj> {
    let [bytes, order, signed] = call.keywords(["bytes", "byteorder", "signed"], 1)?;
    let bytes = match bytes.unwrap_or_default() {
        Obj::Bytes(bytes) => bytes,
        Obj::Undefined(u) => return Err(u.error()),
        other => {
            return Err(Error::type_error(format!(
                "cannot convert '{}' object to bytes",
                other.type_name()
            )));
        }
    };
    vm.burn(bytes.len())?;
    if bytes.len() > MAX_BYTES {
        return Err(Error::limit(format!(
            "an integer of more than {MAX_BYTES} bytes"
        )));
    }
    let big = is_big_endian(order, "from_bytes")?;
    let signed = flag_or(signed, false)?;
    let hex = |bytes: &mut dyn Iterator<Item = &u8>| {
        bytes.map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let (digits, top) = if big {
        (hex(&mut bytes.iter()), bytes.first())
    } else {
        (hex(&mut bytes.iter().rev()), bytes.last())
    };
    let number = Int::from_str_radix(&digits, 16).unwrap_or(Int::from(0));
    if signed && top.is_some_and(|top| *top >= 0x80) {
        let modulus = Int::from_str_radix(&format!("1{}", "0".repeat(digits.len())), 16)
            .unwrap_or(Int::from(0));
        return Ok(Obj::Int(number.sub(&modulus)));
    }
    Ok(Obj::Int(number))
}

/// `float.name(args)`.
pub fn call_float(f: f64, name: &str, args: CallArgs) -> Result<Obj> {
    let call = Call {
        owner: "float",
        name,
        args,
    };
    match name {
        "is_integer" => call
            .none()
            .map(|()| Obj::Bool(f.is_finite() && f.fract() == 0.0)),
        "conjugate" => call.none().map(|()| Obj::Float(f)),
        "hex" => call.none().map(|()| Obj::from(hex(f))),
        "as_integer_ratio" => {
            call.none()?;
            let (numerator, denominator) = ratio(f)?;
            Ok(Obj::tuple([Obj::Int(numerator), Obj::Int(denominator)]))
        }
        _ => Err(super::no_attribute("float", name)),
    }
}

/// The float as `mantissa * 2 ** exponent`.
fn parts(f: f64) -> (u64, i32) {
    let bits = f.to_bits();
    let exponent = i32::try_from((bits >> 52) & 0x7ff).unwrap_or(0);
    let fraction = bits & ((1 << 52) - 1);
    if exponent == 0 {
        (fraction, -1074)
    } else {
        (fraction | (1 << 52), exponent - 1075)
    }
}

fn ratio(f: f64) -> Result<(Int, Int)> {
    if f.is_nan() {
        return Err(Error::value_error("cannot convert NaN to integer ratio"));
    }
    if f.is_infinite() {
        return Err(Error::python(
            "OverflowError",
            "cannot convert Infinity to integer ratio",
        ));
    }
    let (mut mantissa, mut exponent) = parts(f);
    if mantissa == 0 {
        return Ok((Int::from(0), Int::from(1)));
    }
    let twos = mantissa.trailing_zeros();
    mantissa >>= twos;
    exponent += i32::try_from(twos).unwrap_or(0);
    let overflow = |error: mapstack_value::ArithmeticError| Error::limit(error.to_string());
    let power = Int::from(2)
        .pow(exponent.unsigned_abs())
        .map_err(overflow)?;
    let mantissa = Int::from(mantissa);
    let (numerator, denominator) = if exponent >= 0 {
        (mantissa.mul(&power).map_err(overflow)?, Int::from(1))
    } else {
        (mantissa, power)
    };
    Ok((
        if f < 0.0 { numerator.neg() } else { numerator },
        denominator,
    ))
}

fn hex(f: f64) -> String {
    if !f.is_finite() {
        return mapstack_value::float_repr(f);
    }
    let sign = if f.is_sign_negative() { "-" } else { "" };
    if f == 0.0 {
        return format!("{sign}0x0.0p+0");
    }
    let (mantissa, exponent) = parts(f);
    let lead = mantissa >> 52;
    format!(
        "{sign}0x{lead}.{:013x}p{:+}",
        mantissa & ((1 << 52) - 1),
        exponent + 52
    )
}

//! Salt's filters for text and numbers in text.

use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result, as_index, binary, len, to_str};
use mapstack_value::Str;
use mapstack_value::pytext::number;

use super::regex::{Anchor, Pattern};
use mapstack_jinja::Filters;
use mapstack_jinja::Vm;
use mapstack_jinja::ast::BinaryOp;
use mapstack_jinja::call::{
    class_of, flag, index_of, method, no_attribute, plain, quoted, text_or,
};
use mapstack_jinja::filters::number::{int_of, parse_int, whole};

pub(super) const TABLE: Filters = &[
    ("check_whitelist_blacklist", check_lists),
    ("contains_whitespace", contains_whitespace),
    ("human_to_bytes", human_to_bytes),
    ("is_hex", is_hex),
    ("quote", quote),
    ("str_to_num", to_num),
    ("to_bool", to_bool),
    ("to_bytes", to_bytes),
    ("to_camelcase", to_camelcase),
    ("to_num", to_num),
    ("to_snake_case", to_snake_case),
];

fn quote(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("quote", "txt").alone(args)?;
    if let Obj::Undefined(_) = x {
        x.truthy()?;
    }
    if !x.truthy()? {
        return Ok(Obj::from("''"));
    }
    let wrong = |found: &str| {
        Error::type_error(format!(
            "expected string or bytes-like object, got '{found}'"
        ))
    };
    let text = text_or(&x, wrong)?;
    let safe = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    if text.chars().all(safe) {
        return Ok(x);
    }
    let replaced = method(vm, &x, "replace", [Obj::from("'"), Obj::from("'\"'\"'")])?;
    // Safe text escapes the quotes.
    let opened = binary(vm, BinaryOp::Add, &Obj::from("'"), &replaced)?;
    binary(vm, BinaryOp::Add, &opened, &Obj::from("'"))
}

fn to_bool(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("to_bool", "val").alone(args)?;
    Ok(Obj::Bool(match &x {
        Obj::Bool(b) => *b,
        Obj::Str(s) | Obj::Markup(s) => matches!(s.to_lowercase().as_str(), "yes" | "1" | "true"),
        Obj::Int(i) => !i.is_negative() && !i.is_zero(),
        other if !mapstack_pyobject::is_hashable(other) => len(other)? > 0,
        _ => false,
    }))
}

/// The number that a text is, else the text.
pub(super) fn number_or_text(text: &str) -> Obj {
    match (parse_int(text, 10), number::float(text)) {
        (Some(i), _) => Obj::Int(i),
        (None, Some(f)) => Obj::Float(f),
        (None, None) => Obj::from(text),
    }
}

fn to_num(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("to_num", "text").alone(args)?;
    match (&x, x.as_str()) {
        (_, Some(text)) => Ok(match number_or_text(text) {
            Obj::Str(_) => x,
            number => number,
        }),
        // int() refuses it with the error that makes to_num() try float().
        (Obj::Float(f), None) if f.is_nan() => Ok(x),
        (_, None) => int_of(&x).map(|i| i.map_or(x, Obj::Int)),
    }
}

fn is_hex(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("is_hex", "value").alone(args)?;
    Ok(Obj::Bool(match &x {
        Obj::Str(s) | Obj::Markup(s) => parse_int(s, 16).is_some(),
        Obj::Bytes(b) => std::str::from_utf8(b).is_ok_and(|s| parse_int(s, 16).is_some()),
        _ => false,
    }))
}

fn to_bytes(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [encoding, errors] = plain("to_bytes", "s").bind(args, 0, ["encoding", "errors"])?;
    match &x {
        Obj::Bytes(_) => Ok(x),
        Obj::Str(s) | Obj::Markup(s) => {
            let encoding = encoding
                .filter(|e| !e.is_none())
                .unwrap_or_else(|| Obj::from("utf-8"));
            let errors = errors.unwrap_or_else(|| Obj::from("strict"));
            let encode = |encoding: Obj| {
                method(
                    vm,
                    &Obj::Str(s.clone()),
                    "encode",
                    [encoding, errors.clone()],
                )
            };
            if !matches!(encoding, Obj::List(_) | Obj::Tuple(_)) {
                return encode(encoding);
            }
            let mut failed = Error::value_error("encoding cannot be empty");
            for encoding in encoding.collect(vm)? {
                match encode(encoding) {
                    Err(e) if e.kind == ErrorKind::Python("UnicodeEncodeError") => failed = e,
                    done => return done,
                }
            }
            Err(failed)
        }
        _ => Err(expected_text(&x)),
    }
}

/// Bytes of text for hashing and the like (Salt: `to_bytes`).
pub(super) fn bytes_of(x: &Obj) -> Result<Vec<u8>> {
    match x {
        Obj::Bytes(bytes) => Ok(bytes.to_vec()),
        Obj::Str(s) | Obj::Markup(s) => Ok(s.as_bytes().to_vec()),
        _ => Err(expected_text(x)),
    }
}

fn contains_whitespace(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("contains_whitespace", "text").alone(args)?;
    for item in x.collect(vm)? {
        let Some(text) = item.as_str() else {
            return Err(no_attribute(&item, "isspace"));
        };
        if !text.is_empty() && text.chars().all(mapstack_value::pytext::classes::is_space) {
            return Ok(Obj::Bool(true));
        }
    }
    Ok(Obj::Bool(false))
}

/// The text, or the error for a missing method.
fn text_with<'o>(x: &'o Obj, method: &str) -> Result<&'o Str> {
    x.as_str().ok_or_else(|| no_attribute(x, method))
}

fn to_snake_case(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("camel_to_snake_case", "camel_input").alone(args)?;
    let letters = match &x {
        Obj::Undefined(u) => return Err(u.error()),
        Obj::Dict(_) => return Err(Error::python("KeyError", "0")),
        Obj::Str(_) | Obj::Markup(_) | Obj::List(_) | Obj::Tuple(_) | Obj::Native(_) => {
            x.collect(vm)?
        }
        other => {
            return Err(Error::type_error(format!(
                "'{}' object is not subscriptable",
                other.type_name()
            )));
        }
    };
    let Some((first, rest)) = letters.split_first() else {
        let what = if x.as_str().is_some() {
            "string"
        } else {
            x.type_name()
        };
        return Err(Error::python(
            "IndexError",
            format!("{what} index out of range"),
        ));
    };
    let is = |letter: &Obj, name: &str| method(vm, letter, name, [])?.truthy();
    let mut out = Obj::from(text_with(first, "lower")?.to_lowercase());
    if matches!(x, Obj::Markup(_)) {
        out = Obj::Markup(to_str(&out)?.into());
    }
    for (i, letter) in rest.iter().enumerate() {
        let text = text_with(letter, "isupper")?;
        if is(letter, "isupper")? {
            let next_is_lower = || {
                rest.get(i + 1)
                    .map_or(Ok(false), |next| is(next, "islower"))
            };
            if is(&letters[i], "islower")? || next_is_lower()? {
                out = binary(vm, BinaryOp::Add, &out, &Obj::from("_"))?;
            }
        }
        out = binary(vm, BinaryOp::Add, &out, &Obj::from(text.to_lowercase()))?;
    }
    Ok(out)
}

fn to_camelcase(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [upper] = plain("snake_to_camel_case", "snake_input").bind(args, 0, ["uppercamel"])?;
    let upper = flag(upper, false)?;
    let mut out = String::new();
    for (i, word) in text_with(&x, "split")?.split('_').enumerate() {
        if i == 0 && !upper {
            out.push_str(word);
        } else {
            out.push_str(&to_str(&method(vm, &Obj::from(word), "capitalize", [])?)?);
        }
    }
    Ok(Obj::from(out))
}

fn human_to_bytes(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [default_unit, metric] =
        plain("human_to_bytes", "size").bind(args, 0, ["default_unit", "handle_metric"])?;
    let metric = flag(metric, false)?;
    let default_unit = default_unit.unwrap_or_else(|| Obj::from("B"));
    let text = to_str(&x)?;
    let text = text.trim_matches(mapstack_value::pytext::classes::is_space);
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (amount, unit) = text.split_at(end);
    let unit = unit.trim_start_matches(mapstack_value::pytext::classes::is_space);
    if unit.contains('\n') {
        // The reference's pattern does not match then.
        return Err(Error::python(
            "AttributeError",
            "'NoneType' object has no attribute 'group'",
        ));
    }
    let unit = if unit.is_empty() {
        text_with(&default_unit, "lower")?.to_lowercase()
    } else {
        unit.to_lowercase()
    };
    let amount = match number_or_text(amount) {
        Obj::Str(_) => return Ok(Obj::from(0)),
        amount => amount,
    };
    const UNITS: &str = "bkmgtpezy";
    let mut letters = unit.chars();
    let power = letters.next().and_then(|c| UNITS.find(c));
    let (power, decimal) = match (power, letters.as_str()) {
        (Some(power), "") => (power, false),
        (Some(power), "ib") if power > 0 => (power, false),
        (Some(power), "b") if power > 0 => (power, metric),
        _ => return Ok(Obj::from(0)),
    };
    let power = i64::try_from(power).unwrap_or(0);
    let (base, exponent) = if decimal {
        (10, power * 3)
    } else {
        (2, power * 10)
    };
    let factor = binary(vm, BinaryOp::Pow, &Obj::from(base), &Obj::from(exponent))?;
    let bytes = binary(vm, BinaryOp::Mul, &amount, &factor)?;
    match &bytes {
        Obj::Float(f) => whole(f.trunc()).map(Obj::Int),
        _ => Ok(as_index(&bytes).map_or(bytes, Obj::Int)),
    }
}

fn check_lists(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let function = plain("check_whitelist_blacklist", "value");
    let [white, black] = function.bind(args, 0, ["whitelist", "blacklist"])?;
    let list = |given: Option<Obj>, name: &str| -> Result<Vec<Obj>> {
        let Some(list) = given else {
            return Ok(Vec::new());
        };
        if !list.truthy()? {
            return Ok(Vec::new());
        }
        match &list {
            Obj::Str(_) | Obj::Markup(_) => Ok(vec![list]),
            other => other.collect(vm).map_err(|e| match e.kind {
                ErrorKind::Python("TypeError") => {
                    let (found, shown) = (
                        other.type_name(),
                        to_str(other).unwrap_or_else(|_| quoted(other)),
                    );
                    Error::type_error(format!(
                        "Expecting iterable {name}, but got {found} ({shown})"
                    ))
                }
                _ => e,
            }),
        }
    };
    let black = list(black, "blacklist")?;
    let white = list(white, "whitelist")?;
    let any = |expressions: &[Obj]| -> Result<bool> {
        for expression in expressions {
            if matches_expression(vm, &x, expression)? {
                return Ok(true);
            }
        }
        Ok(false)
    };
    let (in_black, in_white) = (any(&black)?, any(&white)?);
    Ok(Obj::Bool(!in_black && (white.is_empty() || in_white)))
}

/// True if a glob or regular expression fits the whole value.
fn matches_expression(vm: &Vm<'_>, value: &Obj, expression: &Obj) -> Result<bool> {
    let (Some(text), Some(expression)) = (value.as_str(), expression.as_str()) else {
        return Ok(false);
    };
    vm.burn(1 + text.len() / 16)?;
    if glob(vm, expression, text)? {
        return Ok(true);
    }
    match Pattern::new(expression, false, false, Anchor::Whole) {
        Ok(pattern) => Ok(pattern.at_start(vm, text)?.is_some()),
        Err(e) if e.kind == ErrorKind::Limit => Err(e),
        Err(_) => Ok(false),
    }
}

/// Python's `fnmatch`.
fn glob(vm: &Vm<'_>, pattern: &str, text: &str) -> Result<bool> {
    let pattern: Vec<char> = pattern.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut p, mut t) = (0, 0);
    // The position to return to after the last star took one character more.
    let mut retry: Option<(usize, usize)> = None;
    loop {
        vm.burn(1)?;
        if p == pattern.len() && t == text.len() {
            return Ok(true);
        }
        if pattern.get(p) == Some(&'*') {
            p += 1;
            retry = Some((p, t));
            continue;
        }
        let fits = text.get(t).and_then(|&c| glob_one(&pattern[p..], c));
        match (fits, retry) {
            (Some(length), _) => {
                p += length;
                t += 1;
            }
            (None, Some((after, from))) if from < text.len() => {
                (p, t) = (after, from + 1);
                retry = Some((after, t));
            }
            _ => return Ok(false),
        }
    }
}

/// The number of characters of a glob for this one character.
fn glob_one(pattern: &[char], c: char) -> Option<usize> {
    match *pattern.first()? {
        '?' => Some(1),
        '[' => {
            let negated = pattern.get(1) == Some(&'!');
            let first = 1 + usize::from(negated);
            // A bracket that comes first is a member.
            let close = (first + 1..pattern.len()).find(|&i| pattern[i] == ']');
            let Some(close) = close else {
                return (c == '[').then_some(1);
            };
            let mut members = &pattern[first..close];
            let mut found = false;
            while let Some((&low, rest)) = members.split_first() {
                match rest {
                    ['-', high, after @ ..] => {
                        found |= low <= c && c <= *high;
                        members = after;
                    }
                    rest => {
                        found |= low == c;
                        members = rest;
                    }
                }
            }
            (found != negated).then_some(close + 1)
        }
        literal => (literal == c).then_some(1),
    }
}

/// An argument that must be a whole number of things to make.
pub(super) fn count(x: &Obj, most: usize) -> Result<usize> {
    let n = index_of(x)?;
    match usize::try_from(n) {
        Ok(n) if n <= most => Ok(n),
        Ok(n) => Err(Error::limit(format!(
            "{n} are asked for; at most {most} are allowed"
        ))),
        Err(_) => Err(Error::value_error("negative argument not allowed")),
    }
}

/// Complain about something that is not text where Salt wants text or bytes.
pub(super) fn expected_text(object: &Obj) -> Box<Error> {
    match object {
        Obj::Undefined(u) if !u.strict => u.error(),
        other => Error::type_error(format!(
            "expected str, bytes, or bytearray not {}",
            class_of(other)
        )),
    }
}

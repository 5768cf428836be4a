//! Jinja2's filters for text.

use mapstack_pyobject::{
    CallArgs, Error, Obj, Result, as_index, binary, len, methods, order, slice, spend, text_of,
    to_str,
};
use mapstack_value::Str;
use mapstack_value::pytext::split;

use super::call::{FilterFunction, inner, method, misuse, plain, room, soft_str};
use crate::dialect::Filters;
use crate::syntax::ast::BinaryOp;
use crate::vm::Vm;

pub(super) const TABLE: Filters = &[
    ("capitalize", |vm, x, args| {
        with_method(vm, &x, args, plain("do_capitalize", "s"), "capitalize")
    }),
    ("center", center),
    ("format", format),
    ("indent", indent),
    ("lower", |vm, x, args| {
        with_method(vm, &x, args, plain("do_lower", "s"), "lower")
    }),
    ("replace", replace),
    ("string", |_, x, args| {
        plain("soft_str", "s")
            .alone(args)
            .and_then(|()| soft_str(&x))
    }),
    ("title", title),
    ("trim", trim),
    ("truncate", truncate),
    ("upper", |vm, x, args| {
        with_method(vm, &x, args, plain("do_upper", "s"), "upper")
    }),
    ("wordcount", wordcount),
];

fn with_method(
    vm: &Vm<'_>,
    x: &Obj,
    args: CallArgs,
    function: FilterFunction,
    name: &str,
) -> Result<Obj> {
    function.alone(args)?;
    method(vm, &soft_str(x)?, name, [])
}

fn center(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [width] = plain("do_center", "value").bind(args, 0, ["width"])?;
    method(
        vm,
        &soft_str(&x)?,
        "center",
        [width.unwrap_or_else(|| Obj::from(80))],
    )
}

fn format(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    if !args.positional.is_empty() && !args.named.is_empty() {
        return Err(misuse(
            "can't handle positional and keyword arguments at the same time",
        ));
    }
    let values = if args.named.is_empty() {
        Obj::tuple(args.positional)
    } else {
        Obj::dict(
            args.named
                .into_iter()
                .map(|(name, value)| (name.into(), value)),
        )
    };
    binary(vm, BinaryOp::Mod, &soft_str(&x)?, &values)
}

fn replace(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [old, new, count] = inner("do_replace", "s").bind(args, 2, ["old", "new", "count"])?;
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    let count = count
        .filter(|c| !c.is_none())
        .unwrap_or_else(|| Obj::from(-1));
    if !vm.autoescape() {
        let text = |x: &Obj| match x {
            Obj::Str(s) => spend(s.len() / 16).map(|()| x.clone()),
            other => to_str(other).map(Obj::from),
        };
        return method(vm, &text(&x)?, "replace", [text(&old)?, text(&new)?, count]);
    }
    let is_markup = |x: &Obj| matches!(x, Obj::Markup(_));
    let escape = is_markup(&old) || (is_markup(&new) && !is_markup(&x));
    let subject = if escape {
        methods::escape(&x)?
    } else {
        soft_str(&x)?
    };
    method(
        vm,
        &subject,
        "replace",
        [soft_str(&old)?, soft_str(&new)?, count],
    )
}

/// Words begin at the start and after these.
fn begins_word(c: char) -> bool {
    c.is_whitespace() || matches!(c, '-' | '(' | '{' | '[' | '<' | '\x1c'..='\x1f')
}

fn title(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("do_title", "s").alone(args)?;
    let text = text_of(&x)?;
    let mut out = String::with_capacity(text.len());
    if text.is_ascii() {
        let mut after_separator = true;
        for c in text.chars() {
            out.push(if after_separator {
                c.to_ascii_uppercase()
            } else {
                c.to_ascii_lowercase()
            });
            after_separator = begins_word(c);
        }
        return Ok(Obj::from(out));
    }
    let mut rest = &*text;
    while let Some(first) = rest.chars().next() {
        let separator = begins_word(first);
        let end = rest
            .find(|c| begins_word(c) != separator)
            .unwrap_or(rest.len());
        let (piece, after) = rest.split_at(end);
        out.extend(first.to_uppercase());
        out.push_str(&piece[first.len_utf8()..].to_lowercase());
        rest = after;
    }
    Ok(Obj::from(out))
}

fn trim(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [chars] = plain("do_trim", "value").bind(args, 0, ["chars"])?;
    method(vm, &soft_str(&x)?, "strip", [chars.unwrap_or_default()])
}

fn indent(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [width, first, blank] =
        plain("do_indent", "s").bind(args, 0, ["width", "first", "blank"])?;
    let indention = indention(vm, &width.unwrap_or_else(|| Obj::from(4)))?;
    let (first, blank) = (
        super::call::flag(first, false),
        super::call::flag(blank, false),
    );
    let text = text_of_lines(vm, &x)?;
    // The steps of reading the text, and of making its lines.
    vm.read_all(&[&x])?;
    let mut lines = split::lines(text, false, split::is_line_break);
    // Python adds a newline first, which ends the last line; after `\r` it is a part of the same break.
    let ends_in_break = |c| split::is_line_break(c) && c != '\r';
    if text.chars().next_back().is_none_or(ends_in_break) {
        lines.push("");
    }
    vm.pay(lines.len(), 0)?;
    room(
        vm,
        text.len()
            .saturating_add(lines.len().saturating_mul(indention.len() + 1)),
    )?;
    let (first, blank) = (first?, blank?);
    let mut out = String::with_capacity(text.len() + lines.len() * indention.len());
    for (i, line) in lines.iter().enumerate() {
        let indented = if i == 0 {
            first
        } else {
            blank || !line.is_empty()
        };
        if i > 0 {
            out.push('\n');
        }
        if indented {
            out.push_str(&indention);
        }
        out.push_str(line);
    }
    Ok(x.with_text(out))
}

/// The text before an indented line: a given one, or this many spaces.
fn indention(vm: &Vm<'_>, width: &Obj) -> Result<String> {
    let spaces = match (width, as_index(width)) {
        (Obj::Str(_) | Obj::Markup(_), _) => return to_str(width),
        (_, Some(i)) => super::call::clamped(&i).max(0),
        (Obj::Undefined(u), None) => return Err(u.error()),
        (other, None) => {
            return Err(Error::type_error(format!(
                "can't multiply sequence by non-int of type '{}'",
                other.type_name()
            )));
        }
    };
    let spaces = usize::try_from(spaces).unwrap_or(usize::MAX);
    room(vm, spaces)?;
    Ok(" ".repeat(spaces))
}

/// The text whose lines are indented. Python adds a newline to it and then splits it; the errors are those of that.
fn text_of_lines<'x>(vm: &Vm<'_>, x: &'x Obj) -> Result<&'x Str> {
    Err(match x {
        Obj::Str(s) | Obj::Markup(s) => return Ok(s),
        Obj::Undefined(u) => u.error(),
        Obj::List(_) => super::call::no_attribute(x, "splitlines"),
        Obj::Tuple(_) | Obj::Bytes(_) => binary(vm, BinaryOp::Add, x, &Obj::from("\n"))
            .err()
            .unwrap_or_else(|| Error::type_error("cannot indent")),
        other => Error::type_error(format!(
            "unsupported operand type(s) for +=: '{}' and 'str'",
            other.type_name()
        )),
    })
}

fn truncate(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let names = ["length", "killwords", "end", "leeway"];
    let [length, killwords, end, leeway] = inner("do_truncate", "s").bind(args, 0, names)?;
    let length = length.unwrap_or_else(|| Obj::from(255));
    let end = end.unwrap_or_else(|| Obj::from("..."));
    let leeway = leeway
        .filter(|l| !l.is_none())
        .unwrap_or_else(|| Obj::from(5));
    // A length that cannot be compared with a number is refused in the words of the comparison.
    order(&length, &Obj::from(0), ">=")?;
    order(&leeway, &Obj::from(0), ">=")?;
    let (length, leeway) = (
        super::call::index_of(&length)?,
        super::call::index_of(&leeway)?,
    );
    let length_of = |x: &Obj| len(x).map(|n| i64::try_from(n).unwrap_or(i64::MAX));
    let end_length = length_of(&end)?;
    if length < end_length {
        return Err(Error::python(
            "AssertionError",
            format!("expected length >= {end_length}, got {length}"),
        ));
    }
    if leeway < 0 {
        return Err(Error::python(
            "AssertionError",
            format!("expected leeway >= 0, got {leeway}"),
        ));
    }
    if length_of(&x)? <= length.saturating_add(leeway) {
        return Ok(x);
    }
    let mut kept = slice(
        vm,
        &x,
        &Obj::None,
        &Obj::from(length - end_length),
        &Obj::None,
    )?;
    if let Obj::Undefined(_) = kept {
        return Err(Error::type_error(format!(
            "'{}' object is not subscriptable",
            x.type_name()
        )));
    }
    if !super::call::flag(killwords, false)? {
        kept = match &kept {
            Obj::Str(s) | Obj::Markup(s) => {
                let cut = s.rsplit_once(' ').map_or(&**s, |(before, _)| before);
                kept.with_text(cut)
            }
            other => return Err(super::call::no_attribute(other, "rsplit")),
        };
    }
    binary(vm, BinaryOp::Add, &kept, &end)
}

fn wordcount(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("do_wordcount", "s").alone(args)?;
    let text = to_str(&x)?;
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    Ok(Obj::from(
        text.split(|c| !in_word(c))
            .filter(|word| !word.is_empty())
            .count(),
    ))
}

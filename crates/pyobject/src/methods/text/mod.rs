//! The methods of `str`.

pub mod pad;
pub mod search;
mod translate;

use mapstack_value::Str;
use mapstack_value::pytext::split::{self, StripEnds};
use mapstack_value::pytext::{case, classes};

use super::signature::{Call, at_most, integer, integer_or, joinable, not_empty, text};
use super::{codec, limit};
use crate::Interpreter;
use crate::format;
use crate::limits::{Error, Result};
use crate::object::{CallArgs, Obj};

/// Every method of `str`.
pub const NAMES: &[&str] = &[
    "capitalize",
    "casefold",
    "center",
    "count",
    "encode",
    "endswith",
    "expandtabs",
    "find",
    "format",
    "format_map",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isdecimal",
    "isdigit",
    "isidentifier",
    "islower",
    "isnumeric",
    "isprintable",
    "isspace",
    "istitle",
    "isupper",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "maketrans",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "translate",
    "upper",
    "zfill",
];

/// `text.name(args)`.
pub fn call(vm: &dyn Interpreter, s: &Str, name: &str, args: CallArgs) -> Result<Obj> {
    let call = Call {
        owner: "str",
        name,
        args,
    };
    let whole = |call: Call<'_>, map: fn(&str) -> String| call.none().map(|()| Obj::from(map(s)));
    let is = |call: Call<'_>, test: fn(&str) -> bool| call.none().map(|()| Obj::Bool(test(s)));
    match name {
        "lower" => whole(call, str::to_lowercase),
        "upper" => whole(call, str::to_uppercase),
        "title" => whole(call, case::title),
        "capitalize" => whole(call, case::capitalize),
        "casefold" => whole(call, case::casefold),
        "swapcase" => whole(call, case::swapcase),
        "isalnum" => is(call, classes::is_alnum),
        "isalpha" => is(call, classes::is_alpha),
        "isascii" => is(call, str::is_ascii),
        "isdecimal" => is(call, classes::is_decimal),
        "isdigit" => is(call, classes::is_digit),
        "isidentifier" => is(call, classes::is_identifier),
        "islower" => is(call, case::is_lower),
        "isnumeric" => is(call, classes::is_numeric),
        "isprintable" => is(call, |s| s.chars().all(mapstack_value::is_printable)),
        "isspace" => is(call, |s| classes::every(s, classes::is_space)),
        "istitle" => is(call, case::is_title),
        "isupper" => is(call, case::is_upper),
        "strip" => strip(s, StripEnds::Both, call),
        "lstrip" => strip(s, StripEnds::Left, call),
        "rstrip" => strip(s, StripEnds::Right, call),
        "split" | "rsplit" => split_method(vm, s, call),
        "splitlines" => split_lines(vm, s, call),
        "partition" | "rpartition" => partition(s, call),
        "join" => join(vm, s, &call.one()?),
        "replace" => replace(vm, s, call),
        "find" | "rfind" | "index" | "rindex" | "count" => find(s, call),
        "startswith" | "endswith" => starts_or_ends(s, call),
        "center" | "ljust" | "rjust" => justify(vm, s, call),
        "zfill" => {
            let width = integer(&call.one()?)?;
            pad::zfill(vm, s, width).map(Obj::from)
        }
        "expandtabs" => expand_tabs(vm, s, call),
        "removeprefix" => affix(s, call, |s, affix| s.strip_prefix(affix)),
        "removesuffix" => affix(s, call, |s, affix| s.strip_suffix(affix)),
        "encode" => encode(s, call),
        "format" => format::format(vm, s, call.args, None).map(Obj::from),
        "format_map" => {
            let mapping = format_map_argument(call.args)?;
            format::format(vm, s, CallArgs::default(), Some(&mapping)).map(Obj::from)
        }
        "translate" => translate::translate(vm, s, &call.one()?),
        "maketrans" => translate::make(call),
        _ => Err(super::no_attribute("str", name)),
    }
}

fn split_lines(vm: &dyn Interpreter, s: &str, call: Call<'_>) -> Result<Obj> {
    let [keep] = call.keywords(["keepends"], 0)?;
    vm.pay(s.chars().filter(|c| split::is_line_break(*c)).count(), 0)?;
    let lines = split::lines(s, integer_or(keep, 0)? != 0, split::is_line_break);
    Ok(strings(&lines))
}

fn expand_tabs(vm: &dyn Interpreter, s: &str, call: Call<'_>) -> Result<Obj> {
    let [size] = call.keywords(["tabsize"], 0)?;
    let size = i32::try_from(integer_or(size, 8)?)
        .map_err(|_| Error::python("OverflowError", "Python int too large to convert to C int"))?;
    pad::expand_tabs(vm, s, usize::try_from(size).unwrap_or(0)).map(Obj::from)
}

/// The sandbox's own words for `format_map`'s argument.
pub fn format_map_argument(mut args: CallArgs) -> Result<Obj> {
    if !args.named.is_empty() {
        return Err(Error::type_error("format_map() takes no keyword arguments"));
    }
    let given = args.positional.len();
    match args.positional.pop() {
        Some(mapping) if given == 1 => Ok(mapping),
        _ => Err(Error::type_error(format!(
            "format_map() takes exactly one argument ({given} given)"
        ))),
    }
}

fn must_be_str(found: &str) -> String {
    format!("must be str, not {found}")
}

/// A list of text.
fn strings(parts: &[&str]) -> Obj {
    Obj::list(
        parts
            .iter()
            .map(|part| Obj::from(*part))
            .collect::<Vec<_>>(),
    )
}

fn strip(s: &str, side: StripEnds, call: Call<'_>) -> Result<Obj> {
    let name = call.name;
    let [chars] = call.positional(0)?;
    let stripped = match chars {
        None | Some(Obj::None) => split::strip(s, side, classes::is_space),
        Some(chars) => {
            let chars = text(&chars, |_| format!("{name} arg must be None or str"))?;
            split::strip(s, side, |c| chars.contains(c))
        }
    };
    Ok(Obj::from(stripped))
}

fn split_method(vm: &dyn Interpreter, s: &str, call: Call<'_>) -> Result<Obj> {
    let from_right = call.name == "rsplit";
    let [separator, most] = call.keywords(["sep", "maxsplit"], 0)?;
    let most = at_most(most)?;
    let parts = match separator {
        None | Some(Obj::None) => {
            vm.pay(
                s.chars()
                    .filter(|c| classes::is_space(*c))
                    .count()
                    .min(most),
                0,
            )?;
            split::by_space(s, most, from_right, classes::is_space)
        }
        Some(separator) => {
            let separator = not_empty(text(&separator, |found| {
                format!("must be str or None, not {found}")
            })?)?;
            vm.pay(s.matches(&*separator).count().min(most), 0)?;
            split::by_text(s, &separator, most, from_right)
        }
    };
    Ok(strings(&parts))
}

fn partition(s: &str, call: Call<'_>) -> Result<Obj> {
    let from_right = call.name == "rpartition";
    let separator = not_empty(text(&call.one()?, must_be_str)?)?;
    let parts = split::partition(s, &separator, from_right);
    Ok(Obj::tuple(parts.map(Obj::from)))
}

/// `separator.join(items)`.
fn join(vm: &dyn Interpreter, separator: &str, items: &Obj) -> Result<Obj> {
    let items = joinable(vm, items)?;
    vm.burn(items.len())?;
    let mut parts = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        parts.push(text(item, |found| {
            format!("sequence item {i}: expected str instance, {found} found")
        })?);
    }
    let length = parts.iter().map(|part| part.len() + separator.len()).sum();
    limit::text(vm, length)?;
    Ok(Obj::from(parts.join(separator)))
}

fn replace(vm: &dyn Interpreter, s: &str, call: Call<'_>) -> Result<Obj> {
    let [old, new, count] = call.positional(2)?;
    let (old, new) = (old.unwrap_or_default(), new.unwrap_or_default());
    let argument = |object: &Obj, place: usize| {
        text(object, |found| {
            format!("replace() argument {place} must be str, not {found}")
        })
    };
    let (old, new) = (argument(&old, 1)?, argument(&new, 2)?);
    let most = at_most(count)?;
    search::replace(vm, s, &old, &new, most).map(Obj::from)
}

fn find(s: &str, call: Call<'_>) -> Result<Obj> {
    let name = call.name;
    let [needle, start, end] = call.parsed(1)?;
    let needle = text(&needle.unwrap_or_default(), must_be_str)?;
    let window = search::Window::new(s, start.as_ref(), end.as_ref())?;
    search::find(name, window, &needle)
}

fn starts_or_ends(s: &str, call: Call<'_>) -> Result<Obj> {
    let name = call.name;
    let [affix, start, end] = call.parsed(1)?;
    let window = search::Window::new(s, start.as_ref(), end.as_ref())?;
    let matches = |affix: &Obj| match (affix, &window) {
        (Obj::Undefined(u), _) => Err(u.error()),
        (affix, Some(window)) => Ok(affix.as_str().map(|affix| match name {
            "startswith" => window.text.starts_with(&**affix),
            _ => window.text.ends_with(&**affix),
        })),
        (affix, None) => Ok(affix.as_str().map(|_| false)),
    };
    let affix = affix.unwrap_or_default();
    if let Obj::Tuple(affixes) = &affix {
        for affix in affixes.iter() {
            match matches(affix)? {
                Some(true) => return Ok(Obj::Bool(true)),
                Some(false) => {}
                None => {
                    let found = affix.type_name();
                    let message = format!("tuple for {name} must only contain str, not {found}");
                    return Err(Error::type_error(message));
                }
            }
        }
        return Ok(Obj::Bool(false));
    }
    matches(&affix)?.map(Obj::Bool).ok_or_else(|| {
        let found = affix.type_name();
        Error::type_error(format!(
            "{name} first arg must be str or a tuple of str, not {found}"
        ))
    })
}

fn justify(vm: &dyn Interpreter, s: &str, call: Call<'_>) -> Result<Obj> {
    let align = match call.name {
        "center" => pad::Align::Center,
        "ljust" => pad::Align::Left,
        _ => pad::Align::Right,
    };
    let [width, fill] = call.positional(1)?;
    let width = integer(&width.unwrap_or_default())?;
    let fill = match fill {
        None => ' ',
        Some(fill) => {
            let fill = text(&fill, |found| {
                format!("The fill character must be a unicode character, not {found}")
            })?;
            let mut chars = fill.chars();
            match (chars.next(), chars.next()) {
                (Some(only), None) => only,
                _ => {
                    return Err(Error::type_error(
                        "The fill character must be exactly one character long",
                    ));
                }
            }
        }
    };
    pad::justify(vm, s, width, fill, align).map(Obj::from)
}

fn affix(
    s: &str,
    call: Call<'_>,
    cut: for<'a> fn(&'a str, &str) -> Option<&'a str>,
) -> Result<Obj> {
    let name = call.name;
    let affix = text(&call.one()?, |found| {
        format!("{name}() argument must be str, not {found}")
    })?;
    Ok(Obj::from(cut(s, &affix).unwrap_or(s)))
}

fn encode(s: &str, call: Call<'_>) -> Result<Obj> {
    let [encoding, errors] = call.keywords(["encoding", "errors"], 0)?;
    let (encoding, errors) = codec::arguments("encode", encoding, errors)?;
    mapstack_value::pytext::codec::encode(s, &encoding, &errors)
        .map(|bytes| Obj::Bytes(bytes.into()))
        .map_err(codec::raised)
}

//! The methods of `bytes`.
//!
//! Bytes are worked on as text of the 256 characters of Latin-1, so that cutting and searching are
//! those of `str`; only classes and cases are ASCII's.

use std::sync::Arc;

use super::signature::{Call, at_most, integer, integer_or, joinable, not_empty};
use super::text::search::{self, Window};
use super::{codec, limit};
use crate::Interpreter;
use crate::limits::{Error, Result};
use crate::object::{CallArgs, Obj, as_index};
use mapstack_value::pytext::split::{self, StripEnds};

/// Every method of `bytes` that is known.
pub const NAMES: &[&str] = &[
    "capitalize",
    "count",
    "decode",
    "endswith",
    "find",
    "hex",
    "index",
    "isalnum",
    "isalpha",
    "isascii",
    "isdigit",
    "islower",
    "isspace",
    "isupper",
    "join",
    "lower",
    "lstrip",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rfind",
    "rindex",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "startswith",
    "strip",
    "swapcase",
    "title",
    "upper",
];

/// `bytes.name(args)`.
pub fn call(vm: &dyn Interpreter, bytes: &Arc<[u8]>, name: &str, args: CallArgs) -> Result<Obj> {
    vm.burn(bytes.len() / 4)?;
    let call = Call {
        owner: "bytes",
        name,
        args,
    };
    let s = latin1(bytes);
    let is = |call: Call<'_>, verdict: bool| call.none().map(|()| Obj::Bool(verdict));
    let whole = |call: Call<'_>, text: String| call.none().map(|()| back(&text));
    let every = |class: fn(&char) -> bool| !s.is_empty() && s.chars().all(|c| class(&c));
    let (lower, upper) = (
        bytes.iter().any(u8::is_ascii_lowercase),
        bytes.iter().any(u8::is_ascii_uppercase),
    );
    match name {
        "decode" => decode(bytes, call),
        "hex" => hex(vm, bytes, call),
        "isalnum" => is(call, every(char::is_ascii_alphanumeric)),
        "isalpha" => is(call, every(char::is_ascii_alphabetic)),
        "isascii" => is(call, bytes.is_ascii()),
        "isdigit" => is(call, every(char::is_ascii_digit)),
        "isspace" => is(call, every(|c| is_space(*c))),
        "islower" => is(call, lower && !upper),
        "isupper" => is(call, upper && !lower),
        "lower" => whole(call, s.to_ascii_lowercase()),
        "upper" => whole(call, s.to_ascii_uppercase()),
        "capitalize" | "title" | "swapcase" => {
            let text = recased(&s, name);
            whole(call, text)
        }
        "strip" => strip(&s, StripEnds::Both, call),
        "lstrip" => strip(&s, StripEnds::Left, call),
        "rstrip" => strip(&s, StripEnds::Right, call),
        "split" | "rsplit" => split_method(&s, call),
        "splitlines" => {
            let [keep] = call.keywords(["keepends"], 0)?;
            let lines = split::lines(&s, integer_or(keep, 0)? != 0, |c| matches!(c, '\n' | '\r'));
            Ok(Obj::list(lines.into_iter().map(back).collect::<Vec<_>>()))
        }
        "partition" | "rpartition" => {
            let separator = not_empty(like_bytes(&call.one()?)?)?;
            let parts = split::partition(&s, &separator, name == "rpartition");
            Ok(Obj::tuple(parts.map(back)))
        }
        "join" => join(vm, &s, &call.one()?),
        "replace" => replace(vm, &s, call),
        "removeprefix" => {
            let affix = like_bytes(&call.one()?)?;
            Ok(back(s.strip_prefix(&*affix).unwrap_or(&s)))
        }
        "removesuffix" => {
            let affix = like_bytes(&call.one()?)?;
            Ok(back(s.strip_suffix(&*affix).unwrap_or(&s)))
        }
        "find" | "rfind" | "index" | "rindex" | "count" => find(&s, call),
        "startswith" | "endswith" => starts_or_ends(&s, call),
        _ => Err(super::no_attribute("bytes", name)),
    }
}

fn decode(bytes: &[u8], call: Call<'_>) -> Result<Obj> {
    let [encoding, errors] = call.keywords(["encoding", "errors"], 0)?;
    let (encoding, errors) = codec::arguments("decode", encoding, errors)?;
    mapstack_value::pytext::codec::decode(bytes, &encoding, &errors)
        .map(Obj::from)
        .map_err(codec::raised)
}

fn replace(vm: &dyn Interpreter, s: &str, call: Call<'_>) -> Result<Obj> {
    let [old, new, count] = call.positional(2)?;
    let (old, new) = (
        like_bytes(&old.unwrap_or_default())?,
        like_bytes(&new.unwrap_or_default())?,
    );
    search::replace(vm, s, &old, &new, at_most(count)?).map(|s| back(&s))
}

fn latin1(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

fn back(s: &str) -> Obj {
    Obj::Bytes(
        s.chars()
            .filter_map(|c| u8::try_from(u32::from(c)).ok())
            .collect(),
    )
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t'..='\r')
}

fn like_bytes(object: &Obj) -> Result<String> {
    match object {
        Obj::Bytes(bytes) => Ok(latin1(bytes)),
        Obj::Undefined(u) => Err(u.error()),
        other => Err(Error::type_error(format!(
            "a bytes-like object is required, not '{}'",
            other.type_name()
        ))),
    }
}

fn recased(s: &str, method: &str) -> String {
    let mut inside = false;
    let mut first = true;
    s.chars()
        .map(|c| {
            let upper = match method {
                "title" => !inside,
                "capitalize" => first,
                _ => c.is_ascii_lowercase(),
            };
            inside = c.is_ascii_alphabetic();
            first = false;
            if upper {
                c.to_ascii_uppercase()
            } else {
                c.to_ascii_lowercase()
            }
        })
        .collect()
}

fn strip(s: &str, side: StripEnds, call: Call<'_>) -> Result<Obj> {
    let [chars] = call.positional(0)?;
    Ok(back(match chars {
        None | Some(Obj::None) => split::strip(s, side, is_space),
        Some(chars) => {
            let chars = like_bytes(&chars)?;
            split::strip(s, side, |c| chars.contains(c))
        }
    }))
}

fn split_method(s: &str, call: Call<'_>) -> Result<Obj> {
    let from_right = call.name == "rsplit";
    let [separator, most] = call.keywords(["sep", "maxsplit"], 0)?;
    let most = at_most(most)?;
    let parts = match separator {
        None | Some(Obj::None) => split::by_space(s, most, from_right, is_space),
        Some(separator) => {
            let separator = not_empty(like_bytes(&separator)?)?;
            split::by_text(s, &separator, most, from_right)
        }
    };
    Ok(Obj::list(parts.into_iter().map(back).collect::<Vec<_>>()))
}

fn join(vm: &dyn Interpreter, separator: &str, items: &Obj) -> Result<Obj> {
    let items = joinable(vm, items)?;
    let mut parts = Vec::with_capacity(items.len());
    for (i, item) in items.iter().enumerate() {
        parts.push(match item {
            Obj::Bytes(bytes) => latin1(bytes),
            Obj::Undefined(u) => return Err(u.error()),
            other => {
                let found = other.type_name();
                let message =
                    format!("sequence item {i}: expected a bytes-like object, {found} found");
                return Err(Error::type_error(message));
            }
        });
    }
    limit::text(
        vm,
        parts.iter().map(|part| part.len() + separator.len()).sum(),
    )?;
    Ok(back(&parts.join(separator)))
}

fn find(s: &str, call: Call<'_>) -> Result<Obj> {
    let name = call.name.to_string();
    let [needle, start, end] = call.parsed(1)?;
    let needle = needle.unwrap_or_default();
    let needle = match (&needle, as_index(&needle)) {
        (Obj::Bytes(bytes), _) => latin1(bytes),
        (Obj::Undefined(u), _) => return Err(u.error()),
        (_, Some(byte)) => match byte.to_i64().and_then(|byte| u8::try_from(byte).ok()) {
            Some(byte) => char::from(byte).to_string(),
            None => return Err(Error::value_error("byte must be in range(0, 256)")),
        },
        (other, None) => {
            let found = other.type_name();
            let message = format!("argument should be integer or bytes-like object, not '{found}'");
            return Err(Error::type_error(message));
        }
    };
    let window = Window::new(s, start.as_ref(), end.as_ref())?;
    search::find(&name, window, &needle).map_err(|error| match error.message.as_str() {
        "substring not found" => Error::value_error("subsection not found"),
        _ => error,
    })
}

fn starts_or_ends(s: &str, call: Call<'_>) -> Result<Obj> {
    let name = call.name.to_string();
    let [affix, start, end] = call.parsed(1)?;
    let window = Window::new(s, start.as_ref(), end.as_ref())?;
    let affix = affix.unwrap_or_default();
    let affixes = match &affix {
        Obj::Tuple(affixes) => affixes.to_vec(),
        Obj::Bytes(_) => vec![affix],
        Obj::Undefined(u) => return Err(u.error()),
        other => {
            let found = other.type_name();
            let message =
                format!("{name} first arg must be bytes or a tuple of bytes, not {found}");
            return Err(Error::type_error(message));
        }
    };
    for affix in &affixes {
        let affix = like_bytes(affix)?;
        let matches = |window: &Window<'_>| match &*name {
            "startswith" => window.text.starts_with(&*affix),
            _ => window.text.ends_with(&*affix),
        };
        if window.as_ref().is_some_and(matches) {
            return Ok(Obj::Bool(true));
        }
    }
    Ok(Obj::Bool(false))
}

/// `hex(sep, bytes_per_sep)`: groups are counted from the right, or from the left when negative.
fn hex(vm: &dyn Interpreter, bytes: &[u8], call: Call<'_>) -> Result<Obj> {
    let [separator, group] = call.keywords(["sep", "bytes_per_sep"], 0)?;
    limit::text(vm, bytes.len() * 3)?;
    let group = group.map_or(Ok(1), |group| integer(&group))?;
    let separator = match separator {
        None => None,
        Some(Obj::Bytes(bytes)) => Some(latin1(&bytes)),
        Some(Obj::Undefined(u)) => return Err(u.error()),
        Some(other) => match other.as_str() {
            Some(s) => Some(s.to_string()),
            None => {
                return Err(Error::type_error(format!(
                    "object of type '{}' has no len()",
                    other.type_name()
                )));
            }
        },
    };
    if separator
        .as_ref()
        .is_some_and(|separator| separator.chars().count() != 1)
    {
        return Err(Error::value_error("sep must be length 1."));
    }
    let size = usize::try_from(group.unsigned_abs()).unwrap_or(usize::MAX);
    let mut out = String::with_capacity(bytes.len() * 2);
    for (i, byte) in bytes.iter().enumerate() {
        let position = if group < 0 { i } else { bytes.len() - i };
        if let Some(separator) = &separator
            && i > 0
            && size > 0
            && position.is_multiple_of(size)
        {
            out.push_str(separator);
        }
        out.push_str(&format!("{byte:02x}"));
    }
    Ok(Obj::from(out))
}

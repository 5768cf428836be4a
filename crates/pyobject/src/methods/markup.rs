//! `markupsafe.Markup`: text whose methods escape what is put into it and return `Markup` again.

use mapstack_value::Str;

use super::signature::Call;
use super::text;
use crate::Interpreter;
use crate::error::Result;
use crate::format;
use crate::object::{CallArgs, Obj, escape_html, to_str};

/// What `Markup` has beyond `str`.
pub const OWN: &[&str] = &["unescape", "striptags", "escape"];

/// Methods of `str` whose result is text with the same guarantee.
const KEEPS: &[&str] = &[
    "capitalize",
    "casefold",
    "center",
    "expandtabs",
    "join",
    "ljust",
    "lower",
    "lstrip",
    "partition",
    "removeprefix",
    "removesuffix",
    "replace",
    "rjust",
    "rpartition",
    "rsplit",
    "rstrip",
    "split",
    "splitlines",
    "strip",
    "swapcase",
    "title",
    "translate",
    "upper",
    "zfill",
];

/// `markup.name(args)`.
pub fn call(vm: &dyn Interpreter, s: &Str, name: &str, mut args: CallArgs) -> Result<Obj> {
    match name {
        "unescape" => {
            Call {
                owner: "Markup",
                name,
                args,
            }
            .none()?;
            return Ok(Obj::from(unescape(s)));
        }
        "striptags" => {
            Call {
                owner: "Markup",
                name,
                args,
            }
            .none()?;
            return Ok(Obj::from(strip_tags(s)));
        }
        "escape" => {
            return escape(
                &Call {
                    owner: "Markup",
                    name,
                    args,
                }
                .one()?,
            );
        }
        "format" => {
            return Ok(Obj::Markup(
                format::format_markup(vm, s, args, None)?.into(),
            ));
        }
        "format_map" => {
            let mapping = text::format_map_argument(args)?;
            return Ok(Obj::Markup(
                format::format_markup(vm, s, CallArgs::default(), Some(&mapping))?.into(),
            ));
        }
        "join" if args.positional.len() == 1 => {
            let items = args.positional[0].collect(vm)?;
            args.positional[0] = Obj::list(items.iter().map(escape).collect::<Result<Vec<_>>>()?);
        }
        "center" | "ljust" | "replace" | "rjust" => {
            // The second argument becomes part of the text.
            if let Some(argument) = args.positional.get_mut(1) {
                *argument = escape(argument)?;
            }
        }
        _ => {}
    }
    let result = text::call(vm, s, name, args)?;
    Ok(if KEEPS.contains(&name) {
        marked(result)
    } else {
        result
    })
}

/// `Markup.escape`: markup stays as it is, everything else becomes escaped text.
pub fn escape(object: &Obj) -> Result<Obj> {
    Ok(match object {
        Obj::Markup(_) => object.clone(),
        other => Obj::Markup(escape_html(&to_str(other)?).into()),
    })
}

fn marked(object: Obj) -> Obj {
    match object {
        Obj::Str(s) => Obj::Markup(s),
        Obj::List(items) => Obj::list(items.items().into_iter().map(marked).collect::<Vec<_>>()),
        Obj::Tuple(items) => Obj::tuple(items.iter().cloned().map(marked).collect::<Vec<_>>()),
        other => other,
    }
}

/// The text without comments, tags and runs of white space, and with its entities resolved.
pub fn strip_tags(s: &str) -> String {
    let without_comments = cut(s, "<!--", "-->");
    let without_tags = cut(&without_comments, "<", ">");
    unescape(
        &mapstack_pytext::split::by_space(
            &without_tags,
            usize::MAX,
            false,
            mapstack_pytext::classes::is_space,
        )
        .join(" "),
    )
}

/// The text without what stands between two marks.
fn cut(s: &str, open: &str, close: &str) -> String {
    let mut out = String::with_capacity(s.len());
    let mut rest = s;
    while let Some((before, after)) = rest.split_once(open) {
        let Some((_, after)) = after.split_once(close) else {
            break;
        };
        out.push_str(before);
        rest = after;
    }
    out + rest
}

/// `html.unescape` for numbers and the common names.
pub fn unescape(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    let mut rest = s;
    while let Some((before, after)) = rest.split_once('&') {
        out.push_str(before);
        let end = after
            .find(|c: char| !c.is_ascii_alphanumeric() && c != '#')
            .unwrap_or(after.len());
        let (name, tail) = after.split_at(end);
        match entity(name) {
            Some(c) => {
                out.push(c);
                rest = tail.strip_prefix(';').unwrap_or(tail);
            }
            None => {
                out.push('&');
                rest = after;
            }
        }
    }
    out + rest
}

fn entity(name: &str) -> Option<char> {
    if let Some(number) = name.strip_prefix('#') {
        let number = match number.strip_prefix(['x', 'X']) {
            Some(hex) => u32::from_str_radix(hex, 16),
            None => number.parse(),
        };
        return number.ok().map(|n| {
            char::from_u32(n)
                .filter(|c| *c != '\0')
                .unwrap_or('\u{fffd}')
        });
    }
    ENTITIES
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, c)| *c)
}

const ENTITIES: &[(&str, char)] = &[
    ("amp", '&'),
    ("lt", '<'),
    ("gt", '>'),
    ("quot", '"'),
    ("apos", '\''),
    ("nbsp", '\u{a0}'),
    ("copy", '©'),
    ("reg", '®'),
    ("trade", '™'),
    ("deg", '°'),
    ("hellip", '…'),
    ("mdash", '—'),
    ("ndash", '–'),
    ("laquo", '«'),
    ("raquo", '»'),
    ("lsquo", '‘'),
    ("rsquo", '’'),
    ("ldquo", '“'),
    ("rdquo", '”'),
    ("bull", '•'),
    ("middot", '·'),
    ("para", '¶'),
    ("sect", '§'),
    ("euro", '€'),
    ("pound", '£'),
    ("yen", '¥'),
    ("cent", '¢'),
    ("times", '×'),
    ("divide", '÷'),
    ("auml", 'ä'),
    ("ouml", 'ö'),
    ("uuml", 'ü'),
    ("Auml", 'Ä'),
    ("Ouml", 'Ö'),
    ("Uuml", 'Ü'),
    ("szlig", 'ß'),
    ("eacute", 'é'),
    ("egrave", 'è'),
    ("agrave", 'à'),
    ("ccedil", 'ç'),
];

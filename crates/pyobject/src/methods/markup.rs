//! `markupsafe.Markup`: text whose methods escape what is put into it and return `Markup` again.

use mapstack_value::Str;

use super::signature::Call;
use super::text;
use crate::Interpreter;
use crate::format;
use crate::limits::Result;
use crate::object::{CallArgs, Obj, to_str};
use mapstack_value::pytext::markup::{escape as escape_text, strip_tags, unescape};

/// The methods that `Markup` has beyond `str`.
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
        other => Obj::Markup(escape_text(&to_str(other)?).into()),
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

//! `slsutil.serialize` and `slsutil.deserialize`: data as text in a format.

use crate::formats::{msgpack, toml};
use mapstack_minion::cache::unpack;
use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result, check_extent, required};
use mapstack_salt_jinja::{
    Vm,
    python::{as_index, int},
};
use mapstack_value::{Str, Value, json};
use mapstack_yaml::{DumpOptions, Limits, dump, load_aggregating, load_plain};

use super::{ModuleTable, ini, refused, text};
use crate::Context;

pub(super) const TABLE: ModuleTable = &[
    ("slsutil.deserialize", deserialize),
    ("slsutil.serialize", serialize),
];

/// Named arguments for the serializer.
type SerializerOptions = Vec<(String, Obj)>;

/// The first two arguments, and those for the serializer.
fn arguments(
    args: CallArgs,
    function: &str,
    second: &str,
) -> Result<(Obj, Obj, SerializerOptions)> {
    let (own, options): (Vec<_>, Vec<_>) = args
        .named
        .into_iter()
        .partition(|(name, _)| **name == *"serializer" || **name == *second);
    let [serializer, data] = CallArgs {
        positional: args.positional,
        named: own,
    }
    .bind(function, ["serializer", second])?;
    let serializer = required(serializer, function, "serializer")?;
    let data = required(data, function, second)?;
    // Arguments that Salt adds to a call are not options.
    let options = options
        .into_iter()
        .filter(|(name, _)| !name.starts_with("__"));
    Ok((
        serializer,
        data,
        options
            .map(|(name, value)| (name.to_string(), value))
            .collect(),
    ))
}

fn serialize(_: &dyn Context, vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let (serializer, data, options) = arguments(args, "slsutil.serialize", "obj")?;
    let printed = match &*text(&serializer, "slsutil.serialize", "serializer")? {
        "json" => {
            let options = json_options(&options)?;
            json::dumps(&frozen(&data)?, &options).map_err(|e| Error::type_error(e.to_string()))?
        }
        "yaml" | "yamlex" => to_yaml(&data, &options)?,
        "configparser" => {
            without_options("configparser", &options)?;
            ini::serialize(&data.to_value()?)?
        }
        "toml" => {
            without_options("toml", &options)?;
            toml::write(&frozen(&data)?).map_err(|e| Error::value_error(e.to_string()))?
        }
        "msgpack" => {
            without_options("msgpack", &options)?;
            let packed =
                msgpack::pack(&frozen(&data)?).map_err(|e| Error::value_error(e.to_string()))?;
            vm.burn(packed.len() / 16)?;
            return Ok(Value::Bytes(packed.into()).into());
        }
        other => return Err(unknown(other)),
    };
    vm.burn(printed.len() / 16)?;
    Ok(Obj::from(printed))
}

fn unknown(serializer: &str) -> Box<Error> {
    refused(format!("Serializer '{serializer}' not found."))
        .with_help("there are 'configparser', 'json', 'msgpack', 'toml', 'yaml' and 'yamlex'")
}

fn json_options(options: &[(String, Obj)]) -> Result<json::DumpOptions> {
    let mut chosen = json::DumpOptions {
        ensure_ascii: false,
        ..json::DumpOptions::default()
    };
    for (name, value) in options {
        match &**name {
            // Python's own defaults.
            "indent" | "separators" if value.is_none() => {}
            "indent" => {
                let width = as_index(value)
                    .and_then(|width| width.to_i64())
                    .map(|width| width.max(0));
                let width = width
                    .and_then(|width| usize::try_from(width).ok())
                    .filter(|width| *width <= MAX_INDENT);
                chosen.indent = Some(width.ok_or_else(|| {
                    Error::type_error(format!(
                        "slsutil.serialize(): indent must be a number up to {MAX_INDENT}"
                    ))
                })?);
            }
            "sort_keys" => chosen.sort_keys = value.truthy()?,
            "ensure_ascii" => chosen.ensure_ascii = value.truthy()?,
            "separators" => {
                let value = value.to_value()?;
                let pair = match &value {
                    mapstack_value::Value::Tuple(pair) => Some(&pair[..]),
                    other => other.as_list(),
                };
                let Some([item, key]) = pair else {
                    return Err(Error::value_error(
                        "slsutil.serialize(): separators are two texts",
                    ));
                };
                chosen.separators = Some((item.to_string(), key.to_string()));
            }
            name => {
                return Err(no_option(
                    "json",
                    name,
                    &["indent", "sort_keys", "ensure_ascii", "separators"],
                ));
            }
        }
    }
    Ok(chosen)
}

/// The largest indentation of JSON.
const MAX_INDENT: usize = 1000;

/// Options of Python's libraries that are not built in.
const ABSENT: [&str; 24] = [
    "Dumper",
    "allow_nan",
    "allow_no_value",
    "canonical",
    "check_circular",
    "cls",
    "comment_prefixes",
    "converters",
    "default",
    "default_section",
    "default_style",
    "defaults",
    "delimiters",
    "dict_type",
    "empty_lines_in_values",
    "encoding",
    "explicit_end",
    "inline_comment_prefixes",
    "interpolation",
    "line_break",
    "skipkeys",
    "strict",
    "tags",
    "version",
];

fn no_option(serializer: &str, name: &str, known: &[&str]) -> Box<Error> {
    let kind = match ABSENT.contains(&name) {
        true => ErrorKind::Absent,
        false => ErrorKind::Python("TypeError"),
    };
    let message =
        format!("slsutil.serialize(): the serializer '{serializer}' has no option '{name}' here");
    Error::new(kind, message).with_help(if known.is_empty() {
        "it takes none".into()
    } else {
        format!("it takes {}", known.join(", "))
    })
}

fn without_options(serializer: &str, options: &[(String, Obj)]) -> Result<()> {
    match options.first() {
        Some((name, _)) => Err(no_option(serializer, name, &[])),
        None => Ok(()),
    }
}

fn to_yaml(data: &Obj, options: &[(String, Obj)]) -> Result<String> {
    let mut chosen = DumpOptions::serializer();
    let mut is_marked = false;
    for (name, value) in options {
        match &**name {
            "allow_unicode" => chosen.escape_non_ascii = !value.truthy()?,
            "default_flow_style" => {
                chosen.flow_leaves = value.is_none();
                chosen.flow = !value.is_none() && value.truthy()?;
            }
            "explicit_start" => is_marked = value.truthy()?,
            "sort_keys" => {
                chosen.sort_keys = value.truthy()?;
            }
            "width" | "indent" if value.is_none() => {}
            "indent" => {
                // libyaml takes 2 for an indentation out of its range.
                chosen.indent = match int(value)?.to_i64() {
                    Some(columns @ 2..=9) => usize::try_from(columns).unwrap_or(2),
                    _ => 2,
                };
            }
            "width" => {
                // libyaml takes 80 for a width that is too small, and has no limit for a negative one.
                chosen.width = match int(value)?.to_i64() {
                    Some(0..=4) => 80,
                    Some(width) => usize::try_from(width).unwrap_or(usize::MAX),
                    None => usize::MAX,
                };
            }
            name => {
                let known = [
                    "allow_unicode",
                    "default_flow_style",
                    "explicit_start",
                    "indent",
                    "sort_keys",
                    "width",
                ];
                return Err(no_option("yaml", name, &known));
            }
        }
    }
    let data = frozen(data)?;
    let printed = dump(&data, &chosen);
    let printed = printed.strip_suffix('\n').unwrap_or(&printed);
    if !is_marked {
        return Ok(printed.to_string());
    }
    let is_collection = matches!(data, Value::Map(_) | Value::List(_) | Value::Tuple(_));
    Ok(match is_collection && !printed.starts_with(['{', '[']) {
        true => format!("---\n{printed}"),
        false => format!("--- {printed}"),
    })
}

fn deserialize(_: &dyn Context, vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let (serializer, data, options) = arguments(args, "slsutil.deserialize", "stream_or_string")?;
    match &*text(&serializer, "slsutil.deserialize", "serializer")? {
        "json" => {
            let given = given_text(&data)?;
            // The cost is that of the text: a value can be as short as two bytes of it.
            vm.burn(given.len())?;
            json::loads(&given)
                .map(Obj::from)
                .map_err(|e| Error::value_error(e.to_string()))
        }
        "toml" => {
            let given = given_text(&data)?;
            vm.burn(given.len())?;
            toml::read(&given).map(Obj::from).map_err(|e| {
                let line = 1 + given[..e.at].matches('\n').count();
                Error::value_error(format!("this is not TOML: {e}, in line {line}"))
            })
        }
        "yamlex" => {
            let given = given_text(&data)?;
            vm.burn(given.len())?;
            load_aggregating(&given, &Limits::default())
                .map_err(|e| Error::value_error(e.to_string()))
                .and_then(|loaded| Obj::composed(loaded.value))
        }
        "msgpack" => {
            let Obj::Bytes(bytes) = &data else {
                return Err(Error::type_error(format!(
                    "a bytes-like object is required, not '{}'",
                    data.type_name()
                )));
            };
            vm.burn(bytes.len())?;
            unpack(bytes)
                .map(Obj::from)
                .map_err(|e| Error::value_error(format!("this is not MessagePack: {e}")))
        }
        "yaml" => {
            let given = given_text(&data)?;
            vm.burn(given.len())?;
            let loaded = load_plain(&given, &Limits::default()).map_err(|e| {
                let message = e.to_string();
                Error::python("DeserializationError", message)
            })?;
            Ok(match loaded.shared {
                true => Obj::from_shared(&loaded.value),
                false => Obj::from(loaded.value),
            })
        }
        "configparser" => {
            without_options("configparser", &options)?;
            let Some(given) = data.as_str() else {
                let message = format!("a text is expected, not '{}'", data.type_name());
                return Err(Error::python("DeserializationError", message));
            };
            vm.burn(given.len())?;
            let read = ini::deserialize(given, &|steps| vm.burn(steps));
            Ok(Value::from(read?).into())
        }
        other => Err(unknown(other)),
    }
}

/// The text to read; bytes are decoded as UTF-8.
fn given_text(data: &Obj) -> Result<Str> {
    match data {
        Obj::Bytes(bytes) => String::from_utf8(bytes.to_vec())
            .map(Str::from)
            .map_err(|e| Error::value_error(format!("the bytes are not UTF-8: {e}"))),
        other => other.as_str().cloned().ok_or_else(|| {
            let message = format!("'{}' object has no attribute 'read'", other.type_name());
            Error::python("AttributeError", message)
        }),
    }
}

/// Data without references to live objects, if its size is within the limit for data that is written.
fn frozen(data: &Obj) -> Result<Value> {
    let value = data.to_value()?;
    check_extent(&value)?;
    Ok(value)
}

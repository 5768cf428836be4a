//! Filters between objects and JSON, Python, XML and text; for YAML see [`super::yaml`].

use std::collections::HashMap;

use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result, as_index, to_str};
use mapstack_value::json::{DumpOptions, JsonError, dumps};
use mapstack_value::{Map, Value};

use super::call::{flag, index_of, inner, misuse, plain, quoted, room};
use super::strict::guarded;
use super::{Table, pretty, xml};
use crate::jinja::Vm;
use crate::jinja::ast::DataFormat;
use crate::serial;

pub(super) const TABLE: Table = &[
    ("json", |vm, x, args| guarded(vm, x, args, json)),
    ("load_json", |vm, x, args| {
        guarded(vm, x, args, |vm, x, args| {
            load(vm, DataFormat::Json, &x, args)
        })
    }),
    ("load_text", |vm, x, args| {
        guarded(vm, x, args, |vm, x, args| {
            load(vm, DataFormat::Text, &x, args)
        })
    }),
    ("load_yaml", |vm, x, args| {
        guarded(vm, x, args, |vm, x, args| {
            load(vm, DataFormat::Yaml, &x, args)
        })
    }),
    ("pprint", |vm, x, args| {
        plain("do_pprint", "value").alone(args)?;
        pretty::pformat(vm, &x).map(Obj::from)
    }),
    ("python", |vm, x, args| {
        guarded(vm, x, args, |vm, x, args| {
            inner("SerializerExtension.format_python", "value").alone(args)?;
            pretty::pformat(vm, &x).map(|text| Obj::Markup(text.trim().into()))
        })
    }),
    ("tojson", |vm, x, args| guarded(vm, x, args, tojson)),
    ("xml", |vm, x, args| {
        guarded(vm, x, args, |vm, x, args| {
            inner("SerializerExtension.format_xml", "value").alone(args)?;
            xml::format(vm, &x).map(|text| Obj::Markup(text.into()))
        })
    }),
];

/// Wider indentation is refused.
const MAX_INDENT: usize = 1000;

/// The `indent` option: nothing, a number of spaces, or text.
enum Indent {
    None,
    Spaces(usize),
    Text(String),
}

impl Indent {
    fn new(argument: Option<Obj>) -> Result<Self> {
        let indent = match argument {
            None | Some(Obj::None) => return Ok(Indent::None),
            Some(Obj::Str(s) | Obj::Markup(s)) => Indent::Text(s.to_string()),
            Some(other) => match as_index(&other) {
                Some(i) => Indent::Spaces(usize::try_from(super::call::clamped(&i)).unwrap_or(0)),
                None => {
                    // Python multiplies text with it.
                    index_of(&other)?;
                    Indent::None
                }
            },
        };
        match &indent {
            Indent::Spaces(width) if *width > MAX_INDENT => {}
            Indent::Text(text) if text.len() > MAX_INDENT => {}
            _ => return Ok(indent),
        }
        Err(Error::limit(format!(
            "indentation by more than {MAX_INDENT} characters"
        )))
    }
}

/// `json.dumps`, with an indent of any text.
fn print_json(
    vm: &Vm<'_>,
    value: &Value,
    mut options: DumpOptions,
    indent: &Indent,
) -> Result<String> {
    options.indent = match indent {
        Indent::None => None,
        Indent::Spaces(width) => Some(*width),
        Indent::Text(_) => Some(1),
    };
    let printed = dumps(value, &options).map_err(json_error)?;
    vm.burn(printed.len() / 16)?;
    let Indent::Text(unit) = indent else {
        return Ok(printed);
    };
    // Line breaks inside strings are escaped, so every line begins with its indentation.
    let mut out = String::with_capacity(printed.len());
    for (i, line) in printed.split('\n').enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let content = line.trim_start_matches(' ');
        room(vm, out.len() + unit.len() * (line.len() - content.len()))?;
        out.push_str(&unit.repeat(line.len() - content.len()));
        out.push_str(content);
    }
    Ok(out)
}

/// Roughly how much text a value makes. One storage in many places is measured once and printed
/// each time, so little data can make endless text.
fn printed_size(value: &Value, known: &mut HashMap<usize, usize>) -> usize {
    let identity = match value {
        Value::List(items) => items.address(),
        Value::Map(map) => map.address(),
        Value::Str(s) => return s.len(),
        Value::Tuple(items) => {
            return items
                .iter()
                .map(|item| printed_size(item, known))
                .fold(2, usize::saturating_add);
        }
        _ => return 4,
    };
    if let Some(size) = known.get(&identity) {
        return *size;
    }
    let size = match value {
        Value::List(items) => items
            .iter()
            .map(|item| printed_size(item, known))
            .fold(2, usize::saturating_add),
        Value::Map(map) => map
            .values()
            .map(|item| printed_size(item, known))
            .fold(2, usize::saturating_add),
        _ => 0,
    };
    known.insert(identity, size);
    size
}

fn json_error(error: JsonError) -> Box<Error> {
    match error {
        JsonError::TooDeep => Error::limit(error.to_string()),
        other => Error::type_error(other.to_string()),
    }
}

/// The data for JSON.
fn data(vm: &Vm<'_>, x: &Obj) -> Result<Value> {
    let value = match x {
        Obj::Undefined(u) if !u.strict => {
            return Err(Error::type_error(
                "Object of type Undefined is not JSON serializable",
            ));
        }
        other => other.to_value()?,
    };
    measure(vm, &value)?;
    Ok(value)
}

/// Refuse data that prints as more text than there may be.
pub(super) fn measure(vm: &Vm<'_>, value: &Value) -> Result<()> {
    room(vm, printed_size(value, &mut HashMap::new()))
}

fn json(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let function = inner("SerializerExtension.format_json", "value");
    let [sort_keys, indent] = function.bind(args, 0, ["sort_keys", "indent"])?;
    let options = DumpOptions {
        sort_keys: flag(sort_keys, true)?,
        ensure_ascii: false,
        ..DumpOptions::default()
    };
    let printed = print_json(vm, &data(vm, &x)?, options, &Indent::new(indent)?)?;
    Ok(Obj::Markup(printed.trim().into()))
}

pub(super) fn tojson(vm: &Vm<'_>, x: Obj, mut args: CallArgs) -> Result<Obj> {
    let mut options = DumpOptions::default();
    let mut skip_bad_keys = false;
    let mut allow_nan = true;
    let mut rest = Vec::new();
    for (name, value) in std::mem::take(&mut args.named) {
        match &*name {
            "sort_keys" => options.sort_keys = value.truthy()?,
            "ensure_ascii" => options.ensure_ascii = value.truthy()?,
            "skipkeys" => skip_bad_keys = value.truthy()?,
            "allow_nan" => allow_nan = value.truthy()?,
            "check_circular" => {
                value.truthy()?;
            }
            "default" | "cls" | "separators" if value.is_none() => {}
            "separators" => {
                let [item, key] = super::call::pair(vm, &value)?;
                options.separators = Some((to_str(&item)?, to_str(&key)?));
            }
            "indent" | "val" => rest.push((name, value)),
            "default" | "cls" => {
                return Err(misuse(format!(
                    "tojson: the option '{name}' is not available in templates"
                )));
            }
            other => {
                let message =
                    format!("JSONEncoder.__init__() got an unexpected keyword argument '{other}'");
                return Err(Error::type_error(message));
            }
        }
    }
    args.named = rest;
    let [indent] = plain("tojson", "val").bind(args, 0, ["indent"])?;
    let mut value = data(vm, &x)?;
    if skip_bad_keys {
        value = without_bad_keys(&value);
    }
    if !allow_nan && holds_nan(&value) {
        return Err(Error::value_error(
            "Out of range float values are not JSON compliant",
        ));
    }
    let printed = print_json(vm, &value, options, &Indent::new(indent)?)?;
    let mut out = String::with_capacity(printed.len());
    for c in printed.chars() {
        match c {
            '<' => out.push_str("\\u003c"),
            '>' => out.push_str("\\u003e"),
            '&' => out.push_str("\\u0026"),
            '\'' => out.push_str("\\u0027"),
            c => out.push(c),
        }
    }
    Ok(Obj::from(out))
}

/// The data without the keys JSON has no text for. Its depth is bounded, as that of all frozen data.
fn without_bad_keys(value: &Value) -> Value {
    use mapstack_value::Key;
    match value {
        Value::Map(map) => {
            let kept = map
                .iter()
                .filter(|(key, _)| !matches!(key, Key::Bytes(_) | Key::Tuple(_)));
            Value::Map(
                kept.map(|(key, value)| (key.clone(), without_bad_keys(value)))
                    .collect::<Map>(),
            )
        }
        Value::List(items) => items
            .iter()
            .map(without_bad_keys)
            .collect::<Vec<_>>()
            .into(),
        Value::Tuple(items) => Value::Tuple(items.iter().map(without_bad_keys).collect()),
        other => other.clone(),
    }
}

fn holds_nan(value: &Value) -> bool {
    match value {
        Value::Float(f) => !f.is_finite(),
        Value::Map(map) => map.values().any(holds_nan),
        Value::List(items) => items.iter().any(holds_nan),
        Value::Tuple(items) => items.iter().any(holds_nan),
        _ => false,
    }
}

fn load(vm: &Vm<'_>, format: DataFormat, x: &Obj, args: CallArgs) -> Result<Obj> {
    let name = match format {
        DataFormat::Yaml => "SerializerExtension.load_yaml",
        DataFormat::Json => "SerializerExtension.load_json",
        DataFormat::Text => "SerializerExtension.load_text",
    };
    inner(name, "value").alone(args)?;
    match (format, x) {
        // The YAML parser of the reference takes text, but no subclass of text.
        (DataFormat::Yaml, Obj::Str(_)) | (DataFormat::Json | DataFormat::Text, _) => {
            serial::load(vm, format, x).map_err(|e| match (format, e.kind) {
                (DataFormat::Json, ErrorKind::Python("TypeError")) => misuse(format!(
                    "Unable to load json from {}",
                    to_str(x).unwrap_or_else(|_| quoted(x))
                )),
                _ => e,
            })
        }
        (DataFormat::Yaml, Obj::Bytes(bytes)) => match std::str::from_utf8(bytes) {
            Ok(text) => serial::load(vm, format, &Obj::from(text)),
            Err(e) => Err(misuse(format!("Unable to load YAML: {e}"))),
        },
        (DataFormat::Yaml, _) => Err(Error::type_error("a string or stream input is required")),
    }
}

//! Filters between objects and JSON, Python, XML and text; for YAML see [`super::yaml`].

use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result, to_str};
use mapstack_value::json::DumpOptions;
use mapstack_value::{Map, Value};

use super::strict::guarded;
use super::xml;
use crate::serial::{self, DataFormat};
use mapstack_jinja::call::{flag, inner, misuse, plain, quoted};
use mapstack_jinja::filters::json::{Indent, data, html_safe, print_json};
use mapstack_jinja::filters::pformat;
use mapstack_jinja::{Filters, Vm};

pub(super) const TABLE: Filters = &[
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
    ("python", |vm, x, args| {
        guarded(vm, x, args, |vm, x, args| {
            inner("SerializerExtension.format_python", "value").alone(args)?;
            pformat(vm, &x).map(|text| Obj::Markup(text.trim().into()))
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

fn tojson(vm: &Vm<'_>, x: Obj, mut args: CallArgs) -> Result<Obj> {
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
                let [item, key] = mapstack_jinja::call::pair(vm, &value)?;
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
    Ok(Obj::from(html_safe(&printed)))
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

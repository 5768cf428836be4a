//! Filters that write YAML.

use std::collections::HashSet;

use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result, depth, to_str};
use mapstack_value::pytext::base64;
use mapstack_value::{Map, MapKind, Value, float_repr};
use mapstack_yaml::{DumpOptions, dump};

use super::strict::guarded;
use mapstack_jinja::Filters;
use mapstack_jinja::Vm;
use mapstack_jinja::call::{class_of, flag, inner, no_attribute, plain, quoted};

pub(super) const TABLE: Filters = &[
    ("dict_to_sls_yaml_params", |vm, x, args| {
        guarded(vm, x, args, sls_params)
    }),
    ("yaml", |vm, x, args| guarded(vm, x, args, yaml)),
    ("yaml_dquote", |_, x, args| {
        plain("yaml_dquote", "text").alone(args)?;
        to_str(&x).map(|text| Obj::from(double_quoted(&text)))
    }),
    ("yaml_encode", yaml_encode),
    ("yaml_squote", |_, x, args| {
        plain("yaml_squote", "text").alone(args)?;
        to_str(&x).map(|text| Obj::from(single_quoted(&text)))
    }),
];

fn yaml(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [flow] = inner("SerializerExtension.format_yaml", "value").bind(args, 0, ["flow_style"])?;
    format(vm, &x, flag(flow, true)?)
}

fn format(vm: &Vm<'_>, x: &Obj, flow: bool) -> Result<Obj> {
    let value = if is_foreign(vm, x)? {
        data(vm, x, 0)?
    } else {
        x.to_value()?
    };
    let printed = dump(&value, &DumpOptions::filter(flow));
    // A text is analysed character by character before it is written, and again to be folded.
    vm.burn(printed.len() / 2)?;
    Ok(Obj::Markup(printed.trim().into()))
}

fn sls_params(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let function = inner("SerializerExtension.dict_to_sls_yaml_params", "value");
    let [flow] = function.bind(args, 0, ["flow_style"])?;
    let Obj::Dict(dict) = &x else {
        return Err(no_attribute(&x, "items"));
    };
    let params: Vec<Obj> = dict
        .entries()
        .into_iter()
        .map(|entry| Obj::dict([entry]))
        .collect();
    format(vm, &Obj::list(params), flag(flow, false)?)
}

/// The data as Salt's dumper sees it: it prints `NULL` for every type it does not know, which
/// safe text is one of.
fn data(vm: &Vm<'_>, x: &Obj, level: usize) -> Result<Value> {
    vm.burn(8)?;
    depth::data(level)?;
    Ok(match x {
        Obj::List(list) => list
            .items()
            .iter()
            .map(|i| data(vm, i, level + 1))
            .collect::<Result<Vec<_>>>()?
            .into(),
        Obj::Tuple(items) => Value::Tuple(
            items
                .iter()
                .map(|i| data(vm, i, level + 1))
                .collect::<Result<_>>()?,
        ),
        Obj::Dict(dict) => {
            let mut map = Map::new().with_kind(dict.kind());
            for (key, value) in dict.entries() {
                map.insert(key, data(vm, &value, level + 1)?);
            }
            Value::Map(map)
        }
        Obj::Markup(_) | Obj::Iter(_) | Obj::Native(_) | Obj::Undefined(_) => {
            Value::Map(Map::new().with_kind(MapKind::Aggregate))
        }
        other => other.to_value()?,
    })
}

/// True if some part is not of a type that the dumper knows.
fn is_foreign(vm: &Vm<'_>, x: &Obj) -> Result<bool> {
    let mut seen: HashSet<usize> = HashSet::new();
    let mut open: Vec<Obj> = vec![x.clone()];
    while let Some(object) = open.pop() {
        vm.burn(1)?;
        match &object {
            Obj::Markup(_) | Obj::Iter(_) | Obj::Native(_) | Obj::Undefined(_) => return Ok(true),
            Obj::List(list) if !list.is_frozen() && seen.insert(list.address()) => {
                open.extend(list.items());
            }
            Obj::Dict(dict) if !dict.is_frozen() && seen.insert(dict.address()) => {
                open.extend(dict.values());
            }
            Obj::Tuple(items) => open.extend(items.iter().cloned()),
            _ => {}
        }
    }
    Ok(false)
}

/// The first part that PyYAML's own dumper, which Salt extends elsewhere, does not know.
fn unrepresentable(x: &Obj, level: usize) -> Option<Obj> {
    match x {
        Obj::Markup(_) | Obj::Iter(_) | Obj::Native(_) | Obj::Undefined(_) => Some(x.clone()),
        Obj::Dict(dict) if dict.kind() != MapKind::Dict => Some(x.clone()),
        _ if level > depth::DATA => None,
        Obj::List(list) => list
            .items()
            .iter()
            .find_map(|i| unrepresentable(i, level + 1)),
        Obj::Tuple(items) => items.iter().find_map(|i| unrepresentable(i, level + 1)),
        Obj::Dict(dict) => dict
            .entries()
            .iter()
            .find_map(|(_, v)| unrepresentable(v, level + 1)),
        _ => None,
    }
}

fn yaml_encode(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("yaml_encode", "data").alone(args)?;
    if let Some(foreign) = unrepresentable(&x, 0) {
        let message = format!("('cannot represent an object', {})", quoted(&foreign));
        return Err(Error::new(ErrorKind::Python("RepresenterError"), message));
    }
    Ok(Obj::from(match &x {
        Obj::None => "null".to_string(),
        Obj::Bool(b) => b.to_string(),
        Obj::Int(i) => i.to_string(),
        Obj::Float(f) if f.is_nan() => ".nan".into(),
        Obj::Float(f) if f.is_infinite() => if *f > 0.0 { ".inf" } else { "-.inf" }.into(),
        Obj::Float(f) => {
            let text = float_repr(*f);
            if text.contains('.') {
                text
            } else {
                text.replacen('e', ".0e", 1)
            }
        }
        Obj::Str(s) => double_quoted(s),
        Obj::Bytes(bytes) => {
            // Lines of 76 characters, each with its end.
            let encoded = base64::encode(bytes);
            encoded
                .as_bytes()
                .chunks(76)
                .map(|line| String::from_utf8_lossy(line).into_owned() + "\n")
                .collect()
        }
        _ => {
            let class = class_of(&x);
            let message =
                format!("yaml_encode() only works with YAML scalar data; failed for {class}");
            return Err(Error::type_error(message));
        }
    }))
}

/// A double-quoted scalar in ASCII, on one line.
fn double_quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        let short = match c {
            '\0' => '0',
            '\x07' => 'a',
            '\x08' => 'b',
            '\t' => 't',
            '\n' => 'n',
            '\x0b' => 'v',
            '\x0c' => 'f',
            '\r' => 'r',
            '\x1b' => 'e',
            '"' => '"',
            '\\' => '\\',
            '\u{85}' => 'N',
            '\u{a0}' => '_',
            '\u{2028}' => 'L',
            '\u{2029}' => 'P',
            ' '..='~' => {
                out.push(c);
                continue;
            }
            c => {
                out.push_str(&match u32::from(c) {
                    n if n <= 0xff => format!("\\x{n:02X}"),
                    n if n <= 0xffff => format!("\\u{n:04X}"),
                    n => format!("\\U{n:08X}"),
                });
                continue;
            }
        };
        out.extend(['\\', short]);
    }
    out.push('"');
    out
}

/// A single-quoted scalar without folding; a line break is written twice.
fn single_quoted(text: &str) -> String {
    let is_break = |c: char| matches!(c, '\n' | '\u{85}' | '\u{2028}' | '\u{2029}');
    let mut out = String::with_capacity(text.len() + 2);
    out.push('\'');
    let mut in_breaks = false;
    for c in text.chars() {
        if c == '\n' && !in_breaks {
            out.push('\n');
        }
        in_breaks = is_break(c);
        if c == '\'' {
            out.push('\'');
        }
        out.push(c);
    }
    out.push('\'');
    out
}

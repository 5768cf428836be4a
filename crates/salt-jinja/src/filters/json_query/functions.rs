//! JMESPath's functions.

use std::cmp::Ordering;

use mapstack_pyobject::{Error, Obj, Result, binary, methods, order};
use mapstack_value::json::{DumpOptions, dumps};
use mapstack_value::{Map, Value};

use super::parse::Node;
use super::search;
use crate::filters::strings::number_or_text;
use mapstack_jinja::Vm;
use mapstack_jinja::ast::BinaryOp;
use mapstack_jinja::filters::number::whole;

/// The types a parameter takes, as the reference names them; none means any.
type Types = &'static [&'static str];

/// Name, parameters, and whether the last parameter may be repeated.
const SIGNATURES: &[(&str, &[Types], bool)] = &[
    ("abs", &[&["number"]], false),
    ("avg", &[&["array-number"]], false),
    ("ceil", &[&["number"]], false),
    ("contains", &[&["array", "string"], &[]], false),
    ("ends_with", &[&["string"], &["string"]], false),
    ("floor", &[&["number"]], false),
    ("join", &[&["string"], &["array-string"]], false),
    ("keys", &[&["object"]], false),
    ("length", &[&["string", "array", "object"]], false),
    ("map", &[&["expref"], &["array"]], false),
    ("max", &[&["array-number", "array-string"]], false),
    ("max_by", &[&["array"], &["expref"]], false),
    ("merge", &[&["object"]], true),
    ("min", &[&["array-number", "array-string"]], false),
    ("min_by", &[&["array"], &["expref"]], false),
    ("not_null", &[&[]], true),
    ("reverse", &[&["array", "string"]], false),
    ("sort", &[&["array-string", "array-number"]], false),
    ("sort_by", &[&["array"], &["expref"]], false),
    ("starts_with", &[&["string"], &["string"]], false),
    ("sum", &[&["array-number"]], false),
    ("to_array", &[&[]], false),
    ("to_number", &[&[]], false),
    ("to_string", &[&[]], false),
    ("type", &[&[]], false),
    ("values", &[&["object"]], false),
];

/// An argument: a value, or an expression to be evaluated on items.
enum Argument<'n> {
    Value(Value),
    Expression(&'n Node),
}

impl Argument<'_> {
    fn value(&self) -> Value {
        match self {
            Argument::Value(value) => value.clone(),
            Argument::Expression(_) => Value::None,
        }
    }

    fn type_name(&self) -> &'static str {
        match self {
            Argument::Value(value) => type_name(value),
            Argument::Expression(_) => "expref",
        }
    }
}

fn type_name(value: &Value) -> &'static str {
    match value {
        Value::None => "null",
        Value::Bool(_) => "boolean",
        Value::Int(_) | Value::Float(_) => "number",
        Value::Str(_) => "string",
        Value::List(_) => "array",
        Value::Map(_) => "object",
        Value::Tuple(_) | Value::Bytes(_) | Value::Set(_) => "unknown",
    }
}

fn wrong_type(function: &str, value: &Value, found: &str, types: &[&str]) -> Box<Error> {
    let types: Vec<Value> = types.iter().map(|t| Value::from(*t)).collect();
    let expected = Value::from(types).repr();
    Error::python(
        "JMESPathTypeError",
        format!(
            "In function {function}(), invalid type for value: {value}, expected one of: {expected}, received: \"{found}\""
        ),
    )
}

fn check(function: &str, argument: &Argument<'_>, types: Types) -> Result<()> {
    let found = argument.type_name();
    if types.is_empty()
        || types
            .iter()
            .any(|t| t.split('-').next() == Some(found) && !t.contains('-') || *t == found)
    {
        return Ok(());
    }
    let value = argument.value();
    let Value::List(items) = &value else {
        return Err(wrong_type(function, &value, found, types));
    };
    let inner: Vec<&str> = types
        .iter()
        .filter_map(|t| t.strip_prefix("array-"))
        .collect();
    let Some(first) = items.first() else {
        return if inner.is_empty() {
            Err(wrong_type(function, &value, found, types))
        } else {
            Ok(())
        };
    };
    // All items have the type of the first.
    let wanted = inner.iter().find(|t| **t == type_name(first));
    match items
        .iter()
        .find(|item| wanted.is_none_or(|wanted| *wanted != type_name(item)))
    {
        Some(wrong) => Err(wrong_type(
            function,
            wrong,
            wrong.kind().python_name(),
            types,
        )),
        None => Ok(()),
    }
}

/// Call a function.
pub(super) fn call(vm: &Vm<'_>, name: &str, nodes: &[Node], value: &Value) -> Result<Value> {
    let Some((_, parameters, variadic)) = SIGNATURES.iter().find(|(known, ..)| *known == name)
    else {
        return Err(Error::value_error(format!("Unknown function: {name}()")));
    };
    let mut arguments = Vec::with_capacity(nodes.len());
    for node in nodes {
        arguments.push(match node {
            Node::Reference(inner) => Argument::Expression(inner),
            node => Argument::Value(search(vm, node, value)?),
        });
    }
    let (wanted, got) = (parameters.len(), arguments.len());
    let plural = if wanted == 1 { "argument" } else { "arguments" };
    if *variadic && got < wanted {
        let message =
            format!("Expected at least {wanted} {plural} for function {name}(), received {got}");
        return Err(Error::value_error(message));
    }
    if !variadic && got != wanted {
        return Err(Error::value_error(format!(
            "Expected {wanted} {plural} for function {name}(), received {got}"
        )));
    }
    for (i, argument) in arguments.iter().enumerate() {
        check(name, argument, parameters[i.min(wanted - 1)])?;
    }
    run(vm, name, &arguments)
}

fn run(vm: &Vm<'_>, name: &str, arguments: &[Argument<'_>]) -> Result<Value> {
    let first = arguments.first().map(Argument::value).unwrap_or_default();
    let second = arguments.get(1).map(Argument::value).unwrap_or_default();
    let object = Obj::from(first.clone());
    let (text, other) = (
        first.as_str().unwrap_or_default(),
        second.as_str().unwrap_or_default(),
    );
    Ok(match name {
        "abs" => match first {
            Value::Int(i) => Value::Int(i.abs()),
            Value::Float(f) => Value::Float(f.abs()),
            other => other,
        },
        "ceil" | "floor" => match first {
            Value::Float(f) => {
                Value::Int(whole(if name == "ceil" { f.ceil() } else { f.floor() })?)
            }
            other => other,
        },
        "sum" => sum(vm, &first)?.to_value()?,
        "avg" => match first.as_list() {
            Some([]) | None => Value::None,
            Some(items) => binary(
                vm,
                BinaryOp::Div,
                &sum(vm, &first)?,
                &Obj::from(items.len()),
            )?
            .to_value()?,
        },
        "contains" => mapstack_pyobject::contains(vm, &object, &Obj::from(second))?.into(),
        "ends_with" => text.ends_with(other).into(),
        "starts_with" => text.starts_with(other).into(),
        "join" => methods::call(
            vm,
            &object,
            "join",
            mapstack_pyobject::CallArgs::positional([Obj::from(second)]),
        )?
        .to_value()?,
        "keys" => first
            .as_map()
            .into_iter()
            .flat_map(Map::keys)
            .map(mapstack_value::Key::to_value)
            .collect::<Vec<_>>()
            .into(),
        "values" => first
            .as_map()
            .into_iter()
            .flat_map(Map::values)
            .cloned()
            .collect::<Vec<_>>()
            .into(),
        "length" => Value::from(mapstack_pyobject::len(&object)?),
        "reverse" => match &first {
            Value::Str(s) => s.chars().rev().collect::<String>().into(),
            other => other
                .as_list()
                .unwrap_or_default()
                .iter()
                .rev()
                .cloned()
                .collect::<Vec<_>>()
                .into(),
        },
        "max" => best(
            first.as_list().unwrap_or_default(),
            |item| Ok(item.clone()),
            Ordering::Greater,
        )?,
        "min" => best(
            first.as_list().unwrap_or_default(),
            |item| Ok(item.clone()),
            Ordering::Less,
        )?,
        "sort" => {
            let keyed = object
                .collect(vm)?
                .into_iter()
                .map(|item| (item.clone(), item))
                .collect();
            Obj::list(methods::sort(vm, keyed, false)?).to_value()?
        }
        "merge" => {
            let mut merged = Map::new();
            for argument in arguments {
                if let Value::Map(map) = argument.value() {
                    vm.burn(map.len())?;
                    merged.extend(map.iter().map(|(k, v)| (k.clone(), v.clone())));
                }
            }
            Value::Map(merged)
        }
        "not_null" => arguments
            .iter()
            .map(Argument::value)
            .find(|v| !v.is_none())
            .unwrap_or_default(),
        "to_array" => match first {
            list @ Value::List(_) => list,
            other => vec![other].into(),
        },
        "to_number" => match &first {
            Value::Int(_) | Value::Float(_) => first,
            Value::Str(s) => match number_or_text(s) {
                Obj::Str(_) => Value::None,
                number => number.to_value()?,
            },
            _ => Value::None,
        },
        "to_string" => match &first {
            Value::Str(_) => first,
            other => {
                mapstack_jinja::filters::json::measure(vm, other)?;
                let separators = Some((",".to_string(), ":".to_string()));
                let printed = dumps(
                    other,
                    &DumpOptions {
                        separators,
                        ..DumpOptions::default()
                    },
                );
                printed
                    .map_err(|e| Error::type_error(e.to_string()))?
                    .into()
            }
        },
        "type" => match type_name(&first) {
            "unknown" => Value::None,
            name => name.into(),
        },
        "map" => match arguments.first() {
            Some(Argument::Expression(node)) => {
                let items = second.as_list().unwrap_or_default();
                items
                    .iter()
                    .map(|item| search(vm, node, item))
                    .collect::<Result<Vec<_>>>()?
                    .into()
            }
            _ => Value::None,
        },
        "sort_by" | "min_by" | "max_by" => by_expression(vm, name, &first, arguments)?,
        _ => Value::None,
    })
}

fn sum(vm: &Vm<'_>, items: &Value) -> Result<Obj> {
    let mut total = Obj::from(0);
    for item in items.as_list().unwrap_or_default() {
        vm.burn(1)?;
        total = binary(vm, BinaryOp::Add, &total, &Obj::from(item.clone()))?;
    }
    Ok(total)
}

/// The first item whose key is beyond all others.
fn best(items: &[Value], key: impl Fn(&Value) -> Result<Value>, wanted: Ordering) -> Result<Value> {
    let symbol = if wanted == Ordering::Less { "<" } else { ">" };
    let mut best: Option<(Obj, &Value)> = None;
    for item in items {
        let key = Obj::from(key(item)?);
        let better = match &best {
            None => true,
            Some((so_far, _)) => order(&key, so_far, symbol)? == Some(wanted),
        };
        if better {
            best = Some((key, item));
        }
    }
    Ok(best.map(|(_, item)| item.clone()).unwrap_or_default())
}

fn by_expression(
    vm: &Vm<'_>,
    name: &str,
    list: &Value,
    arguments: &[Argument<'_>],
) -> Result<Value> {
    let Some(Argument::Expression(node)) = arguments.get(1) else {
        return Ok(Value::None);
    };
    let items = list.as_list().unwrap_or_default();
    let mut allowed = vec!["number", "string"];
    if let ("sort_by", Some(first)) = (name, items.first()) {
        let key = search(vm, node, first)?;
        let found = type_name(&key);
        if !allowed.contains(&found) {
            return Err(wrong_type(name, first, found, &["string", "number"]));
        }
        allowed = vec![found];
    }
    let key = |item: &Value| -> Result<Value> {
        let key = search(vm, node, item)?;
        let found = type_name(&key);
        if allowed.contains(&found) {
            Ok(key)
        } else {
            Err(wrong_type(name, &key, found, &allowed))
        }
    };
    match name {
        "min_by" => best(items, key, Ordering::Less),
        "max_by" => best(items, key, Ordering::Greater),
        _ => {
            let keyed = items
                .iter()
                .map(|item| Ok((Obj::from(key(item)?), Obj::from(item.clone()))));
            Obj::list(methods::sort(
                vm,
                keyed.collect::<Result<Vec<_>>>()?,
                false,
            )?)
            .to_value()
        }
    }
}

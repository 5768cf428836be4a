//! JMESPath's functions.

use std::cmp::Ordering;

use mapstack_pyobject::{CallArgs, Error, Obj, Result, binary, len, methods, order};
use mapstack_value::json::{DumpOptions, dumps};
use mapstack_value::{Key, Map, Value};

use super::parse::Node;
use super::search;
use crate::filters::strings::number_or_text;
use mapstack_jinja::Vm;
use mapstack_jinja::ast::BinaryOp;
use mapstack_jinja::filters::number::whole;

/// The types a parameter takes, as the reference names them; none means any.
type Types = &'static [&'static str];

/// A function.
struct QueryFunction {
    name: &'static str,
    parameters: &'static [Types],
    /// True if the last parameter may be repeated.
    is_variadic: bool,
    run: Run,
}

type Run = fn(&Vm<'_>, &FunctionArgs<'_, '_>) -> Result<Value>;

const fn function(name: &'static str, parameters: &'static [Types], run: Run) -> QueryFunction {
    QueryFunction {
        name,
        parameters,
        is_variadic: false,
        run,
    }
}

const fn variadic(name: &'static str, parameters: &'static [Types], run: Run) -> QueryFunction {
    QueryFunction {
        is_variadic: true,
        ..function(name, parameters, run)
    }
}

const FUNCTIONS: &[QueryFunction] = &[
    function("abs", &[&["number"]], abs),
    function("avg", &[&["array-number"]], average),
    function("ceil", &[&["number"]], |_, given| {
        rounded(&given.first, f64::ceil)
    }),
    function("contains", &[&["array", "string"], &[]], contains),
    function("ends_with", &[&["string"], &["string"]], |_, given| {
        Ok(given.text().ends_with(given.other_text()).into())
    }),
    function("floor", &[&["number"]], |_, given| {
        rounded(&given.first, f64::floor)
    }),
    function("join", &[&["string"], &["array-string"]], join),
    function("keys", &[&["object"]], |_, given| {
        let keys = given.first.as_map().into_iter().flat_map(Map::keys);
        Ok(keys.map(Key::to_value).collect::<Vec<_>>().into())
    }),
    function("length", &[&["string", "array", "object"]], |_, given| {
        Ok(Value::from(len(&given.object())?))
    }),
    function("map", &[&["expref"], &["array"]], map),
    function("max", &[&["array-number", "array-string"]], |_, given| {
        best(given.list(), |item| Ok(item.clone()), Ordering::Greater)
    }),
    function("max_by", &[&["array"], &["expref"]], |vm, given| {
        by_expression(vm, "max_by", given)
    }),
    variadic("merge", &[&["object"]], merge),
    function("min", &[&["array-number", "array-string"]], |_, given| {
        best(given.list(), |item| Ok(item.clone()), Ordering::Less)
    }),
    function("min_by", &[&["array"], &["expref"]], |vm, given| {
        by_expression(vm, "min_by", given)
    }),
    variadic("not_null", &[&[]], |_, given| {
        let mut values = given.arguments.iter().map(Argument::value);
        Ok(values.find(|value| !value.is_none()).unwrap_or_default())
    }),
    function("reverse", &[&["array", "string"]], |_, given| {
        Ok(reverse(&given.first))
    }),
    function("sort", &[&["array-string", "array-number"]], sort),
    function("sort_by", &[&["array"], &["expref"]], |vm, given| {
        by_expression(vm, "sort_by", given)
    }),
    function("starts_with", &[&["string"], &["string"]], |_, given| {
        Ok(given.text().starts_with(given.other_text()).into())
    }),
    function("sum", &[&["array-number"]], |vm, given| {
        sum(vm, given.list())?.to_value()
    }),
    function("to_array", &[&[]], |_, given| {
        Ok(match &given.first {
            list @ Value::List(_) => list.clone(),
            other => vec![other.clone()].into(),
        })
    }),
    function("to_number", &[&[]], to_number),
    function("to_string", &[&[]], to_string),
    function("type", &[&[]], |_, given| {
        Ok(match type_name(&given.first) {
            "unknown" => Value::None,
            name => name.into(),
        })
    }),
    function("values", &[&["object"]], |_, given| {
        let values = given.first.as_map().into_iter().flat_map(Map::values);
        Ok(values.cloned().collect::<Vec<_>>().into())
    }),
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

/// The arguments of a function.
struct FunctionArgs<'a, 'n> {
    /// The value of the first argument; `None` without arguments, or if it is an expression.
    first: Value,
    arguments: &'a [Argument<'n>],
}

impl FunctionArgs<'_, '_> {
    /// The first argument as an object.
    fn object(&self) -> Obj {
        Obj::from(self.first.clone())
    }

    /// The first argument, which is a list.
    fn list(&self) -> &[Value] {
        self.first.as_list().unwrap_or_default()
    }

    /// The first argument, which is text.
    fn text(&self) -> &str {
        self.first.as_str().unwrap_or_default()
    }

    /// The second argument; `None` as for the first.
    fn second(&self) -> Value {
        self.arguments
            .get(1)
            .map(Argument::value)
            .unwrap_or_default()
    }

    /// The second argument, which is text.
    fn other_text(&self) -> &str {
        match self.arguments.get(1) {
            Some(Argument::Value(value)) => value.as_str().unwrap_or_default(),
            _ => "",
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
    let Some(function) = FUNCTIONS.iter().find(|known| known.name == name) else {
        return Err(Error::value_error(format!("Unknown function: {name}()")));
    };
    let mut arguments = Vec::with_capacity(nodes.len());
    for node in nodes {
        arguments.push(match node {
            Node::Reference(inner) => Argument::Expression(inner),
            node => Argument::Value(search(vm, node, value)?),
        });
    }
    let (wanted, got) = (function.parameters.len(), arguments.len());
    let plural = if wanted == 1 { "argument" } else { "arguments" };
    if function.is_variadic && got < wanted {
        let message =
            format!("Expected at least {wanted} {plural} for function {name}(), received {got}");
        return Err(Error::value_error(message));
    }
    if !function.is_variadic && got != wanted {
        return Err(Error::value_error(format!(
            "Expected {wanted} {plural} for function {name}(), received {got}"
        )));
    }
    for (i, argument) in arguments.iter().enumerate() {
        check(name, argument, function.parameters[i.min(wanted - 1)])?;
    }
    let given = FunctionArgs {
        first: arguments.first().map(Argument::value).unwrap_or_default(),
        arguments: &arguments,
    };
    (function.run)(vm, &given)
}

fn abs(_: &Vm<'_>, given: &FunctionArgs<'_, '_>) -> Result<Value> {
    Ok(match &given.first {
        Value::Int(i) => Value::Int(i.abs()),
        Value::Float(f) => Value::Float(f.abs()),
        other => other.clone(),
    })
}

fn rounded(number: &Value, round: fn(f64) -> f64) -> Result<Value> {
    Ok(match number {
        Value::Float(f) => Value::Int(whole(round(*f))?),
        other => other.clone(),
    })
}

fn average(vm: &Vm<'_>, given: &FunctionArgs<'_, '_>) -> Result<Value> {
    let items = given.list();
    if items.is_empty() {
        return Ok(Value::None);
    }
    let (sum, count) = (sum(vm, items)?, Obj::from(items.len()));
    binary(vm, BinaryOp::Div, &sum, &count)?.to_value()
}

fn contains(vm: &Vm<'_>, given: &FunctionArgs<'_, '_>) -> Result<Value> {
    let needle = Obj::from(given.second());
    mapstack_pyobject::contains(vm, &given.object(), &needle).map(Value::from)
}

fn join(vm: &Vm<'_>, given: &FunctionArgs<'_, '_>) -> Result<Value> {
    let args = CallArgs::positional([Obj::from(given.second())]);
    methods::call(vm, &given.object(), "join", args)?.to_value()
}

fn map(vm: &Vm<'_>, given: &FunctionArgs<'_, '_>) -> Result<Value> {
    let Some(Argument::Expression(node)) = given.arguments.first() else {
        return Ok(Value::None);
    };
    let items = given.second();
    let items = items.as_list().unwrap_or_default().iter();
    let mapped = items.map(|item| search(vm, node, item));
    Ok(mapped.collect::<Result<Vec<_>>>()?.into())
}

fn merge(vm: &Vm<'_>, given: &FunctionArgs<'_, '_>) -> Result<Value> {
    let mut merged = Map::new();
    for argument in given.arguments {
        if let Value::Map(map) = argument.value() {
            vm.burn(map.len())?;
            merged.extend(map.iter().map(|(k, v)| (k.clone(), v.clone())));
        }
    }
    Ok(Value::Map(merged))
}

fn reverse(value: &Value) -> Value {
    match value {
        Value::Str(s) => s.chars().rev().collect::<String>().into(),
        other => {
            let items = other.as_list().unwrap_or_default();
            items.iter().rev().cloned().collect::<Vec<_>>().into()
        }
    }
}

fn sort(vm: &Vm<'_>, given: &FunctionArgs<'_, '_>) -> Result<Value> {
    let items = given.object().collect(vm)?.into_iter();
    let keyed = items.map(|item| (item.clone(), item)).collect();
    Obj::list(methods::sort(vm, keyed, false)?).to_value()
}

fn to_number(_: &Vm<'_>, given: &FunctionArgs<'_, '_>) -> Result<Value> {
    Ok(match &given.first {
        number @ (Value::Int(_) | Value::Float(_)) => number.clone(),
        Value::Str(s) => match number_or_text(s) {
            Obj::Str(_) => Value::None,
            number => number.to_value()?,
        },
        _ => Value::None,
    })
}

fn to_string(vm: &Vm<'_>, given: &FunctionArgs<'_, '_>) -> Result<Value> {
    if let text @ Value::Str(_) = &given.first {
        return Ok(text.clone());
    }
    mapstack_jinja::filters::json::measure(vm, &given.first)?;
    let options = DumpOptions {
        separators: Some((",".to_string(), ":".to_string())),
        ..DumpOptions::default()
    };
    match dumps(&given.first, &options) {
        Ok(text) => Ok(text.into()),
        Err(e) => Err(Error::type_error(e.to_string())),
    }
}

fn sum(vm: &Vm<'_>, items: &[Value]) -> Result<Obj> {
    let mut total = Obj::from(0);
    for item in items {
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

fn by_expression(vm: &Vm<'_>, name: &str, given: &FunctionArgs<'_, '_>) -> Result<Value> {
    let Some(Argument::Expression(node)) = given.arguments.get(1) else {
        return Ok(Value::None);
    };
    let items = given.list();
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

//! Salt's `json_query` filter: JMESPath.
//!
//! The crate `jmespath` was judged and left: it keeps mappings in a `BTreeMap`, where `keys(@)` and `*` give another order
//! than Python's, its numbers are those of JSON, its messages are not those of Python's package, and an expression runs
//! without a limit.

mod functions;
mod parse;

use std::cmp::Ordering;

use mapstack_pyobject::{CallArgs, Error, Obj, Result};
use mapstack_value::{Map, Value};

use mapstack_jinja::Filters;
use mapstack_jinja::Vm;
use mapstack_jinja::call::{plain, room};
use parse::{Comparator, Node};

pub(super) const TABLE: Filters = &[("json_query", json_query)];

fn json_query(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [expression] = plain("json_query", "data").bind(args, 1, ["expr"])?;
    let expression = expression.unwrap_or_default();
    let Some(text) = expression.as_str() else {
        if let Obj::Undefined(u) = &expression {
            return Err(u.error());
        }
        return Err(Error::type_error(format!(
            "'{}' object is not iterable",
            expression.type_name()
        )));
    };
    let node = parse::parse(text)?;
    let data = x.to_value()?;
    search(vm, &node, &data).map(Obj::from)
}

/// The left node, if that is true or false as wanted; otherwise, the right one.
fn first_that_is(
    wanted: bool,
    vm: &Vm<'_>,
    [left, right]: [&Node; 2],
    value: &Value,
) -> Result<Value> {
    let left = search(vm, left, value)?;
    if is_true(&left) == wanted {
        Ok(left)
    } else {
        search(vm, right, value)
    }
}

/// Evaluate a node on a value.
#[expect(clippy::too_many_lines, reason = "one arm for each kind of node")]
fn search(vm: &Vm<'_>, node: &Node, value: &Value) -> Result<Value> {
    vm.burn(1)?;
    Ok(match node {
        Node::Current => value.clone(),
        Node::Literal(literal) => literal.clone(),
        Node::Field(name) => {
            let found = value.as_map().and_then(|map| map.get(&**name));
            found.cloned().unwrap_or_default()
        }
        Node::Index(index) => {
            let found = value.as_list().and_then(|items| pick(items, *index));
            found.cloned().unwrap_or_default()
        }
        Node::Slice { start, stop, step } => match value {
            Value::List(_) => sliced(value, [*start, *stop, *step], vm)?,
            _ => Value::None,
        },
        Node::Chain(left, right) | Node::Pipe(left, right) => {
            let left = search(vm, left, value)?;
            search(vm, right, &left)?
        }
        Node::Flatten(inner) => match search(vm, inner, value)? {
            Value::List(items) => flatten(vm, &items)?,
            _ => Value::None,
        },
        Node::Project(left, right) => match search(vm, left, value)? {
            Value::List(items) => project(vm, items.iter(), right)?,
            _ => Value::None,
        },
        Node::ProjectValues(left, right) => match search(vm, left, value)? {
            Value::Map(map) => project(vm, map.values(), right)?,
            _ => Value::None,
        },
        Node::Filter {
            left,
            right,
            condition,
        } => match search(vm, left, value)? {
            Value::List(items) => project(vm, kept(vm, &items, condition)?.into_iter(), right)?,
            _ => Value::None,
        },
        Node::List(_) | Node::Map(_) if value.is_none() => Value::None,
        Node::List(nodes) => {
            let items = nodes.iter().map(|node| search(vm, node, value));
            items.collect::<Result<Vec<_>>>()?.into()
        }
        Node::Map(entries) => {
            let mut map = Map::new();
            for (name, node) in entries {
                map.insert(name.clone(), search(vm, node, value)?);
            }
            Value::Map(map)
        }
        Node::Or(left, right) => first_that_is(true, vm, [left, right], value)?,
        Node::And(left, right) => first_that_is(false, vm, [left, right], value)?,
        Node::Not(inner) => Value::Bool(!is_true(&search(vm, inner, value)?)),
        Node::Compare(comparator, left, right) => compare(
            *comparator,
            &search(vm, left, value)?,
            &search(vm, right, value)?,
        )?,
        Node::Call(name, arguments) => functions::call(vm, name, arguments, value)?,
        // An expression that a function evaluates; it has no value itself.
        Node::Reference(_) => Value::None,
    })
}

fn pick(items: &[Value], index: i64) -> Option<&Value> {
    let length = i64::try_from(items.len()).ok()?;
    items.get(usize::try_from(if index < 0 { index + length } else { index }).ok()?)
}

fn sliced(value: &Value, bounds: [Option<i64>; 3], vm: &Vm<'_>) -> Result<Value> {
    let bound = |i: Option<i64>| i.map_or(Obj::None, Obj::from);
    let [start, stop, step] = bounds.map(bound);
    mapstack_pyobject::slice(vm, &Obj::from(value.clone()), &start, &stop, &step)?.to_value()
}

fn flatten(vm: &Vm<'_>, items: &[Value]) -> Result<Value> {
    let mut flat = Vec::new();
    for item in items {
        match item {
            Value::List(inner) => flat.extend(inner.iter().cloned()),
            other => flat.push(other.clone()),
        }
    }
    vm.burn(flat.len())?;
    Ok(flat.into())
}

/// The items that fulfil a condition.
fn kept<'v>(vm: &Vm<'_>, items: &'v [Value], condition: &Node) -> Result<Vec<&'v Value>> {
    let mut kept = Vec::new();
    for item in items {
        if is_true(&search(vm, condition, item)?) {
            kept.push(item);
        }
    }
    Ok(kept)
}

fn project<'v>(vm: &Vm<'_>, items: impl Iterator<Item = &'v Value>, right: &Node) -> Result<Value> {
    let mut out = Vec::new();
    for item in items {
        match search(vm, right, item)? {
            Value::None => {}
            found => out.push(found),
        }
    }
    room(vm, out.len())?;
    Ok(out.into())
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::None | Value::Bool(false) => false,
        Value::Str(s) => !s.is_empty(),
        Value::List(items) => !items.is_empty(),
        Value::Map(map) => !map.is_empty(),
        _ => true,
    }
}

fn compare(comparator: Comparator, a: &Value, b: &Value) -> Result<Value> {
    let is_bool = |x: &Value| matches!(x, Value::Bool(_));
    let equal = is_bool(a) == is_bool(b) && a == b;
    let (symbol, accept): (_, fn(Ordering) -> bool) = match comparator {
        Comparator::Equal => return Ok(equal.into()),
        Comparator::NotEqual => return Ok((!equal).into()),
        Comparator::Less => ("<", Ordering::is_lt),
        Comparator::LessOrEqual => ("<=", Ordering::is_le),
        Comparator::Greater => (">", Ordering::is_gt),
        Comparator::GreaterOrEqual => (">=", Ordering::is_ge),
    };
    let comparable = |x: &Value| matches!(x, Value::Int(_) | Value::Float(_) | Value::Str(_));
    if !comparable(a) || !comparable(b) {
        return Ok(Value::None);
    }
    let order = mapstack_pyobject::order(&Obj::from(a.clone()), &Obj::from(b.clone()), symbol)?;
    Ok(order.is_some_and(accept).into())
}

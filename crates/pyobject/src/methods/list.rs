//! The methods of `list` and `tuple`, and Python's sort.

use std::cmp::Ordering;
use std::iter::Peekable;
use std::ops::Range;

use super::signature::{Call, bounds, integer, integer_or};
use crate::Interpreter;
use crate::limits::{Error, Result};
use crate::object::{CallArgs, ListRef, Obj, equal, order, repr};

/// Every method of `list`.
pub const LIST: &[&str] = &[
    "append", "clear", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse",
    "sort",
];

/// Every method of `tuple`.
pub const TUPLE: &[&str] = &["count", "index"];

/// `list.name(args)`.
pub fn call(vm: &dyn Interpreter, list: &ListRef, name: &str, args: CallArgs) -> Result<Obj> {
    let call = Call {
        owner: "list",
        name,
        args,
    };
    let nothing = |()| Obj::None;
    match name {
        "append" => {
            let item = call.one()?;
            list.change(|items| items.push(item));
            Ok(Obj::None)
        }
        "extend" => {
            let source = call.one()?;
            if let Obj::Undefined(u) = &source {
                return Err(u.error());
            }
            let more = source.collect(vm)?;
            vm.burn(more.len())?;
            list.change(|items| items.extend(more));
            Ok(Obj::None)
        }
        "insert" => {
            let [index, item] = call.positional(2)?;
            let index = integer(&index.unwrap_or_default())?;
            insert(list, index, item.unwrap_or_default());
            Ok(Obj::None)
        }
        "pop" => {
            let [index] = call.positional(0)?;
            pop(vm, list, integer_or(index, -1)?)
        }
        "remove" => remove(vm, list, &call.one()?),
        "clear" => call.none().map(|()| list.change(Vec::clear)).map(nothing),
        "reverse" => call
            .none()
            .map(|()| list.change(|items| items.reverse()))
            .map(nothing),
        "copy" => {
            call.none()?;
            Ok(Obj::list(list.items()))
        }
        "count" => count(vm, list.len(), |i| list.get(i), &call.one()?),
        "index" => {
            let missing = |wanted: &Obj| {
                Ok(Error::value_error(format!(
                    "{} is not in list",
                    repr(wanted)?
                )))
            };
            index(vm, list.len(), |i| list.get(i), call, missing)
        }
        "sort" => sort_in_place(vm, list, call),
        _ => Err(super::no_attribute("list", name)),
    }
}

/// `tuple.name(args)`.
pub fn call_tuple(vm: &dyn Interpreter, items: &[Obj], name: &str, args: CallArgs) -> Result<Obj> {
    let call = Call {
        owner: "tuple",
        name,
        args,
    };
    match name {
        "count" => count(vm, items.len(), |i| items.get(i).cloned(), &call.one()?),
        "index" => {
            let missing = |_: &Obj| Ok(Error::value_error("tuple.index(x): x not in tuple"));
            index(vm, items.len(), |i| items.get(i).cloned(), call, missing)
        }
        _ => Err(super::no_attribute("tuple", name)),
    }
}

fn insert(list: &ListRef, index: i64, item: Obj) {
    list.change(|items| {
        let len = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let at = if index < 0 {
            index.saturating_add(len).max(0)
        } else {
            index.min(len)
        };
        items.insert(usize::try_from(at).unwrap_or(0), item);
    });
}

fn remove(vm: &dyn Interpreter, list: &ListRef, wanted: &Obj) -> Result<Obj> {
    let Some(at) = position(vm, 0..list.len(), |i| list.get(i), wanted)? else {
        return Err(Error::value_error("list.remove(x): x not in list"));
    };
    list.change(|items| {
        if at < items.len() {
            items.remove(at);
        }
    });
    Ok(Obj::None)
}

fn pop(vm: &dyn Interpreter, list: &ListRef, index: i64) -> Result<Obj> {
    if list.is_empty() {
        return Err(Error::python("IndexError", "pop from empty list"));
    }
    let len = i64::try_from(list.len()).unwrap_or(i64::MAX);
    let at = if index < 0 {
        index.saturating_add(len)
    } else {
        index
    };
    // The items after it move up.
    vm.burn(usize::try_from(len.saturating_sub(at)).unwrap_or_default() / 16)?;
    match usize::try_from(at) {
        Ok(at) if at < list.len() => Ok(list.change(|items| items.remove(at))),
        _ => Err(Error::python("IndexError", "pop index out of range")),
    }
}

/// The position of the first equal item in a range.
fn position(
    vm: &dyn Interpreter,
    range: Range<usize>,
    item: impl Fn(usize) -> Option<Obj>,
    wanted: &Obj,
) -> Result<Option<usize>> {
    for i in range {
        if is_equal(vm, item(i), wanted)? {
            return Ok(Some(i));
        }
    }
    Ok(None)
}

fn count(
    vm: &dyn Interpreter,
    len: usize,
    item: impl Fn(usize) -> Option<Obj>,
    wanted: &Obj,
) -> Result<Obj> {
    let mut found = 0;
    for i in 0..len {
        found += i64::from(is_equal(vm, item(i), wanted)?);
    }
    Ok(Obj::from(found))
}

fn index(
    vm: &dyn Interpreter,
    len: usize,
    item: impl Fn(usize) -> Option<Obj>,
    call: Call<'_>,
    missing: impl Fn(&Obj) -> Result<Box<Error>>,
) -> Result<Obj> {
    let [wanted, start, end] = call.positional(1)?;
    let wanted = wanted.unwrap_or_default();
    let (from, to) = bounds(len, start.as_ref(), end.as_ref(), false)?.unwrap_or((0, 0));
    match position(vm, from..to, item, &wanted)? {
        Some(at) => Ok(Obj::from(at)),
        None => Err(missing(&wanted)?),
    }
}

fn is_equal(vm: &dyn Interpreter, item: Option<Obj>, wanted: &Obj) -> Result<bool> {
    vm.burn(1)?;
    item.map_or(Ok(false), |item| {
        Ok(item.is_same(wanted) || equal(&item, wanted)?)
    })
}

fn sort_in_place(vm: &dyn Interpreter, list: &ListRef, call: Call<'_>) -> Result<Obj> {
    if !call.args.positional.is_empty() {
        return Err(Error::type_error("sort() takes no positional arguments"));
    }
    let [key, reverse] = call.keywords(["key", "reverse"], 0)?;
    let reverse = integer_or(reverse, 0)? != 0;
    let items = list.items();
    let keyed = match key {
        None | Some(Obj::None) => items.into_iter().map(|item| (item.clone(), item)).collect(),
        Some(key) => with_keys(vm, items, &key)?,
    };
    let sorted = sort(vm, keyed, reverse)?;
    list.change(|items| *items = sorted);
    Ok(Obj::None)
}

/// Each item with what a function makes of it.
fn with_keys(vm: &dyn Interpreter, items: Vec<Obj>, key: &Obj) -> Result<Vec<(Obj, Obj)>> {
    items
        .into_iter()
        .map(|item| Ok((vm.call(key, CallArgs::positional([item.clone()]))?, item)))
        .collect()
}

/// The items (second) in the order of their keys (first), equal ones in the order they came in.
///
/// # Errors
/// A `TypeError` for keys without an order.
pub fn sort(vm: &dyn Interpreter, mut keyed: Vec<(Obj, Obj)>, reverse: bool) -> Result<Vec<Obj>> {
    // Reversing before and after keeps equal items in order.
    if reverse {
        keyed.reverse();
    }
    let mut sorted = sort_by(keyed, &|a, b| {
        vm.burn(1)?;
        Ok(order(&a.0, &b.0, "<")? == Some(Ordering::Less))
    })?;
    if reverse {
        sorted.reverse();
    }
    Ok(sorted.into_iter().map(|(_, item)| item).collect())
}

/// The items in the order of `less`, equal ones in the order they came in.
///
/// The standard library's sorts may panic when an order is inconsistent, as with NaN, and cannot fail; Python's does
/// neither. Which items are compared shows where two of them have no order, so up to 63 items it is those that Python
/// compares (`Objects/listobject.c` of Python 3.11).
///
/// # Errors
/// The first of `less`.
pub fn sort_by<T>(items: Vec<T>, less: &impl Fn(&T, &T) -> Result<bool>) -> Result<Vec<T>> {
    let least = least_run(items.len());
    let mut runs: Vec<Vec<T>> = Vec::new();
    let mut items = items.into_iter().peekable();
    while items.peek().is_some() {
        let mut run = ordered_run(&mut items, less)?;
        while run.len() < least
            && let Some(item) = items.next()
        {
            place_in(&mut run, item, less)?;
        }
        runs.push(run);
    }
    while runs.len() > 1 {
        let mut merged = Vec::with_capacity(runs.len().div_ceil(2));
        let mut pairs = runs.into_iter();
        while let Some(left) = pairs.next() {
            merged.push(match pairs.next() {
                Some(right) => merge(left, right, less)?,
                None => left,
            });
        }
        runs = merged;
    }
    Ok(runs.pop().unwrap_or_default())
}

/// The least number of items of a run, so that there are about as many runs as a power of two.
fn least_run(mut items: usize) -> usize {
    let mut odd = 0;
    while items >= 64 {
        odd |= items & 1;
        items >>= 1;
    }
    items + odd
}

/// The items at the front that are in order, or in strictly falling order, which is turned round.
fn ordered_run<T>(
    items: &mut Peekable<impl Iterator<Item = T>>,
    less: &impl Fn(&T, &T) -> Result<bool>,
) -> Result<Vec<T>> {
    let mut run: Vec<T> = items.next().into_iter().collect();
    let mut falls = None;
    while let (Some(last), Some(next)) = (run.last(), items.peek()) {
        let is_less = less(next, last)?;
        if *falls.get_or_insert(is_less) != is_less {
            break;
        }
        run.extend(items.next());
    }
    if falls == Some(true) {
        run.reverse();
    }
    Ok(run)
}

fn place_in<T>(sorted: &mut Vec<T>, item: T, less: &impl Fn(&T, &T) -> Result<bool>) -> Result<()> {
    let (mut low, mut high) = (0, sorted.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        if less(&item, &sorted[middle])? {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    sorted.insert(low, item);
    Ok(())
}

fn merge<T>(left: Vec<T>, right: Vec<T>, less: &impl Fn(&T, &T) -> Result<bool>) -> Result<Vec<T>> {
    let mut out = Vec::with_capacity(left.len() + right.len());
    let (mut left, mut right) = (left.into_iter().peekable(), right.into_iter().peekable());
    while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
        let next = if less(b, a)? {
            right.next()
        } else {
            left.next()
        };
        out.extend(next);
    }
    out.extend(left);
    out.extend(right);
    Ok(out)
}

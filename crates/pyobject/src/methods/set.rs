//! The methods of `set`.

use foldhash::fast::RandomState;
use indexmap::IndexSet;
use mapstack_value::Key;

use super::signature::Call;
use crate::Interpreter;
use crate::limits::{Error, Result};
use crate::object::{CallArgs, Obj, SetRef, hash_key};

/// Every method of `set`.
pub const NAMES: &[&str] = &[
    "add",
    "clear",
    "copy",
    "difference",
    "difference_update",
    "discard",
    "intersection",
    "intersection_update",
    "isdisjoint",
    "issubset",
    "issuperset",
    "pop",
    "remove",
    "symmetric_difference",
    "symmetric_difference_update",
    "union",
    "update",
];

type Items = IndexSet<Key, RandomState>;

/// `set.name(args)`.
pub fn call(vm: &dyn Interpreter, set: &SetRef, name: &str, args: CallArgs) -> Result<Obj> {
    let call = Call {
        owner: "set",
        name,
        args,
    };
    match name {
        "add" => {
            let key = hash_key(&call.one()?)?;
            set.change(|items| items.insert(key));
        }
        "discard" => {
            let key = hash_key(&call.one()?)?;
            set.change(|items| items.shift_remove(&key));
        }
        "remove" => {
            let key = hash_key(&call.one()?)?;
            if !set.change(|items| items.shift_remove(&key)) {
                return Err(Error::python("KeyError", key.to_value().repr()));
            }
        }
        "pop" => {
            call.none()?;
            // The items after it move up.
            vm.burn(set.len() / 16)?;
            let first = set.change(|items| items.shift_remove_index(0));
            return first
                .map(|key| Obj::from(&key))
                .ok_or_else(|| Error::python("KeyError", "'pop from an empty set'"));
        }
        "clear" => {
            call.none()?;
            set.change(Items::clear);
        }
        "copy" => {
            call.none()?;
            return Ok(Obj::Set(SetRef::new(snapshot(vm, set)?)));
        }
        "isdisjoint" | "issubset" | "issuperset" => {
            let other = keys_of(vm, &call.one()?)?;
            return Ok(Obj::Bool(set.read(|items| match name {
                "isdisjoint" => items.is_disjoint(&other),
                "issubset" => items.is_subset(&other),
                _ => items.is_superset(&other),
            })));
        }
        "union" | "intersection" | "difference" | "symmetric_difference" => {
            return Ok(Obj::Set(SetRef::new(combine(vm, set, name, call)?)));
        }
        "update" | "intersection_update" | "difference_update" | "symmetric_difference_update" => {
            let operation = name.strip_suffix("_update").unwrap_or("union");
            let combined = combine(vm, set, operation, call)?;
            set.change(|items| *items = combined);
        }
        _ => return Err(super::no_attribute("set", name)),
    }
    Ok(Obj::None)
}

fn snapshot(vm: &dyn Interpreter, set: &SetRef) -> Result<Items> {
    vm.burn(set.len())?;
    Ok(set.read(Clone::clone))
}

fn keys_of(vm: &dyn Interpreter, source: &Obj) -> Result<Items> {
    match source {
        Obj::Set(set) => snapshot(vm, set),
        Obj::Undefined(u) => Err(u.error()),
        other => other.collect(vm)?.iter().map(hash_key).collect(),
    }
}

/// The set combined with every argument in turn.
fn combine(
    vm: &dyn Interpreter,
    set: &SetRef,
    operation: &str,
    mut call: Call<'_>,
) -> Result<Items> {
    let mut result = snapshot(vm, set)?;
    let others = if operation == "symmetric_difference" {
        vec![call.one()?]
    } else if call.args.named.is_empty() {
        std::mem::take(&mut call.args.positional)
    } else {
        call.none()?;
        Vec::new()
    };
    for other in &others {
        let other = keys_of(vm, other)?;
        match operation {
            "union" => result.extend(other),
            "intersection" => result.retain(|key| other.contains(key)),
            "difference" => result.retain(|key| !other.contains(key)),
            _ => result = result.symmetric_difference(&other).cloned().collect(),
        }
    }
    Ok(result)
}

//! `slsutil.*`: Salt's merging, as templates call it.

use mapstack_merge::{Options, merge};
use mapstack_render::{DictRef, Error, Obj, Result, required};
use mapstack_value::Value;

use super::{Table, data_or, truth_or};
use crate::engine::Run;

pub(super) const TABLE: Table = &[
    ("slsutil.merge", |run, _, args| {
        let [a, b, strategy, _renderer, lists] =
            args.bind("slsutil.merge", ["obj_a", "obj_b", "strategy", "renderer", "merge_lists"])?;
        let a = required(a, "slsutil.merge", "obj_a")?.to_value()?;
        let b = required(b, "slsutil.merge", "obj_b")?.to_value()?;
        merged(run, a, &b, &data_or(strategy, "smart")?, &data_or(lists, false)?).map(Obj::from)
    }),
    ("slsutil.merge_all", |run, vm, args| {
        let [all, strategy, _renderer, lists] =
            args.bind("slsutil.merge_all", ["lst", "strategy", "renderer", "merge_lists"])?;
        let (strategy, lists) = (data_or(strategy, "smart")?, data_or(lists, false)?);
        let mut result = Value::map();
        for item in required(all, "slsutil.merge_all", "lst")?.collect(vm)? {
            result = merged(run, result, &item.to_value()?, &strategy, &lists)?;
        }
        Ok(Obj::from(result))
    }),
    ("slsutil.update", |_, _, args| {
        let [dest, upd, recursive, lists] =
            args.bind("slsutil.update", ["dest", "upd", "recursive_update", "merge_lists"])?;
        let dest = required(dest, "slsutil.update", "dest")?;
        let upd = required(upd, "slsutil.update", "upd")?;
        update(&dest, &upd, truth_or(recursive, true)?, truth_or(lists, false)?)?;
        Ok(dest)
    }),
    ("slsutil.boolstr", |_, _, args| {
        let [value, yes, no] = args.bind("slsutil.boolstr", ["value", "true", "false"])?;
        let value = required(value, "slsutil.boolstr", "value")?;
        let (yes, no) = (yes.unwrap_or_else(|| Obj::from("true")), no.unwrap_or_else(|| Obj::from("false")));
        Ok(if value.truthy()? { yes } else { no })
    }),
];

fn merged(run: &Run<'_>, base: Value, overlay: &Value, strategy: &Value, lists: &Value) -> Result<Value> {
    let options = Options::new(strategy, lists);
    if let Some(message) = options.strategy.warning() {
        run.warn(crate::Diagnostic::warning(crate::ErrorKind::Merge, format!("slsutil.merge: {message}")));
    }
    merge(base, overlay, &options, &mut ()).map_err(|e| Error::type_error(e.to_string()))
}

/// `dictupdate.update`: merge into a dict that others may hold, too. What is new in it is the very
/// object that was given.
pub(super) fn update(dest: &Obj, upd: &Obj, recursive: bool, lists: bool) -> Result<()> {
    let (Obj::Dict(dest), Obj::Dict(upd)) = (dest, upd) else {
        return Err(Error::type_error("Cannot update using non-dict types in dictupdate.update()"));
    };
    update_dict(dest, upd, recursive, lists, MAX_NESTING)
}

/// Deeper dicts are refused as Python refuses them; a dict can contain itself.
const MAX_NESTING: usize = 200;

fn update_dict(dest: &DictRef, upd: &DictRef, recursive: bool, lists: bool, depth: usize) -> Result<()> {
    let Some(depth) = depth.checked_sub(1) else {
        return Err(Error::python("RecursionError", "maximum recursion depth exceeded"));
    };
    for (key, value) in upd.entries() {
        match (dest.get(&key).filter(|_| recursive), &value) {
            (Some(Obj::Dict(inner)), Obj::Dict(upd)) => update_dict(&inner, upd, true, lists, depth)?,
            (Some(Obj::List(old)), Obj::List(new)) if lists => {
                let mut all = old.items();
                for item in new.items() {
                    if !contains(&all, &item)? {
                        all.push(item);
                    }
                }
                dest.insert(key, Obj::list(all));
            }
            _ => dest.insert(key, value),
        }
    }
    Ok(())
}

fn contains(items: &[Obj], wanted: &Obj) -> Result<bool> {
    for item in items {
        if item.equals(wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

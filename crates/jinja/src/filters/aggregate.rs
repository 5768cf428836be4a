//! Jinja2's filters that reduce many items to one, or to fewer.

use std::cmp::Ordering;

use mapstack_pyobject::{CallArgs, Iter, Obj, Result, hash_key, order};

use super::call::{flag, generator, inner};
use super::sequence::{attribute_getter, fold, missing};
use crate::dialect::Filters;
use crate::vm::Vm;

pub(super) const TABLE: Filters = &[
    ("max", |vm, x, args| {
        extreme(vm, x, args, "do_max", ">", Ordering::Greater)
    }),
    ("min", |vm, x, args| {
        extreme(vm, x, args, "do_min", "<", Ordering::Less)
    }),
    ("unique", unique),
];

/// The least or greatest item; undefined, not an error, if the sequence is empty.
fn extreme(
    vm: &Vm<'_>,
    x: Obj,
    args: CallArgs,
    function: &'static str,
    symbol: &str,
    wanted: Ordering,
) -> Result<Obj> {
    let [case_sensitive, attribute] =
        inner(function, "value").bind(args, 0, ["case_sensitive", "attribute"])?;
    let (case_sensitive, getter) = (
        flag(case_sensitive, false)?,
        attribute_getter(attribute.as_ref()),
    );
    let key_of = |item: &Obj| -> Result<Obj> {
        let key = getter.get(vm, item.clone(), None)?;
        Ok(if case_sensitive { key } else { fold(key) })
    };
    let items = x.iter()?;
    let Some(mut best) = items.next(vm)? else {
        return Ok(missing(vm, "No aggregated item, sequence was empty."));
    };
    let mut best_key = key_of(&best)?;
    while let Some(item) = items.next(vm)? {
        let key = key_of(&item)?;
        if order(&key, &best_key, symbol)? == Some(wanted) {
            (best, best_key) = (item, key);
        }
    }
    Ok(best)
}

/// The items whose key was not seen before, one after the other.
fn unique(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let names = ["case_sensitive", "attribute"];
    let [case_sensitive, attribute] = inner("sync_do_unique", "value").bind(args, 0, names)?;
    let (case_sensitive, getter) = (
        flag(case_sensitive, false)?,
        attribute_getter(attribute.as_ref()),
    );
    let mut items: Option<Iter> = None;
    let mut seen =
        indexmap::IndexSet::<mapstack_value::Key, foldhash::fast::RandomState>::default();
    generator("sync_do_unique", &x.clone(), move |vm| {
        let items = items.get_or_insert(x.iter()?);
        while let Some(item) = items.next(vm)? {
            vm.burn(1)?;
            let key = getter.get(vm, item.clone(), None)?;
            if seen.insert(hash_key(&if case_sensitive { key } else { fold(key) })?) {
                return Ok(Some(item));
            }
        }
        Ok(None)
    })
}

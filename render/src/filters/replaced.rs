//! Jinja2's own filters where Salt replaces them, for templates outside of Salt's environment.
#![expect(
    clippy::needless_pass_by_value,
    reason = "every filter has the signature of `Filter`"
)]

use std::cmp::Ordering;

use mapstack_pyobject::{CallArgs, Iter, Obj, Result, hash_key, order, to_str};

use super::Filter;
use super::call::{flag, generator, inner, plain};
use super::sequence::{attribute_getter, fold, missing};
use crate::jinja::Vm;

/// Jinja2's filter of a name that means another one in Salt's templates.
pub(crate) fn replaced_by_salt(name: &str) -> Option<Filter> {
    match name {
        "max" => Some(|vm, x, args| extreme(vm, x, args, "do_max", ">", Ordering::Greater)),
        "min" => Some(|vm, x, args| extreme(vm, x, args, "do_min", "<", Ordering::Less)),
        "tojson" => Some(to_json),
        "unique" => Some(unique),
        _ => None,
    }
}

/// The least or greatest item; nothing in place of an error where there is none.
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

/// JSON with sorted keys that is safe in HTML.
fn to_json(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [indent] = plain("do_tojson", "value").bind(args, 0, ["indent"])?;
    let mut options = CallArgs::positional(indent.into_iter().collect::<Vec<_>>());
    options.named.push(("sort_keys".into(), Obj::Bool(true)));
    let printed = super::serialise::tojson(vm, x, options)?;
    Ok(Obj::Markup(to_str(&printed)?.into()))
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

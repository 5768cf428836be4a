//! Python's `min` and `max`, with which Salt replaces those of Jinja2.

use std::cmp::Ordering;

use mapstack_jinja::Filters;
use mapstack_jinja::Vm;
use mapstack_jinja::call::plain;
use mapstack_pyobject::{CallArgs, Error, Obj, Result, order};

pub(super) const TABLE: Filters = &[("max", max), ("min", min)];

fn min(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("lst_min", "obj").alone(args)?;
    extreme(vm, &x, "min", "<", Ordering::Less)
}

fn max(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("lst_max", "obj").alone(args)?;
    extreme(vm, &x, "max", ">", Ordering::Greater)
}

fn extreme(vm: &Vm<'_>, x: &Obj, function: &str, symbol: &str, wanted: Ordering) -> Result<Obj> {
    let items = x.iter()?;
    let Some(mut best) = items.next(vm)? else {
        return Err(Error::value_error(format!(
            "{function}() arg is an empty sequence"
        )));
    };
    while let Some(item) = items.next(vm)? {
        if order(&item, &best, symbol)? == Some(wanted) {
            best = item;
        }
    }
    Ok(best)
}

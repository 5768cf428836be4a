//! Undefined parts of data, as Salt's filters look for them.

use std::collections::HashSet;

use mapstack_pyobject::{CallArgs, Obj, Result, Undefined};

use mapstack_jinja::Filter;
use mapstack_jinja::Vm;

/// Run a filter, unless its input holds something strictly undefined: then the result is
/// undefined, too, and says what all was missing (Salt: `_handle_strict_undefined`).
pub(super) fn guarded(vm: &Vm<'_>, x: Obj, args: CallArgs, filter: Filter) -> Result<Obj> {
    match undefined_parts(vm, &x)? {
        Some(undefined) => Ok(undefined),
        None => filter(vm, x, args),
    }
}

fn undefined_parts(vm: &Vm<'_>, x: &Obj) -> Result<Option<Obj>> {
    let mut found: Vec<String> = Vec::new();
    let mut seen: HashSet<usize> = HashSet::new();
    let mut open: Vec<Obj> = vec![x.clone()];
    while let Some(object) = open.pop() {
        vm.burn(1)?;
        match &object {
            Obj::Undefined(u) if u.strict => found.push(u.message.to_string()),
            // Unchanged data contains nothing undefined.
            Obj::List(list) if !list.is_frozen() && seen.insert(list.address()) => {
                list.read(|items| {
                    open.extend(
                        items
                            .iter()
                            .rev()
                            .filter(|i| may_hold_undefined(i))
                            .cloned(),
                    );
                });
            }
            Obj::Dict(dict) if !dict.is_frozen() && seen.insert(dict.address()) => {
                let values = dict.values();
                open.extend(values.into_iter().rev().filter(may_hold_undefined));
            }
            Obj::Tuple(items) => open.extend(
                items
                    .iter()
                    .rev()
                    .filter(|i| may_hold_undefined(i))
                    .cloned(),
            ),
            _ => {}
        }
    }
    Ok((!found.is_empty()).then(|| Undefined::hint(found.join("\n"), true).into()))
}

fn may_hold_undefined(x: &Obj) -> bool {
    matches!(
        x,
        Obj::Undefined(_) | Obj::List(_) | Obj::Dict(_) | Obj::Tuple(_)
    )
}

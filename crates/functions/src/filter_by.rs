//! What Salt's `filter_by` functions share (`salt.utils.data.filter_by`).

use mapstack_loader::Fnmatch;
use mapstack_render::jinja::Vm;
use mapstack_render::python::{hash_key, to_str};
use mapstack_render::{CallArgs, DictRef, Error, Obj, Result, required};

use super::slsutil::update;
use super::{deepcopy, if_true, look};
use crate::Context;

/// `grains.filter_by` and `pillar.filter_by`: the entry of a table that a fact picks.
///
/// `names` are the parameters in order, the second being the key of the fact.
pub(super) fn filter_by(
    run: &dyn Context,
    vm: &Vm<'_>,
    facts: &Obj,
    args: CallArgs,
    function: &str,
    names: [&str; 5],
    fact: Option<&str>,
) -> Result<Obj> {
    let [lookup, key, merge, default, base] = args.bind(function, names)?;
    let lookup = required(lookup, function, names[0])?;
    let key = key.or_else(|| fact.map(Obj::from));
    let key = required(key, function, names[1])?;
    let default = default.unwrap_or_else(|| Obj::from("default"));
    let Obj::Dict(table) = &lookup else {
        return Err(Error::python(
            "AttributeError",
            format!("'{}' object has no attribute 'get'", lookup.type_name()),
        ));
    };
    let found = look(run, facts, &key, ":")?;
    let mut result = pick(vm, table, found)?;
    if result.is_none() {
        result = table.get(&hash_key(&default)?).unwrap_or_default();
    }
    if let Some(base) = if_true(base)?
        && let Some(base) = table.get(&hash_key(&base)?)
    {
        result = over(&base, result)?;
    }
    let Some(merge) = if_true(merge)? else {
        return Ok(result);
    };
    if !matches!(merge, Obj::Dict(_)) {
        return Err(Error::python(
            "SaltException",
            "filter_by merge argument must be a dictionary.",
        ));
    }
    if result.is_none() {
        return Ok(merge);
    }
    update(&result, &deepcopy(&merge)?, true, &Obj::Bool(false))?;
    Ok(result)
}

/// The first entry that is not `None` under a pattern that fits one of the fact's values.
fn pick(vm: &Vm<'_>, table: &DictRef, found: Option<Obj>) -> Result<Obj> {
    let values = match found {
        Some(Obj::List(list)) => list.items(),
        Some(value) => vec![value],
        None => Vec::new(),
    };
    let keys = table.keys();
    for value in values {
        let text = to_str(&value)?;
        for key in &keys {
            vm.burn(1 + text.len() / 16)?;
            if Fnmatch::new(&key.to_string()).matches(&text) {
                match table.get(key) {
                    None | Some(Obj::None) => break,
                    Some(entry) => return Ok(entry),
                }
            }
        }
    }
    Ok(Obj::None)
}

/// What was picked, over a copy of the base.
fn over(base: &Obj, picked: Obj) -> Result<Obj> {
    match (base, picked) {
        (base, Obj::None) => Ok(base.clone()),
        (Obj::Dict(_), picked @ Obj::Dict(_)) => {
            let merged = deepcopy(base)?;
            update(&merged, &picked, true, &Obj::Bool(false))?;
            Ok(merged)
        }
        (Obj::Dict(_), _) => {
            let message = "filter_by default and look-up values must both be dictionaries.";
            Err(Error::python("SaltException", message))
        }
        (_, picked) => Ok(picked),
    }
}

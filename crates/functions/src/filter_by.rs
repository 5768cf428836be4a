//! The code that Salt's `filter_by` functions share (`salt.utils.data.filter_by`).

use mapstack_pyobject::{CallArgs, DictRef, Error, Obj, Result, required};
use mapstack_salt_jinja::{
    Vm,
    python::{hash_key, to_str},
};
use mapstack_value::Key;
use mapstack_value::pytext::Fnmatch;

use super::slsutil::update;
use super::{deepcopy, if_true, look};
use crate::{Context, Flow};

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
    let found = look(run, facts, &key, ":")?;
    let Obj::Dict(table) = &lookup else {
        return Err(no_table(vm, &lookup, &values(found))?);
    };
    let mut result = match pick(vm, table, found)? {
        Some(picked) => {
            picked.report(
                run,
                &lookup,
                &format!("{}@{}", matcher(names[1]), to_str(&key)?),
            );
            picked.entry
        }
        None => entry(run, &lookup, table, &default)?.unwrap_or_default(),
    };
    if let Some(base) = if_true(base)?
        && let Some(base) = entry(run, &lookup, table, &base)?
    {
        result = over(run, &base, result)?;
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
    let merge = copied(run, &merge)?;
    update(run, &result, &merge, true, &Obj::Bool(false))?;
    Ok(result)
}

/// The kind of a matcher that looks a fact up, for a parameter that names the fact.
fn matcher(parameter: &str) -> &'static str {
    match parameter {
        "grain" => "G",
        _ => "I",
    }
}

/// The entry of the table under a given key.
fn entry(run: &dyn Context, lookup: &Obj, table: &DictRef, key: &Obj) -> Result<Option<Obj>> {
    let key = hash_key(key)?;
    let found = table.get(&key);
    if let Some(is) = &found {
        run.flows(Flow::Entry {
            of: lookup,
            at: &key,
            is,
        });
    }
    Ok(found)
}

/// `copy.deepcopy`, reported.
pub(super) fn copied(run: &dyn Context, of: &Obj) -> Result<Obj> {
    let copy = deepcopy(of)?;
    run.flows(Flow::Copy { of, is: &copy });
    Ok(copy)
}

/// An entry that a fact picked.
struct PickedEntry {
    key: Key,
    /// The value of the fact that the key fits.
    value: Obj,
    entry: Obj,
}

impl PickedEntry {
    fn report(&self, run: &dyn Context, lookup: &Obj, matcher: &str) {
        if !run.is_followed() {
            return;
        }
        let is = &self.entry;
        run.flows(Flow::Entry {
            of: lookup,
            at: &self.key,
            is,
        });
        if let Ok(found) = &self.value.to_value() {
            run.flows(Flow::Picked { matcher, found, is });
        }
    }
}

/// The error of a table that is not a mapping: a loop over it comes first, for each value of the fact.
fn no_table(vm: &Vm<'_>, lookup: &Obj, values: &[Obj]) -> Result<Box<Error>> {
    let kind = lookup.type_name();
    let no_get = Error::python(
        "AttributeError",
        format!("'{kind}' object has no attribute 'get'"),
    );
    if values.is_empty() {
        return Ok(no_get);
    }
    let Ok(patterns) = lookup.collect(vm) else {
        let message = format!("'{kind}' object is not iterable");
        return Ok(Error::python("TypeError", message));
    };
    for value in values {
        let text = to_str(value)?;
        for pattern in &patterns {
            vm.burn(1 + text.len() / 16)?;
            if Fnmatch::new(&to_str(pattern)?).matches(&text) {
                return Ok(Error::python("TypeError", no_index(lookup, pattern)));
            }
        }
    }
    Ok(no_get)
}

/// The message of a value that cannot be an index of a list or a text.
fn no_index(lookup: &Obj, index: &Obj) -> String {
    let index = index.type_name();
    match lookup {
        Obj::Str(_) | Obj::Markup(_) => format!("string indices must be integers, not '{index}'"),
        _ => format!(
            "{} indices must be integers or slices, not {index}",
            lookup.type_name()
        ),
    }
}

/// The values of a fact.
fn values(found: Option<Obj>) -> Vec<Obj> {
    match found {
        Some(Obj::List(list)) => list.items(),
        Some(value) => vec![value],
        None => Vec::new(),
    }
}

/// The first entry that is not `None` under a pattern that fits one of the fact's values.
fn pick(vm: &Vm<'_>, table: &DictRef, found: Option<Obj>) -> Result<Option<PickedEntry>> {
    let keys = table.keys();
    for value in values(found) {
        let text = to_str(&value)?;
        for key in &keys {
            vm.burn(1 + text.len() / 16)?;
            if Fnmatch::new(&key.to_string()).matches(&text) {
                match table.get(key) {
                    None | Some(Obj::None) => break,
                    Some(entry) => {
                        let key = key.clone();
                        return Ok(Some(PickedEntry { key, value, entry }));
                    }
                }
            }
        }
    }
    Ok(None)
}

/// The picked value, over a copy of the base.
fn over(run: &dyn Context, base: &Obj, picked: Obj) -> Result<Obj> {
    match (base, picked) {
        (base, Obj::None) => Ok(base.clone()),
        (Obj::Dict(_), picked @ Obj::Dict(_)) => {
            let merged = copied(run, base)?;
            update(run, &merged, &picked, true, &Obj::Bool(false))?;
            Ok(merged)
        }
        (Obj::Dict(_), _) => {
            let message = "filter_by default and look-up values must both be dictionaries.";
            Err(Error::python("SaltException", message))
        }
        (_, picked) => Ok(picked),
    }
}

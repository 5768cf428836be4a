//! `pillar.*`: data from the master for the minion. The pillar is the one the minion was given; nothing
//! compiles it again.

use mapstack_loader::{Fetched, SaltPath};
use mapstack_merge::{Options, Strategy};
use mapstack_minion::{Part, PillarGet};
use mapstack_pyobject::{CallArgs, DictRef, Error, ErrorKind, Obj, Result, required};
use mapstack_salt_jinja::{
    Vm,
    python::{endless, hash_key},
};
use mapstack_value::Key;

use super::{ModuleTable, comparable, delimiter, failed, filter_by, look, truth_or};
use crate::flow::steps;
use crate::{Context, Flow};

pub(super) const TABLE: ModuleTable = &[
    ("pillar.data", |run, _, args| {
        items(run, args, "pillar.data")
    }),
    ("pillar.fetch", get),
    (FILE_EXISTS, file_exists),
    ("pillar.filter_by", |run, vm, args| {
        let names = ["lookup_dict", "pillar", "merge", "default", "base"];
        filter_by::filter_by(run, vm, run.pillar(), args, "pillar.filter_by", names, None)
    }),
    ("pillar.get", get),
    ("pillar.item", item),
    ("pillar.items", |run, _, args| {
        items(run, args, "pillar.items")
    }),
    ("pillar.keys", |run, _, args| {
        let [key, delim, _unmask] = args.bind("pillar.keys", ["key", "delimiter", "unmask"])?;
        let key = required(key, "pillar.keys", "key")?;
        let delim = delimiter(delim, "pillar.keys")?;
        match look(run, run.pillar(), &key, &delim)? {
            Some(Obj::Dict(dict)) => Ok(Obj::list(
                dict.keys().iter().map(Obj::from).collect::<Vec<_>>(),
            )),
            Some(_) => Err(Error::value_error(format!(
                "Pillar value in key {key:?} is not a dict"
            ))),
            None => Err(not_found(&key)),
        }
    }),
    ("pillar.ls", |run, _, args| {
        let found = items(run, args, "pillar.ls")?;
        let Obj::Dict(found) = found else {
            return Ok(Obj::list([]));
        };
        Ok(Obj::list(
            found.keys().iter().map(Obj::from).collect::<Vec<_>>(),
        ))
    }),
    ("pillar.obfuscate", |run, vm, args| {
        obfuscated(vm, &items(run, args, "pillar.obfuscate")?, MAX_DEPTH)
    }),
    ("pillar.raw", |run, _, args| {
        let [key, unmask] = args.bind("pillar.raw", ["key", "unmask"])?;
        masks(unmask)?;
        let Obj::Dict(pillar) = run.pillar() else {
            return Ok(Obj::dict([]));
        };
        match key {
            Some(key) if key.truthy()? => Ok(pillar
                .get(&hash_key(&key)?)
                .unwrap_or_else(|| Obj::dict([]))),
            _ => Ok(Obj::Dict(copied(pillar))),
        }
    }),
];

/// The function that asks for files of the pillar.
const FILE_EXISTS: &str = "pillar.file_exists";

/// True if only templates of a pillar are answered a function.
///
/// A minion has the function as well, but not the files that it looks for.
///
/// ```
/// assert!(mapstack_functions::is_for_masters("pillar.file_exists"));
/// assert!(!mapstack_functions::is_for_masters("pillar.get"));
/// ```
#[must_use]
pub fn is_for_masters(name: &str) -> bool {
    name == FILE_EXISTS
}

/// True if a directory of the pillar's roots has a file.
fn file_exists(run: &dyn Context, _: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let [path, saltenv] = args.bind(FILE_EXISTS, ["path", "saltenv"])?;
    let path = required(path, FILE_EXISTS, "path")?;
    let roots = run.option("pillar_roots");
    let roots = roots.as_map().filter(|roots| !roots.is_empty());
    let roots = roots
        .ok_or_else(|| Error::new(ErrorKind::Salt, "the master's options have no pillar_roots"))?;
    let saltenv = saltenv.filter(|env| env.truthy().unwrap_or(true));
    let wanted = saltenv.map(|env| hash_key(&env)).transpose()?;
    let is_wanted = |env: &&Key| wanted.as_ref().is_none_or(|wanted| *env == wanted);
    let Some(path) = path.as_str() else {
        let message = format!(
            "join() argument must be str, bytes, or os.PathLike object, not '{}'",
            path.type_name()
        );
        return Err(Error::type_error(message));
    };
    let Some(asked) = inside_roots(path)? else {
        return Ok(Obj::Bool(false));
    };
    for env in roots.keys().filter(is_wanted) {
        match run
            .fetch_of_pillar(&asked, &env.to_string())
            .map_err(|e| failed(&e))?
        {
            Some(Fetched::Found { .. }) => return Ok(Obj::Bool(true)),
            Some(Fetched::Missing) | None => {}
            Some(Fetched::Refused { reason } | Fetched::Unusable { reason }) => {
                let message = format!("{FILE_EXISTS}: {path} of the pillar is not read: {reason}");
                return Err(Error::new(ErrorKind::Salt, message));
            }
        }
    }
    Ok(Obj::Bool(false))
}

/// The path below the pillar's roots; `None` if it can only be that of a directory.
fn inside_roots(path: &str) -> Result<Option<SaltPath>> {
    if path.starts_with('/') || path.split('/').any(|part| part == "..") {
        let message = format!("{FILE_EXISTS}: '{path}' can lead out of the pillar's roots");
        return Err(Error::new(ErrorKind::Salt, message)
            .with_help("write the path below a root, without '..'"));
    }
    if path
        .rsplit('/')
        .next()
        .is_none_or(|name| matches!(name, "" | "."))
    {
        return Ok(None);
    }
    Ok(Some(SaltPath::from_relative(path)))
}

fn copied(dict: &DictRef) -> DictRef {
    DictRef::new(dict.entries().into_iter().collect())
}

fn not_found(key: &Obj) -> Box<Error> {
    Error::python("KeyError", format!("Pillar key not found: {key:?}"))
}

fn get(run: &dyn Context, _: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let names = [
        "key",
        "default",
        "merge",
        "merge_nested_lists",
        "delimiter",
        "pillarenv",
        "saltenv",
        "unmask",
    ];
    let [
        key,
        default,
        merge,
        merge_nested_lists,
        delim,
        _pillarenv,
        _saltenv,
        unmask,
    ] = args.bind("pillar.get", names)?;
    let key = required(key, "pillar.get", "key")?;
    let delim = delimiter(delim, "pillar.get")?;
    // The reference compares it with its own default.
    comparable(default.as_ref())?;
    masks(unmask)?;
    if !truth_or(merge, false)? {
        return match (look(run, run.pillar(), &key, &delim)?, default) {
            (Some(found), _) => Ok(reported(run, &key, &delim, found)),
            (None, Some(default)) => {
                run.flows(Flow::Default { is: &default });
                Ok(default)
            }
            (None, None) if run.option("pillar_raise_on_missing").truthy() => Err(not_found(&key)),
            (None, None) => Ok(Obj::from("")),
        };
    }
    let under = default.clone();
    let query = PillarGet {
        default: default.map(|d| d.to_value()).transpose()?,
        merge: true,
        merge_nested_lists: merge_nested_lists
            .filter(is_given)
            .map(|n| n.truthy())
            .transpose()?,
        delimiter: delim.to_string(),
    };
    let merged = run
        .pillar_get(&key.to_value()?, &query)
        .map(Obj::from)
        .map_err(|e| failed(&e))?;
    if run.is_followed() {
        let over = look(run, run.pillar(), &key, &delim)?;
        let over = over.map(|found| reported(run, &key, &delim, found));
        report_merge(run, under, over, &query, &merged);
    }
    Ok(merged)
}

/// A value of the pillar, reported.
fn reported(run: &dyn Context, key: &Obj, delimiter: &str, found: Obj) -> Obj {
    if run.is_followed()
        && let Ok(key) = key.to_value()
        && let Some(path) = steps(&key, delimiter)
    {
        run.flows(Flow::Fact {
            part: Part::Pillar,
            path: &path,
            is: &found,
        });
    }
    found
}

/// Report what `pillar.get` with `merge` gave: what it found, the default, or the first over the second.
fn report_merge(
    run: &dyn Context,
    under: Option<Obj>,
    over: Option<Obj>,
    query: &PillarGet,
    is: &Obj,
) {
    let options = match (&under, &over) {
        (Some(Obj::Dict(_)), Some(Obj::Dict(_))) => Options {
            strategy: Strategy::Recurse,
            merge_lists: match query.merge_nested_lists {
                Some(append) => append,
                None => run.option("pillar_merge_lists").truthy(),
            },
        },
        (Some(Obj::List(_)), Some(Obj::List(_))) => Options {
            strategy: Strategy::Aggregate,
            merge_lists: false,
        },
        _ => {
            if let Some(of) = over.or(under) {
                run.flows(Flow::Copy { of: &of, is });
            }
            return;
        }
    };
    if let (Some(base), Some(overlay)) = (&under, &over) {
        run.flows(Flow::Merge {
            base,
            overlay,
            options: &options,
            is,
        });
    }
}

/// True if something says how nested lists are merged. Something undefined is asked only where two lists meet, and then as
/// good as not given.
fn is_given(argument: &Obj) -> bool {
    !matches!(argument, Obj::None | Obj::Undefined(_))
}

/// Look whether values are masked, which they never are here, as the reference does.
fn masks(unmask: Option<Obj>) -> Result<()> {
    unmask
        .filter(|unmask| !unmask.is_none())
        .map_or(Ok(()), |unmask| unmask.truthy().map(drop))
}

fn item(run: &dyn Context, _: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let CallArgs { positional, named } = args;
    let names = ["default", "delimiter", "pillarenv", "saltenv", "unmask"];
    let [default, delim, _, _, unmask] = CallArgs {
        positional: Vec::new(),
        named,
    }
    .bind("pillar.item", names)?;
    masks(unmask)?;
    let default = default
        .filter(|default| !default.is_none())
        .unwrap_or_else(|| Obj::from(""));
    let delim = delimiter(delim.filter(|delim| !delim.is_none()), "pillar.item")?;
    picked(run, &positional, &default, &delim)
}

fn picked(run: &dyn Context, keys: &[Obj], default: &Obj, delimiter: &str) -> Result<Obj> {
    let mut found = Vec::new();
    for key in keys {
        let value = look(run, run.pillar(), key, delimiter)?.unwrap_or_else(|| default.clone());
        found.push((hash_key(key)?, value));
    }
    Ok(Obj::dict(found))
}

/// The whole pillar, or what some keys lead to.
fn items(run: &dyn Context, args: CallArgs, function: &str) -> Result<Obj> {
    let CallArgs { positional, named } = args;
    let names = ["pillar", "pillar_enc", "pillarenv", "saltenv", "unmask"];
    let [more, _, _, _, unmask] = CallArgs {
        positional: Vec::new(),
        named,
    }
    .bind(function, names)?;
    masks(unmask)?;
    if !positional.is_empty() {
        return picked(run, &positional, &Obj::from(""), ":");
    }
    if truth_or(more, false)? {
        return Err(Error::value_error(format!(
            "{function}() cannot compile the pillar with other values"
        ))
        .with_help(
            "the pillar is the one the minion was given; merge over it with slsutil.merge",
        ));
    }
    match run.pillar() {
        Obj::Dict(pillar) => Ok(Obj::Dict(copied(pillar))),
        other => Ok(other.clone()),
    }
}

/// Deeper pillars are refused.
const MAX_DEPTH: usize = 200;

/// The types of values in place of the values.
fn obfuscated(vm: &Vm<'_>, value: &Obj, depth: usize) -> Result<Obj> {
    vm.burn(1)?;
    let Some(depth) = depth.checked_sub(1) else {
        return Err(endless());
    };
    let all = |items: Vec<Obj>| {
        items
            .iter()
            .map(|item| obfuscated(vm, item, depth))
            .collect::<Result<Vec<_>>>()
    };
    match value {
        Obj::Dict(dict) => {
            let entries = dict.entries().into_iter();
            let entries = entries.map(|(key, value)| Ok((key, obfuscated(vm, &value, depth)?)));
            Ok(Obj::Dict(DictRef::with_kind(
                entries.collect::<Result<_>>()?,
                dict.kind(),
            )))
        }
        Obj::List(list) => Ok(Obj::list(all(list.items())?)),
        Obj::Tuple(items) => Ok(Obj::tuple(all(items.to_vec())?)),
        other => Ok(Obj::from(format!("<{}>", other.type_name()))),
    }
}

//! `slsutil.*`, `defaults.*`, `match.filter_by` and other functions of data alone.

use mapstack_merge::{Options, merge};
use mapstack_render::{DictRef, Error, ErrorKind, Obj, Result, required};
use mapstack_value::Value;

use super::{Table, data_or, text, truth_or};
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
    ("defaults.merge", |_, _, args| {
        let [dest, src, lists, in_place, convert_none] =
            args.bind("defaults.merge", ["dest", "src", "merge_lists", "in_place", "convert_none"])?;
        let dest = required(dest, "defaults.merge", "dest")?;
        let src = required(src, "defaults.merge", "src")?;
        let lists = truth_or(lists, false)?;
        defaults_merge(dest, src, lists, truth_or(in_place, true)?, truth_or(convert_none, true)?)
    }),
    ("defaults.deepcopy", |_, _, args| {
        let [source] = args.bind("defaults.deepcopy", ["source"])?;
        required(source, "defaults.deepcopy", "source")?.to_value().map(Obj::from)
    }),
    ("defaults.update", |_, _, args| {
        let [dest, defaults, lists, in_place, convert_none] =
            args.bind("defaults.update", ["dest", "defaults", "merge_lists", "in_place", "convert_none"])?;
        let dest = required(dest, "defaults.update", "dest")?;
        let defaults = required(defaults, "defaults.update", "defaults")?;
        let (lists, convert) = (truth_or(lists, true)?, truth_or(convert_none, true)?);
        defaults_update(dest, &defaults, lists, truth_or(in_place, true)?, convert)
    }),
    ("match.filter_by", |run, _, args| {
        let [lookup, minion_id, merge, base, default] =
            args.bind("match.filter_by", ["lookup", "minion_id", "merge", "base", "default"])?;
        let _ = (lookup, minion_id, merge, base, default, run);
        Err(Error::new(ErrorKind::Salt, "match.filter_by needs compound matching, which is not built in")
            .with_help("grains.filter_by does the same by one grain"))
    }),
    ("file.dirname", |_, _, args| {
        let [path] = args.bind("file.dirname", ["path"])?;
        let path = text(&required(path, "file.dirname", "path")?, "file.dirname", "path")?;
        Ok(Obj::from(dirname(&path)))
    }),
    ("file.basename", |_, _, args| {
        let [path] = args.bind("file.basename", ["path"])?;
        let path = text(&required(path, "file.basename", "path")?, "file.basename", "path")?;
        Ok(Obj::from(path.rsplit('/').next().unwrap_or_default()))
    }),
    ("file.join", |_, _, args| {
        let parts: Vec<_> = args.positional.iter().map(|p| text(p, "file.join", "args")).collect::<Result<_>>()?;
        Ok(Obj::from(join_paths(&parts)))
    }),
    ("cp.list_master", |run, _, args| {
        let [_saltenv, prefix] = args.bind("cp.list_master", ["saltenv", "prefix"])?;
        let prefix = prefix.map_or_else(|| Ok("".into()), |p| text(&p, "cp.list_master", "prefix"))?;
        let listed = run.list_files(&prefix).map_err(|e| super::failed(&e))?;
        Ok(Obj::list(listed.into_iter().map(Obj::from).collect::<Vec<_>>()))
    }),
    ("cp.get_file_str", |run, _, args| {
        let [path, _saltenv] = args.bind("cp.get_file_str", ["path", "saltenv"])?;
        let path = text(&required(path, "cp.get_file_str", "path")?, "cp.get_file_str", "path")?;
        file_text(run, path.strip_prefix("salt://").unwrap_or(&path))
    }),
];

/// `os.path.dirname`.
fn dirname(path: &str) -> &str {
    let Some(slash) = path.rfind('/') else { return "" };
    let head = &path[..=slash];
    let trimmed = head.trim_end_matches('/');
    if trimmed.is_empty() { head } else { trimmed }
}

/// `os.path.join`.
fn join_paths(parts: &[mapstack_value::Str]) -> String {
    let mut joined = String::new();
    for part in parts {
        if part.starts_with('/') {
            joined.clear();
        } else if !joined.is_empty() && !joined.ends_with('/') {
            joined.push('/');
        }
        joined.push_str(part);
    }
    joined
}

fn file_text(run: &Run<'_>, path: &str) -> Result<Obj> {
    match run.fetch_template(path).map_err(|e| super::failed(&e))? {
        Some(file) => Ok(Obj::from(file.text().map_err(|e| super::failed(&e))?.to_string())),
        None => Ok(Obj::Bool(false)),
    }
}

fn merged(run: &Run<'_>, base: Value, overlay: &Value, strategy: &Value, lists: &Value) -> Result<Value> {
    let options = Options::new(strategy, lists);
    if let Some(message) = options.strategy.warning() {
        run.warn(crate::Diagnostic::warning(crate::ErrorKind::Merge, format!("slsutil.merge: {message}")));
    }
    merge(base, overlay, &options, &mut ()).map_err(|e| Error::type_error(e.to_string()))
}

/// `dictupdate.update`: merge into a dict that others may hold, too. What is new in it is the very
/// object that was given.
fn update(dest: &Obj, upd: &Obj, recursive: bool, lists: bool) -> Result<()> {
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

fn deepcopy(object: &Obj) -> Result<Obj> {
    object.to_value().map(Obj::from)
}

/// `defaults.merge`.
fn defaults_merge(dest: Obj, src: Obj, lists: bool, in_place: bool, convert_none: bool) -> Result<Obj> {
    let src = if src.is_none() && convert_none { Obj::dict([]) } else { src };
    let merged = match dest {
        Obj::None if convert_none && in_place => {
            return Err(Error::type_error("Can't perform in-place merge into NoneType"));
        }
        Obj::None if convert_none => Obj::dict([]),
        dest if in_place => dest,
        dest => deepcopy(&dest)?,
    };
    update(&merged, &src, true, lists)?;
    Ok(merged)
}

/// `defaults.update`: every item of a mapping over a copy of the defaults.
fn defaults_update(dest: Obj, defaults: &Obj, lists: bool, in_place: bool, convert_none: bool) -> Result<Obj> {
    let nodes = match dest {
        Obj::None if in_place => return Err(Error::type_error("Can't perform in-place update into NoneType")),
        Obj::None if convert_none => Obj::dict([]),
        dest if in_place => dest,
        dest => deepcopy(&dest)?,
    };
    let defaults = if defaults.is_none() && convert_none { Obj::dict([]) } else { defaults.clone() };
    let Obj::Dict(dict) = &nodes else {
        return Err(Error::python(
            "AttributeError",
            format!("'{}' object has no attribute 'items'", nodes.type_name()),
        ));
    };
    for (key, node) in dict.entries() {
        dict.insert(key, defaults_merge(deepcopy(&defaults)?, node, lists, true, convert_none)?);
    }
    Ok(nodes)
}

/// The shared part of Salt's `filter_by` functions (`salt.utils.data.filter_by`).
pub(super) fn filter_by(
    lookup: &Value,
    found: Option<&Value>,
    merge: &Value,
    default: &Value,
    base: &Value,
) -> Result<Value> {
    let Value::Map(table) = lookup else {
        return Err(Error::type_error(format!("filter_by() needs a mapping, not {}", lookup.kind().described())));
    };
    let candidates: Vec<Value> = match found {
        Some(Value::List(items)) => items.to_vec(),
        Some(value) => vec![value.clone()],
        None => Vec::new(),
    };
    let mut picked = None;
    for candidate in candidates {
        let text = candidate.to_string();
        picked = table
            .iter()
            .find(|(key, _)| fnmatch(&key.to_string(), &text))
            .map(|(_, value)| value.clone())
            .filter(|value| !value.is_none());
        if picked.is_some() {
            break;
        }
    }
    let fallback = || mapstack_value::Key::try_from(default).ok().and_then(|key| table.get(&key)).cloned();
    let mut result = picked.or_else(fallback).unwrap_or(Value::None);
    if base.truthy()
        && let Some(base) = mapstack_value::Key::try_from(base).ok().and_then(|key| table.get(&key))
    {
        result = match (result, base) {
            (Value::None, base) => base.clone(),
            (result @ Value::Map(_), base @ Value::Map(_)) => recurse(base.clone(), &result)?,
            (_, Value::Map(_)) => {
                let message = "filter_by default and look-up values must both be dictionaries.";
                return Err(Error::new(ErrorKind::Salt, message));
            }
            (result, _) => result,
        };
    }
    if merge.truthy() {
        if !matches!(merge, Value::Map(_)) {
            return Err(Error::new(ErrorKind::Salt, "filter_by merge argument must be a dictionary."));
        }
        result = if result.is_none() { merge.clone() } else { recurse(result, merge)? };
    }
    Ok(result)
}

fn recurse(base: Value, overlay: &Value) -> Result<Value> {
    merge(base, overlay, &Options::new(&"recurse".into(), &Value::Bool(false)), &mut ())
        .map_err(|e| Error::type_error(e.to_string()))
}

/// Whether a text matches a shell pattern, as Python's `fnmatch`.
fn fnmatch(pattern: &str, text: &str) -> bool {
    // A bracket that is not closed stands for itself.
    glob::Pattern::new(pattern).map_or(pattern == text, |p| p.matches(text))
}

//! `slsutil.*`, `defaults.*`, `match.filter_by` and other functions of data alone.

use mapstack_merge::{Options, merge};
use mapstack_render::{DictRef, Error, ErrorKind, Obj, Result, required};
use mapstack_value::{Map, Value};

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
    ("slsutil.update", |run, _, args| {
        let [dest, upd, recursive, lists] =
            args.bind("slsutil.update", ["dest", "upd", "recursive_update", "merge_lists"])?;
        let dest = required(dest, "slsutil.update", "dest")?;
        let upd = required(upd, "slsutil.update", "upd")?.to_value()?;
        let strategy = if truth_or(recursive, true)? { "recurse" } else { "overwrite" };
        update_in_place(run, &dest, &upd, strategy, truth_or(lists, false)?)?;
        Ok(dest)
    }),
    ("slsutil.boolstr", |_, _, args| {
        let [value, yes, no] = args.bind("slsutil.boolstr", ["value", "true", "false"])?;
        let value = required(value, "slsutil.boolstr", "value")?;
        let (yes, no) = (yes.unwrap_or_else(|| Obj::from("true")), no.unwrap_or_else(|| Obj::from("false")));
        Ok(if value.truthy()? { yes } else { no })
    }),
    ("defaults.merge", |run, _, args| {
        let [dest, src, lists, in_place, convert_none] =
            args.bind("defaults.merge", ["dest", "src", "merge_lists", "in_place", "convert_none"])?;
        let dest = required(dest, "defaults.merge", "dest")?;
        let convert = truth_or(convert_none, true)?;
        let src = required(src, "defaults.merge", "src")?.to_value()?;
        let (dest, src) = match (dest, src) {
            (Obj::None, Value::None) if convert => (Obj::dict([]), Value::map()),
            (Obj::None, src) if convert => (Obj::dict([]), src),
            (dest, Value::None) if convert => (dest, Value::map()),
            pair => pair,
        };
        let lists = truth_or(lists, false)?;
        if truth_or(in_place, true)? {
            update_in_place(run, &dest, &src, "recurse", lists)?;
            return Ok(dest);
        }
        merged(run, dest.to_value()?, &src, &"recurse".into(), &lists.into()).map(Obj::from)
    }),
    ("defaults.deepcopy", |_, _, args| {
        let [source] = args.bind("defaults.deepcopy", ["source"])?;
        required(source, "defaults.deepcopy", "source")?.to_value().map(Obj::from)
    }),
    ("defaults.update", |run, _, args| {
        let [dest, defaults, lists, in_place, convert_none] =
            args.bind("defaults.update", ["dest", "defaults", "merge_lists", "in_place", "convert_none"])?;
        let dest = required(dest, "defaults.update", "dest")?;
        let defaults = required(defaults, "defaults.update", "defaults")?.to_value()?;
        let (lists, convert) = (truth_or(lists, true)?, truth_or(convert_none, true)?);
        update_each(run, dest, &defaults, lists, truth_or(in_place, true)?, convert)
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

/// Merge into a dict that others may hold, too.
fn update_in_place(run: &Run<'_>, dest: &Obj, upd: &Value, strategy: &str, lists: bool) -> Result<()> {
    let Obj::Dict(dict) = dest else {
        return Err(Error::type_error("Cannot update using non-dict types in dictupdate.update()"));
    };
    let Value::Map(upd) = upd else {
        return Err(Error::type_error("Cannot update using non-dict types in dictupdate.update()"));
    };
    if strategy == "overwrite" {
        for (key, value) in upd {
            dict.insert(key.clone(), Obj::from(value.clone()));
        }
        return Ok(());
    }
    let _ = run;
    update_dict(dict, upd, lists)
}

/// Recurse through live dicts, so that every name of a nested dict sees the change.
fn update_dict(dict: &DictRef, upd: &Map, lists: bool) -> Result<()> {
    for (key, value) in upd {
        match (dict.get(key), value) {
            (Some(Obj::Dict(inner)), Value::Map(upd)) => update_dict(&inner, upd, lists)?,
            (Some(Obj::List(old)), Value::List(new)) if lists => {
                let known = Obj::List(old.clone()).to_value()?;
                let known = known.as_list().unwrap_or_default();
                let new = new.iter().filter(|item| !known.contains(item)).cloned().map(Obj::from);
                let all: Vec<Obj> = old.items().into_iter().chain(new).collect();
                dict.insert(key.clone(), Obj::list(all));
            }
            _ => dict.insert(key.clone(), Obj::from(value.clone())),
        }
    }
    Ok(())
}

/// `defaults.update`: merge defaults under every item of a mapping.
fn update_each(run: &Run<'_>, dest: Obj, defaults: &Value, lists: bool, in_place: bool, convert: bool) -> Result<Obj> {
    let nodes = if in_place { dest.clone() } else { Obj::from(dest.to_value()?) };
    let Obj::Dict(dict) = &nodes else {
        return Err(Error::type_error(format!("'{}' object has no attribute 'items'", nodes.type_name())));
    };
    for (key, node) in dict.entries() {
        let node = match node.to_value()? {
            Value::None if convert => Value::map(),
            node => node,
        };
        let merged = merged(run, defaults.clone(), &node, &"recurse".into(), &lists.into())?;
        dict.insert(key, Obj::from(merged));
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
            .find(|(key, _)| {
                let pattern = key.to_string();
                pattern == text || fnmatch(&pattern, &text)
            })
            .map(|(_, value)| value.clone());
        if picked.is_some() {
            break;
        }
    }
    let fallback = || mapstack_value::Key::try_from(default).ok().and_then(|key| table.get(&key)).cloned();
    let mut result = picked.or_else(fallback).unwrap_or(Value::None);
    if base.truthy()
        && let Some(base) = mapstack_value::Key::try_from(base).ok().and_then(|key| table.get(&key))
    {
        result = if result.is_none() { base.clone() } else { recurse(base.clone(), &result)? };
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
    glob::Pattern::new(pattern).is_ok_and(|p| p.matches(text))
}

//! `pillar.*`.

use mapstack_minion::PillarGet;
use mapstack_render::{Error, Obj, required};
use mapstack_value::{Key, Value};

use super::{Table, data_or, delimiter, failed, truth_or};

pub(super) const TABLE: Table = &[
    ("pillar.get", |run, _, args| {
        let [key, default, merge, merge_nested_lists, delim, _pillarenv, _saltenv] = args.bind(
            "pillar.get",
            ["key", "default", "merge", "merge_nested_lists", "delimiter", "pillarenv", "saltenv"],
        )?;
        let key = required(key, "pillar.get", "key")?.to_value()?;
        let delim = delimiter(delim, "pillar.get")?;
        if !truth_or(merge, false)? {
            if let Some(found) = run.traverse_live(&run.live.pillar, &key, &delim)? {
                return Ok(found);
            }
            return match default {
                Some(default) => Ok(default),
                None if run.option("pillar_raise_on_missing").truthy() => {
                    Err(Error::python("KeyError", format!("Pillar key not found: {key}")))
                }
                None => Ok(Obj::from("")),
            };
        }
        let query = PillarGet {
            default: default.map(|d| d.to_value()).transpose()?,
            merge: true,
            merge_nested_lists: merge_nested_lists.filter(|n| !n.is_none()).map(|n| n.truthy()).transpose()?,
            delimiter: delim.to_string(),
        };
        run.pillar_get(&key, &query).map(Obj::from).map_err(|e| failed(&e))
    }),
    ("pillar.filter_by", |run, _, args| {
        let [lookup, pillar, merge, default, base] =
            args.bind("pillar.filter_by", ["lookup_dict", "pillar", "merge", "default", "base"])?;
        let lookup = required(lookup, "pillar.filter_by", "lookup_dict")?.to_value()?;
        let key = required(pillar, "pillar.filter_by", "pillar")?.to_value()?;
        let (merge, base) = (data_or(merge, Value::None)?, data_or(base, Value::None)?);
        let default = data_or(default, "default")?;
        let found = run.traverse_live(&run.live.pillar, &key, ":")?.map(|v| v.to_value()).transpose()?;
        super::filter_by::filter_by(&lookup, found.as_ref(), &merge, &default, &base).map(Obj::from)
    }),
    ("pillar.items", |run, _, args| {
        if args.positional.is_empty() {
            return Ok(Obj::from(run.live.pillar.to_value()?));
        }
        Err(Error::type_error("pillar.items() takes no arguments here: the pillar is the one the minion was given"))
    }),
    ("pillar.data", |run, _, _| Ok(Obj::from(run.live.pillar.to_value()?))),
    ("pillar.raw", |run, _, args| {
        let [key] = args.bind("pillar.raw", ["key"])?;
        let whole = run.live.pillar.to_value()?;
        let Some(key) = key.filter(|k| k.truthy().unwrap_or(false)) else { return Ok(Obj::from(whole)) };
        let key = Key::try_from(&key.to_value()?).map_err(|e| Error::type_error(e.to_string()))?;
        Ok(whole.as_map().and_then(|m| m.get(&key)).cloned().map_or_else(|| Obj::dict([]), Obj::from))
    }),
    ("pillar.item", |run, _, args| {
        let mut found = Vec::new();
        for key in &args.positional {
            let key = key.to_value()?;
            let value = run.traverse_live(&run.live.pillar, &key, ":")?.unwrap_or_else(|| Obj::from(""));
            found.push((Key::try_from(&key).map_err(|e| Error::type_error(e.to_string()))?, value));
        }
        Ok(Obj::dict(found))
    }),
    ("pillar.keys", |run, _, args| {
        let [key, delim] = args.bind("pillar.keys", ["key", "delimiter"])?;
        let key = required(key, "pillar.keys", "key")?.to_value()?;
        let delim = delimiter(delim, "pillar.keys")?;
        match run.traverse_live(&run.live.pillar, &key, &delim)? {
            Some(Obj::Dict(dict)) => Ok(Obj::list(dict.keys().iter().map(Obj::from).collect::<Vec<_>>())),
            Some(other) => {
                Err(Error::value_error(format!("Pillar value in key {key} is not a dict but {}", other.type_name())))
            }
            None => Err(Error::python("KeyError", format!("Pillar key not found: {key}"))),
        }
    }),
];

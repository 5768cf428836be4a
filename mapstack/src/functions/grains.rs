//! `grains.*`.

use mapstack_render::{Error, Obj, required};
use mapstack_value::{Key, Value};

use super::{Table, data_or, delimiter};

pub(super) const TABLE: Table = &[
    ("grains.get", |run, _, args| {
        let [key, default, delim, _ordered] = args.bind("grains.get", ["key", "default", "delimiter", "ordered"])?;
        let key = required(key, "grains.get", "key")?.to_value()?;
        let delim = delimiter(delim, "grains.get")?;
        let found = run.traverse_live(&run.live.grains, &key, &delim)?;
        Ok(found.or(default).unwrap_or_else(|| Obj::from("")))
    }),
    ("grains.items", |run, _, args| {
        let [_sanitize] = args.bind("grains.items", ["sanitize"])?;
        Ok(Obj::from(run.live.grains.to_value()?))
    }),
    ("grains.item", |run, _, args| {
        let mut found = Vec::new();
        for key in &args.positional {
            let key = key.to_value()?;
            if let Some(value) = run.traverse_live(&run.live.grains, &key, ":")? {
                found.push((key_of(&key)?, value));
            }
        }
        Ok(Obj::dict(found))
    }),
    ("grains.has_value", |run, _, args| {
        let [key] = args.bind("grains.has_value", ["key"])?;
        let key = required(key, "grains.has_value", "key")?.to_value()?;
        let found = run.traverse_live(&run.live.grains, &key, ":")?;
        Ok(Obj::Bool(found.is_some_and(|v| v.truthy().unwrap_or(false))))
    }),
    ("grains.equals", |run, _, args| {
        let [key, value] = args.bind("grains.equals", ["key", "value"])?;
        let key = required(key, "grains.equals", "key")?.to_value()?;
        let value = required(value, "grains.equals", "value")?.to_value()?;
        let found = run.traverse_live(&run.live.grains, &key, ":")?;
        // Compared as text.
        Ok(Obj::Bool(match found {
            Some(found) => found.to_value()?.to_string() == value.to_string(),
            None => value.as_str() == Some(""),
        }))
    }),
    ("grains.ls", |run, _, args| {
        let [] = args.only_positional("grains.ls", 0)?;
        let mut names: Vec<String> = run.facts.borrow().grains.keys().map(ToString::to_string).collect();
        names.sort_unstable();
        Ok(Obj::list(names.into_iter().map(Obj::from).collect::<Vec<_>>()))
    }),
    ("grains.filter_by", |run, _, args| {
        let [lookup, grain, merge, default, base] =
            args.bind("grains.filter_by", ["lookup_dict", "grain", "merge", "default", "base"])?;
        let lookup = required(lookup, "grains.filter_by", "lookup_dict")?.to_value()?;
        let grain = data_or(grain, "os_family")?;
        let merge = data_or(merge, Value::None)?;
        let default = data_or(default, "default")?;
        let base = data_or(base, Value::None)?;
        let found = run.traverse_live(&run.live.grains, &grain, ":")?.map(|v| v.to_value()).transpose()?;
        super::filter_by::filter_by(&lookup, found.as_ref(), &merge, &default, &base).map(Obj::from)
    }),
];

fn key_of(value: &Value) -> mapstack_render::Result<Key> {
    Key::try_from(value).map_err(|e| Error::type_error(e.to_string()))
}

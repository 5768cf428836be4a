//! `config.*`.

use mapstack_minion::ConfigGet;
use mapstack_render::{Obj, required};
use mapstack_value::Value;

use super::{Table, data_or, delimiter, failed, truth_or};

pub(super) const TABLE: Table = &[
    ("config.get", |run, _, args| {
        let [key, default, delim, merge, omit_opts, omit_pillar, omit_master, omit_grains] = args.bind(
            "config.get",
            ["key", "default", "delimiter", "merge", "omit_opts", "omit_pillar", "omit_master", "omit_grains"],
        )?;
        let key = required(key, "config.get", "key")?.to_value()?;
        let query = ConfigGet {
            delimiter: delimiter(delim, "config.get")?.to_string(),
            merge: data_or(merge, Value::None)?,
            omit_opts: truth_or(omit_opts, false)?,
            omit_pillar: truth_or(omit_pillar, false)?,
            omit_master: truth_or(omit_master, false)?,
            omit_grains: truth_or(omit_grains, false)?,
        };
        let found = run.config_get(&key, &query).map_err(|e| failed(&e))?;
        Ok(found.map(Obj::from).or(default).unwrap_or_else(|| Obj::from("")))
    }),
    ("config.option", |run, _, args| {
        let [key, default, omit_opts, omit_grains, omit_pillar, omit_master, _omit_all, _wildcard] = args.bind(
            "config.option",
            ["value", "default", "omit_opts", "omit_grains", "omit_pillar", "omit_master", "omit_all", "wildcard"],
        )?;
        let key = required(key, "config.option", "value")?.to_value()?;
        // The key is one step, whatever it contains.
        let key: Value = [key].into_iter().collect();
        let query = ConfigGet {
            omit_opts: truth_or(omit_opts, false)?,
            omit_pillar: truth_or(omit_pillar, false)?,
            omit_master: truth_or(omit_master, false)?,
            omit_grains: truth_or(omit_grains, false)?,
            ..ConfigGet::default()
        };
        let found = run.config_get(&key, &query).map_err(|e| failed(&e))?;
        Ok(found.map(Obj::from).or(default).unwrap_or_else(|| Obj::from("")))
    }),
];

//! `config.*`: options first, then grains, pillar, the master's configuration and Salt's defaults.

use mapstack_minion::{ConfigGet, builtin};
use mapstack_pyobject::{CallArgs, DictRef, Error, Obj, Result, required};
use mapstack_salt_jinja::{
    Vm,
    python::{hash_key, to_str},
};
use mapstack_value::pytext::Fnmatch;
use mapstack_value::{Key, Map, Value};

use super::{ModuleTable, data_or, delimiter, failed, truth_or};
use crate::flow::steps;
use crate::{Context, Flow};

pub(super) const TABLE: ModuleTable = &[
    ("config.backup_mode", |run, vm, args| {
        let [backup] = args.bind("config.backup_mode", ["backup"])?;
        match backup {
            Some(backup) if backup.truthy()? => Ok(backup),
            _ => option(run, vm, CallArgs::positional([Obj::from("backup_mode")])),
        }
    }),
    ("config.dot_vals", |run, _, args| {
        let [value] = args.bind("config.dot_vals", ["value"])?;
        let prefix = format!(
            "{}.",
            to_str(&required(value, "config.dot_vals", "value")?)?
        );
        let facts = run.facts();
        let mut found = Map::new();
        for part in [master(&facts.pillar), facts.options()] {
            let wanted = part
                .iter()
                .filter(|(key, _)| key.as_str().is_some_and(|key| key.starts_with(&prefix)));
            found.extend(wanted.map(|(key, value)| (key.clone(), value.clone())));
        }
        Ok(Obj::from(found))
    }),
    ("config.get", |run, _, args| {
        let [
            key,
            default,
            delim,
            merge,
            omit_opts,
            omit_pillar,
            omit_master,
            omit_grains,
        ] = args.bind(
            "config.get",
            [
                "key",
                "default",
                "delimiter",
                "merge",
                "omit_opts",
                "omit_pillar",
                "omit_master",
                "omit_grains",
            ],
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
        let found = found.map(Obj::from);
        report(run, &key, &query, found.as_ref(), default.as_ref());
        Ok(found.or(default).unwrap_or_else(|| Obj::from("")))
    }),
    ("config.items", |run, _, args| {
        let [] = args.bind("config.items", [])?;
        Ok(run.opts())
    }),
    ("config.manage_mode", |_, _, args| {
        let [mode] = args.bind("config.manage_mode", ["mode"])?;
        match required(mode, "config.manage_mode", "mode")? {
            Obj::None => Ok(Obj::None),
            mode => Ok(Obj::from(normalized_mode(&to_str(&mode)?))),
        }
    }),
    ("config.merge", merge),
    ("config.option", option),
    ("config.valid_fileproto", |_, _, args| {
        let [uri] = args.bind("config.valid_fileproto", ["uri"])?;
        let uri = required(uri, "config.valid_fileproto", "uri")?;
        match (&uri, uri.as_str()) {
            (Obj::None, _) => Ok(Obj::Bool(false)),
            (_, Some(text)) => {
                let known = ["salt", "file", "http", "https", "ftp", "swift", "s3"];
                Ok(Obj::Bool(
                    scheme(text).is_some_and(|scheme| known.contains(&&*scheme)),
                ))
            }
            (other, None) => {
                let message = format!("'{}' object has no attribute 'decode'", other.type_name());
                Err(Error::python("AttributeError", message))
            }
        }
    }),
];

/// Report what `config.get` gave.
fn report(
    run: &dyn Context,
    key: &Value,
    query: &ConfigGet,
    found: Option<&Obj>,
    default: Option<&Obj>,
) {
    match (found, default) {
        (Some(is), _) => {
            if run.is_followed()
                && let Some(path) = steps(key, &query.delimiter)
            {
                run.flows(Flow::Config {
                    path: &path,
                    query,
                    is,
                });
            }
        }
        (None, Some(is)) => run.flows(Flow::Default { is }),
        (None, None) => {}
    }
}

/// The part of a URL before the colon, in lower case.
///
/// ```
/// use mapstack_functions::scheme;
/// assert_eq!(scheme("HTTPS://example.org/a").as_deref(), Some("https"));
/// assert_eq!(scheme("/etc/hosts"), None);
/// ```
#[must_use]
pub fn scheme(url: &str) -> Option<String> {
    let url: String = url
        .trim_start_matches(|c: char| c <= ' ')
        .chars()
        .filter(|c| !"\t\r\n".contains(*c))
        .collect();
    let (scheme, _) = url.split_once(':')?;
    let fits = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    (scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(fits))
        .then(|| scheme.to_lowercase())
}

/// A file mode with four digits (Salt: `salt.utils.files.normalize_mode`).
///
/// ```
/// use mapstack_functions::normalized_mode;
/// assert_eq!(normalized_mode("644"), "0644");
/// assert_eq!(normalized_mode("0o1777"), "1777");
/// ```
#[must_use]
pub fn normalized_mode(mode: &str) -> String {
    let mode = mode.replace("0o", "0");
    let digits = mode
        .trim_matches('"')
        .trim_matches('\'')
        .trim_start_matches('0');
    let (sign, digits) = match digits.strip_prefix(['+', '-']) {
        Some(rest) => digits.split_at(digits.len() - rest.len()),
        None => ("", digits),
    };
    let missing = 4_usize.saturating_sub(sign.len() + digits.chars().count());
    format!("{sign}{}{digits}", "0".repeat(missing))
}

fn master(pillar: &Map) -> Map {
    pillar
        .get("master")
        .and_then(Value::as_map)
        .cloned()
        .unwrap_or_default()
}

/// `config.option`: the key is one step, whatever it contains.
fn option(run: &dyn Context, _: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let names = [
        "value",
        "default",
        "omit_opts",
        "omit_grains",
        "omit_pillar",
        "omit_master",
        "omit_all",
        "wildcard",
    ];
    let [
        key,
        default,
        no_opts,
        no_grains,
        no_pillar,
        no_master,
        nothing,
        wildcard,
    ] = args.bind("config.option", names)?;
    let key = required(key, "config.option", "value")?;
    let (nothing, wildcard) = (truth_or(nothing, false)?, truth_or(wildcard, false)?);
    let omitted = |omit: Option<Obj>| truth_or(omit, false).map(|omit| omit || nothing);
    let default = match default {
        None | Some(Obj::None) if wildcard => Obj::dict([]),
        None | Some(Obj::None) => Obj::from(""),
        Some(default) => default,
    };
    let pillar = run.pillar().clone();
    let of_master = match &pillar {
        Obj::Dict(pillar) => pillar.get_str("master"),
        _ => None,
    };
    let places = [
        (omitted(no_opts)?, run.opts()),
        (omitted(no_grains)?, run.grains().clone()),
        (omitted(no_pillar)?, pillar),
        (omitted(no_master)?, of_master.unwrap_or_default()),
        (false, Obj::from(builtin::defaults().clone())),
    ];
    let places = places.iter().filter_map(|(omit, place)| match place {
        Obj::Dict(dict) if !omit => Some(dict),
        _ => None,
    });
    if !wildcard {
        let key = hash_key(&key)?;
        let found = places.map(|place| place.get(&key)).find_map(|found| found);
        return Ok(found.unwrap_or(default));
    }
    let Some(pattern) = key.as_str() else {
        let message = format!("a pattern must be text, not {}", key.type_name());
        return Err(Error::type_error(message));
    };
    let places: Vec<_> = places.collect();
    let found = options_like(&Fnmatch::new(pattern), &places);
    Ok(if found.is_empty() {
        default
    } else {
        Obj::dict(found)
    })
}

/// The options whose names match a pattern, from several places. What comes later gives way, except that Salt's
/// defaults, which are last, come behind everything.
fn options_like(pattern: &Fnmatch, places: &[&DictRef]) -> Vec<(Key, Obj)> {
    let mut found: Vec<(Key, Obj)> = Vec::new();
    let Some((last, others)) = places.split_last() else {
        return found;
    };
    for (place, replaces) in others
        .iter()
        .rev()
        .map(|place| (place, true))
        .chain([(last, false)])
    {
        for (key, value) in place.entries() {
            if !key.as_str().is_some_and(|key| pattern.matches(key)) {
                continue;
            }
            match found.iter_mut().find(|(known, _)| *known == key) {
                Some(entry) if replaces => entry.1 = value,
                Some(_) => {}
                None => found.push((key, value)),
            }
        }
    }
    found
}

/// `config.merge`: options over the master's configuration over the pillar, as far as all are
/// mappings or all are lists.
fn merge(run: &dyn Context, _: &Vm<'_>, args: CallArgs) -> Result<Obj> {
    let names = [
        "value",
        "default",
        "omit_opts",
        "omit_master",
        "omit_pillar",
    ];
    let [key, default, no_opts, no_master, no_pillar] = args.bind("config.merge", names)?;
    let key = hash_key(&required(key, "config.merge", "value")?)?;
    let facts = run.facts();
    let in_opts = if truth_or(no_opts, false)? {
        None
    } else {
        facts.option(&key)
    };
    let in_master = if truth_or(no_master, false)? {
        None
    } else {
        master(&facts.pillar).get(&key).cloned()
    };
    let in_pillar = if truth_or(no_pillar, false)? {
        None
    } else {
        facts.pillar.get(&key).cloned()
    };
    let mut merged = Value::None;
    for found in [in_opts, in_master, in_pillar].into_iter().flatten() {
        if merged.is_none() {
            merged = found;
            // Text is the answer; only the reference's first place that has it counts.
            if matches!(merged, Value::Str(_)) {
                return Ok(Obj::from(merged));
            }
            continue;
        }
        merged = match (merged, found) {
            (Value::Map(over), Value::Map(mut under)) => {
                under.extend(over.iter().map(|(key, value)| (key.clone(), value.clone())));
                Value::Map(under)
            }
            (over, under) => match (sequence(&over), sequence(&under)) {
                (Some(first), Some(second)) => [first, second].concat().into(),
                _ => over,
            },
        };
    }
    if !merged.is_none() {
        return Ok(Obj::from(merged));
    }
    let built_in = builtin::defaults().get(&key).cloned().map(Obj::from);
    Ok(built_in.or(default).unwrap_or_else(|| Obj::from("")))
}

fn sequence(value: &Value) -> Option<&[Value]> {
    match value {
        Value::List(items) => Some(items),
        Value::Tuple(items) => Some(items),
        _ => None,
    }
}

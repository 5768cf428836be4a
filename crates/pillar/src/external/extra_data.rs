//! `extra_minion_data_in_pillar`: options that the minion passes on (Salt:
//! `salt.pillar.extra_minion_data_in_pillar`).

use mapstack_diagnostic::{Error, Result};
use mapstack_merge::{Options, merge};
use mapstack_value::{Map, Value};

use super::arguments::{Arguments, wrong};
use super::asked::ExternalPillarInput;
use crate::whole::python_items;

/// The chosen parts of what the minion passes on.
pub(crate) fn data(asked: &ExternalPillarInput<'_, '_>) -> Result<Value> {
    let arguments = Arguments::bind(asked.one, &["include", "extra_minion_data"])?;
    let wrong = |message: &str| wrong(asked.one, message);
    let Some(include) = arguments.given("include") else {
        return Err(wrong("it needs the argument `include`").help(HELP));
    };
    let of_master = arguments.given("extra_minion_data");
    let extra = match of_master {
        Some(_) if !asked.extra.is_empty() => {
            return Err(wrong(
                "`extra_minion_data` comes from the minion, and from the configuration as well",
            )
            .help("leave it out of the configuration"));
        }
        Some(other) => other.clone(),
        None => asked.extra.clone().into(),
    };
    if !extra.truthy() {
        return Ok(Value::map());
    }
    if matches!(include.as_str(), Some("*" | "<all>")) {
        return Ok(extra);
    }
    let keys = python_items(include).ok_or_else(|| {
        let what = include.kind().described();
        wrong(&format!("`include` must be a list of keys, not {what}")).help(HELP)
    })?;
    let mut data = Map::new();
    for key in keys {
        let Value::Str(key) = &key else {
            let what = key.kind().described();
            return Err(wrong(&format!(
                "a key of `include` must be text, not {what}"
            )));
        };
        let steps: Vec<&str> = key.split(':').collect();
        let found = subtree(&steps, &extra).map_err(|what| {
            let message = format!("'{key}' leads into {what}, which has no keys");
            wrong(&message)
        })?;
        data.extend(found.unwrap_or_default());
    }
    Ok(data.into())
}

const HELP: &str = "write `include: '*'`, or a list of keys such as `site` or `roles:web`";

/// A part of a mapping, below the keys that lead to it; the error is what has no keys.
fn subtree(steps: &[&str], data: &Value) -> std::result::Result<Option<Map>, &'static str> {
    let Some((step, rest)) = steps.split_first() else {
        return Ok(None);
    };
    let found = match data {
        Value::Map(map) => map.get(*step),
        // Python looks for a text in a text, or for an item in a list, and then fails to take it out by its name.
        Value::Str(text) if !text.contains(step) => None,
        Value::List(items) if !items.contains(&Value::from(*step)) => None,
        Value::Tuple(items) if !items.contains(&Value::from(*step)) => None,
        other => return Err(other.kind().described()),
    };
    let Some(found) = found else {
        return Ok(None);
    };
    let below = match rest {
        [] => found.clone(),
        rest => match subtree(rest, found)? {
            Some(below) => below.into(),
            None => return Ok(None),
        },
    };
    Ok(Some([(*step, below)].into_iter().collect()))
}

/// The options that a minion passes on: those that `pass_to_ext_pillars` names (Salt:
/// `RemotePillarMixin.get_ext_pillar_extra_minion_data`).
///
/// # Errors
/// The option is not a list of texts; the minion then asks for no pillar.
pub(crate) fn passed(options: &Map) -> std::result::Result<Map, String> {
    let Some(listed) = options.get("pass_to_ext_pillars") else {
        return Ok(Map::new());
    };
    let malformed = |what: &Value| {
        let what = what.kind().described();
        format!("the minion's option pass_to_ext_pillars must be a list of texts, not {what}")
    };
    let Value::List(keys) = listed else {
        return Err(malformed(listed));
    };
    let lists = Options::new(&"recurse".into(), &true.into());
    let mut all = Value::map();
    for key in keys.iter() {
        let text = key.as_str().ok_or_else(|| malformed(key))?;
        let steps: Vec<&str> = text.split(':').collect();
        let part = subtree(&steps, &options.clone().into());
        let part = part.map_err(|what| {
            format!("the minion's option pass_to_ext_pillars: '{text}' leads into {what}, which has no keys")
        })?;
        let part = part.unwrap_or_default().into();
        all = merge(all, &part, &lists)
            .map_err(|e| format!("the minion's option pass_to_ext_pillars: {e}"))?;
    }
    Ok(all.as_map().cloned().unwrap_or_default())
}

/// An error for a minion that asks with something wrong.
pub(crate) fn unasked(problem: &str) -> Error {
    Error::new(mapstack_diagnostic::ErrorKind::Options, problem)
        .help("write it as `pass_to_ext_pillars: [site, 'roles:web']`")
}

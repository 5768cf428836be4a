//! What Salt's `filter_by` functions share (`salt.utils.data.filter_by`).

use mapstack_merge::{Options, merge};
use mapstack_render::{Error, ErrorKind, Result};
use mapstack_value::Value;

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

//! `environ.*`: the environment of this process.

use mapstack::Call;
use mapstack::value::{Map, Value};

use crate::host::args::{Result, required};
use crate::host::table::FunctionTable;

pub(crate) const TABLE: FunctionTable = &[
    ("environ.get", get),
    ("environ.has_value", has_value),
    ("environ.item", item),
    ("environ.items", items),
];

fn variable(name: &str) -> Option<Value> {
    // Python and Rust disagree on what to do with these.
    if name.is_empty() || name.contains(['=', '\0']) {
        return None;
    }
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned().into())
}

fn get(call: &Call) -> Result<Value> {
    let [key, default] = call.bind(["key", "default"])?;
    let Value::Str(key) = required(key, call, "key")? else {
        return Ok(false.into());
    };
    Ok(variable(&key).unwrap_or_else(|| default.unwrap_or_else(|| "".into())))
}

fn has_value(call: &Call) -> Result<Value> {
    let [key, value] = call.bind(["key", "value"])?;
    let Value::Str(key) = required(key, call, "key")? else {
        return Ok(false.into());
    };
    let wanted = value.filter(|value| !value.is_none());
    Ok(variable(&key)
        .is_some_and(|found| wanted.is_none_or(|wanted| found == wanted))
        .into())
}

fn item(call: &Call) -> Result<Value> {
    let [keys, default] = call.bind(["keys", "default"])?;
    let default = default.unwrap_or_else(|| "".into());
    let keys = match required(keys, call, "keys")? {
        Value::Str(key) => vec![key.to_string()],
        Value::List(keys) => keys.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    let entry = |key: String| {
        let value = variable(&key).unwrap_or_else(|| default.clone());
        (key, value)
    };
    Ok(keys.into_iter().map(entry).collect::<Map>().into())
}

fn items(call: &Call) -> Result<Value> {
    let [] = call.bind([])?;
    let all = std::env::vars_os().map(|(k, v)| {
        (
            k.to_string_lossy().into_owned(),
            v.to_string_lossy().into_owned(),
        )
    });
    Ok(all.collect::<Map>().into())
}

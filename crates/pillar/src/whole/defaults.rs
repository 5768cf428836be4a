//! The variables that `defaults` of an include gives to templates.

use mapstack_diagnostic::{Error, ErrorKind, Result};
use mapstack_value::{Str, Value};

/// The variables of an include, as Python binds keyword arguments.
pub(crate) fn variables(defaults: &Value) -> Result<Vec<(Str, Value)>> {
    let refused = |message: String| {
        Error::new(ErrorKind::Options, message)
            .help("`defaults` of an include is a mapping of variables for its templates")
    };
    let map = match defaults {
        Value::None => return Ok(Vec::new()),
        Value::Map(map) => map,
        other => {
            let what = other.kind().described();
            return Err(refused(format!(
                "the `defaults` of an include must be a mapping, not {what}"
            )));
        }
    };
    let mut variables = Vec::new();
    for (key, value) in map {
        let Some(name) = key.as_str() else {
            return Err(refused(format!(
                "a variable in `defaults` must have a name that is text, not {}",
                key.to_value().repr()
            )));
        };
        if OWN.contains(&name) {
            return Err(refused(format!(
                "`defaults` cannot set the variable '{name}', which every pillar sls has"
            )));
        }
        // The reference drops `env`, and overwrites `input_data`.
        if !matches!(name, "env" | "input_data") {
            variables.push((name.into(), value.clone()));
        }
    }
    Ok(variables)
}

/// Names that the compiler of pillars passes itself.
const OWN: [&str; 8] = [
    "template",
    "renderers",
    "default",
    "blacklist",
    "whitelist",
    "saltenv",
    "sls",
    "_pillar_rend",
];

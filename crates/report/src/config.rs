//! The options of a configuration that are in force, and what set them.

use std::collections::BTreeMap;

use mapstack::secrets::Secrets;
use mapstack::value::{Map, Value, json};
use mapstack::{Error, ErrorKind, nearest, yaml};
use mapstack_salt_config::{Config, OptionOrigin};
use serde::Serialize;

use crate::document::Plain;
use crate::masked_options::masked;

/// The largest number of characters of a value on the line of its option; a longer value follows as a block.
const MAX_WIDTH: usize = 60;

/// An option in force.
pub struct OptionRow {
    name: String,
    value: Value,
    from: Vec<String>,
}

/// The `asked` options, sorted. If none are requested: the options that files or flags set, or with `all` also Salt's
/// defaults. `flags` lists options with the values and the names of the flags that set them.
///
/// # Errors
/// An option that is requested is neither set nor built in.
pub fn rows(
    asked: &[String],
    all: bool,
    flags: Vec<(&'static str, Value, &'static str)>,
    config: &Config,
    secrets: &Secrets,
) -> Result<Vec<OptionRow>, Error> {
    let mut names: Vec<String> = config.options().keys().map(ToString::to_string).collect();
    names.extend(flags.iter().map(|(name, ..)| (*name).to_string()));
    names.sort();
    names.dedup();
    if let Some(unknown) = asked.iter().find(|option| !names.contains(option)) {
        let near = nearest(unknown, &names)
            .map(|near| format!("; did you mean `{near}`?"))
            .unwrap_or_default();
        let message = format!(
            "{} has no option `{unknown}`, and Salt has no default for it{near}",
            config.path()
        );
        return Err(Error::new(ErrorKind::Lookup, message));
    }
    let entries = config
        .options()
        .iter()
        .map(|(key, value)| (key.to_string(), value, config.origin(key.clone())));
    let mut rows: Vec<OptionRow> = entries
        .map(|(name, value, origin)| {
            let set = matches!(origin, OptionOrigin::Files(_));
            let from = match origin {
                OptionOrigin::Files(lines) => lines,
                other => vec![other.to_string()],
            };
            // Only values of files are masked: Salt's defaults are public.
            let value = if set && !secrets.shows_everything() {
                masked(&name, value, secrets)
            } else {
                value.clone()
            };
            (set, OptionRow { name, value, from })
        })
        .filter(|(set, row)| match asked.is_empty() {
            true => *set || all,
            false => asked.contains(&row.name),
        })
        .map(|(_, row)| row)
        .collect();
    for (name, value, flag) in flags {
        if asked.is_empty() || asked.iter().any(|option| option == name) {
            rows.retain(|row| row.name != name);
            rows.push(OptionRow {
                name: name.into(),
                value,
                from: vec![flag.into()],
            });
        }
    }
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(rows)
}

/// The options as a table for people.
pub fn text(rows: &[OptionRow]) -> String {
    let short: Vec<Option<String>> = rows.iter().map(|row| in_line(&row.value)).collect();
    let width = |text: &str| text.chars().count();
    let names = rows
        .iter()
        .map(|row| width(&row.name))
        .max()
        .unwrap_or_default();
    let values = short
        .iter()
        .flatten()
        .map(|value| width(value))
        .max()
        .unwrap_or_default();
    let mut text = String::new();
    for (row, short) in rows.iter().zip(&short) {
        let value = short.as_deref().unwrap_or_default();
        let from = row.from.join(", ");
        let padding =
            [names - width(&row.name), values - width(value)].map(|count| " ".repeat(count));
        text.push_str(&format!(
            "{}{}  {value}{}  {from}\n",
            row.name, padding[0], padding[1]
        ));
        if short.is_none() {
            let block = yaml::dump(&row.value, &yaml::DumpOptions::output());
            text.extend(block.lines().map(|line| format!("  {line}\n")));
        }
    }
    text
}

/// A value on one line, if it is short.
fn in_line(value: &Value) -> Option<String> {
    let text = match value {
        Value::Str(text) if !text.is_empty() && !text.contains('\n') => text.to_string(),
        Value::Str(_) | Value::Map(_) | Value::List(_) | Value::Tuple(_) | Value::Set(_) => {
            let options = json::DumpOptions {
                ensure_ascii: false,
                ..json::DumpOptions::default()
            };
            json::dumps(value, &options).ok()?
        }
        other => yaml::dump(other, &yaml::DumpOptions::output())
            .lines()
            .next()
            .unwrap_or_default()
            .to_string(),
    };
    (text.chars().count() <= MAX_WIDTH).then_some(text)
}

/// Options in force by their names, sorted.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct OptionsInForce<'r>(BTreeMap<&'r str, SettingRow<'r>>);

/// An option in force.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct SettingRow<'r> {
    /// Its value, in which secrets are masked.
    value: Plain,
    /// The source of it: places in files as file:line, a flag, or Salt's own default.
    from: &'r [String],
}

impl<'r> From<&'r [OptionRow]> for OptionsInForce<'r> {
    fn from(rows: &'r [OptionRow]) -> Self {
        let setting = |row: &'r OptionRow| {
            let value = Plain(row.value.clone());
            let from = &row.from;
            (&*row.name, SettingRow { value, from })
        };
        OptionsInForce(rows.iter().map(setting).collect())
    }
}

/// The options as data.
pub fn as_value(rows: &[OptionRow]) -> Value {
    let row = |row: &OptionRow| {
        let entry: Map = [
            ("value", row.value.clone()),
            ("from", row.from.iter().collect()),
        ]
        .into_iter()
        .collect();
        (row.name.clone(), Value::from(entry))
    };
    rows.iter().map(row).collect::<Map>().into()
}

//! `mapstack config`.

use mapstack::secrets::Secrets;
use mapstack::value::{Map, Value, json};
use mapstack::{Error, ErrorKind, nearest, yaml};
use mapstack_salt_config::{Config, Origin};

use crate::cli::{Config as Arguments, Files, Printed};
use crate::configuration;
use crate::output;
use crate::report::{Failure, Reporter};
use crate::secrets::masked;

/// Longer values stand below their option.
const WIDEST: usize = 60;

pub fn run(args: &Arguments, reporter: &Reporter) -> Result<(), Failure> {
    let Some(config) = configuration::read(&args.files, args.id.as_deref(), None, reporter)? else {
        let message =
            "no configuration given: pass --config FILE, such as --config /etc/salt/master";
        return Err(Failure::Usage(message.into()));
    };
    // What is in force is compared between machines, so there are no digests.
    let secrets = Secrets::without_digests().shown_anyway(reporter.shows_secrets());
    let rows = rows(args, &config, &secrets)?;
    match args.format {
        Printed::Text => output::write_listing(&text(&rows)?),
        Printed::Yaml => output::write(&yaml::dump(&as_value(&rows), &yaml::DumpOptions::output())),
        Printed::Json => output::write(&output::as_json(&as_value(&rows))?),
    }
}

/// An option in force.
struct Row {
    name: String,
    value: Value,
    from: Vec<String>,
}

/// The options asked for, sorted; else those that files or flags set, or all.
fn rows(args: &Arguments, config: &Config, secrets: &Secrets) -> Result<Vec<Row>, Failure> {
    let flags = by_flags(&args.files);
    let mut names: Vec<String> = config.options().keys().map(ToString::to_string).collect();
    names.extend(flags.iter().map(|(name, ..)| (*name).to_string()));
    names.sort();
    names.dedup();
    if let Some(unknown) = args.options.iter().find(|option| !names.contains(option)) {
        let near = nearest(unknown, &names)
            .map(|near| format!("; did you mean `{near}`?"))
            .unwrap_or_default();
        let message = format!(
            "{} has no option `{unknown}`, and Salt has no default for it{near}",
            config.path()
        );
        return Err(Failure::Data(Error::new(ErrorKind::Lookup, message)));
    }
    let entries = config
        .options()
        .iter()
        .map(|(key, value)| (key.to_string(), value, config.origin(key.clone())));
    let mut rows: Vec<Row> = entries
        .map(|(name, value, origin)| {
            let set = matches!(origin, Origin::Files(_));
            let from = match origin {
                Origin::Files(lines) => lines,
                other => vec![other.to_string()],
            };
            // What Salt has built in is no secret.
            let value = if set && !secrets.shows_everything() {
                masked(&name, value, secrets)
            } else {
                value.clone()
            };
            (set, Row { name, value, from })
        })
        .filter(|(set, row)| match args.options.is_empty() {
            true => *set || args.all,
            false => args.options.contains(&row.name),
        })
        .map(|(_, row)| row)
        .collect();
    for (name, value, flag) in flags {
        if args.options.is_empty() || args.options.iter().any(|option| option == name) {
            rows.retain(|row| row.name != name);
            rows.push(Row {
                name: name.into(),
                value,
                from: vec![flag.into()],
            });
        }
    }
    rows.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(rows)
}

/// Options that flags stand for, and the flags.
fn by_flags(files: &Files) -> Vec<(&'static str, Value, &'static str)> {
    let mut flags = Vec::new();
    if !files.root.is_empty() {
        let mut roots = Map::new();
        for (env, directory) in crate::inputs::root_flags(files) {
            let mut directories = roots
                .get(env)
                .and_then(Value::as_list)
                .unwrap_or_default()
                .to_vec();
            directories.push(directory.into());
            roots.insert(env, Value::from_iter(directories));
        }
        flags.push(("file_roots", roots.into(), "--root"));
    }
    if let Some(saltenv) = &files.saltenv {
        flags.push(("saltenv", saltenv.into(), "--saltenv"));
    }
    flags
}

fn text(rows: &[Row]) -> Result<String, Failure> {
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
    Ok(text)
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
    (text.chars().count() <= WIDEST).then_some(text)
}

fn as_value(rows: &[Row]) -> Value {
    let row = |row: &Row| {
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

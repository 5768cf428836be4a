//! Flags without paths.

use std::path::Path;

use mapstack::value::{Map, Value};
use mapstack_salt_config::Config;
use sha2::{Digest, Sha256};

use crate::inputs::InputError;
use crate::inputs::flags::Input;
use crate::inputs::read::read;
use crate::inputs::served::root_flags;

/// A digest of all that flags and a configuration say, with `others` that the caller knows of: equal on
/// machines that are asked for the same, where files lie elsewhere. The content of files that are named one
/// by one is part of it, except for standard input.
///
/// # Errors
/// A file cannot be read.
pub fn digest_of_options(
    input: &Input,
    config: Option<&Config>,
    others: &str,
) -> Result<String, InputError> {
    let (files, facts, functions) = (&input.files, &input.facts, &input.functions);
    let mut digest = Sha256::new();
    let envs: Vec<&str> = root_flags(files).map(|(env, _)| env).collect();
    let flags = (
        (
            &files.config_kind,
            &files.saltenv,
            files.follow_outside_links,
        ),
        (&facts.platform, &facts.id, &facts.set, &input.kwargs, envs),
        (
            &functions.allow,
            &functions.salt_call,
            functions.salt_version,
            functions.limits,
        ),
    );
    digest.update(format!("{others}\n{flags:?}\n"));
    let named = [
        &facts.minion,
        &facts.grains,
        &facts.pillar,
        &facts.opts,
        &input.custom_data,
    ];
    for file in named.into_iter().flatten().chain(&functions.stub) {
        let is_input = file == Path::new("-");
        digest.update(if is_input { Vec::new() } else { read(file)? });
        digest.update([0]);
    }
    if let Some(config) = config {
        let set = config
            .options()
            .iter()
            .filter(|(option, _)| option.as_str().is_some_and(|option| config.is_set(option)));
        let set: Map = set
            .map(|(option, value)| (option.clone(), without_paths(value)))
            .collect();
        digest.update(Value::from(set).repr());
    }
    Ok(hex::encode(digest.finalize()))
}

/// A value without the absolute paths in it, which can differ between machines.
fn without_paths(value: &Value) -> Value {
    match value {
        Value::Str(text) if text.starts_with('/') => "/".into(),
        Value::List(items) => items.iter().map(without_paths).collect(),
        Value::Map(map) => {
            let entries = map.iter();
            let entries = entries.map(|(key, value)| (key.clone(), without_paths(value)));
            entries.collect::<Map>().into()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use clap::{Args, Command, FromArgMatches};

    use super::*;

    fn digest(line: &str) -> String {
        let command = Input::augment_args(Command::new("fleet").no_binary_name(true));
        let matches = command
            .try_get_matches_from(line.split_whitespace())
            .unwrap();
        let input = Input::from_arg_matches(&matches).unwrap();
        digest_of_options(&input, None, "").unwrap()
    }

    #[test]
    fn places_do_not_count_and_content_does() {
        let home = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = home.path().join(name);
            std::fs::write(&path, text).unwrap();
            path.display().to_string()
        };
        let (one, same, other) = (file("1", "a: 1"), file("2", "a: 1"), file("3", "a: 2"));
        let with = |file: &str| digest(&format!("--root /srv --grains {file}"));
        assert_eq!(with(&one), with(&same));
        assert_ne!(with(&one), with(&other));
        assert_eq!(digest("--root /srv"), digest("--root base=/mnt"));
        for line in [
            "--root dev=/srv",
            "--root /srv --set grains.os=Arch",
            "--root /srv --max-time 3",
        ] {
            assert_ne!(digest(line), digest("--root /srv"), "{line}");
        }
    }

    #[test]
    fn absolute_paths_go() {
        let value =
            Value::from_iter([Value::from("/srv/salt"), Value::from("a/b"), Value::from(1)]);
        assert_eq!(without_paths(&value).repr(), "['/', 'a/b', 1]");
    }
}

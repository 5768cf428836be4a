//! Ciphertext that nothing decrypts.

use crate::{Finding, Rule};
use mapstack::value::{Key, Map, Value};
use mapstack_diagnostic::redact::Cipher;

use super::PillarSubject;

pub(super) fn check(subject: &PillarSubject<'_>) -> Vec<Finding> {
    let decrypted = decrypted(subject.options);
    let mut found = Vec::new();
    for document in subject.documents {
        let (file, _) = document.content.place(document.marks.mark(), 0);
        let is_sls = subject.files.all.contains_key(&file.file);
        if !is_sls && !subject.seen.stacked.contains(&file.file) {
            continue;
        }
        document.visit(&mut |scalar| {
            let (false, Value::Str(text)) = (scalar.is_key, &scalar.value) else {
                return;
            };
            let Some((cipher, name)) = cipher_of(text) else {
                return;
            };
            let is_piped = is_sls && pipe(&file.source, subject.options).contains(&cipher);
            if is_piped || decrypted.iter().any(|keys| is_below(scalar.path, keys)) {
                return;
            }
            let keys: Vec<String> = scalar.path.iter().map(ToString::to_string).collect();
            let message = format!(
                "nothing decrypts '{}', so minions get the ciphertext",
                keys.join(":")
            );
            let place = scalar.place(1).0;
            let finding = Finding::new(Rule::Ciphertext, place, message);
            found.push(finding.help(help(&file.source, name, is_sls)));
        });
    }
    found
}

/// The kind of ciphertext in a text, with the renderer for it.
fn cipher_of(text: &str) -> Option<(Cipher, &'static str)> {
    if text.contains(Cipher::PGP_BEGIN) {
        return Some((Cipher::Gpg, "gpg"));
    }
    Cipher::boxed(text).map(|_| (Cipher::Nacl, "nacl"))
}

/// The ciphertexts that the renderers of an sls decrypt: those of its first line, or of the master's option.
fn pipe(text: &str, options: &Map) -> Vec<Cipher> {
    let first = text.lines().next().unwrap_or_default();
    let given = first
        .strip_prefix("#!")
        .filter(|rest| !rest.starts_with('/'));
    let usual = options.get("renderer").and_then(Value::as_str);
    let names = given.or(usual).unwrap_or_default().split('|');
    let names = names.filter_map(|name| name.split_whitespace().next());
    names.filter_map(Cipher::of_renderer).collect()
}

/// The keys below which the option `decrypt_pillar` decrypts.
fn decrypted(options: &Map) -> Vec<Vec<String>> {
    let delimiter = options
        .get("decrypt_pillar_delimiter")
        .and_then(Value::as_str);
    let delimiter = delimiter.filter(|one| !one.is_empty()).unwrap_or(":");
    let split = |key: &str| key.split(delimiter).map(str::to_owned).collect::<Vec<_>>();
    let of = |value: &Value| match value {
        Value::Map(map) => map.keys().map(|key| split(&key.to_string())).collect(),
        other => vec![split(&other.to_string())],
    };
    match options.get("decrypt_pillar") {
        Some(Value::List(items)) => items.iter().flat_map(of).collect(),
        Some(map @ Value::Map(_)) => of(map),
        _ => Vec::new(),
    }
}

fn is_below(path: &[Key], keys: &[String]) -> bool {
    path.len() >= keys.len()
        && path
            .iter()
            .zip(keys)
            .all(|(key, name)| key.to_string() == *name)
}

fn help(text: &str, renderer: &str, is_sls: bool) -> String {
    let is_pipe = |line: &str| line.starts_with("#!") && line.contains(renderer);
    match text.lines().position(is_pipe) {
        Some(line) if is_sls => format!(
            "the `#!` line is line {} here, and Salt looks at the first line alone",
            line + 1
        ),
        _ if is_sls => format!(
            "write `#!jinja|yaml|{renderer}` in the first line, or name the key in decrypt_pillar"
        ),
        _ => "name the key in the master's option decrypt_pillar".into(),
    }
}

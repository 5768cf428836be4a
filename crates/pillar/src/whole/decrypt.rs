//! The option `decrypt_pillar`: keys of a pillar whose values are decrypted at the end (Salt: `Pillar.decrypt_pillar`).

use mapstack::{Run, how_to_decrypt, secrets::Cipher};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Place, Result};
use mapstack_value::{Key, Map, Value};

use super::errors::PillarError;
use super::settings::CompileSettings;

fn malformed(place: Option<&Place>) -> PillarError {
    let message = "the option decrypt_pillar is neither a mapping nor a list of keys";
    let help = "write one key a line behind a dash, perhaps with a renderer: `- users:pw: gpg`";
    let error = Error::new(ErrorKind::Options, message).at(place.cloned());
    PillarError::new(
        "decrypt_pillar config option is malformed",
        error.help(help),
    )
}

/// A pillar with the values decrypted that the options name, and what went wrong. Without a permission to decrypt,
/// ciphertext stays.
///
/// # Errors
/// A key that the reference cannot split either.
pub(super) fn decrypted(
    run: &Run<'_>,
    settings: &CompileSettings,
    pillar: &Value,
    place: Option<&Place>,
) -> Result<(Value, Vec<PillarError>)> {
    let mut pillar = pillar.clone();
    let mut errors = Vec::new();
    let option = settings.value("decrypt_pillar");
    if !option.truthy() {
        return Ok((pillar, errors));
    }
    let Some(wanted) = listed(&option) else {
        errors.push(malformed(place));
        return Ok((pillar, errors));
    };
    let delimiter = settings.value("decrypt_pillar_delimiter").to_string();
    if delimiter.is_empty() {
        let message = "the option decrypt_pillar_delimiter is empty";
        return Err(Error::new(ErrorKind::Options, message).help("its default is a colon"));
    }
    for (key, renderer) in &wanted {
        let Some(key) = key.as_str() else {
            let message = format!("a key in the option decrypt_pillar must be text, not {key}");
            return Err(Error::new(ErrorKind::Options, message).at(place.cloned()));
        };
        let path: Vec<&str> = key.split(delimiter.as_str()).collect();
        let Some(slot) = below(&mut pillar, &path).filter(|value| !value.is_none()) else {
            continue;
        };
        let made = cipher(settings, renderer).and_then(|cipher| {
            if cipher.is_in(slot) && !run.decrypts(cipher) {
                let message = format!("the key '{key}' of the pillar stays ciphertext");
                let warning = Diagnostic::warning(ErrorKind::Unsupported, message);
                run.warn(Diagnostic {
                    place: place.cloned(),
                    ..warning.with_help(how_to_decrypt(cipher))
                });
            }
            let made = run.decrypted(cipher, slot);
            made.map_err(|e| (e.diagnostic().message.clone(), e))
        });
        match made {
            Ok(value) => *slot = value,
            Err((text, error)) => {
                let text = format!("Failed to decrypt pillar key '{key}': {text}");
                let note = format!("while decrypting the key '{key}' of the pillar");
                errors.push(PillarError::new(text, error.at(place.cloned()).note(note)));
            }
        }
    }
    Ok((pillar, errors))
}

/// The cipher that a renderer decrypts; or the reference's words for what is wrong, and ours.
fn cipher(
    settings: &CompileSettings,
    renderer: &Value,
) -> std::result::Result<Cipher, (String, Error)> {
    let renderer = match renderer.truthy() {
        true => renderer.to_string(),
        false => settings.value("decrypt_pillar_default").to_string(),
    };
    let valid = settings.value("decrypt_pillar_renderers");
    if valid.truthy() && !holds(&valid, &renderer) {
        let names: Vec<String> = names(&valid);
        let text = format!(
            "'{renderer}' is not a valid decryption renderer. Valid choices are: {}",
            names.join(", ")
        );
        let message = format!("the option decrypt_pillar_renderers does not allow '{renderer}'");
        let help = format!("it allows {}", names.join(", "));
        return Err((text, Error::new(ErrorKind::Options, message).help(help)));
    }
    Cipher::of_renderer(&renderer).ok_or_else(|| {
        let text = format!("Decryption renderer '{renderer}' is not available");
        let message = format!("'{renderer}' is not a renderer that decrypts here");
        let error = Error::new(ErrorKind::Unsupported, message);
        (text, error.help("`gpg` and `nacl` decrypt"))
    })
}

/// The keys and their renderers; `None` for what the reference calls malformed (`repack_dictlist`).
fn listed(option: &Value) -> Option<Map> {
    let items = match option {
        Value::Map(map) => return Some(map.clone()).filter(|map| !map.is_empty()),
        Value::Str(text) => mapstack_yaml::load(text).ok()?,
        other => other.clone(),
    };
    let mut all = Map::new();
    for item in items.as_list()? {
        match item {
            Value::Map(entry) if entry.len() == 1 => {
                all.extend(
                    entry
                        .iter()
                        .map(|(key, value)| (key.clone(), value.clone())),
                );
            }
            Value::Str(_) | Value::Int(_) | Value::Float(_) | Value::Bool(_) => {
                all.insert(Key::try_from(item).ok()?, Value::None);
            }
            _ => return None,
        }
    }
    Some(all).filter(|all| !all.is_empty())
}

/// Python's `name in names`.
fn holds(names: &Value, name: &str) -> bool {
    match names {
        Value::List(names) => names.iter().any(|known| known.as_str() == Some(name)),
        Value::Map(names) => names.contains_key(name),
        Value::Str(text) => text.contains(name),
        _ => true,
    }
}

fn names(valid: &Value) -> Vec<String> {
    match valid {
        Value::List(names) => names.iter().map(ToString::to_string).collect(),
        Value::Map(names) => names.keys().map(ToString::to_string).collect(),
        other => other.to_string().chars().map(String::from).collect(),
    }
}

/// The value that a path of keys leads to.
fn below<'v>(value: &'v mut Value, path: &[&str]) -> Option<&'v mut Value> {
    match path.split_first() {
        None => Some(value),
        Some((step, rest)) => match value {
            Value::Map(map) => below(map.get_mut(*step)?, rest),
            _ => None,
        },
    }
}

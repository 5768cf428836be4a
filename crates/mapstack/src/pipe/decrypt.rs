//! The renderer `gpg`: ciphertext in data, decrypted by the function `gpg.decrypt` if that is permitted.

use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Means, Result};
use mapstack_redact::note_decrypted;
use mapstack_render::jinja::Host;
use mapstack_value::{List, Map, Value};

use crate::engine::Run;
use crate::host::RunHost;

const BEGIN: &str = "-----BEGIN PGP MESSAGE-----";
const END: &str = "-----END PGP MESSAGE-----";

/// The function that decrypts.
const FUNCTION: &str = "gpg.decrypt";

impl Run<'_> {
    /// Whether anything answers calls of `gpg.decrypt`, by a permission or a stub.
    #[must_use]
    pub fn decrypts(&self) -> bool {
        RunHost::new(self).has_function(FUNCTION)
    }

    /// Data with the PGP messages in its texts decrypted (Salt: `salt.renderers.gpg`). What is decrypted counts as
    /// secret wherever it is printed.
    ///
    /// # Errors
    /// A message cannot be decrypted, and the option `gpg_decrypt_must_succeed` does not say that it then stays.
    pub fn decrypted(&self, data: &Value) -> Result<Value> {
        Ok(match data {
            Value::Str(text) => self.decrypted_text(text)?,
            Value::Map(map) => {
                let entries = map
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), self.decrypted(value)?)));
                let made: Map = entries.collect::<Result<_>>()?;
                Value::Map(made.with_kind(map.kind()))
            }
            Value::List(items) => {
                let made = items.iter().map(|item| self.decrypted(item));
                let made: List = made.collect::<Result<_>>()?;
                Value::List(match items.is_aggregate() {
                    true => made.as_aggregate(),
                    false => made,
                })
            }
            other => other.clone(),
        })
    }

    fn decrypted_text(&self, text: &str) -> Result<Value> {
        let (mut made, mut rest, mut is_any) = (Vec::new(), text, false);
        while let Some((before, message, behind)) = next_message(rest) {
            made.extend_from_slice(before.as_bytes());
            made.extend(self.decrypted_message(message)?);
            (rest, is_any) = (behind, true);
        }
        if !is_any {
            return Ok(text.into());
        }
        made.extend_from_slice(rest.as_bytes());
        while made.last() == Some(&b'\n') {
            made.pop();
        }
        Ok(match String::from_utf8(made) {
            Ok(text) => {
                if !text.contains(BEGIN) {
                    note_decrypted(&text);
                }
                text.into()
            }
            Err(e) => Value::Bytes(e.into_bytes().into()),
        })
    }

    /// The bytes of a message; itself if it cannot be decrypted and may stay.
    fn decrypted_message(&self, message: &str) -> Result<Vec<u8>> {
        let message = message.replace("\\n", "\n");
        let keys = self.key_directory();
        let mut named = Map::new();
        named.insert("text", message.as_str());
        if !keys.is_none() {
            named.insert("gnupghome", keys.clone());
        }
        named.insert("bare", true);
        match self.call_function(FUNCTION, &[], &named)? {
            Value::Bytes(bytes) if !bytes.is_empty() => {
                if let Ok(text) = std::str::from_utf8(&bytes) {
                    note_decrypted(text);
                }
                return Ok(bytes.to_vec());
            }
            Value::Str(text) if !text.is_empty() => {
                note_decrypted(&text);
                return Ok(text.as_bytes().to_vec());
            }
            _ => {}
        }
        let problem = match keys {
            Value::None => "a PGP message cannot be decrypted".to_owned(),
            keys => format!("a PGP message cannot be decrypted with the keys in {keys}"),
        };
        if self.option("gpg_decrypt_must_succeed").truthy() {
            let error = Error::new(ErrorKind::DataSource, problem);
            return Err(error.help(
                "the option gpg_keydir names the directory of the keys; gpg_decrypt_must_succeed: false lets the \
                 ciphertext stay",
            ));
        }
        let warning = Diagnostic::warning(ErrorKind::DataSource, format!("{problem}, so it stays"));
        self.warn(warning);
        Ok(message.into_bytes())
    }

    /// Where the keys are (Salt: `_get_key_dir`).
    fn key_directory(&self) -> Value {
        let given = self.option("gpg_keydir");
        if given.truthy() {
            return given;
        }
        let below = |directory: &str| Value::from(format!("{directory}/gpgkeys"));
        match (self.option("config_dir"), self.option("conf_file")) {
            (Value::Str(directory), _) => below(&directory),
            (_, Value::Str(file)) => below(file.rsplit_once('/').map_or("", |(above, _)| above)),
            _ => Value::None,
        }
    }
}

/// What to do about ciphertext that stays.
#[must_use]
pub fn how_to_decrypt() -> String {
    format!(
        "{} decrypts it with the keys of this machine",
        Means::Permission(Some("gpg.decrypt"))
    )
}

/// Whether there is a PGP message in the texts of data.
#[must_use]
pub fn has_message(data: &Value) -> bool {
    match data {
        Value::Str(text) => next_message(text).is_some(),
        Value::Map(map) => map.values().any(has_message),
        Value::List(items) => items.iter().any(has_message),
        _ => false,
    }
}

/// The first message in a text, with what is before and behind it.
fn next_message(text: &str) -> Option<(&str, &str, &str)> {
    let start = text.find(BEGIN)?;
    let inner = start + BEGIN.len();
    let end = inner + text[inner..].find(END)? + END.len();
    Some((&text[..start], &text[start..end], &text[end..]))
}

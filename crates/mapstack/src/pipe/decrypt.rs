//! The renderers `gpg` and `nacl`: ciphertext in data, decrypted by a function if anything answers it.

use mapstack_diagnostic::redact::{Cipher, note_decrypted};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Means, Result};
use mapstack_salt_jinja::Host;
use mapstack_value::{List, Map, Value};

use crate::host::RunHost;
use crate::run::Run;

/// The function that decrypts.
fn function(cipher: Cipher) -> &'static str {
    match cipher {
        Cipher::Gpg => "gpg.decrypt",
        Cipher::Nacl => "nacl.dec",
    }
}

/// The name of its texts.
pub(crate) fn described(cipher: Cipher) -> &'static str {
    match cipher {
        Cipher::Gpg => "PGP messages",
        Cipher::Nacl => "NaCl boxes",
    }
}

/// The advice about ciphertext that stays.
#[must_use]
pub fn how_to_decrypt(cipher: Cipher) -> String {
    match cipher {
        Cipher::Gpg => {
            let permission = Means::Permission(Some(function(cipher)));
            format!("{permission} decrypts with the keys of this machine")
        }
        Cipher::Nacl => format!(
            "answers of {} in a file for {} decrypt",
            function(cipher),
            Means::Stub
        ),
    }
}

impl Run<'_> {
    /// True if anything answers calls of the function that decrypts, such as a permission or a stub.
    #[must_use]
    pub fn decrypts(&self, cipher: Cipher) -> bool {
        RunHost::new(self).has_function(function(cipher))
    }

    /// Data with the ciphertext in its texts decrypted (Salt: `salt.renderers.gpg`, `salt.renderers.nacl`). What is
    /// decrypted counts as secret wherever it is printed. Where nothing decrypts, messages stay, without the line ends
    /// behind them, as Salt leaves what it has no key for.
    ///
    /// # Errors
    /// A text cannot be decrypted, and the option `gpg_decrypt_must_succeed` does not say that it then stays.
    pub fn decrypted(&self, cipher: Cipher, data: &Value) -> Result<Value> {
        Ok(match data {
            Value::Str(text) => match cipher {
                Cipher::Gpg => self.decrypted_text(text)?,
                Cipher::Nacl => self.opened(text)?,
            },
            Value::Map(map) => {
                let entries = map
                    .iter()
                    .map(|(key, value)| Ok((key.clone(), self.decrypted(cipher, value)?)));
                let made: Map = entries.collect::<Result<_>>()?;
                Value::Map(made.with_kind(map.kind()))
            }
            Value::List(items) => {
                let made = items.iter().map(|item| self.decrypted(cipher, item));
                let made: List = made.collect::<Result<_>>()?;
                Value::List(match items.is_aggregate() {
                    true => made.as_aggregate(),
                    false => made,
                })
            }
            other => other.clone(),
        })
    }

    /// The content of a box of NaCl; any other text as it is.
    fn opened(&self, text: &str) -> Result<Value> {
        let Some(inside) = Cipher::boxed(text).filter(|_| self.decrypts(Cipher::Nacl)) else {
            return Ok(text.into());
        };
        let says = self.call_function(function(Cipher::Nacl), &[inside.into()], &Map::new())?;
        let says = match says {
            // A master sends bytes as text where they are UTF-8.
            Value::Bytes(bytes) => match std::str::from_utf8(&bytes) {
                Ok(text) => text.into(),
                Err(_) => Value::Bytes(bytes),
            },
            says => says,
        };
        if let Value::Str(text) = &says {
            note_decrypted(text);
        }
        Ok(says)
    }

    fn decrypted_text(&self, text: &str) -> Result<Value> {
        let (mut made, mut rest, mut is_any) = (Vec::new(), text, false);
        while let Some((before, message, behind)) = Cipher::next_message(rest) {
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
                if !text.contains(Cipher::PGP_BEGIN) {
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
        if !self.decrypts(Cipher::Gpg) {
            return Ok(message.into_bytes());
        }
        let keys = self.key_directory();
        let mut named = Map::new();
        named.insert("text", message.as_str());
        if !keys.is_none() {
            named.insert("gnupghome", keys.clone());
        }
        named.insert("bare", true);
        match self.call_function(function(Cipher::Gpg), &[], &named)? {
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

    /// The directory of the keys (Salt: `_get_key_dir`).
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

//! The values that are secret by themselves, in any data.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use mapstack_value::{Key, Map, Str, Value};

use crate::redact::{is_secret_name, texts};

/// True if a name is meant.
type NamePredicate = Arc<dyn Fn(&str) -> bool + Send + Sync>;

/// The values that are secret by themselves: those under certain names, encrypted texts, the passwords in URLs, and the
/// whole pillar, unless it is [shown](Self::showing_pillar).
///
/// ```
/// use mapstack_diagnostic::redact::Policy;
/// use mapstack_value::{Map, Value};
/// let policy = Policy::default().named(|name| name == "pin").except(|name| name == "key");
/// assert!(policy.is_secret_key("db_password") && policy.is_secret_key("pin") && !policy.is_secret_key("key"));
/// let data = Map::from_iter([("user", "app"), ("pin", "0042"), ("url", "https://me:hunter2@host")]);
/// let mut found = Vec::new();
/// policy.visit(&Value::from(data), &mut |value| found.push(value.repr()));
/// assert_eq!(found, ["'0042'", "'hunter2'"]);
/// ```
#[derive(Clone, Default)]
pub struct Policy {
    named: Vec<NamePredicate>,
    excepted: Vec<NamePredicate>,
    shows_pillar: bool,
}

impl Policy {
    /// More names of secrets.
    #[must_use]
    pub fn named(mut self, is_secret: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.named.push(Arc::new(is_secret));
        self
    }

    /// Add names that are not secret, even if another rule does: of the names above a value the nearest decides.
    #[must_use]
    pub fn except(mut self, is_public: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.excepted.push(Arc::new(is_public));
        self
    }

    /// Of a pillar, only what is secret anyway is secret.
    #[must_use]
    pub fn showing_pillar(mut self) -> Self {
        self.shows_pillar = true;
        self
    }

    /// True if everything in a pillar is secret.
    #[must_use]
    pub fn masks_pillar(&self) -> bool {
        !self.shows_pillar
    }

    /// True if the value under a key is secret because of the key.
    #[must_use]
    pub fn is_secret_key(&self, name: &str) -> bool {
        self.says(name) == Some(true)
    }

    /// The verdict of a name on its value: a secret, not a secret, or `None`.
    fn says(&self, name: &str) -> Option<bool> {
        if self.excepted.iter().any(|named| named(name)) {
            return Some(false);
        }
        let is_secret = is_secret_name(name) || self.named.iter().any(|named| named(name));
        is_secret.then_some(true)
    }

    /// The key that makes the value at a path secret: the nearest key with a verdict.
    pub(crate) fn secret_key<'k>(&self, path: &'k [Key]) -> Option<&'k str> {
        let mut said = path.iter().rev().filter_map(|key| {
            let name = key.as_str()?;
            self.says(name).map(|is_secret| (name, is_secret))
        });
        said.next()
            .filter(|(_, is_secret)| *is_secret)
            .map(|(name, _)| name)
    }

    /// True if one of the keys to a value names a secret.
    #[must_use]
    pub fn is_secret_path(&self, path: &[Key]) -> bool {
        self.secret_key(path).is_some()
    }

    /// Visit the secrets in data: the values under the names of secrets, encrypted texts, and the passwords in URLs.
    /// Public texts are left out anywhere: switches, places of files, public keys.
    pub fn visit(&self, data: &Value, visit: &mut dyn FnMut(&Value)) {
        self.visit_under(None, data, visit);
    }

    /// Visit the secrets in a mapping.
    pub fn visit_map(&self, map: &Map, visit: &mut dyn FnMut(&Value)) {
        self.visit_map_under(None, map, visit);
    }

    fn visit_map_under(&self, name: Option<&str>, map: &Map, visit: &mut dyn FnMut(&Value)) {
        for (key, value) in map {
            let own = key.as_str().and_then(|own| Some((own, self.says(own)?)));
            let name = match own {
                Some((own, true)) => Some(own),
                Some((_, false)) => None,
                None => name,
            };
            self.visit_under(name, value, visit);
        }
    }

    /// Visit the secrets below a name of secrets, if there is one.
    fn visit_under(&self, name: Option<&str>, data: &Value, visit: &mut dyn FnMut(&Value)) {
        match data {
            Value::Map(map) => self.visit_map_under(name, map, visit),
            Value::List(items) => items
                .iter()
                .for_each(|item| self.visit_under(name, item, visit)),
            Value::Tuple(items) => items
                .iter()
                .for_each(|item| self.visit_under(name, item, visit)),
            Value::Str(text) => {
                let is_secret = is_encrypted(text) || is_decrypted(text);
                if is_secret || name.is_some_and(|name| !texts::is_public(text, name)) {
                    return visit(data);
                }
                for password in texts::passwords(text) {
                    visit(&Value::from(text.get(password).unwrap_or_default()));
                }
            }
            other if name.is_some() => visit(other),
            _ => {}
        }
    }
}

/// Texts that were decrypted in this process. It is the only state that outlives a call: whatever knows a secret that
/// no name shows must not have to pass it on to whatever prints.
static DECRYPTED: Mutex<BTreeSet<Str>> = Mutex::new(BTreeSet::new());

/// Note a text that was ciphertext, so that every [`Policy`] takes it for a secret from now on.
///
/// ```
/// use mapstack_diagnostic::redact::{Policy, note_decrypted};
/// use mapstack_value::Value;
/// let data = Value::from_iter(["correct horse"]);
/// let count = || {
///     let mut found = 0;
///     Policy::default().visit(&data, &mut |_| found += 1);
///     found
/// };
/// assert_eq!(count(), 0);
/// note_decrypted("correct horse");
/// assert_eq!(count(), 1);
/// ```
pub fn note_decrypted(text: &str) {
    if !text.is_empty() {
        let mut known = DECRYPTED.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(text.into());
    }
}

fn is_decrypted(text: &str) -> bool {
    let known = DECRYPTED.lock().unwrap_or_else(PoisonError::into_inner);
    known.contains(text)
}

/// Says nothing about the names, which are functions.
impl fmt::Debug for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Policy")
            .field("named", &self.named.len())
            .field("excepted", &self.excepted.len())
            .field("shows_pillar", &self.shows_pillar)
            .finish()
    }
}

/// The marks of texts that are encrypted, or are a private key.
const MARKS: [&str; 6] = [
    "-----BEGIN PGP MESSAGE",
    "-----BEGIN AGE ENCRYPTED FILE",
    "$ANSIBLE_VAULT;",
    "NACL[",
    "ENC[",
    "PRIVATE KEY-----",
];

/// The beginnings of hashes of passwords, as crypt(3) has them.
const HASHES: [&str; 8] = ["$1$", "$5$", "$6$", "$y$", "$7$", "$2a$", "$2b$", "$argon2"];

/// True if a text is encrypted, a private key, the hash of a password, or what HTTP takes for a login.
///
/// ```
/// use mapstack_diagnostic::redact::is_encrypted;
/// assert!(is_encrypted("-----BEGIN PGP MESSAGE-----\n\nhQEMA\n"));
/// assert!(is_encrypted("$6$salt$hash") && is_encrypted("Basic bWU6aHVudGVyMg=="));
/// assert!(!is_encrypted("-----BEGIN CERTIFICATE-----\nMIIB\n"));
/// ```
#[must_use]
pub fn is_encrypted(text: &str) -> bool {
    let text = text.trim_start();
    MARKS.iter().any(|mark| text.contains(mark))
        || HASHES.iter().any(|mark| text.starts_with(mark))
        || texts::is_authorization(text)
}

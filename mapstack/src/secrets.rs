//! Keeping secrets out of what is printed for people.

use std::collections::HashSet;

use hmac::{Hmac, KeyInit, Mac};
use mapstack_loader::Fnmatch;
use mapstack_value::{Key, Map, Value};
use sha2::Sha256;

use crate::diagnostic::Diagnostic;

/// Keys whose values are secrets, wherever they stand.
const PATTERNS: [&str; 10] = [
    "*password*",
    "*passwd*",
    "*passphrase*",
    "*secret*",
    "*token*",
    "*private_key*",
    "*privkey*",
    "*api_key*",
    "*apikey*",
    "*credential*",
];

/// A text of the pillar this short says nothing by itself.
const SHORTEST: usize = 4;
/// A text of the pillar this long is a secret wherever it stands inside another.
const TELLING: usize = 5;

/// Which values are secrets, and what is printed in their place.
///
/// A value is a secret if one of the keys above it looks like it, or if it comes from the pillar:
/// from under its path, or by a template that wrote it elsewhere. In its place stands a short
/// digest: the same for the same value, and worthless without the salt.
///
/// ```
/// use mapstack::secrets::Secrets;
/// use mapstack::value::{Map, Value};
/// let pillar: Map = [("db", Map::from_iter([("user", "application")]))].into_iter().collect();
/// let secrets = Secrets::new(b"salt").of_pillar(&pillar);
/// assert_eq!(secrets.shown(&["port".into()], false, &Value::from(22)), None);
/// let masked = secrets.shown(&["admin_password".into()], false, &Value::from("x")).unwrap();
/// assert!(masked.starts_with("<secret ") && masked.len() == "<secret 012345>".len());
/// assert!(secrets.shown(&["url".into()], false, &Value::from("//application@db")).is_some());
/// ```
#[derive(Debug)]
pub struct Secrets {
    patterns: Vec<String>,
    salt: Vec<u8>,
    texts: HashSet<String>,
    everything_shown: bool,
}

impl Secrets {
    /// The usual patterns, with a salt that digests of other runs do not have.
    #[must_use]
    pub fn new(salt: &[u8]) -> Self {
        Secrets {
            patterns: PATTERNS.map(String::from).into(),
            salt: salt.into(),
            texts: HashSet::new(),
            everything_shown: false,
        }
    }

    /// Show everything as it is.
    #[must_use]
    pub fn shown_anyway(mut self, shown: bool) -> Self {
        self.everything_shown = shown;
        self
    }

    /// Another pattern for keys, as in [`Fnmatch`]; upper and lower case are the same.
    #[must_use]
    pub fn pattern(mut self, pattern: &str) -> Self {
        self.patterns.push(pattern.to_lowercase());
        self
    }

    /// What a pillar holds is secret, wherever it comes up.
    #[must_use]
    pub fn of_pillar(mut self, pillar: &Map) -> Self {
        pillar.values().for_each(|value| self.learn(value));
        self
    }

    fn learn(&mut self, value: &Value) {
        match value {
            Value::Map(map) => map.values().for_each(|value| self.learn(value)),
            Value::List(items) => items.iter().for_each(|item| self.learn(item)),
            Value::Tuple(items) => items.iter().for_each(|item| self.learn(item)),
            Value::Set(items) => items.iter().for_each(|item| self.learn(&item.to_value())),
            // Templates leave line breaks at the end out.
            Value::Str(text) if text.trim().len() >= SHORTEST => {
                self.texts.insert(text.trim().to_string());
            }
            _ => {}
        }
    }

    /// Whether everything is shown as it is.
    #[must_use]
    pub fn shows_everything(&self) -> bool {
        self.everything_shown
    }

    /// Whether what stands under a key is a secret because of the key.
    ///
    /// ```
    /// use mapstack::secrets::Secrets;
    /// assert!(Secrets::new(b"salt").is_secret_key("Admin_Password"));
    /// ```
    #[must_use]
    pub fn is_secret_key(&self, name: &str) -> bool {
        let name = name.to_lowercase();
        self.patterns.iter().any(|pattern| Fnmatch::new(pattern).matches(&name))
    }

    /// Whether a value is to be kept back. `from_pillar` says that it stands there.
    #[must_use]
    pub fn hide(&self, path: &[Key], from_pillar: bool, value: &Value) -> bool {
        if self.everything_shown || matches!(value, Value::None | Value::Bool(_)) {
            return false;
        }
        let has_secret = || match value {
            Value::Str(text) => self.is_of_pillar(text),
            Value::Bytes(bytes) => self.is_of_pillar(&String::from_utf8_lossy(bytes)),
            Value::Set(items) => items.iter().any(|item| self.hide(&[], false, &item.to_value())),
            _ => false,
        };
        from_pillar || path.iter().any(|key| self.is_secret_key(&key.to_string())) || has_secret()
    }

    fn is_of_pillar(&self, text: &str) -> bool {
        self.texts.contains(text.trim())
            || self.texts.iter().any(|known| known.len() >= TELLING && text.contains(known))
    }

    /// What is printed in place of a secret; `None` for what is none. Mappings and lists are taken for
    /// what they hold.
    #[must_use]
    pub fn shown(&self, path: &[Key], from_pillar: bool, value: &Value) -> Option<String> {
        self.hide(path, from_pillar, value).then(|| self.digest(value))
    }

    /// A value in which everything is kept back that has to be.
    #[must_use]
    pub fn masked(&self, path: &[Key], from_pillar: bool, value: &Value) -> Value {
        let inside =
            |step: &Key, value: &Value| self.masked(&[path, std::slice::from_ref(step)].concat(), from_pillar, value);
        match value {
            Value::Map(map) => map.iter().map(|(key, value)| (key.clone(), inside(key, value))).collect::<Map>().into(),
            Value::List(items) => items.iter().map(|item| self.masked(path, from_pillar, item)).collect(),
            Value::Tuple(items) => {
                Value::Tuple(items.iter().map(|item| self.masked(path, from_pillar, item)).collect())
            }
            scalar => self.shown(path, from_pillar, scalar).map_or_else(|| scalar.clone(), Value::from),
        }
    }

    /// A message for people without texts of the pillar in it.
    ///
    /// ```
    /// use mapstack::secrets::Secrets;
    /// use mapstack::value::Map;
    /// let secrets = Secrets::new(b"salt").of_pillar(&Map::from_iter([("key", "hunter2")]));
    /// assert!(!secrets.scrubbed("line 2: a: hunter2: b").contains("hunter2"));
    /// ```
    #[must_use]
    pub fn scrubbed(&self, message: &str) -> String {
        let mut scrubbed = message.to_string();
        if self.everything_shown {
            return scrubbed;
        }
        // Longer ones first: they may have shorter ones inside.
        let mut texts: Vec<&String> = self.texts.iter().filter(|text| text.len() >= TELLING).collect();
        texts.sort_unstable_by_key(|text| (std::cmp::Reverse(text.len()), *text));
        for text in texts {
            if scrubbed.contains(text) {
                scrubbed = scrubbed.replace(text, &self.digest(&Value::from(text.as_str())));
            }
        }
        scrubbed
    }

    /// The same for everything that a message says.
    #[must_use]
    pub fn scrubbed_diagnostic(&self, diagnostic: &Diagnostic) -> Diagnostic {
        let mut scrubbed = diagnostic.clone();
        scrubbed.message = self.scrubbed(&scrubbed.message);
        scrubbed.help = scrubbed.help.map(|help| self.scrubbed(&help));
        scrubbed.notes.iter_mut().for_each(|note| *note = self.scrubbed(note));
        scrubbed
    }

    fn digest(&self, value: &Value) -> String {
        // Any length of key will do.
        let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(&self.salt) else { return "<secret>".into() };
        mac.update(value.repr().as_bytes());
        let digest: String = mac.finalize().into_bytes().iter().take(3).map(|byte| format!("{byte:02x}")).collect();
        format!("<secret {digest}>")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_the_pillar_decide() {
        let pillar: Map = [("a", "hunter2"), ("b", "a long password")].into_iter().collect();
        let secrets = Secrets::new(b"s").of_pillar(&pillar).pattern("pin");
        for (path, value, hidden) in [
            (&["Admin_Password"][..], "x", true),
            (&["tokens", "deep"], "x", true),
            (&["PIN"], "1", true),
            (&["pinned"], "1", false),
            (&["port"], "hunter2", true),
            (&["port"], "is hunter2", true),
            (&["port"], "hunt", false),
            (&["url"], "p=a long password;", true),
            (&["shell"], "/bin/sh", false),
        ] {
            let path: Vec<Key> = path.iter().map(|key| Key::from(*key)).collect();
            assert_eq!(secrets.hide(&path, false, &value.into()), hidden, "{path:?} {value}");
        }
        assert!(secrets.hide(&["x".into()], true, &1.into()));
        assert!(!secrets.hide(&["password".into()], true, &Value::None), "that nothing is there is no secret");
    }

    #[test]
    fn digests_tell_values_apart_and_depend_on_the_salt() {
        let (one, other) = (Secrets::new(b"1"), Secrets::new(b"2"));
        let of = |secrets: &Secrets, value: &str| secrets.shown(&["token".into()], false, &value.into()).unwrap();
        assert_eq!(of(&one, "a"), of(&one, "a"));
        assert_ne!(of(&one, "a"), of(&one, "b"));
        assert_ne!(of(&one, "a"), of(&other, "a"));
    }

    #[test]
    fn everything_inside_a_value_is_masked() {
        let pillar: Map = [("k", "from here\n")].into_iter().collect();
        let tuple = Value::Tuple([Value::from("from here"), Value::from(1)].into());
        let masked = Secrets::new(b"s").of_pillar(&pillar).masked(&[], false, &tuple).repr();
        assert!(masked.starts_with("('<secret ") && masked.ends_with(">', 1)"), "{masked}");
        let value = mapstack_yaml::load("{a: 1, password: {x: y, z: [1, null]}}").unwrap();
        let masked = Secrets::new(b"s").masked(&[], false, &value).repr();
        assert!(
            masked.starts_with("{'a': 1, 'password': {'x': '<secret ") && masked.ends_with(">', None]}}"),
            "{masked}"
        );
    }
}

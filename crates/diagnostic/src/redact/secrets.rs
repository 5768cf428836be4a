//! The secret values, and the marks printed in their place.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use foldhash::fast::RandomState;
use hmac::{Hmac, KeyInit, Mac};
use mapstack_value::{Key, Map, Value};
use sha2::Sha256;

use crate::message::MaskedTexts;
use crate::redact::policy::{Policy, is_encrypted};
use crate::redact::search::{Message, SecretSearch};
use crate::redact::{stars, texts};

/// A text of the pillar this short says nothing by itself.
const SHORTEST: usize = 4;

/// The secret values, and the marks printed in their place.
///
/// A value is a secret if one of the keys above it [names one](crate::redact::is_secret_name), or if it comes from the
/// pillar: from under its path, or by a template that wrote it elsewhere or [computed](Self::derived)
/// something of it. In its place is a number or a short digest, the same for the same value. A number says nothing
/// of the secret; a digest is worthless without the salt.
///
/// ```
/// use mapstack_diagnostic::redact::Secrets;
/// use mapstack_value::{Map, Value};
/// let pillar: Map = [("db", Map::from_iter([("user", "application")]))].into_iter().collect();
/// let secrets = Secrets::new(b"salt").of_pillar(&pillar);
/// assert_eq!(secrets.shown(&["port".into()], false, &Value::from(22)), None);
/// let masked = secrets.shown(&["admin_password".into()], false, &Value::from("x")).unwrap();
/// assert!(masked.starts_with("<secret ") && masked.len() == "<secret 012345>".len());
/// assert!(secrets.shown(&["url".into()], false, &Value::from("//application@db")).is_some());
/// ```
#[derive(Clone)]
pub struct Secrets {
    policy: Policy,
    marks: Marks,
    /// Texts that are secrets by themselves, trimmed.
    texts: HashSet<String, RandomState>,
    /// The keys that facts have, which are shown.
    keys: HashSet<String, RandomState>,
    search: OnceLock<SecretSearch>,
    /// Texts of files that were quoted last, without what is secret by now.
    quoted: Arc<Mutex<MaskedTexts>>,
    everything_shown: bool,
    /// True if anything was kept back, by this or a clone.
    masked: Arc<AtomicBool>,
}

/// The marks that tell secrets apart.
#[derive(Clone)]
enum Marks {
    /// Nothing.
    None,
    /// A digest with a salt.
    Digest(Vec<u8>),
    /// A number for each, in the order in which they were first masked; clones share the numbers.
    Number(Arc<Mutex<HashMap<String, usize>>>),
}

impl Secrets {
    /// The values under the usual names, told apart by a digest with this salt: equal in all runs with the same salt.
    #[must_use]
    pub fn new(salt: &[u8]) -> Self {
        Self::marked(Marks::Digest(salt.into()))
    }

    /// The same, told apart by numbers: the first secret that is masked is `<secret 1>`.
    ///
    /// ```
    /// use mapstack_diagnostic::redact::Secrets;
    /// let secrets = Secrets::numbered();
    /// let masked = |secrets: &Secrets, value: &str| secrets.shown(&["token".into()], false, &value.into()).unwrap();
    /// assert_eq!(masked(&secrets, "a"), "<secret 1>");
    /// assert_eq!(masked(&secrets.clone(), "b"), "<secret 2>");
    /// assert_eq!(masked(&secrets, "a"), "<secret 1>");
    /// ```
    #[must_use]
    pub fn numbered() -> Self {
        Self::marked(Marks::Number(Arc::default()))
    }

    fn marked(marks: Marks) -> Self {
        Secrets {
            policy: Policy::default(),
            marks,
            texts: HashSet::default(),
            keys: HashSet::default(),
            search: OnceLock::new(),
            quoted: Arc::default(),
            everything_shown: false,
            masked: Arc::default(),
        }
    }

    /// The same, where all secrets look alike.
    #[must_use]
    pub fn without_digests() -> Self {
        Self::marked(Marks::None)
    }

    /// Print no numbers, for values that are masked in no particular order. Digests stay.
    ///
    /// ```
    /// use mapstack_diagnostic::redact::Secrets;
    /// let secrets = Secrets::numbered().without_numbers();
    /// assert_eq!(secrets.shown(&["token".into()], false, &"a".into()).unwrap(), "<secret>");
    /// ```
    #[must_use]
    pub fn without_numbers(mut self) -> Self {
        if let Marks::Number(_) = self.marks {
            self.marks = Marks::None;
        }
        self
    }

    /// Show everything as it is.
    #[must_use]
    pub fn shown_anyway(mut self, shown: bool) -> Self {
        self.everything_shown = shown;
        self.quoted = Arc::default();
        self
    }

    /// More names of secrets.
    #[must_use]
    pub fn named(mut self, is_secret: impl Fn(&str) -> bool + Send + Sync + 'static) -> Self {
        self.policy = self.policy.named(is_secret);
        self.quoted = Arc::default();
        self
    }

    /// Other rules of what is secret by itself.
    #[must_use]
    pub fn under(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self.quoted = Arc::default();
        self
    }

    /// The policy: which values are secret by themselves.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Add the values of a pillar to the secrets, wherever they come up: all of it, or what is secret by itself where
    /// the [policy](Self::policy) shows the pillar.
    #[must_use]
    pub fn of_pillar(mut self, pillar: &Map) -> Self {
        if !self.policy.masks_pillar() {
            return self.of_names(pillar);
        }
        self.learn_keys(pillar);
        pillar.values().for_each(|value| self.learn(value));
        self
    }

    /// Add the values under names of secrets, wherever they come up, and encrypted texts.
    #[must_use]
    pub fn of_names(mut self, data: &Map) -> Self {
        self.learn_keys(data);
        let policy = self.policy.clone();
        policy.visit_map(data, &mut |value| self.learn(value));
        self
    }

    /// Texts that were computed of secrets are secrets themselves.
    #[must_use]
    pub fn derived<T: AsRef<str>>(mut self, texts: impl IntoIterator<Item = T>) -> Self {
        texts
            .into_iter()
            .for_each(|text| self.learn_text(text.as_ref()));
        self
    }

    /// All texts of a value are secrets, wherever they come up.
    pub fn learn(&mut self, value: &Value) {
        match value {
            Value::Map(map) => map.values().for_each(|value| self.learn(value)),
            Value::List(items) => items.iter().for_each(|item| self.learn(item)),
            Value::Tuple(items) => items.iter().for_each(|item| self.learn(item)),
            Value::Set(items) => items.iter().for_each(|item| self.learn(&item.to_value())),
            Value::Str(text) => self.learn_text(text),
            Value::Bytes(bytes) => self.learn_text(&String::from_utf8_lossy(bytes)),
            _ => {}
        }
    }

    fn learn_keys(&mut self, map: &Map) {
        for (key, value) in map {
            if let Some(key) = key.as_str().filter(|key| key.len() >= SHORTEST) {
                self.keys.insert(key.to_owned());
            }
            self.learn_keys_in(value);
        }
    }

    fn learn_keys_in(&mut self, value: &Value) {
        match value {
            Value::Map(map) => self.learn_keys(map),
            Value::List(items) => items.iter().for_each(|item| self.learn_keys_in(item)),
            _ => {}
        }
    }

    fn learn_text(&mut self, text: &str) {
        // Templates leave line breaks at the end out.
        let text = text.trim();
        if text.len() >= SHORTEST && !self.texts.contains(text) {
            self.texts.insert(text.to_owned());
            self.search = OnceLock::new();
            self.quoted = Arc::default();
        }
    }

    /// Do something with the texts that are known without secrets, from message to message. Who comes while another
    /// thread has them begins with none.
    pub(crate) fn with_known_texts<T>(&self, work: impl FnOnce(&mut MaskedTexts) -> T) -> T {
        match self.quoted.try_lock() {
            Ok(mut known) => {
                known.forget_many();
                work(&mut known)
            }
            Err(_) => work(&mut MaskedTexts::default()),
        }
    }

    /// True if everything is shown as it is.
    #[must_use]
    pub fn shows_everything(&self) -> bool {
        self.everything_shown
    }

    /// True if the value under a key is secret because of the key.
    ///
    /// ```
    /// use mapstack_diagnostic::redact::Secrets;
    /// assert!(Secrets::new(b"salt").is_secret_key("Admin_Password"));
    /// ```
    #[must_use]
    pub fn is_secret_key(&self, name: &str) -> bool {
        self.policy.is_secret_key(name)
    }

    /// True if a value must be hidden. `from_pillar`: it is in the pillar, or was computed from its values.
    #[must_use]
    pub fn hide(&self, path: &[Key], from_pillar: bool, value: &Value) -> bool {
        if self.everything_shown || matches!(value, Value::None | Value::Bool(_)) {
            return false;
        }
        let has_password =
            || matches!(value, Value::Str(text) if !texts::passwords(text).is_empty());
        self.hides_whole(path, from_pillar, value) || has_password()
    }

    /// True if no part of a value is shown.
    fn hides_whole(&self, path: &[Key], from_pillar: bool, value: &Value) -> bool {
        let is_named = || {
            let name = self.policy.secret_key(path);
            name.is_some_and(|name| {
                value
                    .as_str()
                    .is_none_or(|text| !texts::is_public(text, name))
            })
        };
        let has_secret = || match value {
            Value::Str(text) => {
                is_encrypted(text) || self.has_secret(&self.without_passwords(text, ""))
            }
            Value::Bytes(bytes) => self.has_secret(&String::from_utf8_lossy(bytes)),
            Value::Set(items) => items
                .iter()
                .any(|item| self.hide(&[], false, &item.to_value())),
            _ => false,
        };
        from_pillar || is_named() || has_secret()
    }

    /// A text with something else in place of the passwords in its URLs.
    fn without_passwords<'t>(&self, text: &'t str, instead: &str) -> Cow<'t, str> {
        let passwords = texts::passwords(text);
        if passwords.is_empty() {
            return Cow::Borrowed(text);
        }
        let hidden = passwords
            .into_iter()
            .map(|range| (range, instead.to_owned()));
        Cow::Owned(replaced(text, hidden.collect()))
    }

    fn has_secret(&self, text: &str) -> bool {
        self.texts.contains(text.trim()) || self.search().finds(text)
    }

    fn search(&self) -> &SecretSearch {
        self.search
            .get_or_init(|| SecretSearch::new(self.texts.iter().map(String::as_str)))
    }

    /// The text that is printed in place of a secret; `None` for what is not secret. Mappings and lists are taken for
    /// what they hold.
    #[must_use]
    pub fn shown(&self, path: &[Key], from_pillar: bool, value: &Value) -> Option<String> {
        if !self.hide(path, from_pillar, value) {
            return None;
        }
        match value {
            Value::Str(text) if !self.hides_whole(path, from_pillar, value) => {
                Some(replaced(text, self.marked_passwords(text)))
            }
            whole => Some(self.mark(whole)),
        }
    }

    /// The passwords in the URLs of a text, and what is printed in their place.
    fn marked_passwords(&self, text: &str) -> Vec<(Range<usize>, String)> {
        let marked = |range: Range<usize>| {
            let mark = self.mark(&Value::from(text.get(range.clone()).unwrap_or_default()));
            (range, mark)
        };
        texts::passwords(text).into_iter().map(marked).collect()
    }

    /// A value in which everything is kept back that has to be.
    #[must_use]
    pub fn masked(&self, path: &[Key], from_pillar: bool, value: &Value) -> Value {
        self.masked_where(&mut path.to_vec(), value, &|_| from_pillar)
    }

    /// The same if each part of the value is secret by itself: `is_secret` gets the path of each
    /// scalar, which extends `path` by keys and indices.
    #[must_use]
    pub fn masked_where(
        &self,
        path: &mut Vec<Key>,
        value: &Value,
        is_secret: &dyn Fn(&[Key]) -> bool,
    ) -> Value {
        let mut inside = |step: Key, value: &Value| {
            path.push(step);
            let masked = self.masked_where(path, value, is_secret);
            path.pop();
            masked
        };
        match value {
            Value::Map(map) => {
                let entries = map
                    .iter()
                    .map(|(key, value)| (key.clone(), inside(key.clone(), value)));
                entries.collect::<Map>().into()
            }
            Value::List(items) => items
                .iter()
                .enumerate()
                .map(|(at, item)| inside(Key::of_index(at), item))
                .collect(),
            Value::Tuple(items) => Value::Tuple(
                items
                    .iter()
                    .enumerate()
                    .map(|(at, item)| inside(Key::of_index(at), item))
                    .collect(),
            ),
            scalar => self
                .shown(path, is_secret(path), scalar)
                .map_or_else(|| scalar.clone(), Value::from),
        }
    }

    /// A message for people without secret texts in it, as they are or as a quotation of them.
    ///
    /// ```
    /// use mapstack_diagnostic::redact::Secrets;
    /// use mapstack_value::Map;
    /// let secrets = Secrets::new(b"salt").of_pillar(&Map::from_iter([("key", "hunter2")]));
    /// assert!(!secrets.scrubbed("line 2: a: hunter2: b").contains("hunter2"));
    /// ```
    #[must_use]
    pub fn scrubbed(&self, message: &str) -> String {
        if self.everything_shown {
            return message.to_owned();
        }
        let of_message = Message::new(message);
        let hits = self.search().hits(message).into_iter();
        let hits = hits.filter(|hit| of_message.has_value(hit));
        let mut hidden = self.marked_passwords(message);
        hidden.extend(hits.map(|hit| (hit.range, self.mark(&Value::from(hit.secret)))));
        replaced(message, hidden)
    }

    /// A key for people: without the secrets that a template made it of. A key that facts have is not a secret, even where
    /// a secret has the same text.
    ///
    /// ```
    /// use mapstack_diagnostic::redact::Secrets;
    /// use mapstack_value::Map;
    /// let secrets = Secrets::numbered().of_pillar(&Map::from_iter([("mail", "postfix"), ("postfix", "hunter2")]));
    /// assert_eq!((&*secrets.shown_key("postfix"), &*secrets.shown_key("hunter2")), ("postfix", "<secret 1>"));
    /// ```
    #[must_use]
    pub fn shown_key<'k>(&self, key: &'k str) -> Cow<'k, str> {
        match self.keys.contains(key) {
            true => Cow::Borrowed(key),
            false => Cow::Owned(self.scrubbed(key)),
        }
    }

    /// A text of a file that may be quoted: stars replace everything behind or below the name of a secret,
    /// and secret texts. Every byte keeps its place.
    ///
    /// ```
    /// use mapstack_diagnostic::redact::Secrets;
    /// let secrets = Secrets::new(b"salt").derived(["hunter2"]);
    /// assert_eq!(secrets.starred("api_token: x\nurl: //hunter2@host"), "api_token: *\nurl: //*******@host");
    /// ```
    #[must_use]
    pub fn starred<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.starred_at(text, Vec::new())
    }

    /// The same, and stars for some ranges of bytes as well.
    #[must_use]
    pub fn starred_at<'t>(&self, text: &'t str, mut hidden: Vec<Range<usize>>) -> Cow<'t, str> {
        if self.everything_shown {
            return Cow::Borrowed(text);
        }
        hidden.extend(stars::behind_names(text, |name| self.is_secret_key(name)));
        hidden.extend(self.search().hits(text).into_iter().map(|hit| hit.range));
        hidden.extend(texts::passwords(text));
        match hidden.is_empty() {
            true => Cow::Borrowed(text),
            false => Cow::Owned(stars::starred(text, hidden)),
        }
    }

    /// A text of a document of facts with stars for every value of its pillar: an error in it may
    /// keep secrets from being found.
    ///
    /// ```
    /// use mapstack_diagnostic::redact::Secrets;
    /// let shown = Secrets::new(b"s").starred_facts("id: web1\npillar:\n  a: 'b\n");
    /// assert_eq!(shown, "id: web1\npillar:\n  a: **\n");
    /// ```
    #[must_use]
    pub fn starred_facts<'t>(&self, text: &'t str) -> Cow<'t, str> {
        self.starred_at(text, stars::pillar_values(text))
    }

    /// True if a placeholder replaces a secret in what was printed so far, by these secrets or by those that were made from
    /// them.
    ///
    /// ```
    /// use mapstack_diagnostic::redact::Secrets;
    /// let secrets = Secrets::numbered();
    /// let later = secrets.clone().derived(["hunter2"]);
    /// assert!(!secrets.has_masked());
    /// assert_eq!(later.scrubbed("to hunter2"), "to <secret 1>");
    /// assert!(secrets.has_masked());
    /// ```
    #[must_use]
    pub fn has_masked(&self) -> bool {
        self.masked.load(Ordering::Relaxed)
    }

    /// The mark printed in place of a value.
    fn mark(&self, value: &Value) -> String {
        self.masked.store(true, Ordering::Relaxed);
        match &self.marks {
            Marks::None => "<secret>".into(),
            Marks::Digest(salt) => match Hmac::<Sha256>::new_from_slice(salt) {
                Ok(mac) => format!("<secret {}>", digest(mac, value)),
                // Any length of salt will do.
                Err(_) => "<secret>".into(),
            },
            Marks::Number(known) => {
                let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                let next = known.len() + 1;
                format!("<secret {}>", known.entry(value.repr()).or_insert(next))
            }
        }
    }
}

/// A text with others in place of some ranges of it, of which the first of several that overlap is replaced.
fn replaced(text: &str, mut ranges: Vec<(Range<usize>, String)>) -> String {
    ranges.sort_by_key(|(range, _)| range.start);
    let (mut all, mut at) = (String::new(), 0);
    for (range, instead) in ranges {
        if range.start >= at {
            all.push_str(text.get(at..range.start).unwrap_or_default());
            all.push_str(&instead);
        }
        at = at.max(range.end);
    }
    all.push_str(text.get(at..).unwrap_or_default());
    all
}

/// The first bytes of a digest.
fn digest(mut mac: Hmac<Sha256>, value: &Value) -> String {
    mac.update(value.repr().as_bytes());
    let bytes = mac.finalize().into_bytes();
    bytes
        .iter()
        .take(3)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Says how many secrets there are, and none of them.
impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Secrets {
            texts,
            everything_shown,
            ..
        } = self;
        f.debug_struct("Secrets")
            .field("texts", &texts.len())
            .field("everything_shown", everything_shown)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_the_pillar_decide() {
        let pem = "-- BEGIN\nMIIEow=\n-- END\n";
        let pillar: Map = [("a", "hunter2"), ("b", "a long password"), ("c", pem)]
            .into_iter()
            .collect();
        let secrets = Secrets::new(b"s")
            .of_pillar(&pillar)
            .named(|name| name.eq_ignore_ascii_case("pin"));
        for (path, value, hidden) in [
            (&["Admin_Password"][..], "x", true),
            (&["tokens", "deep"], "x", true),
            (&["PIN"], "1", true),
            (&["pinned"], "1", false),
            (&["port"], "hunter2", true),
            (&["port"], "is hunter2", true),
            (&["port"], "hunt", false),
            (&["url"], "p=a long password;", true),
            (&["line"], "MIIEow=", true),
            (&["shell"], "/bin/sh", false),
        ] {
            let path: Vec<Key> = path.iter().map(|key| Key::from(*key)).collect();
            assert_eq!(
                secrets.hide(&path, false, &value.into()),
                hidden,
                "{path:?} {value}"
            );
        }
        assert!(secrets.hide(&["x".into()], true, &1.into()));
        assert!(
            !secrets.hide(&["password".into()], true, &Value::None),
            "an absent value gives nothing away"
        );
    }

    #[test]
    fn of_urls_only_the_password_is_masked() {
        let url = Value::from("https://me:pa55word@host/x");
        let pillar = Map::from_iter([("url", url.clone())]);
        let secrets = || Secrets::numbered().under(Policy::default().showing_pillar());
        let in_place = Some("https://me:<secret 1>@host/x".to_owned());
        assert_eq!(secrets().shown(&["url".into()], false, &url), in_place);
        let of_pillar = secrets().of_pillar(&pillar);
        assert_eq!(of_pillar.shown(&["url".into()], false, &url), in_place);
        assert_eq!(
            of_pillar.scrubbed("at https://me:pa55word@host/x"),
            "at https://me:<secret 1>@host/x"
        );
        assert_eq!(of_pillar.scrubbed("is it pa55word"), "is it <secret 1>");
        assert_eq!(
            secrets().starred("u: https://me:pw@host"),
            "u: https://me:**@host"
        );
        let whole = of_pillar.shown(&["token".into()], false, &url);
        assert_eq!(whole.as_deref(), Some("<secret 2>"));
    }

    #[test]
    fn the_nearest_name_decides() {
        let policy = Policy::default()
            .showing_pillar()
            .except(|name| name == "shown_key");
        let secrets = Secrets::new(b"s").under(policy);
        let hides = |path: &[&str]| {
            let path: Vec<Key> = path.iter().map(|key| Key::from(*key)).collect();
            secrets.hide(&path, false, &Value::from("x"))
        };
        assert!(hides(&["auth", "x"]) && hides(&["shown_key", "password"]));
        assert!(!hides(&["shown_key"]) && !hides(&["auth", "shown_key", "x"]));
    }

    #[test]
    fn digests_tell_values_apart_and_depend_on_the_salt() {
        let (one, other) = (Secrets::new(b"1"), Secrets::new(b"2"));
        let of = |secrets: &Secrets, value: &str| {
            secrets
                .shown(&["token".into()], false, &value.into())
                .unwrap()
        };
        assert_eq!(of(&one, "a"), of(&one, "a"));
        assert_ne!(of(&one, "a"), of(&one, "b"));
        assert_ne!(of(&one, "a"), of(&other, "a"));
    }

    #[test]
    fn everything_inside_a_value_is_masked() {
        let pillar: Map = [("k", "from here\n")].into_iter().collect();
        let tuple = Value::Tuple([Value::from("from here"), Value::from(1)].into());
        let masked = Secrets::new(b"s")
            .of_pillar(&pillar)
            .masked(&[], false, &tuple)
            .repr();
        assert!(
            masked.starts_with("('<secret ") && masked.ends_with(">', 1)"),
            "{masked}"
        );
        let inside: Map = [
            ("x", Value::from("y")),
            ("z", [Value::from(1), Value::None].into_iter().collect()),
        ]
        .into_iter()
        .collect();
        let value: Value = Value::from(
            [("a", Value::from(1)), ("password", inside.into())]
                .into_iter()
                .collect::<Map>(),
        );
        let masked = Secrets::new(b"s").masked(&[], false, &value).repr();
        assert!(
            masked.starts_with("{'a': 1, 'password': {'x': '<secret ")
                && masked.ends_with(">', None]}}"),
            "{masked}"
        );
    }

    #[test]
    fn what_is_learnt_later_is_found_as_well() {
        let secrets = Secrets::new(b"s").derived(["alpha-1"]);
        assert!(!secrets.scrubbed("alpha-1 beta-2").contains("alpha-1"));
        let opts: Map = [("sdb_token", "beta-2")].into_iter().collect();
        let scrubbed = secrets.of_names(&opts).scrubbed("alpha-1 beta-2");
        assert!(
            !scrubbed.contains("alpha-1") && !scrubbed.contains("beta-2"),
            "{scrubbed}"
        );
    }

    #[test]
    fn what_is_shown_anyway_is_shown() {
        let secrets = Secrets::new(b"s").derived(["hunter2"]).shown_anyway(true);
        assert_eq!(secrets.scrubbed("hunter2"), "hunter2");
        assert_eq!(secrets.starred("password: hunter2"), "password: hunter2");
        assert!(!secrets.hide(&["password".into()], true, &"x".into()));
        assert!(!format!("{secrets:?}").contains("hunter2"));
    }
}

//! Text and data that output takes.

use std::collections::HashMap;
use std::fmt;
use std::ops::Deref;

use mapstack_value::{Key, Map, Value};

use crate::redact::Secrets;

/// A report for people, of which a copy without secrets can be made.
pub trait Redact {
    /// The same without secrets.
    #[must_use]
    fn redacted(&self, secrets: &Secrets) -> Self;

    /// The same of several, which can have texts in common that are looked through once.
    #[must_use]
    fn all_redacted<'g>(given: impl IntoIterator<Item = &'g Self>, secrets: &Secrets) -> Vec<Self>
    where
        Self: Sized + 'g,
    {
        let given = given.into_iter();
        given.map(|one| one.redacted(secrets)).collect()
    }
}

/// A value that went through [`Secrets::redact`]: it cannot be made in another way, so a function that prints
/// and takes this cannot be given an unmasked secret by mistake.
///
/// ```
/// use mapstack_diagnostic::redact::{Redacted, Secrets};
/// use mapstack_value::Map;
/// fn print(message: &Redacted<String>) -> String { format!("error: {message}") }
/// let secrets = Secrets::new(b"salt").of_pillar(&Map::from_iter([("pw", "hunter2")]));
/// assert!(!print(&secrets.redact(&"not a number: hunter2".to_string())).contains("hunter2"));
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Redacted<T>(T);

impl<T> Deref for Redacted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Display> fmt::Display for Redacted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T> Redacted<T> {
    /// The value in it.
    pub fn into_inner(self) -> T {
        self.0
    }

    /// Change it without adding anything to read.
    #[must_use]
    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Redacted<U> {
        Redacted(change(self.0))
    }
}

impl Secrets {
    /// Mask the secrets in a value, which makes it acceptable for output.
    pub fn redact<T: Redact>(&self, given: &T) -> Redacted<T> {
        Redacted(given.redacted(self))
    }

    /// The same of several.
    ///
    /// ```
    /// use mapstack_diagnostic::redact::Secrets;
    /// let secrets = Secrets::without_digests().derived(["hunter2hunter2"]);
    /// let redacted = secrets.redact_all(&["to hunter2hunter2".to_string(), "to all".to_string()]);
    /// assert_eq!(redacted.iter().map(|one| one.as_str()).collect::<Vec<_>>(), ["to <secret>", "to all"]);
    /// ```
    pub fn redact_all<'g, T: Redact + 'g>(
        &self,
        given: impl IntoIterator<Item = &'g T>,
    ) -> Vec<Redacted<T>> {
        let all = T::all_redacted(given, self).into_iter();
        all.map(Redacted).collect()
    }
}

impl Secrets {
    /// Mask the secrets in data, as [`Secrets::masked_where`] does.
    ///
    /// ```
    /// use mapstack_diagnostic::redact::Secrets;
    /// use mapstack_value::Value;
    /// let masked = Secrets::without_digests().redact_value(&["token".into()], &Value::from("x"), &|_| false);
    /// assert_eq!(masked.as_str(), Some("<secret>"));
    /// ```
    pub fn redact_value(
        &self,
        path: &[Key],
        value: &Value,
        is_secret: &dyn Fn(&[Key]) -> bool,
    ) -> Redacted<Value> {
        Redacted(self.masked_where(&mut path.to_vec(), value, is_secret))
    }

    /// The same, where keys show no secrets either: templates can make keys of them.
    ///
    /// ```
    /// use mapstack_diagnostic::redact::Secrets;
    /// use mapstack_value::Map;
    /// let secrets = Secrets::without_digests().derived(["hunter2", "hunter3"]);
    /// let data = Map::from_iter([("hunter2", 1), ("hunter3", 2)]);
    /// let shown = secrets.redact_data(&[], &data.into(), &|_| false);
    /// assert_eq!(shown.repr(), "{'<secret>': 1, '<secret> (2)': 2}");
    /// ```
    pub fn redact_data(
        &self,
        path: &[Key],
        value: &Value,
        is_secret: &dyn Fn(&[Key]) -> bool,
    ) -> Redacted<Value> {
        let shown = |key: &Key| match key {
            Key::Str(text) if !self.shows_everything() => Key::from(&*self.shown_key(text)),
            other => other.clone(),
        };
        let masked = self.redact_value(path, value, is_secret);
        masked.map(|value| with_keys(&value, &shown))
    }
}

/// A value with other keys. Those that become the same are numbered.
#[must_use]
pub fn with_keys(value: &Value, shown: &dyn Fn(&Key) -> Key) -> Value {
    match value {
        Value::Map(map) => {
            let mut all = Map::default();
            // The last number of each key, so that many equal ones are found in one step each.
            let mut last: HashMap<Key, usize> = HashMap::new();
            for (key, value) in map {
                let mut free = shown(key);
                if all.contains_key(&free) {
                    let number = last.entry(free.clone()).or_insert(1);
                    let plain = free.clone();
                    while all.contains_key(&free) {
                        *number += 1;
                        free = Key::from(format!("{plain} ({number})"));
                    }
                }
                all.insert(free, with_keys(value, shown));
            }
            Value::Map(all.with_kind(map.kind()))
        }
        Value::List(items) => items.iter().map(|item| with_keys(item, shown)).collect(),
        Value::Tuple(items) => {
            Value::Tuple(items.iter().map(|item| with_keys(item, shown)).collect())
        }
        other => other.clone(),
    }
}

impl Redact for String {
    fn redacted(&self, secrets: &Secrets) -> Self {
        secrets.scrubbed(self)
    }
}

impl<T: Redact> Redact for Option<T> {
    fn redacted(&self, secrets: &Secrets) -> Self {
        self.as_ref().map(|given| given.redacted(secrets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_made_of_secrets_are_masked_at_every_depth_and_none_is_lost() {
        let inner = Value::from(Map::from_iter([("xhunter2y", 1), ("hunter2", 2)]));
        let list: Value = [inner.clone(), Value::Tuple([inner].into_iter().collect())]
            .into_iter()
            .collect();
        let data = Map::from_iter([
            ("<secret>", Value::from(0)),
            ("hunter2", Value::from("hunter2")),
            ("hunter3", list),
            ("plain", Value::from(true)),
        ]);
        let secrets = Secrets::without_digests().derived(["hunter2", "hunter3"]);
        let shown = secrets.redact_data(&[], &data.clone().into(), &|_| false);
        let shown = shown.repr();
        assert!(!shown.contains("hunter"), "{shown}");
        let keys = shown.matches("': ").count();
        assert_eq!(keys, 8, "{shown}");
        let everything = secrets.shown_anyway(true);
        let data = Value::from(data);
        assert_eq!(
            everything.redact_data(&[], &data, &|_| false).repr(),
            data.repr()
        );
    }
}

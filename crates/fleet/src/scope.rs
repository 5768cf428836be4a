//! The changes that count.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use mapstack::nearest;
use mapstack::value::{Key, Value};

use crate::change::Change;

/// A key with everything below it, as in `a:b`; `*` is any key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPattern(Vec<String>);

impl KeyPattern {
    /// Read a path of keys.
    ///
    /// ```
    /// use mapstack_fleet::KeyPattern;
    /// let shells = KeyPattern::new("users:*:shell");
    /// assert!(shells.has(&["users".into(), "tom".into(), "shell".into()]));
    /// assert!(!shells.has(&["users".into(), "tom".into()]));
    /// ```
    #[must_use]
    pub fn new(path: &str) -> Self {
        KeyPattern(path.split(':').map(str::to_owned).collect())
    }

    /// True if a path leads to it or below it.
    #[must_use]
    pub fn has(&self, path: &[Key]) -> bool {
        self.0.len() <= path.len() && self.begins(path)
    }

    /// Look for a value at it in data. The error is the first step that finds nothing, and the names beside that.
    fn find(&self, data: &Value) -> Result<(), (usize, Vec<String>)> {
        let mut reached = vec![data];
        for (index, step) in self.0.iter().enumerate() {
            let entries = || reached.iter().filter_map(|value| value.as_map()).flatten();
            let next: Vec<&Value> = entries()
                .filter(|(key, _)| is_step(step, key))
                .map(|(_, value)| value)
                .collect();
            if next.is_empty() {
                return Err((index, entries().map(|(key, _)| key.to_string()).collect()));
            }
            reached = next;
        }
        Ok(())
    }

    /// The same with another name at one of the steps.
    fn with_step(&self, index: usize, name: String) -> Self {
        let mut steps = self.0.clone();
        if let Some(step) = steps.get_mut(index) {
            *step = name;
        }
        KeyPattern(steps)
    }

    /// The rest of a change at it and below it.
    fn part_of(&self, change: Change, found: &mut Vec<Change>) {
        if !self.begins(&change.path) {
            return;
        }
        let Some(step) = self.0.get(change.path.len()) else {
            found.push(change);
            return;
        };
        let below = |value: &Option<Value>| {
            let map = value.as_ref().and_then(Value::as_map);
            map.cloned().unwrap_or_default()
        };
        let (old, new) = (below(&change.old), below(&change.new));
        let added = new.keys().filter(|key| !old.contains_key(*key));
        for key in old.keys().chain(added).filter(|key| is_step(step, key)) {
            let inner = Change {
                path: [&*change.path, std::slice::from_ref(key)].concat(),
                old: old.get(key).cloned(),
                new: new.get(key).cloned(),
            };
            self.part_of(inner, found);
        }
    }

    /// True if the steps that a path has are its own.
    fn begins(&self, path: &[Key]) -> bool {
        self.0
            .iter()
            .zip(path)
            .all(|(step, key)| is_step(step, key))
    }
}

impl fmt::Display for KeyPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(":"))
    }
}

fn is_step(step: &str, key: &Key) -> bool {
    step == "*" || *step == *key.to_string()
}

/// The changes that count: those at and below some keys, or all, without those at and below others.
///
/// ```
/// use mapstack::yaml::load;
/// use mapstack_fleet::{Scope, changes};
/// let (old, new) = (load("a: {b: 1, c: 2}\nd: 1").unwrap(), load("d: 2").unwrap());
/// let scope = Scope::new(&["a:b".into()], &[]);
/// let found = scope.of(changes(&old, &new));
/// assert_eq!((found.len(), found[0].path.len(), &found[0].new), (1, 2, &None));
/// ```
#[derive(Debug, Default)]
pub struct Scope {
    wanted: Vec<ScopeKey>,
    ignored: Vec<KeyPattern>,
    /// True if there were any data.
    has_looked: AtomicBool,
}

/// A key that counts.
#[derive(Debug)]
struct ScopeKey {
    key: KeyPattern,
    /// True if any data had it.
    is_found: AtomicBool,
    /// The most similar existing key, with the index of the first step that differs: the furthest of all.
    near: Mutex<Option<(usize, KeyPattern)>>,
}

/// A key that none of the data has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no result has anything under '{key}'")]
pub struct UnknownKey {
    /// The key.
    pub key: KeyPattern,
    /// A similar existing one, at least up to the step that does not exist.
    pub nearest: Option<KeyPattern>,
}

impl Scope {
    /// True if only some keys count.
    #[must_use]
    pub fn has_get(&self) -> bool {
        !self.wanted.is_empty()
    }

    /// Read paths of keys.
    #[must_use]
    pub fn new(wanted: &[String], ignored: &[String]) -> Self {
        let want = |path: &String| ScopeKey {
            key: KeyPattern::new(path),
            is_found: AtomicBool::new(false),
            near: Mutex::default(),
        };
        Scope {
            wanted: wanted.iter().map(want).collect(),
            ignored: ignored.iter().map(|path| KeyPattern::new(path)).collect(),
            has_looked: AtomicBool::new(false),
        }
    }

    /// The changes that count.
    #[must_use]
    pub fn of(&self, changes: Vec<Change>) -> Vec<Change> {
        let mut found = match self.wanted.is_empty() {
            true => changes,
            false => {
                let mut found = Vec::new();
                for change in changes {
                    for wanted in &self.wanted {
                        wanted.key.part_of(change.clone(), &mut found);
                    }
                }
                // Two patterns can have a key in common.
                let mut seen = HashSet::new();
                found.retain(|change| seen.insert(change.path.clone()));
                found
            }
        };
        found.retain(|change| !self.ignored.iter().any(|ignored| ignored.has(&change.path)));
        found
    }

    /// Note which of the keys data have.
    pub fn note_keys(&self, data: &Value) {
        self.has_looked.store(true, Ordering::Relaxed);
        for wanted in &self.wanted {
            // Threads share this, and reading is cheaper than writing.
            if !wanted.is_found.load(Ordering::Relaxed) {
                wanted.note(data);
            }
        }
    }

    /// Fail if data were looked at and none of them has one of the keys that count.
    ///
    /// # Errors
    /// The first such key.
    ///
    /// ```
    /// use mapstack::yaml::load;
    /// let scope = mapstack_fleet::Scope::new(&["users:*:shel".into()], &[]);
    /// scope.note_keys(&load("users: {tom: {shell: sh}}").unwrap());
    /// let unknown = scope.check().unwrap_err();
    /// assert_eq!(unknown.nearest.unwrap().to_string(), "users:*:shell");
    /// ```
    pub fn check(&self) -> Result<(), UnknownKey> {
        if !self.has_looked.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut wanted = self.wanted.iter();
        match wanted.find(|wanted| !wanted.is_found.load(Ordering::Relaxed)) {
            Some(missing) => Err(missing.unknown()),
            None => Ok(()),
        }
    }
}

impl ScopeKey {
    fn note(&self, data: &Value) {
        match self.key.find(data) {
            Ok(()) => self.is_found.store(true, Ordering::Relaxed),
            Err((index, names)) => {
                let step = self.key.0.get(index);
                let name = step.and_then(|step| nearest(step, &names)).cloned();
                let similar = name.map(|name| (index, self.key.with_step(index, name)));
                let Some(similar) = self.colons_for_dots(data).or(similar) else {
                    return;
                };
                let mut near = self.near.lock().unwrap_or_else(PoisonError::into_inner);
                if near
                    .as_ref()
                    .is_none_or(|(furthest, _)| *furthest < similar.0)
                {
                    *near = Some(similar);
                }
            }
        }
    }

    fn unknown(&self) -> UnknownKey {
        let near = self.near.lock().unwrap_or_else(PoisonError::into_inner);
        let near = near.clone();
        UnknownKey {
            key: self.key.clone(),
            nearest: near.map(|(_, key)| key),
        }
    }

    /// The key that is meant if it was written as templates write it.
    fn colons_for_dots(&self, data: &Value) -> Option<(usize, KeyPattern)> {
        let written = self.key.to_string();
        let meant = KeyPattern::new(&written.replace('.', ":"));
        let is_there = written.contains('.') && meant.find(data).is_ok();
        is_there.then_some((usize::MAX, meant))
    }
}

#[cfg(test)]
mod tests {
    use mapstack::yaml::load;

    use super::Scope;

    fn check(wanted: &str, data: &[&str]) -> Result<(), (String, Option<String>)> {
        let scope = Scope::new(&[wanted.to_owned()], &[]);
        for text in data {
            scope.note_keys(&load(text).unwrap());
        }
        let unknown = scope.check();
        unknown.map_err(|unknown| {
            let message = unknown.to_string();
            (message, unknown.nearest.map(|near| near.to_string()))
        })
    }

    #[test]
    fn a_key_that_no_data_has_is_an_error_with_the_nearest() {
        let data = ["users: {tom: {shell: sh}, ann: {}}", "pkg: {name: x}"];
        for wanted in ["users:tom:shell", "users:*:shell", "pkg", "*:name"] {
            assert_eq!(check(wanted, &data), Ok(()), "{wanted}");
        }
        for (wanted, near) in [
            ("pgk:name", Some("pkg:name")),
            ("users:tmo:shell", Some("users:tom:shell")),
            // The step that leads furthest counts.
            ("users:*:shel", Some("users:*:shell")),
            ("pkg.name", Some("pkg:name")),
            ("users.*.shell", Some("users:*:shell")),
            ("pkg.nope", None),
            ("pkg:name:more", None),
            ("other", None),
        ] {
            let message = format!("no result has anything under '{wanted}'");
            let expected = Err((message, near.map(str::to_owned)));
            assert_eq!(check(wanted, &data), expected, "{wanted}");
        }
    }

    #[test]
    fn without_data_nothing_is_known() {
        assert_eq!(check("pkg", &[]), Ok(()));
        assert!(check("pkg", &["[a, list]"]).is_err());
    }
}

//! What is different between two values.

use std::collections::HashSet;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use mapstack::value::{Key, Value};
use mapstack::{Error, ErrorKind};

/// A value under some keys that is not what it was.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The keys to it. Lists change as a whole.
    pub path: Vec<Key>,
    /// What it was; `None` if there was nothing.
    pub old: Option<Value>,
    /// What it is; `None` if there is nothing any more.
    pub new: Option<Value>,
}

/// The deepest values that are not what they were, in the order of keys. The order of keys itself is
/// no difference.
///
/// ```
/// use mapstack::yaml::load;
/// use mapstack_fleet::changes;
/// let (old, new) = (load("a: {b: 1, c: [x]}\nd: 2").unwrap(), load("a: {b: 1, c: [x, y]}\ne: 3").unwrap());
/// let found: Vec<_> = changes(&old, &new).iter().map(|change| format!("{}", change.path.last().unwrap())).collect();
/// assert_eq!(found, ["c", "d", "e"]);
/// ```
#[must_use]
pub fn changes(old: &Value, new: &Value) -> Vec<Change> {
    let mut found = Vec::new();
    compare(old, new, &mut Vec::new(), &mut found);
    found
}

fn compare(old: &Value, new: &Value, path: &mut Vec<Key>, found: &mut Vec<Change>) {
    let (Value::Map(before), Value::Map(after)) = (old, new) else {
        if !old.is_same(new) {
            found.push(Change {
                path: path.clone(),
                old: Some(old.clone()),
                new: Some(new.clone()),
            });
        }
        return;
    };
    if before.ptr_eq(after) {
        return;
    }
    let at = |path: &[Key], key: &Key| [path, std::slice::from_ref(key)].concat();
    for (key, old) in before {
        match after.get(key) {
            None => found.push(Change {
                path: at(path, key),
                old: Some(old.clone()),
                new: None,
            }),
            Some(new) => {
                path.push(key.clone());
                compare(old, new, path, found);
                path.pop();
            }
        }
    }
    for (key, new) in after.iter().filter(|(key, _)| !before.contains_key(*key)) {
        found.push(Change {
            path: at(path, key),
            old: None,
            new: Some(new.clone()),
        });
    }
}

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

    /// Whether a path leads to it or below it.
    #[must_use]
    pub fn has(&self, path: &[Key]) -> bool {
        self.0.len() <= path.len() && self.begins(path)
    }

    /// Whether data have a value at it.
    #[must_use]
    pub fn is_in(&self, data: &Value) -> bool {
        fn look(steps: &[String], data: &Value) -> bool {
            let Some((step, rest)) = steps.split_first() else {
                return true;
            };
            let mut entries = data.as_map().into_iter().flatten();
            entries.any(|(key, value)| is_step(step, key) && look(rest, value))
        }
        look(&self.0, data)
    }

    /// What is left of a change at it and below it.
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

    /// Whether the steps that a path has are its own.
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
    /// With whether any data had it.
    wanted: Vec<(KeyPattern, AtomicBool)>,
    ignored: Vec<KeyPattern>,
}

impl Scope {
    /// Read paths of keys.
    #[must_use]
    pub fn new(wanted: &[String], ignored: &[String]) -> Self {
        let pattern = |path: &String| KeyPattern::new(path);
        Scope {
            wanted: wanted
                .iter()
                .map(|path| (pattern(path), AtomicBool::new(false)))
                .collect(),
            ignored: ignored.iter().map(pattern).collect(),
        }
    }

    /// What counts of some changes.
    #[must_use]
    pub fn of(&self, changes: Vec<Change>) -> Vec<Change> {
        let mut found = match self.wanted.is_empty() {
            true => changes,
            false => {
                let mut found = Vec::new();
                for change in changes {
                    for (pattern, _) in &self.wanted {
                        pattern.part_of(change.clone(), &mut found);
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
    pub fn look(&self, data: &Value) {
        for (pattern, is_found) in &self.wanted {
            // Threads share this, and reading is cheaper than writing.
            if !is_found.load(Ordering::Relaxed) && pattern.is_in(data) {
                is_found.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Fail if none of the data that were looked at has one of the keys that count.
    ///
    /// # Errors
    /// The first such key.
    pub fn check(&self) -> Result<(), Error> {
        let mut wanted = self.wanted.iter();
        let missing = wanted.find(|(_, is_found)| !is_found.load(Ordering::Relaxed));
        missing.map_or(Ok(()), |(pattern, _)| {
            let message = format!("no configuration has anything under '{pattern}'");
            Err(Error::new(ErrorKind::Lookup, message).help(
                "`mapstack fleet FORMULA --get KEY` names the keys beside one that does not exist",
            ))
        })
    }
}

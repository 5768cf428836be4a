//! The differences between two values.

use mapstack::value::{Key, Value};

/// A value under some keys that is not what it was.
#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    /// The keys to it. Lists change as a whole.
    pub path: Vec<Key>,
    /// The value before; `None` if there was none.
    pub old: Option<Value>,
    /// The value now; `None` if it was removed.
    pub new: Option<Value>,
}

impl Change {
    /// Data that came or went as a whole, without the arguments that it is made with.
    pub(crate) fn of_whole(values: [Option<&Value>; 2]) -> Self {
        let [old, new] = values.map(|value| {
            let mut value = value?.clone();
            if let Value::Map(map) = &mut value {
                map.shift_remove("map_jinja");
            }
            Some(value)
        });
        Change {
            path: Vec::new(),
            old,
            new,
        }
    }

    /// True if data came or went as a whole.
    #[must_use]
    pub fn is_of_whole(&self) -> bool {
        self.path.is_empty() && (self.old.is_none() || self.new.is_none())
    }
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

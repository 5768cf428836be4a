//! Keys in the order in which they come again and again, such as those of facts.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use crate::Str;

/// So many keys are remembered at most: those of minions' facts are some hundreds.
const MAX_KEYS: usize = 1024;

/// Longer keys are not remembered, being rarely the same.
const MAX_BYTES: usize = 48;

/// Keys that were read, each with the one that came after it. All are forgotten when there are too
/// many, which those that come all the time survive by coming again.
#[derive(Default)]
pub(crate) struct Keys {
    known: Vec<InternedKeys>,
    places: HashMap<Str, usize, RandomState>,
    /// The place of the key that was read last.
    last: usize,
}

struct InternedKeys {
    key: Str,
    /// The place of the key that came next, the last time.
    next: usize,
}

impl Keys {
    /// The key that came next the last time, if a text begins with it and a quote.
    pub fn expected(&mut self, rest: &[u8]) -> Option<Str> {
        let place = self.known.get(self.last)?.next;
        let key = &self.known.get(place)?.key;
        let found = rest.starts_with(key.as_bytes()) && rest.get(key.len()) == Some(&b'"');
        found.then(|| {
            self.last = place;
            key.clone()
        })
    }

    /// A key without escapes.
    pub fn get(&mut self, text: &str) -> Str {
        if text.len() > MAX_BYTES {
            return text.into();
        }
        let place = match self.places.get(text) {
            Some(place) => *place,
            None => self.learn(text),
        };
        if let Some(last) = self.known.get_mut(self.last) {
            last.next = place;
        }
        self.last = place;
        self.known
            .get(place)
            .map_or_else(|| text.into(), |known| known.key.clone())
    }

    fn learn(&mut self, text: &str) -> usize {
        if self.known.len() >= MAX_KEYS {
            self.known.clear();
            self.places.clear();
        }
        let (key, place) = (Str::from(text), self.known.len());
        self.known.push(InternedKeys {
            key: key.clone(),
            next: place,
        });
        self.places.insert(key, place);
        place
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn short_keys_are_shared_while_they_are_remembered() {
        let mut keys = Keys::default();
        let first = keys.get("os_family");
        assert!(Arc::ptr_eq(&first, &keys.get("os_family")));
        let long = "x".repeat(MAX_BYTES + 1);
        assert!(!Arc::ptr_eq(&keys.get(&long), &keys.get(&long)));
        for n in 0..10 * MAX_KEYS {
            assert_eq!(*keys.get(&n.to_string()), *n.to_string());
            assert_eq!(keys.get("os_family"), first);
            assert!(keys.known.len() <= MAX_KEYS && keys.places.len() == keys.known.len());
        }
    }

    #[test]
    fn what_came_next_is_expected_and_nothing_else() {
        let mut keys = Keys::default();
        assert_eq!(keys.expected(b"a\""), None);
        for key in ["a", "b", "", "a"] {
            keys.get(key);
        }
        assert_eq!(keys.expected(b"bc\""), None);
        assert_eq!(keys.expected(b"b"), None);
        assert_eq!(keys.expected(b"b\": 1").as_deref(), Some("b"));
        assert_eq!(keys.expected(b"\": 1").as_deref(), Some(""));
        assert_eq!(keys.expected(b"a\": 1").as_deref(), Some("a"));
    }
}

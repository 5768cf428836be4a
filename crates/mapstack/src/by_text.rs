//! A cache of values computed from texts.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use mapstack_value::Str;

/// Values by the text they were computed from. Minions and threads share the cache. When the texts exceed its limit,
/// it is emptied.
pub(crate) struct ByText<V> {
    kept: Mutex<Kept<V>>,
    most: usize,
}

struct Kept<V> {
    by_text: HashMap<Str, V, RandomState>,
    bytes: usize,
}

impl<V: Clone> ByText<V> {
    /// An empty cache for texts of at most so many bytes in total.
    pub fn new(most: usize) -> Self {
        ByText {
            kept: Mutex::new(Kept {
                by_text: HashMap::default(),
                bytes: 0,
            }),
            most,
        }
    }

    /// The value computed from a text.
    pub fn get(&self, text: &str) -> Option<V> {
        self.lock().by_text.get(text).cloned()
    }

    /// Store the value computed from a text.
    pub fn put(&self, text: &str, value: V) {
        let mut kept = self.lock();
        if let Some(known) = kept.by_text.get_mut(text) {
            *known = value;
            return;
        }
        if kept.bytes.saturating_add(text.len()) > self.most {
            *kept = Kept {
                by_text: HashMap::default(),
                bytes: 0,
            };
        }
        kept.by_text.insert(text.into(), value);
        kept.bytes += text.len();
    }

    /// Nothing panics while it holds the lock and the cache is incomplete, so a poisoned lock is usable.
    fn lock(&self) -> MutexGuard<'_, Kept<V>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_so_much_text_and_starts_over() {
        let kept = ByText::new(10);
        for (number, text) in ["aaaa", "bbbb", "aaaa"].into_iter().enumerate() {
            kept.put(text, number);
        }
        assert_eq!(
            (kept.get("aaaa"), kept.get("bbbb"), kept.get("cccc")),
            (Some(2), Some(1), None)
        );
        kept.put("cccc", 3);
        assert_eq!((kept.get("aaaa"), kept.get("cccc")), (None, Some(3)));
    }
}

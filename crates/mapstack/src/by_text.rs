//! What was made of texts, for who meets them again.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use mapstack_value::Str;

/// Things by the text they were made of, until there is too much text; then it starts over. Minions and
/// threads share it.
pub(crate) struct ByText<V> {
    kept: Mutex<Kept<V>>,
    most: usize,
}

struct Kept<V> {
    by_text: HashMap<Str, V, RandomState>,
    bytes: usize,
}

impl<V: Clone> ByText<V> {
    /// Nothing; later that many bytes of text at most.
    pub fn new(most: usize) -> Self {
        ByText {
            kept: Mutex::new(Kept {
                by_text: HashMap::default(),
                bytes: 0,
            }),
            most,
        }
    }

    /// What was made of a text.
    pub fn get(&self, text: &str) -> Option<V> {
        self.lock().by_text.get(text).cloned()
    }

    /// Keep what was made of a text.
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

    /// A panic elsewhere leaves nothing half-written here.
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

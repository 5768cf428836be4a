//! A cache of values computed from texts.

use foldhash::fast::RandomState;
use mapstack_value::Str;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{OptionsBuilder, Weighter};

/// Values by the text they were computed from. Minions and threads share the cache. When the texts exceed its limit,
/// those go that were not needed for the longest time.
///
/// ```
/// let lengths = mapstack::ByText::new(1 << 10);
/// lengths.put("a text", 6);
/// assert_eq!((lengths.get("a text"), lengths.get("another")), (Some(6), None));
/// ```
pub struct ByText<V>(Cache<Str, V, Size, RandomState>);

/// The size of a text: its bytes.
#[derive(Clone)]
struct Size;

impl<V> Weighter<Str, V> for Size {
    fn weight(&self, text: &Str, _: &V) -> u64 {
        // A weight of zero would never be given up.
        text.len().max(1) as u64
    }
}

/// Parts of a cache with a lock each. A text that is longer than its part is not kept, so there are few.
const PARTS: usize = 4;
/// About the size of a text, by which the cache estimates how many there will be.
const USUAL_TEXT: usize = 1 << 10;

impl<V: Clone> ByText<V> {
    /// An empty cache for texts of at most this many bytes in total.
    #[must_use]
    pub fn new(most: usize) -> Self {
        let options = OptionsBuilder::new()
            .shards(PARTS)
            .estimated_items_capacity(most / USUAL_TEXT)
            .weight_capacity(most as u64)
            .build();
        let options = options.expect("the number of items and their weight are given");
        ByText(Cache::with_options(
            options,
            Size,
            RandomState::default(),
            DefaultLifecycle::default(),
        ))
    }

    /// The value computed from a text.
    #[must_use]
    pub fn get(&self, text: &str) -> Option<V> {
        self.0.get(text)
    }

    /// Store the value computed from a text.
    pub fn put(&self, text: &str, value: V) {
        self.0.insert(text.into(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_keeps_so_much_text() {
        let cache = ByText::new(1000);
        for number in 0..1000 {
            cache.put(&format!("text {number:05}"), number);
        }
        let kept =
            (0..1000).filter(|number| cache.get(&format!("text {number:05}")) == Some(*number));
        assert!((1..=100).contains(&kept.count()));
        cache.put("text 00999", 7);
        assert_eq!(cache.get("text 00999"), Some(7));
        assert_eq!(cache.get("another text"), None);
    }
}

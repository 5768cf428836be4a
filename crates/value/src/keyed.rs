//! Something for each key of a mapping, under the mapping's own keys as long as that will do.

use std::hash::Hash;

use foldhash::fast::RandomState;
use indexmap::{Equivalent, IndexMap};

use crate::{Key, Map, Value};

/// Items by keys, in order: under keys of their own, or under those of a mapping until something changes them, so that
/// who looks at one item need not hash all keys.
///
/// ```
/// use mapstack_value::{Key, Keyed, Map};
/// let map = Map::from_iter([("b", 1), ("a", 2)]);
/// let mut items = Keyed::over(&map, |(_, value)| value.repr());
/// assert_eq!((items.index_of("a"), items.get("a")), (Some(1), Some(&"2".to_owned())));
/// items.change(|own| own.insert(Key::from("c"), "3".to_owned()));
/// let keys = items.iter().map(|(key, _)| key.to_string());
/// assert_eq!(keys.collect::<Vec<_>>(), ["b", "a", "c"]);
/// assert_eq!(map.len(), 2);
/// ```
#[derive(Clone)]
pub struct Keyed<T>(Items<T>);

#[derive(Clone)]
enum Items<T> {
    Own(IndexMap<Key, T, RandomState>),
    /// One item for each entry of the mapping.
    Over(Map, Vec<T>),
}

impl<T> From<IndexMap<Key, T, RandomState>> for Keyed<T> {
    fn from(own: IndexMap<Key, T, RandomState>) -> Self {
        Keyed(Items::Own(own))
    }
}

impl<T> Keyed<T> {
    /// An item for each entry of a mapping.
    pub fn over(map: &Map, item: impl FnMut((&Key, &Value)) -> T) -> Self {
        Keyed(Items::Over(map.clone(), map.iter().map(item).collect()))
    }

    /// The number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.0 {
            Items::Own(own) => own.len(),
            Items::Over(_, items) => items.len(),
        }
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The position of a key.
    #[inline]
    #[must_use]
    pub fn index_of<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<usize> {
        match &self.0 {
            Items::Own(own) => own.get_index_of(key),
            Items::Over(map, _) => map.index_of(key),
        }
    }

    /// The item under a key.
    #[inline]
    #[must_use]
    pub fn get<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<&T> {
        match &self.0 {
            Items::Own(own) => own.get(key),
            Items::Over(map, items) => items.get(map.index_of(key)?),
        }
    }

    /// The entry at a position.
    #[must_use]
    pub fn entry_at(&self, index: usize) -> Option<(&Key, &T)> {
        match &self.0 {
            Items::Own(own) => own.get_index(index),
            Items::Over(map, items) => Some((map.entry_at(index)?.0, items.get(index)?)),
        }
    }

    /// The entries in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Key, &T)> {
        (0..self.len()).filter_map(|index| self.entry_at(index))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl DoubleEndedIterator<Item = &Key> {
        self.iter().map(|(key, _)| key)
    }

    /// The items in order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &T> {
        self.iter().map(|(_, item)| item)
    }

    /// Change the items, which have keys of their own from then on.
    pub fn change<R>(&mut self, change: impl FnOnce(&mut IndexMap<Key, T, RandomState>) -> R) -> R {
        match &mut self.0 {
            Items::Own(own) => change(own),
            Items::Over(map, items) => {
                let mut own = map.keys().cloned().zip(items.drain(..)).collect();
                let changed = change(&mut own);
                self.0 = Items::Own(own);
                changed
            }
        }
    }

    /// The items in order, which leaves none.
    #[must_use]
    pub fn take_items(&mut self) -> Vec<T> {
        match std::mem::replace(&mut self.0, Items::Own(IndexMap::default())) {
            Items::Own(own) => own.into_values().collect(),
            Items::Over(_, items) => items,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_over_a_mapping_have_keys_of_their_own_once_they_change() {
        let map = Map::from_iter([("b", 1), ("a", 2)]);
        let mut items = Keyed::over(&map, |(_, value)| value.repr());
        let shown = |items: &Keyed<String>| {
            let entries = items.iter().map(|(key, item)| format!("{key}: {item}"));
            entries.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(shown(&items), "b: 1, a: 2");
        assert_eq!(items.index_of("a"), Some(1));
        assert!(items.get("c").is_none() && items.entry_at(2).is_none());
        items.change(|own| own.insert(Key::from("c"), "3".to_owned()));
        assert_eq!(shown(&items), "b: 1, a: 2, c: 3");
        assert_eq!(items.take_items().len(), 3);
        assert!(items.is_empty());
        assert_eq!(map.len(), 2);
    }
}

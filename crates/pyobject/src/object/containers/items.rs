//! The entries of a live dict.

use std::hash::Hash;

use foldhash::fast::RandomState;
use indexmap::{Equivalent, IndexMap};
use mapstack_value::{Key, Map, Value};

/// The entries of a live dict of objects `O`.
#[derive(Clone)]
pub enum Items<O> {
    /// Entries of its own.
    Own(IndexMap<Key, O, RandomState>),
    /// Objects for the values of frozen data, in its order. Its keys serve the dict until the dict itself is changed:
    /// a template that looks at one value need not hash all keys.
    Over(Map, Vec<O>),
}

impl<O> Items<O> {
    /// The entries of frozen data, with an object for each value.
    pub fn over(map: &Map, object: impl FnMut((&Key, &Value)) -> O) -> Self {
        Items::Over(map.clone(), map.iter().map(object).collect())
    }

    pub fn len(&self) -> usize {
        match self {
            Items::Own(entries) => entries.len(),
            Items::Over(_, objects) => objects.len(),
        }
    }

    /// The position of a key.
    #[inline]
    pub fn index_of<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<usize> {
        match self {
            Items::Own(entries) => entries.get_index_of(key),
            Items::Over(map, _) => map.index_of(key),
        }
    }

    /// The object under a key.
    #[inline]
    pub fn get<Q: ?Sized + Hash + Equivalent<Key>>(&self, key: &Q) -> Option<&O> {
        match self {
            Items::Own(entries) => entries.get(key),
            Items::Over(map, objects) => objects.get(map.index_of(key)?),
        }
    }

    /// The entry at a position.
    pub fn entry_at(&self, index: usize) -> Option<(&Key, &O)> {
        match self {
            Items::Own(entries) => entries.get_index(index),
            Items::Over(map, objects) => Some((map.entry_at(index)?.0, objects.get(index)?)),
        }
    }

    /// The entries in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&Key, &O)> {
        (0..self.len()).filter_map(|index| self.entry_at(index))
    }

    /// The keys in order.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.iter().map(|(key, _)| key)
    }

    /// The objects in order.
    pub fn values(&self) -> impl DoubleEndedIterator<Item = &O> {
        self.iter().map(|(_, object)| object)
    }

    /// The entries as the dict's own, which leaves none.
    pub fn take(&mut self) -> IndexMap<Key, O, RandomState> {
        match self {
            Items::Own(entries) => std::mem::take(entries),
            Items::Over(map, objects) => map.keys().cloned().zip(objects.drain(..)).collect(),
        }
    }

    /// The objects, which leaves none.
    pub fn take_objects(&mut self) -> Vec<O> {
        match self {
            Items::Own(entries) => std::mem::take(entries).into_values().collect(),
            Items::Over(_, objects) => std::mem::take(objects),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_over_data_are_the_dicts_own_once_it_changes() {
        let map = Map::from_iter([("b", 1), ("a", 2)]);
        let mut items = Items::over(&map, |(_, value)| value.repr());
        let shown = |items: &Items<String>| {
            let entries = items.iter().map(|(key, object)| format!("{key}: {object}"));
            entries.collect::<Vec<_>>().join(", ")
        };
        assert_eq!(shown(&items), "b: 1, a: 2");
        assert_eq!(items.index_of("a"), Some(1));
        assert!(items.get("c").is_none() && items.entry_at(2).is_none());
        let mut entries = items.take();
        assert_eq!(items.len(), 0);
        entries.insert(Key::from("c"), "3".to_owned());
        items = Items::Own(entries);
        assert_eq!(shown(&items), "b: 1, a: 2, c: 3");
        assert_eq!(items.take_objects().len(), 3);
        assert_eq!(map.len(), 2);
    }
}

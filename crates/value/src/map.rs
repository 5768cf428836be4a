//! Insertion-ordered mappings and sets, shared and copied on write.

use std::fmt;
use std::sync::Arc;

use foldhash::fast::RandomState;
use indexmap::{Equivalent, IndexMap, IndexSet};

use crate::{Key, Value};

type Entries = IndexMap<Key, Value, RandomState>;

/// The type of a [`Map`] among Python's mapping types.
///
/// Equality ignores it; it decides how a mapping is dumped (`|yaml` sorts the keys of a `Dict`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MapKind {
    /// `dict`
    #[default]
    Dict,
    /// `OrderedDict`
    Ordered,
    /// Salt's aggregate mapping, the root left by merge strategy `aggregate`.
    Aggregate,
    /// The dict that Salt's renderer `stateconf` gives to templates: its items are attributes as well, and what it does
    /// not have is an error.
    Bunch,
}

impl MapKind {
    /// True if it is `OrderedDict`, or a class derived from it.
    #[must_use]
    pub fn is_ordered(self) -> bool {
        match self {
            MapKind::Dict | MapKind::Bunch => false,
            MapKind::Ordered | MapKind::Aggregate => true,
        }
    }
}

/// A mapping that keeps insertion order and shares its storage between clones.
///
/// As in Python, inserting under a key that is already there keeps the old key and its position.
///
/// ```
/// use mapstack_value::Map;
/// let m: Map = [("b", 1), ("a", 2)].into_iter().collect();
/// assert_eq!(m.keys().map(|k| k.to_string()).collect::<Vec<_>>(), ["b", "a"]);
/// ```
#[derive(Clone, Default)]
pub struct Map {
    entries: Arc<Entries>,
    kind: MapKind,
}

impl Map {
    /// An empty mapping.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty mapping with room for `n` entries.
    #[must_use]
    pub fn with_capacity(n: usize) -> Self {
        Map {
            entries: Arc::new(Entries::with_capacity_and_hasher(n, RandomState::default())),
            kind: MapKind::Dict,
        }
    }

    /// The same entries as another of Python's mapping types.
    #[must_use]
    pub fn with_kind(mut self, kind: MapKind) -> Self {
        self.kind = kind;
        self
    }

    /// The type of Python's mapping.
    #[must_use]
    pub fn kind(&self) -> MapKind {
        self.kind
    }

    /// Number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True if it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value under a key (`&str` or [`&Key`](Key)).
    #[must_use]
    pub fn get<Q: ?Sized + std::hash::Hash + Equivalent<Key>>(&self, key: &Q) -> Option<&Value> {
        self.entries.get(key)
    }

    /// The position of a key.
    #[must_use]
    pub fn index_of<Q: ?Sized + std::hash::Hash + Equivalent<Key>>(
        &self,
        key: &Q,
    ) -> Option<usize> {
        self.entries.get_index_of(key)
    }

    /// The entry at a position.
    #[must_use]
    pub fn entry_at(&self, index: usize) -> Option<(&Key, &Value)> {
        self.entries.get_index(index)
    }

    /// The value under a key, to be changed; the mapping is copied first if it is shared.
    pub fn get_mut<Q: ?Sized + std::hash::Hash + Equivalent<Key>>(
        &mut self,
        key: &Q,
    ) -> Option<&mut Value> {
        // Look before copying: a miss must not unshare.
        let index = self.entries.get_index_of(key)?;
        Arc::make_mut(&mut self.entries)
            .get_index_mut(index)
            .map(|(_, v)| v)
    }

    /// The value at a position, to be changed.
    pub fn value_at_mut(&mut self, index: usize) -> Option<&mut Value> {
        Arc::make_mut(&mut self.entries)
            .get_index_mut(index)
            .map(|(_, v)| v)
    }

    /// True if the key is present.
    #[must_use]
    pub fn contains_key<Q: ?Sized + std::hash::Hash + Equivalent<Key>>(&self, key: &Q) -> bool {
        self.entries.contains_key(key)
    }

    /// Set a key; the old key and position stay if there is one. Returns the value replaced.
    pub fn insert(&mut self, key: impl Into<Key>, value: impl Into<Value>) -> Option<Value> {
        Arc::make_mut(&mut self.entries).insert(key.into(), value.into())
    }

    /// Remove a key and close the gap, keeping the order of the rest.
    pub fn shift_remove<Q: ?Sized + std::hash::Hash + Equivalent<Key>>(
        &mut self,
        key: &Q,
    ) -> Option<Value> {
        let index = self.entries.get_index_of(key)?;
        Arc::make_mut(&mut self.entries)
            .shift_remove_index(index)
            .map(|(_, v)| v)
    }

    /// Remove and return the last entry.
    pub fn pop(&mut self) -> Option<(Key, Value)> {
        Arc::make_mut(&mut self.entries).pop()
    }

    /// Entries in order.
    pub fn iter(&self) -> indexmap::map::Iter<'_, Key, Value> {
        self.entries.iter()
    }

    /// Keys in order.
    pub fn keys(&self) -> indexmap::map::Keys<'_, Key, Value> {
        self.entries.keys()
    }

    /// Values in order.
    pub fn values(&self) -> indexmap::map::Values<'_, Key, Value> {
        self.entries.values()
    }

    /// True if both are one storage, which makes them equal without a look inside.
    #[must_use]
    pub fn ptr_eq(&self, other: &Map) -> bool {
        Arc::ptr_eq(&self.entries, &other.entries)
    }

    /// The address of the storage, as an identity while the map is alive.
    #[must_use]
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.entries).cast::<()>() as usize
    }
}

impl PartialEq for Map {
    /// Python's equality: the same keys with equal values, in any order.
    fn eq(&self, other: &Self) -> bool {
        self.ptr_eq(other)
            || (self.len() == other.len()
                && self
                    .iter()
                    .all(|(k, v)| other.get(k).is_some_and(|o| o == v)))
    }
}

impl fmt::Debug for Map {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<K: Into<Key>, V: Into<Value>> FromIterator<(K, V)> for Map {
    fn from_iter<T: IntoIterator<Item = (K, V)>>(iter: T) -> Self {
        let entries = iter
            .into_iter()
            .map(|(k, v)| (k.into(), v.into()))
            .collect();
        Map {
            entries: Arc::new(entries),
            kind: MapKind::Dict,
        }
    }
}

impl<K: Into<Key>, V: Into<Value>> Extend<(K, V)> for Map {
    fn extend<T: IntoIterator<Item = (K, V)>>(&mut self, iter: T) {
        Arc::make_mut(&mut self.entries)
            .extend(iter.into_iter().map(|(k, v)| (k.into(), v.into())));
    }
}

impl<'a> IntoIterator for &'a Map {
    type Item = (&'a Key, &'a Value);
    type IntoIter = indexmap::map::Iter<'a, Key, Value>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl IntoIterator for Map {
    type Item = (Key, Value);
    type IntoIter = indexmap::map::IntoIter<Key, Value>;

    fn into_iter(self) -> Self::IntoIter {
        Arc::unwrap_or_clone(self.entries).into_iter()
    }
}

/// A set that remembers insertion order and shares its storage between clones.
#[derive(Clone, Default)]
pub struct Set(Arc<IndexSet<Key, RandomState>>);

impl Set {
    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// True if it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// True if the element is present.
    #[must_use]
    pub fn contains<Q: ?Sized + std::hash::Hash + Equivalent<Key>>(&self, key: &Q) -> bool {
        self.0.contains(key)
    }

    /// Elements in insertion order.
    pub fn iter(&self) -> indexmap::set::Iter<'_, Key> {
        self.0.iter()
    }

    /// The address of the storage, as an identity while the set is alive.
    #[must_use]
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0).cast::<()>() as usize
    }
}

impl PartialEq for Set {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

impl<K: Into<Key>> FromIterator<K> for Set {
    fn from_iter<T: IntoIterator<Item = K>>(iter: T) -> Self {
        Set(Arc::new(iter.into_iter().map(Into::into).collect()))
    }
}

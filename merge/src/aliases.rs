//! Mappings that occur at several places, as YAML's anchors make them.

use std::collections::{HashMap, HashSet};

use mapstack_value::{Key, Map, Value};

use crate::observe::KeyPath;
use crate::{Options, Strategy};

/// Mappings that a document has at several places by an anchor and its aliases.
///
/// Python has one object there. Salt's recursive strategies change it in place, so an overlay of one of the places
/// changes them all. Values here are values, so [`merge`](crate::merge) changes the one place that the overlay names.
/// This says where that makes a difference.
///
/// ```
/// use mapstack_merge::{Aliases, Options};
/// use mapstack_value::{Map, Value};
///
/// let port = |number: i64| Value::from(Map::from_iter([("port", number)]));
/// let shared = port(22);
/// let base = Value::from(Map::from_iter([("ssh", shared.clone()), ("sftp", shared)]));
/// let aliases = Aliases::of(&base);
///
/// let overlay = Value::from(Map::from_iter([("sftp", port(2022))]));
/// let parted = aliases.parted(&base, &overlay, &Options::default());
/// assert_eq!(parted[0].changed.to_string(), "sftp");
/// assert_eq!(parted[0].unchanged[0].to_string(), "ssh");
/// ```
#[derive(Debug, Clone, Default)]
pub struct Aliases {
    /// By address. The mappings are kept, so that no other takes an address.
    maps: HashMap<usize, Map>,
}

/// Places of one mapping that a merge makes differ.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AliasConflict {
    /// The place that the overlay changes.
    pub changed: KeyPath,
    /// The other places, which Salt changes as well.
    pub unchanged: Vec<KeyPath>,
}

impl Aliases {
    /// The mappings that a freshly loaded document has at several places.
    #[must_use]
    pub fn of(document: &Value) -> Self {
        let (mut seen, mut aliases) = (HashSet::new(), Aliases::default());
        visit(document, &mut Vec::new(), &mut |map, _| {
            let is_new = seen.insert(map.address());
            if !is_new {
                aliases.maps.insert(map.address(), map.clone());
            }
            is_new
        });
        aliases
    }

    /// True if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.maps.is_empty()
    }

    /// Add those of another document.
    pub fn add(&mut self, other: &Aliases) {
        let others = other.maps.iter();
        self.maps
            .extend(others.map(|(address, map)| (*address, map.clone())));
    }

    /// The aliased mappings of a base that merging an overlay changes at one place, where Salt changes all.
    #[must_use]
    pub fn parted(&self, base: &Value, overlay: &Value, options: &Options) -> Vec<AliasConflict> {
        match options.strategy {
            Strategy::Smart | Strategy::Recurse | Strategy::None | Strategy::Unknown(_) => self
                .parted_by(base, overlay, &|base, overlay| {
                    crate::merge(Value::Map(base), &Value::Map(overlay), options).ok()
                }),
            Strategy::Overwrite | Strategy::Aggregate | Strategy::List => Vec::new(),
        }
    }

    /// As [`parted`](Aliases::parted), for another way to merge mappings in place.
    #[must_use]
    pub fn parted_by(
        &self,
        base: &Value,
        overlay: &Value,
        merge: &dyn Fn(Map, Map) -> Option<Value>,
    ) -> Vec<AliasConflict> {
        if self.is_empty() {
            return Vec::new();
        }
        let mut changed = Vec::new();
        self.find_changed(base, overlay, merge, &mut Vec::new(), &mut changed);
        let parted = changed.into_iter().map(|(address, changed)| {
            let mut unchanged = Vec::new();
            visit(base, &mut Vec::new(), &mut |map, path| {
                if map.address() == address && path != changed {
                    unchanged.push(KeyPath(path.to_vec()));
                }
                true
            });
            AliasConflict {
                changed: KeyPath(changed),
                unchanged,
            }
        });
        parted
            .filter(|parted| !parted.unchanged.is_empty())
            .collect()
    }

    /// The outermost aliased mappings of a base that an overlay merges something else into.
    fn find_changed(
        &self,
        base: &Value,
        overlay: &Value,
        merge: &dyn Fn(Map, Map) -> Option<Value>,
        path: &mut Vec<Key>,
        found: &mut Vec<(usize, Vec<Key>)>,
    ) {
        let (Value::Map(base), Value::Map(overlay)) = (base, overlay) else {
            return;
        };
        if self.maps.contains_key(&base.address()) {
            let merged = merge(base.clone(), overlay.clone());
            if merged.is_some_and(|merged| !merged.is_same(&Value::Map(base.clone()))) {
                found.push((base.address(), path.clone()));
            }
            return;
        }
        for (key, below) in overlay {
            if let Some(inside) = base.get(key) {
                path.push(key.clone());
                self.find_changed(inside, below, merge, path, found);
                path.pop();
            }
        }
    }
}

/// Visit all mappings with their paths, those in lists by their index. `enter` says whether to go on inside one.
fn visit(value: &Value, path: &mut Vec<Key>, enter: &mut dyn FnMut(&Map, &[Key]) -> bool) {
    match value {
        Value::Map(map) if enter(map, path) => {
            for (key, inside) in map {
                path.push(key.clone());
                visit(inside, path, enter);
                path.pop();
            }
        }
        Value::List(items) => visit_items(items.iter(), path, enter),
        Value::Tuple(items) => visit_items(items.iter(), path, enter),
        _ => {}
    }
}

fn visit_items<'v>(
    items: impl Iterator<Item = &'v Value>,
    path: &mut Vec<Key>,
    enter: &mut dyn FnMut(&Map, &[Key]) -> bool,
) {
    for (index, inside) in (0_i64..).zip(items) {
        path.push(index.into());
        visit(inside, path, enter);
        path.pop();
    }
}

//! PillarStack's and MakoStack's merge: the overlay says how it wants to be merged.
//!
//! A mapping names its strategy under the key `__`, a list in a mapping `{__: …}` as its first
//! item; without one, `merge-last` applies. A strategy covers the entries of its own mapping or list
//! and is not inherited.
//!
//! | under a key of both | `merge-last` | `merge-first` | `remove` | `overwrite` |
//! |---|---|---|---|---|
//! | mapping, mapping | united, by the overlay's own strategy | united, the base's over the overlay's | entry removed | base's entries gone |
//! | list, list | joined, by the overlay's own strategy | overlay's items, then base's | entry removed | base's entries gone |
//! | same scalar type | overlay | base | entry removed | base's entries gone |
//! | different types | overlay | base | entry removed | base's entries gone |
//!
//! A list's own strategy is `merge-last` (base's items, then the overlay's), `merge-first` (the
//! other way round), `remove` (base's items that the overlay does not have) or `overwrite`.
//! Duplicates are never dropped. Types are Python's: `1`, `1.0` and `True` differ.
//!
//! A value that enters the result without meeting another is *cleaned*: markers go from mappings at
//! any mapping depth and from the heads of lists there, but not inside list items.
//!
//! Laws, each a test of this crate:
//!
//! - `{}` is a right identity. It is not a left identity, as markers are cleaned away, but what it
//!   yields is merged once and for all.
//! - `merge-last` over data without markers is associative where the types along each path agree.
//! - It is not idempotent: `[1]` over `[1]` gives `[1, 1]`.
//! - Keys keep the base's order, new ones follow in the overlay's; below `merge-first`, a united
//!   mapping has the overlay's order first.
//! - Reported changes, applied to a base without markers, give the result. (A base with markers may
//!   lose them below `merge-first`, which is not reported.)
//!
//! ```
//! use mapstack_merge::stack;
//! use mapstack_value::{Map, Value};
//!
//! let base: Map = [("users", Value::from_iter(["tom"]))].into_iter().collect();
//! let overlay: Map = [("__", Value::from("merge-first")), ("users", Value::from_iter(["ann"]))].into_iter().collect();
//! let merged = stack::merge(base, &overlay).unwrap();
//! assert_eq!(Value::from(merged).repr(), "{'users': ['ann', 'tom']}");
//! ```

use std::fmt;

use mapstack_value::{List, Map, Value};

use crate::append::Membership;
use crate::{Change, ItemOrigin, KeyPath, Observer, Trail};

/// The key, in a mapping or in the first item of a list, that names the strategy.
pub const MARKER: &str = "__";

/// The strategy of a mapping or list of an overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StackStrategy {
    /// `merge-last`: the overlay comes last and wins.
    #[default]
    MergeLast,
    /// `merge-first`: the base comes last and wins.
    MergeFirst,
    /// `remove`: what the overlay names goes away.
    Remove,
    /// `overwrite`: the base goes away.
    Overwrite,
}

impl StackStrategy {
    /// All strategies.
    pub const ALL: [StackStrategy; 4] = [
        StackStrategy::MergeLast,
        StackStrategy::MergeFirst,
        StackStrategy::Remove,
        StackStrategy::Overwrite,
    ];

    /// The strategy's name, as it is written after `__:`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            StackStrategy::MergeLast => "merge-last",
            StackStrategy::MergeFirst => "merge-first",
            StackStrategy::Remove => "remove",
            StackStrategy::Overwrite => "overwrite",
        }
    }

    fn parse(value: &Value) -> Option<Self> {
        StackStrategy::ALL
            .into_iter()
            .find(|strategy| value.as_str() == Some(strategy.name()))
    }
}

impl fmt::Display for StackStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An overlay names a strategy that does not exist.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error(
    "unknown strategy {} under `__` of {} at {path}: write one of merge-last, merge-first, remove, overwrite",
    strategy.repr(),
    if *in_list { "the list" } else { "the mapping" }
)]
pub struct StackError {
    /// The path of the mapping or list.
    pub path: KeyPath,
    /// The value that was given as strategy.
    pub strategy: Value,
    /// True if the strategy is in the first item of a list.
    pub in_list: bool,
}

impl StackError {
    /// The Python exception that Salt raises here.
    #[must_use]
    pub fn reference_class(&self) -> &'static str {
        "Exception"
    }
}

/// Merge an overlay over a base.
///
/// # Errors
/// [`StackError`] for a strategy that does not exist, unless nothing is merged there.
pub fn merge(base: Map, overlay: &Map) -> Result<Map, StackError> {
    merge_observed(base, overlay, &mut ())
}

/// Merge an overlay over a base, and report each change to an observer.
///
/// # Errors
/// As [`merge`].
pub fn merge_observed<O: Observer>(
    mut base: Map,
    overlay: &Map,
    observer: &mut O,
) -> Result<Map, StackError> {
    merge_into_observed(&mut base, overlay, observer)?;
    Ok(base)
}

/// Merge an overlay into a base in place.
///
/// # Errors
/// As [`merge`]. What was merged before the error stays merged, as MakoStack needs it.
pub fn merge_into(base: &mut Map, overlay: &Map) -> Result<(), StackError> {
    merge_into_observed(base, overlay, &mut ())
}

/// Merge an overlay into a base in place, and report each change to an observer.
///
/// # Errors
/// As [`merge_into`].
pub fn merge_into_observed<O: Observer>(
    base: &mut Map,
    overlay: &Map,
    observer: &mut O,
) -> Result<(), StackError> {
    Stack {
        observer,
        swapped: false,
    }
    .mappings(base, overlay, &Trail::ROOT)
}

/// One merge of a left side, changed in place, with a right side that has the say.
///
/// Left is the base and right the overlay, until `merge-first` swaps them.
struct Stack<'o, O> {
    observer: &'o mut O,
    swapped: bool,
}

impl<O: Observer> Stack<'_, O> {
    fn mappings(&mut self, left: &mut Map, right: &Map, at: &Trail<'_>) -> Result<(), StackError> {
        let strategy = parse(right.get(MARKER), false, at)?;
        if strategy == StackStrategy::Overwrite {
            let old = std::mem::replace(left, clean_map(right));
            self.report_replaced(&old.into(), &left.clone().into(), at);
            return Ok(());
        }
        self.report_left(left, right, at);
        for (key, new) in right.iter().filter(|(key, _)| key.as_str() != Some(MARKER)) {
            let at = at.then(key);
            if strategy == StackStrategy::Remove {
                let old = left.shift_remove(key);
                self.report_removed(old.as_ref(), new, &at);
                continue;
            }
            let shared = left.index_of(key);
            match shared.and_then(|index| left.value_at_mut(index)) {
                Some(old) if strategy == StackStrategy::MergeFirst => {
                    self.values_swapped(old, new, &at)?;
                }
                Some(old) => self.values(old, new, &at)?,
                None => {
                    let new = clean(new);
                    self.report_added(&new, &at);
                    left.insert(key.clone(), new);
                }
            }
        }
        Ok(())
    }

    /// Two values of one key, as `merge-last` has them.
    fn values(
        &mut self,
        left: &mut Value,
        right: &Value,
        at: &Trail<'_>,
    ) -> Result<(), StackError> {
        match (&mut *left, right) {
            (Value::Map(left), Value::Map(right)) if left.kind() == right.kind() => {
                self.mappings(left, right, at)
            }
            (Value::List(left), Value::List(right)) => self.lists(left, right, at),
            _ => {
                let new = clean(right);
                self.report_replaced(left, &new, at);
                *left = new;
                Ok(())
            }
        }
    }

    /// Two values of one key, as `merge-first` has them: the base's over the overlay's.
    fn values_swapped(
        &mut self,
        left: &mut Value,
        right: &Value,
        at: &Trail<'_>,
    ) -> Result<(), StackError> {
        let last = std::mem::replace(left, clean(right));
        self.swapped = !self.swapped;
        let outcome = self.values(left, &last, at);
        self.swapped = !self.swapped;
        outcome
    }

    fn lists(
        &mut self,
        left: &mut List,
        right: &[Value],
        at: &Trail<'_>,
    ) -> Result<(), StackError> {
        let strategy = parse(head_marker(right), true, at)?;
        let right = without_head_marker(right);
        let from_left = (0..left.len()).map(ItemOrigin::Base);
        let from_right = (0..right.len()).map(ItemOrigin::Overlay);
        match strategy {
            StackStrategy::MergeLast => {
                self.report_joined(left, right, from_left.chain(from_right), at);
                left.make_mut().extend_from_slice(right);
            }
            StackStrategy::MergeFirst => {
                self.report_joined(left, right, from_right.chain(from_left), at);
                left.make_mut().splice(0..0, right.iter().cloned());
            }
            StackStrategy::Remove => {
                let removed = Membership::of(right);
                let staying = (0..left.len())
                    .filter(|i| !removed.contains(&left[*i]))
                    .map(ItemOrigin::Base);
                self.report_joined(left, right, staying, at);
                left.make_mut().retain(|item| !removed.contains(item));
            }
            StackStrategy::Overwrite => {
                let old = std::mem::replace(left, right.iter().cloned().collect());
                self.report_replaced(&old.into(), &left.clone().into(), at);
            }
        }
        Ok(())
    }
}

/// Reports, in words of base and overlay.
impl<O: Observer> Stack<'_, O> {
    /// Report the left side of two mappings that meet: the base, or the overlay's additions to it.
    fn report_left(&mut self, left: &Map, right: &Map, at: &Trail<'_>) {
        if O::ACTIVE && self.swapped {
            for (key, new) in left.iter().filter(|(key, _)| !right.contains_key(*key)) {
                self.observer.changed(&at.then(key), Change::Added { new });
            }
        }
    }

    fn report_added(&mut self, right: &Value, at: &Trail<'_>) {
        if !self.swapped {
            self.observer.changed(at, Change::Added { new: right });
        }
    }

    fn report_replaced(&mut self, left: &Value, right: &Value, at: &Trail<'_>) {
        let change = match self.swapped {
            false => Change::Replaced {
                old: left,
                new: right,
            },
            true => Change::Kept {
                old: right,
                rejected: left,
            },
        };
        self.observer.changed(at, change);
    }

    fn report_removed(&mut self, left: Option<&Value>, right: &Value, at: &Trail<'_>) {
        if let Some(old) = if self.swapped { Some(right) } else { left } {
            self.observer.changed(at, Change::Removed { old });
        }
    }

    fn report_joined(
        &mut self,
        left: &[Value],
        right: &[Value],
        origins: impl Iterator<Item = ItemOrigin>,
        at: &Trail<'_>,
    ) {
        if !O::ACTIVE {
            return;
        }
        let (base, overlay) = if self.swapped {
            (right, left)
        } else {
            (left, right)
        };
        let origins: Vec<_> = origins
            .map(|origin| match origin {
                ItemOrigin::Base(i) if self.swapped => ItemOrigin::Overlay(i),
                ItemOrigin::Overlay(i) if self.swapped => ItemOrigin::Base(i),
                origin => origin,
            })
            .collect();
        self.observer.changed(
            at,
            Change::Joined {
                base,
                overlay,
                origins: &origins,
            },
        );
    }
}

fn parse(
    marker: Option<&Value>,
    in_list: bool,
    at: &Trail<'_>,
) -> Result<StackStrategy, StackError> {
    let Some(value) = marker else {
        return Ok(StackStrategy::default());
    };
    StackStrategy::parse(value).ok_or_else(|| StackError {
        path: at.to_path(),
        strategy: value.clone(),
        in_list,
    })
}

/// The strategy that the first item of a list names, if it does; the item is not data then.
///
/// ```
/// use mapstack_merge::stack::head_marker;
/// use mapstack_value::{Map, Value};
/// let marker = Value::from(Map::from_iter([("__", "overwrite")]));
/// assert_eq!(head_marker(&[marker, "tom".into()]), Some(&Value::from("overwrite")));
/// assert_eq!(head_marker(&["tom".into()]), None);
/// ```
#[must_use]
pub fn head_marker(items: &[Value]) -> Option<&Value> {
    items.first()?.as_map()?.get(MARKER)
}

fn without_head_marker(items: &[Value]) -> &[Value] {
    if head_marker(items).is_some() {
        &items[1..]
    } else {
        items
    }
}

/// A value that meets nothing, without its markers.
fn clean(value: &Value) -> Value {
    match value {
        Value::Map(map) => clean_map(map).into(),
        Value::List(items) if head_marker(items).is_some() => items[1..].iter().cloned().collect(),
        other => other.clone(),
    }
}

fn clean_map(map: &Map) -> Map {
    let mut result = map.clone();
    result.shift_remove(MARKER);
    for (key, value) in map {
        let cleaned = clean(value);
        if !same_storage(value, &cleaned) {
            result.insert(key.clone(), cleaned);
        }
    }
    result
}

/// True if cleaning had nothing to do, so that the copy may go on sharing.
fn same_storage(value: &Value, cleaned: &Value) -> bool {
    match (value, cleaned) {
        (Value::Map(a), Value::Map(b)) => a.ptr_eq(b),
        (Value::List(a), Value::List(b)) => a.ptr_eq(b),
        _ => true,
    }
}

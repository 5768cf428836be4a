//! What Python compares and subtracts as sets: `set`, and the views `dict.keys()` and `dict.items()`.

use std::cmp::Ordering;

use foldhash::fast::RandomState;
use indexmap::IndexSet;
use mapstack_value::Key;

use super::ops::Comparison;
use super::{DictRef, Obj, SetRef, hash_key, lookup_key};
use crate::Interpreter;
use crate::methods;
use mapstack_limits::Result;

/// An object that Python's `collections.abc.Set` describes.
pub enum SetLike {
    Set(SetRef),
    Keys(DictRef),
    Items(DictRef),
}

impl SetLike {
    /// The object as a set, if it is one.
    pub fn of(object: &Obj) -> Option<Self> {
        match object {
            Obj::Set(set) => Some(SetLike::Set(set.clone())),
            other => methods::view_of(other)?.as_set(),
        }
    }

    pub fn len(&self) -> usize {
        match self {
            SetLike::Set(set) => set.len(),
            SetLike::Keys(dict) | SetLike::Items(dict) => dict.len(),
        }
    }

    fn elements(&self) -> Vec<Obj> {
        match self {
            SetLike::Set(set) => set.read(|items| items.iter().map(Obj::from).collect()),
            SetLike::Keys(dict) => dict.keys().iter().map(Obj::from).collect(),
            SetLike::Items(dict) => dict
                .entries()
                .into_iter()
                .map(|(key, value)| Obj::tuple([Obj::from(&key), value]))
                .collect(),
        }
    }

    /// `element in self`.
    ///
    /// # Errors
    /// A `TypeError` for an element that cannot be hashed.
    pub fn contains(&self, element: &Obj) -> Result<bool> {
        self.holds(&mut Comparison::default(), element)
    }

    fn holds(&self, comparison: &mut Comparison, element: &Obj) -> Result<bool> {
        match self {
            SetLike::Set(set) => {
                let key = lookup_key(element)?;
                Ok(key.is_some_and(|key| set.read(|items| items.contains(&key))))
            }
            SetLike::Keys(dict) => Ok(lookup_key(element)?.is_some_and(|key| dict.contains(&key))),
            SetLike::Items(dict) => {
                let Obj::Tuple(pair) = element else {
                    return Ok(false);
                };
                let [key, value] = &**pair else {
                    return Ok(false);
                };
                match lookup_key(key)?.and_then(|key| dict.get(&key)) {
                    Some(found) => Ok(found.is_same(value) || comparison.equal(&found, value)?),
                    None => Ok(false),
                }
            }
        }
    }

    /// Whether every element is one of another set's.
    fn is_within(&self, comparison: &mut Comparison, other: &Self) -> Result<bool> {
        comparison.inside(self.len(), |comparison| {
            for element in self.elements() {
                if !other.holds(comparison, &element)? {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    pub fn equals(&self, comparison: &mut Comparison, other: &Self) -> Result<bool> {
        Ok(self.len() == other.len() && self.is_within(comparison, other)?)
    }

    /// The order by inclusion; `symbol` is the operator that asks. Elements are looked at only where it can hold.
    pub fn order(
        &self,
        comparison: &mut Comparison,
        other: &Self,
        symbol: &str,
    ) -> Result<Option<Ordering>> {
        let by_size = self.len().cmp(&other.len());
        let holds = match (by_size, symbol) {
            (Ordering::Equal, "<" | ">")
            | (Ordering::Greater, "<" | "<=")
            | (Ordering::Less, ">" | ">=") => false,
            (Ordering::Less | Ordering::Equal, _) => self.is_within(comparison, other)?,
            (Ordering::Greater, _) => other.is_within(comparison, self)?,
        };
        Ok(holds.then_some(by_size))
    }

    /// Whether there is nothing that both have; `other` is anything that can be iterated.
    ///
    /// # Errors
    /// What iterating raised, or a `TypeError` for an element that cannot be hashed.
    pub fn is_disjoint(&self, vm: &dyn Interpreter, other: &Obj) -> Result<bool> {
        // Python walks through the shorter of two sets.
        let (looked_in, elements) = match SetLike::of(other) {
            Some(other) if other.len() > self.len() => (other, self.elements()),
            _ => {
                let iter = other.iter()?;
                while let Some(element) = iter.next(vm)? {
                    if self.contains(&element)? {
                        return Ok(false);
                    }
                }
                return Ok(true);
            }
        };
        vm.burn(elements.len())?;
        for element in elements {
            if looked_in.contains(&element)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// `a - b`, if Python knows how: of two sets, or where either is a view, of anything that can be iterated.
///
/// # Errors
/// What iterating raised, or a `TypeError` for an element that cannot be hashed.
pub fn difference(vm: &dyn Interpreter, a: &Obj, b: &Obj) -> Option<Result<Obj>> {
    let are_sets = matches!((a, b), (Obj::Set(_), Obj::Set(_)));
    let is_view = |object: &Obj| {
        matches!(
            SetLike::of(object),
            Some(SetLike::Keys(_) | SetLike::Items(_))
        )
    };
    (are_sets || is_view(a) || is_view(b)).then(|| subtract(vm, a, b))
}

fn subtract(vm: &dyn Interpreter, a: &Obj, b: &Obj) -> Result<Obj> {
    let keys = |items: Vec<Obj>| {
        items
            .iter()
            .map(hash_key)
            .collect::<Result<IndexSet<Key, RandomState>>>()
    };
    let mut left = keys(a.collect(vm)?)?;
    let right = keys(b.collect(vm)?)?;
    left.retain(|key| !right.contains(key));
    Ok(Obj::Set(SetRef::new(left)))
}

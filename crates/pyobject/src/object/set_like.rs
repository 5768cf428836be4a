//! Objects that Python compares and subtracts as sets: `set`, and the views `dict.keys()` and `dict.items()`; and
//! objects as their elements, which are hashed.

use std::cmp::Ordering;

use foldhash::fast::RandomState;
use indexmap::IndexSet;
use mapstack_value::Key;

use super::ops::{Budget, Comparison};
use super::{DictRef, Obj, SetRef};
use crate::Interpreter;
use crate::limits::{Error, Result, depth, ledger};
use crate::methods;

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

    /// True if every element is one of another set's.
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

    /// True if both have no element in common; `other` is anything that can be iterated.
    ///
    /// # Errors
    /// The exception of iterating, or a `TypeError` for an element that cannot be hashed.
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
/// The exception of iterating, or a `TypeError` for an element that cannot be hashed.
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

/// The object as a dict key or set element. What is hashed is read whole, so it pays.
///
/// # Errors
/// A `TypeError` for unhashable objects, a limit for tuples without end and for steps that are used up.
pub fn hash_key(object: &Obj) -> Result<Key> {
    let refuse = &mut |other: &Obj| match other {
        Obj::Undefined(u) => Err(u.error()),
        other => Err(unhashable(other)),
    };
    key_within(object, &mut Budget::default(), 0, refuse)
}

/// The key under which the object may be found. Nothing for what can be hashed but is never a key here, such as
/// a function, a macro or a range: looking it up finds nothing and does not fail.
///
/// ```
/// use mapstack_pyobject::{Obj, lookup_key};
/// assert!(lookup_key(&Obj::from("a")).unwrap().is_some());
/// let error = lookup_key(&Obj::list([])).unwrap_err();
/// assert_eq!(error.message, "unhashable type: 'list'");
/// ```
///
/// # Errors
/// As [`hash_key`] for what Python cannot hash, and for strictly undefined objects.
pub fn lookup_key(object: &Obj) -> Result<Option<Key>> {
    let mut is_key = true;
    let mut foreign = |other: &Obj| {
        is_key = false;
        match other {
            Obj::Undefined(u) => u.check(),
            other if is_hashable(other) => Ok(()),
            other => Err(unhashable(other)),
        }
    };
    let key = key_within(object, &mut Budget::default(), 0, &mut foreign)?;
    Ok(is_key.then_some(key))
}

/// True if the object's type has a hash, whatever it contains.
#[must_use]
pub fn is_hashable(object: &Obj) -> bool {
    match object {
        Obj::List(_) | Obj::Dict(_) | Obj::Set(_) => false,
        object => methods::view_of(object).is_none_or(|view| view.as_set().is_none()),
    }
}

fn unhashable(object: &Obj) -> Box<Error> {
    Error::type_error(format!("unhashable type: '{}'", object.type_name()))
}

/// The key of an object; `foreign` decides about a part that cannot be one.
fn key_within(
    object: &Obj,
    budget: &mut Budget,
    depth: usize,
    foreign: &mut dyn FnMut(&Obj) -> Result<()>,
) -> Result<Key> {
    Ok(match object {
        Obj::None => Key::None,
        Obj::Bool(b) => Key::Bool(*b),
        Obj::Int(i) => Key::Int(i.clone()),
        Obj::Float(f) => Key::Float(*f),
        Obj::Str(s) | Obj::Markup(s) => {
            ledger::spend(s.len() / 16)?;
            Key::Str(s.clone())
        }
        Obj::Bytes(b) => {
            ledger::spend(b.len() / 16)?;
            Key::Bytes(b.clone())
        }
        Obj::Tuple(items) => {
            let depth = depth + 1;
            depth::objects(depth, depth::OBJECTS, " while calling a Python object")?;
            budget.spend(items.len())?;
            Key::Tuple(
                items
                    .iter()
                    .map(|item| key_within(item, budget, depth, foreign))
                    .collect::<Result<_>>()?,
            )
        }
        other => {
            foreign(other)?;
            Key::None
        }
    })
}

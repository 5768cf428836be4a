//! Appending lists: the overlay's items that the base does not have.

use mapstack_value::{Key, List, Set, Value};

use crate::{Change, ItemOrigin, Observer, Trail};

/// Append the items of the overlay that equal none of the base's. Duplicates inside either side
/// stay.
pub(crate) fn append<O: Observer>(
    base: &mut List,
    overlay: &[Value],
    at: &Trail<'_>,
    observer: &mut O,
) {
    let known = Membership::of(base);
    let fresh: Vec<usize> = (0..overlay.len())
        .filter(|i| !known.contains(&overlay[*i]))
        .collect();
    if O::ACTIVE {
        let origins: Vec<_> = (0..base.len())
            .map(ItemOrigin::Base)
            .chain(fresh.iter().copied().map(ItemOrigin::Overlay))
            .collect();
        observer.changed(
            at,
            Change::Joined {
                base,
                overlay,
                origins: &origins,
            },
        );
    }
    if !fresh.is_empty() {
        base.make_mut()
            .extend(fresh.into_iter().map(|i| overlay[i].clone()));
    }
}

/// The items of a list, for many membership tests.
pub(crate) struct Membership {
    /// Scalars, which a hash finds.
    simple: Set,
    /// The others: containers, and NaN, which equals nothing.
    others: Vec<Value>,
}

impl Membership {
    pub(crate) fn of(items: &[Value]) -> Self {
        let simple = items.iter().filter_map(simple_key).collect();
        let others = items
            .iter()
            .filter(|item| simple_key(item).is_none())
            .cloned()
            .collect();
        Membership { simple, others }
    }

    pub(crate) fn contains(&self, item: &Value) -> bool {
        match simple_key(item) {
            Some(key) => self.simple.contains(&key),
            None => self.others.contains(item),
        }
    }
}

/// A scalar as a key, except NaN. A scalar and a container are never equal, so they are stored apart.
fn simple_key(item: &Value) -> Option<Key> {
    match item {
        Value::Float(f) if f.is_nan() => None,
        Value::None
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Str(_)
        | Value::Bytes(_) => Key::try_from(item).ok(),
        Value::List(_) | Value::Tuple(_) | Value::Map(_) | Value::Set(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nan_is_not_a_member_of_anything() {
        let nan = Value::from(f64::NAN);
        assert!(!Membership::of(std::slice::from_ref(&nan)).contains(&nan));
    }

    #[test]
    fn an_append_that_adds_nothing_copies_nothing() {
        let mut base = List::from(vec![Value::from(1), Value::from(true)]);
        let before = base.clone();
        append(&mut base, &[Value::from(1.0)], &Trail::ROOT, &mut ());
        assert!(base.ptr_eq(&before));
    }
}

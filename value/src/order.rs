//! Python's `<` between keys, and `sorted()` by it.

use std::cmp::Ordering;

use crate::value::Kind;
use crate::{Int, Key};

/// Two keys that Python cannot order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("'<' not supported between instances of '{}' and '{}'", left.python_name(), right.python_name())]
pub struct Incomparable {
    /// The type on the left of the `<`.
    pub left: Kind,
    /// The type on the right.
    pub right: Kind,
}

impl Key {
    /// Python's `self < other`.
    ///
    /// ```
    /// use mapstack_value::Key;
    /// assert_eq!(Key::from(1).less_than(&Key::from(1.5)), Ok(true));
    /// assert_eq!(
    ///     Key::from("a").less_than(&Key::from(1)).unwrap_err().to_string(),
    ///     "'<' not supported between instances of 'str' and 'int'"
    /// );
    /// ```
    ///
    /// # Errors
    /// [`Incomparable`] for types without an order, such as text and numbers.
    pub fn less_than(&self, other: &Key) -> Result<bool, Incomparable> {
        let ordering = match (self, other) {
            (Key::Str(a), Key::Str(b)) => Some(a.cmp(b)),
            (Key::Bytes(a), Key::Bytes(b)) => Some(a.cmp(b)),
            (Key::Tuple(a), Key::Tuple(b)) => {
                return match a.iter().zip(b.iter()).find(|(x, y)| x != y) {
                    Some((x, y)) => x.less_than(y),
                    None => Ok(a.len() < b.len()),
                };
            }
            (Key::Float(a), Key::Float(b)) => a.partial_cmp(b),
            _ => match (self.integer(), other.integer(), self, other) {
                (Some(a), Some(b), ..) => Some(a.cmp(&b)),
                (Some(a), _, _, Key::Float(b)) => a.compare_float(*b),
                (_, Some(b), Key::Float(a), _) => b.compare_float(*a).map(Ordering::reverse),
                _ => return Err(Incomparable { left: self.kind(), right: other.kind() }),
            },
        };
        Ok(ordering == Some(Ordering::Less))
    }

    fn integer(&self) -> Option<Int> {
        match self {
            Key::Int(i) => Some(i.clone()),
            Key::Bool(b) => Some(i64::from(*b).into()),
            _ => None,
        }
    }
}

/// `sorted(items, key=key)`: stable, and an error as soon as two keys have no order.
///
/// ```
/// use mapstack_value::{Key, sort_by_key};
/// let keys = [Key::from("b"), Key::from("a")];
/// let sorted = sort_by_key(keys.iter().collect(), |key| *key).unwrap();
/// assert_eq!(sorted, [&keys[1], &keys[0]]);
/// ```
///
/// # Errors
/// [`Incomparable`], with the pair Python would name.
pub fn sort_by_key<'k, T>(mut items: Vec<T>, key: impl Fn(&T) -> &'k Key) -> Result<Vec<T>, Incomparable> {
    for pair in items.windows(2) {
        key(&pair[1]).less_than(key(&pair[0]))?;
    }
    let total = |item: &T| match key(item) {
        Key::Tuple(_) => false,
        Key::Float(f) => !f.is_nan(),
        _ => true,
    };
    if items.iter().all(total) {
        items.sort_by(|a, b| match (key(a).less_than(key(b)), key(b).less_than(key(a))) {
            (Ok(true), _) => Ordering::Less,
            (_, Ok(true)) => Ordering::Greater,
            _ => Ordering::Equal,
        });
        return Ok(items);
    }
    // NaN and mixed tuples have no total order, so compare as few pairs as Python would.
    let mut sorted: Vec<T> = Vec::with_capacity(items.len());
    for item in items {
        let (mut low, mut high) = (0, sorted.len());
        while low < high {
            let middle = usize::midpoint(low, high);
            if key(&item).less_than(key(&sorted[middle]))? { high = middle } else { low = middle + 1 }
        }
        sorted.insert(low, item);
    }
    Ok(sorted)
}

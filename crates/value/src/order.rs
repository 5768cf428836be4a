//! Python's `<` between keys, and `sorted()` by it.

use std::cmp::Ordering;

use crate::value::ValueKind;
use crate::{Int, Key};

/// Two keys that Python cannot order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("'<' not supported between instances of '{}' and '{}'", left.python_name(), right.python_name())]
pub struct Incomparable {
    /// The type on the left of the `<`.
    pub left: ValueKind,
    /// The type on the right.
    pub right: ValueKind,
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
                _ => {
                    return Err(Incomparable {
                        left: self.kind(),
                        right: other.kind(),
                    });
                }
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
pub fn sort_by_key<'k, T>(
    mut items: Vec<T>,
    key: impl Fn(&T) -> &'k Key,
) -> Result<Vec<T>, Incomparable> {
    let Some(class) = items.first().and_then(|item| Class::of(key(item))) else {
        return insert_all(items, key);
    };
    if items.iter().any(|item| Class::of(key(item)) != Some(class)) {
        return insert_all(items, key);
    }
    items.sort_by(
        |a, b| match (key(a).less_than(key(b)), key(b).less_than(key(a))) {
            (Ok(true), _) => Ordering::Less,
            (_, Ok(true)) => Ordering::Greater,
            _ => Ordering::Equal,
        },
    );
    Ok(items)
}

/// Keys with a total order among themselves.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Number,
    Str,
    Bytes,
}

impl Class {
    fn of(key: &Key) -> Option<Self> {
        match key {
            Key::Float(f) if f.is_nan() => None,
            Key::Bool(_) | Key::Int(_) | Key::Float(_) => Some(Class::Number),
            Key::Str(_) => Some(Class::Str),
            Key::Bytes(_) => Some(Class::Bytes),
            Key::None | Key::Tuple(_) => None,
        }
    }
}

/// Python's sort of a short list, for keys without a total order: the leading run as it is, the
/// rest inserted. It compares the same pairs, so it fails at the same one.
fn insert_all<'k, T>(
    mut items: Vec<T>,
    key: impl Fn(&T) -> &'k Key,
) -> Result<Vec<T>, Incomparable> {
    let falls = |i: usize, items: &[T]| key(&items[i]).less_than(key(&items[i - 1]));
    let mut run = items.len().min(2);
    if items.len() > 1 {
        let descending = falls(1, &items)?;
        while run < items.len() && falls(run, &items)? == descending {
            run += 1;
        }
        if descending {
            items[..run].reverse();
        }
    }
    for next in run..items.len() {
        let (mut low, mut high) = (0, next);
        while low < high {
            let middle = usize::midpoint(low, high);
            if key(&items[next]).less_than(key(&items[middle]))? {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        items[low..=next].rotate_right(1);
    }
    Ok(items)
}

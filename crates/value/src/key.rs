//! Mapping keys: hashable values under Python's equality.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use indexmap::Equivalent;

use crate::float;
use crate::value::ValueKind;
use crate::{Int, Str, Value};

/// A key of a [`Map`](crate::Map) or an element of a [`Set`](crate::Set).
///
/// Keys are equal when Python holds them equal, so `1`, `1.0` and `True` are one key:
///
/// ```
/// use mapstack_value::{Key, Map};
/// let mut m = Map::new();
/// m.insert(1, "a");
/// m.insert(true, "b");
/// assert_eq!(m.len(), 1);
/// assert_eq!(m.get(&Key::from(1.0)).unwrap().as_str(), Some("b"));
/// ```
#[derive(Clone)]
pub enum Key {
    /// `None`
    None,
    /// `True` or `False`
    Bool(bool),
    /// An integer
    Int(Int),
    /// A float
    Float(f64),
    /// Text
    Str(Str),
    /// Bytes
    Bytes(Arc<[u8]>),
    /// A tuple of hashable items
    Tuple(Arc<[Key]>),
}

/// A value that cannot be a key: a list, a mapping or a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unhashable type: '{}'", kind.python_name())]
pub struct Unhashable {
    /// The kind of the value.
    pub kind: ValueKind,
}

impl Key {
    /// The step of a [`Path`](crate::Path) to an item of a list.
    ///
    /// ```
    /// use mapstack_value::Key;
    /// assert_eq!(Key::of_index(2), Key::from(2));
    /// ```
    #[must_use]
    pub fn of_index(index: usize) -> Self {
        Key::from(i64::try_from(index).unwrap_or(i64::MAX))
    }

    /// The text of a string key.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Key::Str(s) => Some(s),
            _ => None,
        }
    }

    /// The type of the key.
    #[must_use]
    pub fn kind(&self) -> ValueKind {
        match self {
            Key::None => ValueKind::None,
            Key::Bool(_) => ValueKind::Bool,
            Key::Int(_) => ValueKind::Int,
            Key::Float(_) => ValueKind::Float,
            Key::Str(_) => ValueKind::Str,
            Key::Bytes(_) => ValueKind::Bytes,
            Key::Tuple(_) => ValueKind::Tuple,
        }
    }

    /// The key as a value.
    #[must_use]
    pub fn to_value(&self) -> Value {
        match self {
            Key::None => Value::None,
            Key::Bool(b) => Value::Bool(*b),
            Key::Int(i) => Value::Int(i.clone()),
            Key::Float(f) => Value::Float(*f),
            Key::Str(s) => Value::Str(s.clone()),
            Key::Bytes(b) => Value::Bytes(b.clone()),
            Key::Tuple(t) => Value::Tuple(t.iter().map(Key::to_value).collect()),
        }
    }

    fn number(&self) -> Option<Number<'_>> {
        match self {
            Key::Bool(b) => Some(Number::Small(i64::from(*b))),
            Key::Int(i) => Some(i.to_i64().map_or(Number::Big(i), Number::Small)),
            Key::Float(f) => Some(float::as_i64(*f).map_or(Number::Float(*f), Number::Small)),
            _ => None,
        }
    }
}

/// A number in the form that equality and hashing share.
enum Number<'a> {
    Small(i64),
    Big(&'a Int),
    Float(f64),
}

impl TryFrom<&Value> for Key {
    type Error = Unhashable;

    fn try_from(value: &Value) -> Result<Self, Unhashable> {
        Ok(match value {
            Value::None => Key::None,
            Value::Bool(b) => Key::Bool(*b),
            Value::Int(i) => Key::Int(i.clone()),
            Value::Float(f) => Key::Float(*f),
            Value::Str(s) => Key::Str(s.clone()),
            Value::Bytes(b) => Key::Bytes(b.clone()),
            Value::Tuple(t) => Key::Tuple(t.iter().map(Key::try_from).collect::<Result<_, _>>()?),
            Value::List(_) | Value::Map(_) | Value::Set(_) => {
                return Err(Unhashable { kind: value.kind() });
            }
        })
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Key::Str(a), Key::Str(b)) => a == b,
            (Key::None, Key::None) => true,
            (Key::Bytes(a), Key::Bytes(b)) => a == b,
            (Key::Tuple(a), Key::Tuple(b)) => a == b,
            _ => match (self.number(), other.number()) {
                (Some(Number::Small(a)), Some(Number::Small(b))) => a == b,
                (Some(Number::Big(a)), Some(Number::Big(b))) => a == b,
                // Python finds a NaN key only by identity; one spelling is one key here.
                (Some(Number::Float(a)), Some(Number::Float(b))) => a.to_bits() == b.to_bits(),
                (Some(Number::Big(i)), Some(Number::Float(f)))
                | (Some(Number::Float(f)), Some(Number::Big(i))) => {
                    i.compare_float(f).is_some_and(std::cmp::Ordering::is_eq)
                }
                _ => false,
            },
        }
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            // The same bytes as `str::hash`, so that look-ups by `&str` need no `Key`.
            Key::Str(s) => s.hash(state),
            Key::None => state.write_u8(1),
            Key::Bytes(b) => b.hash(state),
            Key::Tuple(t) => t.hash(state),
            Key::Bool(_) | Key::Int(_) | Key::Float(_) => match self.number() {
                Some(Number::Small(i)) => state.write_i64(i),
                // Large integers and large whole floats may be equal, so they hash alike.
                Some(Number::Big(i)) => {
                    state.write_u64(i.to_f64().unwrap_or(f64::INFINITY).to_bits());
                }
                Some(Number::Float(f)) => state.write_u64(f.to_bits()),
                None => {}
            },
        }
    }
}

/// A borrowed key, to look things up without building a [`Key`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyRef<'a>(pub &'a str);

impl Hash for KeyRef<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Equivalent<Key> for KeyRef<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        key.as_str() == Some(self.0)
    }
}

impl Equivalent<Key> for str {
    fn equivalent(&self, key: &Key) -> bool {
        key.as_str() == Some(self)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.to_value().repr())
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.to_value().fmt(f)
    }
}

impl From<&str> for Key {
    fn from(s: &str) -> Self {
        Key::Str(s.into())
    }
}
impl From<String> for Key {
    fn from(s: String) -> Self {
        Key::Str(s.into())
    }
}
impl From<Str> for Key {
    fn from(s: Str) -> Self {
        Key::Str(s)
    }
}
impl From<bool> for Key {
    fn from(b: bool) -> Self {
        Key::Bool(b)
    }
}
impl From<i64> for Key {
    fn from(i: i64) -> Self {
        Key::Int(i.into())
    }
}
impl From<i32> for Key {
    fn from(i: i32) -> Self {
        Key::Int(i.into())
    }
}
impl From<f64> for Key {
    fn from(f: f64) -> Self {
        Key::Float(f)
    }
}

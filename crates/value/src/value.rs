//! The value itself: kinds, equality, truth, conversions.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::{Int, Key, Map, MapKind, Set};

/// Shared immutable text.
pub type Str = Arc<str>;

/// Python data as Salt configuration uses it.
#[derive(Clone, Default)]
pub enum Value {
    /// `None`
    #[default]
    None,
    /// `True` or `False`
    Bool(bool),
    /// An integer of any size
    Int(Int),
    /// A float
    Float(f64),
    /// Text
    Str(Str),
    /// Bytes
    Bytes(Arc<[u8]>),
    /// A list
    List(List),
    /// A tuple
    Tuple(Arc<[Value]>),
    /// A mapping
    Map(Map),
    /// A set
    Set(Set),
}

/// The type of a [`Value`], without its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ValueKind {
    /// `None`
    None,
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `float`
    Float,
    /// `str`
    Str,
    /// `bytes`
    Bytes,
    /// `list`
    List,
    /// `tuple`
    Tuple,
    /// `dict`
    Map,
    /// `set`
    Set,
}

impl ValueKind {
    /// Python's name of the type (`NoneType`, `str`, `dict`, …).
    #[must_use]
    pub fn python_name(self) -> &'static str {
        match self {
            ValueKind::None => "NoneType",
            ValueKind::Bool => "bool",
            ValueKind::Int => "int",
            ValueKind::Float => "float",
            ValueKind::Str => "str",
            ValueKind::Bytes => "bytes",
            ValueKind::List => "list",
            ValueKind::Tuple => "tuple",
            ValueKind::Map => "dict",
            ValueKind::Set => "set",
        }
    }

    /// A name of the type for readers of configuration, with its article ("a mapping").
    #[must_use]
    pub fn described(self) -> &'static str {
        match self {
            ValueKind::None => "null",
            ValueKind::Bool => "a boolean",
            ValueKind::Int => "an integer",
            ValueKind::Float => "a float",
            ValueKind::Str => "a string",
            ValueKind::Bytes => "bytes",
            ValueKind::List => "a list",
            ValueKind::Tuple => "a tuple",
            ValueKind::Map => "a mapping",
            ValueKind::Set => "a set",
        }
    }
}

impl Value {
    /// An empty mapping.
    #[must_use]
    pub fn map() -> Self {
        Value::Map(Map::new())
    }

    /// The same data with every mapping as one of Python's types.
    ///
    /// ```
    /// use mapstack_value::{Map, MapKind, Value};
    /// let data = Value::from_iter([Map::from_iter([("a", 1)])]).with_map_kind(MapKind::Ordered);
    /// let Value::List(items) = data else { panic!() };
    /// assert_eq!(items[0].as_map().unwrap().kind(), MapKind::Ordered);
    /// ```
    #[must_use]
    pub fn with_map_kind(&self, kind: MapKind) -> Self {
        match self {
            Value::Map(map) => {
                let entries = map
                    .iter()
                    .map(|(key, value)| (key.clone(), value.with_map_kind(kind)));
                Value::Map(entries.collect::<Map>().with_kind(kind))
            }
            Value::List(items) => items.iter().map(|item| item.with_map_kind(kind)).collect(),
            Value::Tuple(items) => {
                Value::Tuple(items.iter().map(|item| item.with_map_kind(kind)).collect())
            }
            other => other.clone(),
        }
    }

    /// The type of the value.
    #[must_use]
    pub fn kind(&self) -> ValueKind {
        match self {
            Value::None => ValueKind::None,
            Value::Bool(_) => ValueKind::Bool,
            Value::Int(_) => ValueKind::Int,
            Value::Float(_) => ValueKind::Float,
            Value::Str(_) => ValueKind::Str,
            Value::Bytes(_) => ValueKind::Bytes,
            Value::List(_) => ValueKind::List,
            Value::Tuple(_) => ValueKind::Tuple,
            Value::Map(_) => ValueKind::Map,
            Value::Set(_) => ValueKind::Set,
        }
    }

    /// Python's truth: `None`, `False`, zero and everything empty are false.
    ///
    /// ```
    /// use mapstack_value::Value;
    /// assert!(Value::from("false").truthy());
    /// assert!(!Value::from(0.0).truthy());
    /// ```
    #[must_use]
    pub fn truthy(&self) -> bool {
        match self {
            Value::None => false,
            Value::Bool(b) => *b,
            Value::Int(i) => !i.is_zero(),
            Value::Float(f) => *f != 0.0,
            Value::Str(s) => !s.is_empty(),
            Value::Bytes(b) => !b.is_empty(),
            Value::List(l) => !l.is_empty(),
            Value::Tuple(t) => !t.is_empty(),
            Value::Map(m) => !m.is_empty(),
            Value::Set(s) => !s.is_empty(),
        }
    }

    /// True if this is `None`.
    #[must_use]
    pub fn is_none(&self) -> bool {
        matches!(self, Value::None)
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Value::Str(s) => Some(s),
            _ => None,
        }
    }

    /// The mapping, if it is one.
    #[must_use]
    pub fn as_map(&self) -> Option<&Map> {
        match self {
            Value::Map(m) => Some(m),
            _ => None,
        }
    }

    /// The value at the end of positions of entries and items, to be changed; what is shared on the way is copied.
    ///
    /// ```
    /// use mapstack_value::{Map, Value};
    /// let list: Value = ["a", "b"].into_iter().collect();
    /// let mut value = Value::from(Map::from_iter([("list", list)]));
    /// *value.inside_mut(&[0, 1]).unwrap() = "c".into();
    /// assert_eq!(value.repr(), "{'list': ['a', 'c']}");
    /// assert!(value.inside_mut(&[0, 2]).is_none());
    /// ```
    pub fn inside_mut(&mut self, positions: &[usize]) -> Option<&mut Value> {
        let mut here = self;
        for at in positions {
            here = match here {
                Value::Map(map) => map.value_at_mut(*at)?,
                Value::List(items) => items.make_mut().get_mut(*at)?,
                _ => return None,
            };
        }
        Some(here)
    }

    /// The items of a list (not of a tuple).
    #[must_use]
    pub fn as_list(&self) -> Option<&[Value]> {
        match self {
            Value::List(l) => Some(l),
            _ => None,
        }
    }

    /// `1`, `1.0` and `True` as the number they are, for comparison.
    fn number(&self) -> Option<Key> {
        match self {
            Value::Bool(b) => Some(Key::Bool(*b)),
            Value::Int(i) => Some(Key::Int(i.clone())),
            Value::Float(f) => Some(Key::Float(*f)),
            _ => None,
        }
    }
}

impl Value {
    /// True if the two are indistinguishable: equal, of the same types throughout, and in the same
    /// order. What shares its storage is not looked at twice.
    ///
    /// ```
    /// use mapstack_value::Value;
    /// assert!(Value::from(1) == Value::from(true) && !Value::from(1).is_same(&Value::from(true)));
    /// ```
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        let all = |a: &[Value], b: &[Value]| {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.is_same(b))
        };
        match (self, other) {
            (Value::Map(a), Value::Map(b)) => {
                let entries = || {
                    a.iter()
                        .zip(b)
                        .all(|((k, v), (l, w))| k.to_value().is_same(&l.to_value()) && v.is_same(w))
                };
                a.kind() == b.kind() && (a.ptr_eq(b) || (a.len() == b.len() && entries()))
            }
            (Value::List(a), Value::List(b)) => {
                a.is_aggregate() == b.is_aggregate() && (a.ptr_eq(b) || all(a, b))
            }
            (Value::Tuple(a), Value::Tuple(b)) => Arc::ptr_eq(a, b) || all(a, b),
            (Value::Set(a), Value::Set(b)) => {
                a.len() == b.len()
                    && a.iter()
                        .zip(b.iter())
                        .all(|(a, b)| a.to_value().is_same(&b.to_value()))
            }
            (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits(),
            _ => std::mem::discriminant(self) == std::mem::discriminant(other) && self == other,
        }
    }
}

impl PartialEq for Value {
    /// Python's `==`.
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Value::None, Value::None) => true,
            (Value::Bool(a), Value::Bool(b)) => a == b,
            (Value::Int(a), Value::Int(b)) => a == b,
            (Value::Float(a), Value::Float(b)) => a == b,
            (Value::Str(a), Value::Str(b)) => a == b,
            (Value::Bytes(a), Value::Bytes(b)) => a == b,
            (Value::List(a), Value::List(b)) => a == b,
            (Value::Tuple(a), Value::Tuple(b)) => a == b,
            (Value::Map(a), Value::Map(b)) => a == b,
            (Value::Set(a), Value::Set(b)) => a == b,
            _ => match (self.number(), other.number()) {
                (Some(a), Some(b)) => a == b,
                _ => false,
            },
        }
    }
}

/// A list that shares its storage between clones.
///
/// Read it as a slice; [`make_mut`](List::make_mut) copies a shared one before a change.
#[derive(Clone, Default)]
pub struct List {
    items: Arc<Vec<Value>>,
    aggregate: bool,
}

impl List {
    /// The items, to be changed; copied first if they are shared.
    pub fn make_mut(&mut self) -> &mut Vec<Value> {
        Arc::make_mut(&mut self.items)
    }

    /// True if both are one storage.
    #[must_use]
    pub fn ptr_eq(&self, other: &List) -> bool {
        Arc::ptr_eq(&self.items, &other.items)
    }

    /// The same items as Salt's aggregate list (`salt.utils.aggregation.Sequence`), the counterpart of
    /// [`MapKind::Aggregate`]. Equality ignores it; merge strategy `aggregate` joins two of them.
    ///
    /// ```
    /// use mapstack_value::{List, Value};
    /// let plain = List::from(vec![Value::from(1)]);
    /// let marked = plain.clone().as_aggregate();
    /// assert!(marked.is_aggregate() && !plain.is_aggregate() && marked == plain);
    /// ```
    #[must_use]
    pub fn as_aggregate(mut self) -> Self {
        self.aggregate = true;
        self
    }

    /// True if it is Salt's aggregate list.
    #[must_use]
    pub fn is_aggregate(&self) -> bool {
        self.aggregate
    }

    /// The address of the storage, as an identity while the list is alive.
    #[must_use]
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.items).cast::<()>() as usize
    }
}

impl Deref for List {
    type Target = [Value];

    fn deref(&self) -> &[Value] {
        &self.items
    }
}

impl PartialEq for List {
    fn eq(&self, other: &Self) -> bool {
        self.ptr_eq(other) || self.items == other.items
    }
}

impl fmt::Debug for List {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.items.fmt(f)
    }
}

impl From<Vec<Value>> for List {
    fn from(items: Vec<Value>) -> Self {
        List {
            items: Arc::new(items),
            aggregate: false,
        }
    }
}

impl FromIterator<Value> for List {
    fn from_iter<T: IntoIterator<Item = Value>>(iter: T) -> Self {
        iter.into_iter().collect::<Vec<_>>().into()
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.repr())
    }
}

macro_rules! from_simple {
    ($($t:ty => $v:ident |$x:ident| $e:expr),* $(,)?) => {$(
        impl From<$t> for Value {
            fn from($x: $t) -> Self {
                Value::$v($e)
            }
        }
    )*};
}
from_simple! {
    bool => Bool |b| b,
    i32 => Int |i| i.into(),
    i64 => Int |i| i.into(),
    u64 => Int |i| i.into(),
    usize => Int |i| i.into(),
    Int => Int |i| i,
    f64 => Float |f| f,
    &str => Str |s| s.into(),
    &String => Str |s| s.as_str().into(),
    String => Str |s| s.into(),
    Str => Str |s| s,
    List => List |l| l,
    Vec<Value> => List |l| l.into(),
    Map => Map |m| m,
    Set => Set |s| s,
}

impl From<Key> for Value {
    fn from(key: Key) -> Self {
        key.to_value()
    }
}

impl<T: Into<Value>> From<Option<T>> for Value {
    fn from(option: Option<T>) -> Self {
        option.map_or(Value::None, Into::into)
    }
}

impl<T: Into<Value>> FromIterator<T> for Value {
    /// A list of the items.
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> Self {
        Value::List(iter.into_iter().map(Into::into).collect())
    }
}

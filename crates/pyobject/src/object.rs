//! Python's objects, as far as templates meet them.
//!
//! Data between templates is made of frozen [`Value`]s. Inside a template Python's reference
//! semantics hold in full: `{% set b = a %}` names one object twice, and a change through one name
//! shows through the other. [`Obj`] is that world. A frozen mapping enters it as one pointer and
//! is taken apart only where the template looks; one that was not changed leaves it as the very
//! pointer that came in.

mod args;
mod containers;
mod cycles;
mod iter;
mod ops;
mod print;
mod read_tracker;
mod set_like;
mod undefined;

use std::rc::Rc;
use std::sync::Arc;

use mapstack_value::{Int, Key, Map, Str, Traverse, Value, ValueKind};

pub use args::{CallArgs, required};
pub use containers::{
    DictRef, Entries, ListRef, Refreezer, SetRef, TupleRef, changes, check_extent,
};
pub(crate) use cycles::NotedRender;
pub use cycles::Sweep;
pub use iter::{DictPart, Iter, ObjIter, dict_iter};
pub use ops::{
    BinaryOp, CompareOp, as_float, as_index, binary, compare, contains, equal, get_item, len,
    negate, order, positive, slice, wrap_index,
};
pub use print::{PrintStyle, repr, repr_with, text_of, to_str};
pub use read_tracker::Reader;
pub(crate) use set_like::SetLike;
pub use set_like::{hash_key, is_hashable, lookup_key};
pub use undefined::Undefined;

use crate::Interpreter;
use crate::limits::{Error, Result};

/// A Python object.
#[derive(Clone, Default)]
pub enum Obj {
    /// `None`
    #[default]
    None,
    /// `bool`
    Bool(bool),
    /// `int`
    Int(Int),
    /// `float`
    Float(f64),
    /// `str`
    Str(Str),
    /// `markupsafe.Markup`: text that is not escaped again.
    Markup(Str),
    /// `bytes`
    Bytes(Arc<[u8]>),
    /// `list`
    List(ListRef),
    /// `tuple`
    Tuple(TupleRef),
    /// `dict` and its kin
    Dict(DictRef),
    /// `set`
    Set(SetRef),
    /// A name, attribute or item that does not exist.
    Undefined(Rc<Undefined>),
    /// An iterator (a generator, `zip`, `map`, …).
    Iter(Iter),
    /// Everything else: functions, macros, modules, namespaces, loops, …
    Native(Rc<dyn Object>),
}

/// An object that is not plain data.
///
/// Every method has the behaviour of a Python object without that ability.
#[allow(clippy::len_without_is_empty)] // `truthy` is Python's word for it.
pub trait Object {
    /// The value of `type(x).__name__`.
    fn type_name(&self) -> &str;

    /// The value of `type(x).__module__`, which messages about a missing attribute name; `None` for Python's own types.
    fn module(&self) -> Option<&str> {
        None
    }

    /// `repr(x)`, without the address.
    fn repr(&self) -> Result<String> {
        let name = self.type_name();
        Ok(match self.module() {
            Some(module) => format!("<{module}.{name} object>"),
            None => format!("<{name} object>"),
        })
    }

    /// `repr(x)` as a text around the `repr` of another object, for objects that hold others. It
    /// takes part in the checks for length, depth and objects that hold themselves.
    fn repr_around(&self) -> Option<(&'static str, Obj, &'static str)> {
        None
    }

    /// The dict that an object holds as its own, where templates can put the object itself into it.
    fn held(&self) -> Option<&DictRef> {
        None
    }

    /// `str(x)`.
    fn to_str(&self) -> Result<String> {
        self.repr()
    }

    /// Truth.
    fn truthy(&self) -> bool {
        true
    }

    /// `getattr(x, name)`.
    fn attr(&self, _vm: &dyn Interpreter, _name: &str) -> Option<Obj> {
        None
    }

    /// `x[key]`; `Ok(None)` is a `KeyError`, or the lack of items.
    fn item(&self, _vm: &dyn Interpreter, _key: &Obj) -> Result<Option<Obj>> {
        Ok(None)
    }

    /// True if Python asks `x[key]`, whatever the key: then `text % x` takes it for a mapping.
    fn is_subscriptable(&self) -> bool {
        false
    }

    /// `setattr(x, name, value)`, reached only by `{% set x.name = value %}`; `false` if `x` is not
    /// a namespace.
    fn set_attr(&self, _name: &str, _value: Obj) -> bool {
        false
    }

    /// True if `x(…)` may be tried (the `callable` test).
    fn callable(&self) -> bool {
        false
    }

    /// `x(*args)`.
    fn call(&self, _vm: &dyn Interpreter, _args: CallArgs) -> Result<Obj> {
        Err(Error::type_error(format!(
            "'{}' object is not callable",
            self.type_name()
        )))
    }

    /// `iter(x)`.
    fn iter(&self) -> Option<Iter> {
        None
    }

    /// `len(x)`.
    fn len(&self) -> Option<usize> {
        None
    }

    /// `needle in x`, where that differs from iterating.
    fn contains(&self, _vm: &dyn Interpreter, _needle: &Obj) -> Option<Result<bool>> {
        None
    }

    /// `object[start:stop:step]`, if the object can be sliced. `_bounds` gives the first position, the one before
    /// which to stop, and the step for a length.
    ///
    /// # Errors
    /// Those of `_bounds`: a step of zero, or a value that is not a position.
    fn slice(&self, _bounds: &dyn Fn(usize) -> Result<[i64; 3]>) -> Option<Result<Obj>> {
        None
    }

    /// The plain data of the object (`dict` views, `range`, …), if any.
    fn as_value(&self) -> Option<Result<Value>> {
        None
    }

    /// True if Python's `==` holds it equal to another native object.
    fn equals(&self, _other: &dyn Object) -> Option<bool> {
        None
    }

    /// True if it is a placeholder for an unknown value: operators give it back, and comparisons hold.
    fn is_unknown(&self) -> bool {
        false
    }

    /// For down-casting by code that knows a concrete type.
    fn as_any(&self) -> Option<&dyn std::any::Any> {
        None
    }
}

impl Obj {
    /// Wrap a native object.
    pub fn native(object: impl Object + 'static) -> Self {
        Obj::Native(Rc::new(object))
    }

    /// A list of objects.
    pub fn list(items: impl Into<Vec<Obj>>) -> Self {
        Obj::List(ListRef::new(items.into()))
    }

    /// A tuple of objects.
    pub fn tuple(items: impl Into<TupleRef>) -> Self {
        Obj::Tuple(items.into())
    }

    /// A dict of entries.
    pub fn dict(entries: impl IntoIterator<Item = (Key, Obj)>) -> Self {
        Obj::Dict(DictRef::new(entries.into_iter().collect()))
    }

    /// Python's name of the type.
    pub fn type_name(&self) -> &str {
        match self {
            Obj::None => ValueKind::None.python_name(),
            Obj::Bool(_) => ValueKind::Bool.python_name(),
            Obj::Int(_) => ValueKind::Int.python_name(),
            Obj::Float(_) => ValueKind::Float.python_name(),
            Obj::Str(_) => ValueKind::Str.python_name(),
            Obj::Markup(_) => "Markup",
            Obj::Bytes(_) => ValueKind::Bytes.python_name(),
            Obj::List(_) => ValueKind::List.python_name(),
            Obj::Tuple(_) => ValueKind::Tuple.python_name(),
            Obj::Dict(d) => d.type_name(),
            Obj::Set(_) => ValueKind::Set.python_name(),
            Obj::Undefined(u) => u.type_name(),
            Obj::Iter(i) => i.type_name(),
            Obj::Native(n) => n.type_name(),
        }
    }

    /// The text of a string.
    pub fn as_str(&self) -> Option<&Str> {
        match self {
            Obj::Str(s) | Obj::Markup(s) => Some(s),
            _ => None,
        }
    }

    /// Another text of this one's type: what is made of safe text is safe.
    #[must_use]
    pub fn with_text(&self, text: impl Into<Str>) -> Obj {
        match self {
            Obj::Markup(_) => Obj::Markup(text.into()),
            _ => Obj::Str(text.into()),
        }
    }

    /// True if this is `None`.
    pub fn is_none(&self) -> bool {
        matches!(self, Obj::None)
    }

    /// Truth, an error for something undefined.
    ///
    /// # Errors
    /// [`ErrorKind::Undefined`](crate::ErrorKind) under strict undefined.
    pub fn truthy(&self) -> Result<bool> {
        Ok(match self {
            Obj::None => false,
            Obj::Bool(b) => *b,
            Obj::Int(i) => !i.is_zero(),
            Obj::Float(f) => *f != 0.0,
            Obj::Str(s) | Obj::Markup(s) => !s.is_empty(),
            Obj::Bytes(b) => !b.is_empty(),
            Obj::List(l) => !l.is_empty(),
            Obj::Tuple(t) => !t.is_empty(),
            Obj::Dict(d) => !d.is_empty(),
            Obj::Set(s) => !s.is_empty(),
            Obj::Undefined(u) => return u.truthy(),
            Obj::Iter(_) => true,
            Obj::Native(n) => n.truthy(),
        })
    }

    /// True if both names are one object (`is`).
    pub fn is_same(&self, other: &Obj) -> bool {
        match (self, other) {
            (Obj::None, Obj::None) => true,
            (Obj::Bool(a), Obj::Bool(b)) => a == b,
            // CPython shares small integers and interned text; equality is the nearest to that.
            (Obj::Int(a), Obj::Int(b)) => a == b,
            (Obj::Str(a), Obj::Str(b)) => a == b,
            (Obj::Float(a), Obj::Float(b)) => a.to_bits() == b.to_bits(),
            (Obj::List(a), Obj::List(b)) => a.is_same(b),
            (Obj::Dict(a), Obj::Dict(b)) => a.is_same(b),
            (Obj::Set(a), Obj::Set(b)) => a.is_same(b),
            (Obj::Tuple(a), Obj::Tuple(b)) => a.is_same(b) || (a.is_empty() && b.is_empty()),
            (Obj::Iter(a), Obj::Iter(b)) => a.is_same(b),
            (Obj::Native(a), Obj::Native(b)) => std::ptr::addr_eq(Rc::as_ptr(a), Rc::as_ptr(b)),
            _ => false,
        }
    }

    /// Python's `==`.
    ///
    /// # Errors
    /// An undefined error when either is strictly undefined.
    pub fn equals(&self, other: &Obj) -> Result<bool> {
        ops::equal(self, other)
    }

    /// Live objects for data in which one container is at several places: it is one object
    /// there, as YAML aliases are in Python.
    pub fn from_shared(value: &Value) -> Self {
        containers::thaw_shared(value)
    }

    /// The frozen data this object is, with `None` for every part that is undefined or no data;
    /// also what those parts were, in words.
    ///
    /// # Errors
    /// As [`to_value`](Obj::to_value), but for such parts.
    pub fn to_value_lossy(&self) -> Result<(Value, Vec<String>)> {
        containers::freeze_lossy(self)
    }

    /// An object that is made of data, unless the data is nested too deep or expands to too much. Data that was put
    /// together from parts of other data can do both, with parts that are shared.
    ///
    /// # Errors
    /// A limit error.
    ///
    /// ```
    /// use mapstack_pyobject::Obj;
    /// use mapstack_value::Value;
    /// let doubled = (0..40).fold(Value::from(1), |inner, _| Value::from_iter([inner.clone(), inner]));
    /// assert!(Obj::composed(doubled).is_err());
    /// ```
    pub fn composed(value: Value) -> Result<Self> {
        containers::check_extent(&value)?;
        Ok(Obj::from(value))
    }

    /// The frozen data this object is.
    ///
    /// # Errors
    /// A `TypeError` for objects that are not data, an undefined error for undefined parts, and a
    /// `ValueError` for structures that contain themselves.
    pub fn to_value(&self) -> Result<Value> {
        containers::freeze(self)
    }

    /// The same, which does not count as reading dicts that are [tracked](DictRef::tracked): for callers
    /// that pass the data on and look only at whether it changed.
    ///
    /// # Errors
    /// As [`to_value`](Obj::to_value).
    pub fn to_value_unread(&self) -> Result<Value> {
        containers::freeze_unread(self)
    }
}

impl From<Value> for Obj {
    fn from(value: Value) -> Self {
        match value {
            Value::None => Obj::None,
            Value::Bool(b) => Obj::Bool(b),
            Value::Int(i) => Obj::Int(i),
            Value::Float(f) => Obj::Float(f),
            Value::Str(s) => Obj::Str(s),
            Value::Bytes(b) => Obj::Bytes(b),
            Value::List(l) => Obj::List(ListRef::frozen(l)),
            Value::Tuple(t) => Obj::Tuple(t.iter().cloned().map(Obj::from).collect()),
            Value::Map(m) => Obj::Dict(DictRef::frozen(m)),
            Value::Set(s) => Obj::Set(SetRef::new(s.iter().cloned().collect())),
        }
    }
}

impl From<&Key> for Obj {
    fn from(key: &Key) -> Self {
        Obj::from(key.to_value())
    }
}

macro_rules! from_data {
    ($($t:ty),*) => {$(
        impl From<$t> for Obj {
            fn from(x: $t) -> Self {
                Obj::from(Value::from(x))
            }
        }
    )*};
}
from_data!(bool, i32, i64, u64, usize, Int, f64, &str, String, Str, Map);

impl std::fmt::Debug for Obj {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&repr(self).unwrap_or_else(|e| format!("<{e}>")))
    }
}

impl Traverse for Obj {
    fn list_len(&self) -> Option<usize> {
        match self {
            Obj::List(l) => Some(l.len()),
            _ => None,
        }
    }

    fn list_item(&self, index: usize) -> Option<Self> {
        match self {
            Obj::List(l) => l.get(index),
            _ => None,
        }
    }

    fn is_map(&self) -> bool {
        matches!(self, Obj::Dict(_))
    }

    fn map_entry(&self, key: &Key) -> Option<Self> {
        match self {
            Obj::Dict(d) => d.get(key),
            _ => None,
        }
    }

    fn sequence_item(&self, index: &Int) -> Option<Self> {
        let Obj::Tuple(items) = self else { return None };
        ops::wrap_index(index, items.len()).and_then(|i| items.get(i).cloned())
    }
}

//! The methods of Python's builtin types.
//!
//! [`call`] runs `object.name(args)` for text, bytes, numbers and containers; all other
//! types have their own methods as an [`Object`]. Argument errors have CPython's class and words.

mod bytes;
mod codec;
mod dict;
pub mod limit;
mod list;
mod markup;
mod number;
mod set;
mod signature;
mod text;
mod views;

use std::any::Any;

pub use list::{sort, sort_by};
pub use markup::escape;
pub use views::of as view_of;

use crate::Interpreter;
use crate::limits::{Error, Result};
use crate::object::{CallArgs, Entries, Obj, Object};
use crate::price::OperandReads;

/// True if the object's type has a method of that name.
pub fn has(object: &Obj, name: &str) -> bool {
    static_name(object, name).is_some()
}

/// The name as the method tables spell it, if the object's type has such a method.
fn static_name(object: &Obj, name: &str) -> Option<&'static str> {
    match object {
        Obj::Str(_) => NameTable::find(&TEXT, name),
        Obj::Markup(_) => NameTable::find(&TEXT, name).or_else(|| find(markup::OWN, name)),
        Obj::Bytes(_) => find(bytes::NAMES, name),
        Obj::List(_) => NameTable::find(&LIST, name),
        Obj::Tuple(_) => find(list::TUPLE, name),
        Obj::Dict(dict) => {
            NameTable::find(&DICT, name).or_else(|| find(dict::beyond_dict(dict), name))
        }
        Obj::Set(_) => find(set::NAMES, name),
        Obj::Int(_) | Obj::Bool(_) => find(number::INT, name),
        Obj::Float(_) => find(number::FLOAT, name),
        Obj::None | Obj::Undefined(_) | Obj::Iter(_) | Obj::Native(_) => None,
    }
}

fn find(names: &'static [&'static str], name: &str) -> Option<&'static str> {
    let is_it =
        |known: &&&str| known.as_bytes().first() == name.as_bytes().first() && **known == name;
    names.iter().find(is_it).copied()
}

static TEXT: NameTable = NameTable::new(text::NAMES);
static LIST: NameTable = NameTable::new(list::LIST);
static DICT: NameTable = NameTable::new(dict::NAMES);

/// Names of methods. Most attributes in templates are keys of dicts, and a single look-up rules out nearly all of those.
struct NameTable {
    names: &'static [&'static str],
    /// For each [place](Self::place): the position of its first name, counted from 1 (0 if the place is empty), and
    /// whether it has more names.
    places: [(u8, bool); 128],
}

impl NameTable {
    const fn new(names: &'static [&'static str]) -> Self {
        let (mut places, mut at) = ([(0, false); 128], names.len());
        while at > 0 {
            let place = Self::place(names[at - 1].as_bytes());
            places[place] = (at as u8, places[place].0 != 0);
            at -= 1;
        }
        NameTable { names, places }
    }

    /// The place of a name: a hash of its length, its first and its last byte.
    #[inline]
    const fn place(name: &[u8]) -> usize {
        match name {
            [first, .., last] => {
                (*first as usize * 5 + *last as usize * 23 + name.len() * 11) % 128
            }
            _ => 0,
        }
    }

    #[inline]
    fn find(&self, name: &str) -> Option<&'static str> {
        let (position, is_shared) = self.places[Self::place(name.as_bytes())];
        let first = *self.names.get(usize::from(position).checked_sub(1)?)?;
        if first == name {
            Some(first)
        } else if is_shared {
            find(self.names, name)
        } else {
            None
        }
    }
}

/// True if the sandbox hides an attribute: a name such as `__class__` that Python's objects have.
pub fn is_hidden(name: &str) -> bool {
    name.strip_prefix("__")
        .and_then(|rest| rest.strip_suffix("__"))
        .is_some_and(|bare| HIDDEN.contains(&bare))
}

/// The same for Jinja's undefined objects, which have fewer of them.
pub fn is_hidden_of_undefined(name: &str) -> bool {
    const ABSENT: &[&str] = &[
        "__code__",
        "__delitem__",
        "__dict__",
        "__getnewargs__",
        "__globals__",
        "__name__",
        "__next__",
        "__qualname__",
        "__reversed__",
        "__self__",
        "__setitem__",
        "__weakref__",
    ];
    is_hidden(name) && !ABSENT.contains(&name)
}

/// The names between the underscores: of every object, then of numbers, text, containers and
/// functions.
const HIDDEN: &[&str] = &[
    "class",
    "delattr",
    "dir",
    "doc",
    "eq",
    "format",
    "ge",
    "getattribute",
    "getstate",
    "gt",
    "hash",
    "init",
    "init_subclass",
    "le",
    "lt",
    "ne",
    "new",
    "reduce",
    "reduce_ex",
    "repr",
    "setattr",
    "sizeof",
    "str",
    "subclasshook",
    "add",
    "bool",
    "call",
    "code",
    "contains",
    "delitem",
    "dict",
    "getitem",
    "getnewargs",
    "globals",
    "iter",
    "len",
    "mod",
    "module",
    "mul",
    "name",
    "next",
    "qualname",
    "reversed",
    "rmod",
    "rmul",
    "self",
    "setitem",
    "slots",
    "weakref",
];

/// The method as an object (or a plain attribute such as `int.real`).
pub fn bound(object: &Obj, name: &str) -> Option<Obj> {
    match static_name(object, name) {
        Some(name) => Some(Obj::native(BoundMethod {
            receiver: object.clone(),
            name,
        })),
        None => number::attribute(object, name),
    }
}

/// The methods that do not read all of their operands, in order.
const EXCEPTIONS: &[(&str, OperandReads)] = &[
    ("add", OperandReads::Arguments),
    ("append", OperandReads::Nothing),
    ("endswith", OperandReads::Arguments),
    ("extend", OperandReads::Arguments),
    ("get", OperandReads::Nothing),
    ("items", OperandReads::Nothing),
    ("join", OperandReads::Arguments),
    ("keys", OperandReads::Nothing),
    // `pop` and `popitem` charge for the items that they shift.
    ("pop", OperandReads::Texts),
    ("popitem", OperandReads::Nothing),
    ("setdefault", OperandReads::Nothing),
    ("startswith", OperandReads::Arguments),
    ("update", OperandReads::Arguments),
    ("values", OperandReads::Nothing),
];

fn reads(name: &str) -> OperandReads {
    let found = EXCEPTIONS.binary_search_by_key(&name, |(known, _)| known);
    found.map_or(OperandReads::All, |at| EXCEPTIONS[at].1)
}

/// `object.name(args)`.
///
/// # Errors
/// The exception of the method; an `AttributeError` for an unknown name.
pub fn call(vm: &dyn Interpreter, object: &Obj, name: &str, args: CallArgs) -> Result<Obj> {
    vm.charge(|| reads(name), Some(object), &args)?;
    vm.made(call_unpaid(vm, object, name, args)?)
}

fn call_unpaid(vm: &dyn Interpreter, object: &Obj, name: &str, args: CallArgs) -> Result<Obj> {
    match object {
        Obj::Str(s) => text::call(vm, s, name, args),
        Obj::Markup(s) => markup::call(vm, s, name, args),
        Obj::Bytes(b) => bytes::call(vm, b, name, args),
        Obj::List(list) => list::call(vm, list, name, args),
        Obj::Tuple(items) => list::call_tuple(vm, items, name, args),
        Obj::Dict(dict) => dict::call(vm, dict, name, args),
        Obj::Set(set) => set::call(vm, set, name, args),
        Obj::Int(i) => number::call_int(vm, i, name, args),
        Obj::Bool(b) => number::call_int(vm, &i64::from(*b).into(), name, args),
        Obj::Float(f) => number::call_float(*f, name, args),
        Obj::Undefined(u) => Err(u.error()),
        other => match views::of(other) {
            Some(view) => views::call(vm, view, name, args),
            None => Err(no_attribute(other.type_name(), name)),
        },
    }
}

/// `dict.update(source)`: a mapping, or an iterable of pairs.
///
/// # Errors
/// Python's errors for a source that is neither. Nothing is changed then.
pub fn update_entries(vm: &dyn Interpreter, entries: &mut Entries, source: &Obj) -> Result<()> {
    entries.extend(dict::pairs(vm, source, false)?);
    Ok(())
}

fn no_attribute(type_name: &str, name: &str) -> Box<Error> {
    Error::python(
        "AttributeError",
        format!("'{type_name}' object has no attribute '{name}'"),
    )
}

/// A method with its object, waiting to be called.
struct BoundMethod {
    receiver: Obj,
    name: &'static str,
}

impl Object for BoundMethod {
    fn type_name(&self) -> &'static str {
        "builtin_function_or_method"
    }

    fn repr(&self) -> Result<String> {
        Ok(format!(
            "<built-in method {} of {} object>",
            self.name,
            self.receiver.type_name()
        ))
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, vm: &dyn Interpreter, args: CallArgs) -> Result<Obj> {
        call(vm, &self.receiver, self.name, args)
    }

    fn equals(&self, other: &dyn Object) -> Option<bool> {
        let other = other.as_any()?.downcast_ref::<BoundMethod>()?;
        Some(self.name == other.name && self.receiver.is_same(&other.receiver))
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::SetRef;

    #[test]
    fn every_name_is_found_in_its_table() {
        for table in [&TEXT, &LIST, &DICT] {
            for name in table.names {
                assert_eq!(table.find(name), Some(*name));
            }
            assert_eq!(
                table.find("").or(table.find("x")).or(table.find("names")),
                None
            );
        }
    }

    #[test]
    fn the_exceptions_are_sorted_and_name_what_there_is() {
        assert!(EXCEPTIONS.is_sorted_by(|a, b| a.0 < b.0));
        let kinds = [
            Obj::list([]),
            Obj::dict([]),
            Obj::from(""),
            Obj::Set(SetRef::new(Default::default())),
        ];
        for (name, _) in EXCEPTIONS {
            assert!(kinds.iter().any(|object| has(object, name)), "{name}");
        }
    }
}

//! Python's objects as templates meet them.
//!
//! Data between templates is made of frozen [`Value`](mapstack_value::Value)s. Inside a template Python's reference
//! semantics hold in full: [`Obj`] is that world, with Python's operators, the methods of its builtin types, its two
//! ways to format text, and its errors in its words. All work is paid for out of a [`Budget`]; what an operation has
//! to ask the language around it, it asks by the trait [`Interpreter`].
//!
//! ```
//! use mapstack_pyobject::{Obj, repr};
//!
//! let list = Obj::list([Obj::from(1)]);
//! let Obj::List(same) = list.clone() else { unreachable!() };
//! same.change(|items| items.push(Obj::from("two")));
//! assert_eq!(repr(&list).unwrap(), "[1, 'two']");
//! ```
//!
//! The crate does not know about templates, files, minions or functions of Salt.

mod budget;
pub mod depth;
mod error;
pub mod format;
mod interpreter;
pub mod ledger;
mod limits;
pub mod methods;
mod object;
mod price;
mod suggest;

pub use budget::Budget;
pub use error::{Error, ErrorKind, Frame, Place, Result, Span};
pub use interpreter::Interpreter;
pub use ledger::spend;
pub use limits::{Deadline, Limits, MemoryLimit};
pub use object::{
    BinaryOp, CallArgs, CompareOp, DictPart, DictRef, Entries, Iter, ListRef, Obj, ObjIter, Object,
    PrintStyle, Reader, Refreezer, SetRef, Sweep, TupleRef, Undefined, as_float, as_index, binary,
    changes, check_extent, compare, contains, dict_iter, equal, get_item, hash_key, len, negate,
    order, positive, repr, repr_with, required, slice, to_str, wrap_index,
};
pub use price::Reads;
pub use suggest::for_argument;

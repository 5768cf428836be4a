//! Python's objects as templates meet them.
//!
//! The crate does not know about templates, files, minions or functions of Salt.
//!
#![doc = include_str!("../README.md")]

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

//! Python's objects as templates meet them.
//!
//! The crate does not know about templates, files, minions or functions of Salt.
//!
#![doc = include_str!("../README.md")]

mod budget;
pub mod format;
mod interpreter;
pub mod limits;
pub mod methods;
mod object;
mod price;
pub mod random;
mod suggest;

pub use crate::limits::ledger::{spend, spend_apart};
pub use crate::limits::{
    Deadline, Error, ErrorKind, Frame, Limits, MemoryLimit, Refusal, Result, RunBudget, RunLimits,
    RunningWork, Span, Spender, SpentResource, TemplatePlace, depth, ledger,
};
pub use budget::Budget;
pub use interpreter::Interpreter;
pub use object::{
    BinaryOp, CallArgs, CompareOp, DictPart, DictRef, Entries, Iter, ListRef, Obj, ObjIter, Object,
    PrintStyle, Reader, Refreezer, SetRef, Sweep, TupleRef, Undefined, as_float, as_index, binary,
    changes, check_extent, compare, contains, dict_iter, equal, get_item, hash_key, is_hashable,
    len, lookup_key, negate, order, positive, repr, repr_with, required, slice, text_of, to_str,
    wrap_index,
};
pub use price::OperandReads;
pub use suggest::for_argument;

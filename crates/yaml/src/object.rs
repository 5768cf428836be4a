//! Objects of documents, as a program in Python gets them.

use mapstack_value::{Str, Value};

/// An object of a document. Others are named by their numbers, so that what an alias names stays one object.
#[derive(Debug, Clone, PartialEq)]
pub enum Object {
    /// A scalar.
    Scalar(Value),
    /// A date, or a date and time, as Python prints it.
    Date(Str),
    /// A list.
    List(Vec<usize>),
    /// A dict: its keys with their values.
    Map(Vec<(usize, usize)>),
    /// A set.
    Set(Vec<usize>),
    /// A list of pairs, each the number of a mapping with one entry.
    Pairs(Vec<usize>),
}

/// The objects of one document; the first one is the document itself. An empty document has none.
pub type Objects = Vec<Object>;

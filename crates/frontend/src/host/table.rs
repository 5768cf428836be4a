//! Functions of the machine, by their names.

use mapstack::value::Value;
use mapstack::{Call, CallError};

/// A function or filter.
pub(crate) type Function = fn(&Call) -> Result<Value, CallError>;

/// Functions by their full names.
pub(crate) type Table = &'static [(&'static str, Function)];

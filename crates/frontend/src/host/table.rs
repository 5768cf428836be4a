//! Functions of the machine, by their names.

use mapstack::value::Value;
use mapstack::{Call, CallError};

/// A function or filter.
pub(crate) type MachineCall = fn(&Call) -> Result<Value, CallError>;

/// Functions by their full names.
pub(crate) type FunctionTable = &'static [(&'static str, MachineCall)];

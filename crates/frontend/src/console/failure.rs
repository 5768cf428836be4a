//! Why a command does not end well.

use std::fmt;
use std::io;

use crate::inputs::InputError;

/// Why a command does not end well. Its exit status says which of these it is.
#[derive(Debug)]
pub enum Failure {
    /// The data or templates are wrong.
    Data(mapstack::Error),
    /// The arguments are wrong.
    Usage(String),
    /// The output could not be written.
    Output(io::Error),
    /// The findings are in the output.
    Found,
    /// Not everything was done. What is wrong was reported before.
    Incomplete {
        /// The part that was not done.
        message: String,
        /// The exit status.
        status: u8,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Data(e) => e.fmt(f),
            Failure::Usage(message) | Failure::Incomplete { message, .. } => f.write_str(message),
            Failure::Output(e) => write!(f, "cannot write the output: {e}"),
            Failure::Found => f.write_str("the output says what is wrong"),
        }
    }
}

impl From<mapstack::Error> for Failure {
    fn from(e: mapstack::Error) -> Self {
        Failure::Data(e)
    }
}

impl From<InputError> for Failure {
    fn from(e: InputError) -> Self {
        match e {
            InputError::Usage(message) => Failure::Usage(message),
            InputError::Data(error) => Failure::Data(error),
        }
    }
}

impl From<io::Error> for Failure {
    fn from(e: io::Error) -> Self {
        Failure::Output(e)
    }
}

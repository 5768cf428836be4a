//! The limit of nesting. Code that walks through levels calls itself once for each, and the stack is not endless.

use crate::limits::error::{Error, Result};

/// Objects inside each other that are printed, compared or hashed; Python has a limit here, too.
pub const OBJECTS: usize = 400;

/// Dict views inside each other.
pub const VIEWS: usize = 100;

/// Generators that read from each other.
pub const GENERATORS: usize = 150;

/// Levels of data that leaves the template: frozen, serialised or laid out on lines.
pub const DATA: usize = 200;

/// Python's words for its work when objects nest too deep to be printed.
pub const REPR: &str = " while getting the repr of an object";

/// Refuse data below the last level that is allowed.
///
/// # Errors
/// A limit error.
pub fn data(level: usize) -> Result<()> {
    if level > DATA {
        return Err(Error::limit(format!(
            "the data is nested more than {DATA} levels deep"
        )));
    }
    Ok(())
}

/// The error that Python raises when a function calls itself without end.
///
/// ```
/// assert_eq!(mapstack_pyobject::limits::depth::endless().message, "maximum recursion depth exceeded");
/// ```
#[must_use]
pub fn endless() -> Box<Error> {
    Error::python("RecursionError", "maximum recursion depth exceeded")
}

/// Refuse objects below the last level that is allowed, as Python does.
///
/// # Errors
/// A `RecursionError`.
pub fn objects(level: usize, most: usize, doing: &str) -> Result<()> {
    if level > most {
        return Err(Error::python(
            "RecursionError",
            format!("maximum recursion depth exceeded{doing}"),
        ));
    }
    Ok(())
}

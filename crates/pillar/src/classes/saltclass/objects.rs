//! Python's objects of an inventory: messages about them, and the mark of lists that replace others.

use mapstack_diagnostic::{Error, ErrorKind};
use mapstack_pyobject::Obj;

/// The first item of a list that replaces another.
const OVERRIDE: &str = "^";

/// An error of Python's objects.
pub(super) fn plain(error: &mapstack_pyobject::Error) -> Error {
    let kind = match error.kind {
        mapstack_pyobject::ErrorKind::Limit => ErrorKind::Limit,
        _ => ErrorKind::DataSource,
    };
    Error::new(kind, error.to_string())
}

/// The type of an object, in words.
pub(super) fn described(object: &Obj) -> &'static str {
    match object {
        Obj::List(_) => "a list",
        Obj::Dict(_) => "a mapping",
        Obj::Str(_) | Obj::Markup(_) => "a string",
        other => other
            .to_value()
            .map_or("something else", |value| value.kind().described()),
    }
}

/// True if a list that begins with this replaces another.
pub(super) fn is_mark(first: &Obj) -> bool {
    first.as_str().is_some_and(|text| **text == *OVERRIDE)
}

//! The common part of `str.encode` and `bytes.decode`.

use mapstack_value::pytext::codec::CodecError;

use crate::limits::{Error, Result};
use crate::methods::signature::text;
use crate::object::Obj;

/// The `encoding` and `errors` arguments of both methods.
pub fn arguments(
    method: &str,
    encoding: Option<Obj>,
    errors: Option<Obj>,
) -> Result<(String, String)> {
    let argument = |given: Option<Obj>, name: &str, default: &str| match given {
        None => Ok(default.to_string()),
        Some(object) => {
            let wrong =
                |found: &str| format!("{method}() argument '{name}' must be str, not {found}");
            text(&object, wrong).map(|s| s.to_string())
        }
    };
    Ok((
        argument(encoding, "encoding", "utf-8")?,
        argument(errors, "errors", "strict")?,
    ))
}

/// The error that the methods raise.
pub fn raised(error: CodecError) -> Box<Error> {
    Error::python(error.class, error.message)
}

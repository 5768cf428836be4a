//! Pieces of Python's library that the functions of a host share with the filters.
//!
//! ```
//! use mapstack_salt_jinja::python::{Address, Network};
//! use mapstack_pyobject::Obj;
//!
//! let network = Network::parse("10.1.2.3/8", false).unwrap();
//! assert_eq!(network.text(), "10.0.0.0/8");
//! assert!(network.contains(&Address::of(&Obj::from("10.9.9.9")).unwrap()));
//! ```

pub use crate::filters::digest::{hash, hmac};
pub use crate::filters::network::{Address, Network};
pub use crate::filters::regex::{Anchor, Pattern};
pub use mapstack_jinja::filters::wrap;
pub use mapstack_pyobject::depth::endless;
pub use mapstack_pyobject::random::Twister;
pub use mapstack_pyobject::{as_index, binary, hash_key, repr, to_str};

use mapstack_pyobject::{CallArgs, Error, Obj, Result};
use mapstack_value::Int;

use mapstack_jinja::Vm;
use mapstack_jinja::filters::number::parse_int;

/// The value of `{{ input|name(args) }}`.
///
/// # Errors
/// A `KeyError` for a filter that does not exist, else the filter's own.
pub fn filter(vm: &Vm<'_>, name: &str, input: Obj, args: CallArgs) -> Result<Obj> {
    match crate::builtins::SALT.filter(name) {
        Some(filter) => filter(vm, input, args),
        None => Err(Error::python(
            "KeyError",
            format!("unknown filter '{name}'"),
        )),
    }
}

/// `int(x)`.
///
/// # Errors
/// Python's `TypeError`s, `ValueError`s and `OverflowError`s.
pub fn int(x: &Obj) -> Result<Int> {
    match (x, as_index(x)) {
        (_, Some(i)) => Ok(i),
        (Obj::Float(f), _) => Int::from_f64(f.trunc()).ok_or_else(|| {
            let (class, what) = if f.is_nan() {
                ("ValueError", "NaN")
            } else {
                ("OverflowError", "infinity")
            };
            Error::python(class, format!("cannot convert float {what} to integer"))
        }),
        (Obj::Str(s) | Obj::Markup(s), _) => parse_int(s, 10).ok_or_else(|| {
            Error::value_error(format!(
                "invalid literal for int() with base 10: {}",
                mapstack_value::quote_str(s)
            ))
        }),
        (Obj::Undefined(u), _) => Err(u.error()),
        (other, _) => Err(Error::type_error(format!(
            "int() argument must be a string, a bytes-like object or a real number, not '{}'",
            other.type_name()
        ))),
    }
}

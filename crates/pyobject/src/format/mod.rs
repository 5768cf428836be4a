//! Python's two ways to format text: the `%` operator and `str.format`.

mod fields;
mod number;
mod percent;
mod spec;

pub use fields::{format, format_markup};
pub use percent::percent;
pub use spec::format_value;

use crate::limits::Result;
use mapstack_value::pytext::codec::escaped;

use crate::object::{Obj, repr};

/// `ascii(x)`: `repr(x)` with everything beyond ASCII escaped.
pub fn ascii(object: &Obj) -> Result<String> {
    let text = repr(object)?;
    if text.is_ascii() {
        return Ok(text);
    }
    Ok(text
        .chars()
        .map(|c| {
            if c.is_ascii() {
                c.to_string()
            } else {
                escaped(c)
            }
        })
        .collect())
}

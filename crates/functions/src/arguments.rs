//! Arguments as Python's functions take them.

use mapstack_pyobject::{Error, Obj, Result};
use mapstack_value::Value;

/// An argument as text.
///
/// # Errors
/// A `TypeError` for anything else.
pub fn text(argument: &Obj, function: &str, name: &str) -> Result<mapstack_value::Str> {
    argument.as_str().cloned().ok_or_else(|| {
        Error::type_error(format!(
            "{function}(): argument '{name}' must be text, not {}",
            argument.type_name()
        ))
    })
}

/// `copy.deepcopy(x)` of data.
pub(crate) fn deepcopy(object: &Obj) -> Result<Obj> {
    object.to_value().and_then(Obj::composed)
}

/// True if an argument means yes (Salt: `salt.utils.data.is_true`).
pub(crate) fn is_true(argument: Option<Obj>) -> Result<bool> {
    match argument {
        None => Ok(false),
        Some(Obj::Str(s) | Obj::Markup(s)) => {
            let number = s.trim().parse::<f64>().ok();
            Ok(number.map_or_else(|| s.to_lowercase() == "true", |number| number > 0.0))
        }
        Some(Obj::Int(i)) => Ok(!i.is_negative() && !i.is_zero()),
        Some(Obj::Float(f)) => Ok(f > 0.0),
        Some(other) => other.truthy(),
    }
}

/// An optional argument as data.
pub(crate) fn data_or(argument: Option<Obj>, default: impl Into<Value>) -> Result<Value> {
    argument.map_or_else(|| Ok(default.into()), |a| a.to_value())
}

/// The demand of Python's `==` on an argument whatever it is compared with: that it is defined.
pub(crate) fn comparable(argument: Option<&Obj>) -> Result<()> {
    match argument {
        Some(Obj::Undefined(undefined)) => undefined.check(),
        _ => Ok(()),
    }
}

/// An argument that counts if it is true.
pub(crate) fn if_true(argument: Option<Obj>) -> Result<Option<Obj>> {
    let is_true = argument.as_ref().map_or(Ok(false), Obj::truthy)?;
    Ok(argument.filter(|_| is_true))
}

/// An optional argument's truth.
pub(crate) fn truth_or(argument: Option<Obj>, default: bool) -> Result<bool> {
    argument.map_or(Ok(default), |a| a.truthy())
}

/// An optional delimiter.
pub(crate) fn delimiter(argument: Option<Obj>, function: &str) -> Result<mapstack_value::Str> {
    argument.map_or_else(|| Ok(":".into()), |a| text(&a, function, "delimiter"))
}

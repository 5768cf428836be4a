//! Objects as keys of dicts and elements of sets.

use mapstack_limits::{Error, Result, depth, ledger};
use mapstack_value::Key;

use super::Obj;
use super::ops::Budget;

/// The object as a dict key or set element. What is hashed is read whole, so it pays.
///
/// # Errors
/// A `TypeError` for unhashable objects, a limit for tuples without end and for steps that are used up.
pub fn hash_key(object: &Obj) -> Result<Key> {
    let refuse = &mut |other: &Obj| match other {
        Obj::Undefined(u) => Err(u.error()),
        other => Err(unhashable(other)),
    };
    key_within(object, &mut Budget::default(), 0, refuse)
}

/// The key under which the object may be found. Nothing for what can be hashed and is never a key here, such as a
/// function, a macro or a range: looking it up finds nothing and is no error.
///
/// ```
/// use mapstack_pyobject::{Obj, lookup_key};
/// assert!(lookup_key(&Obj::from("a")).unwrap().is_some());
/// let error = lookup_key(&Obj::list([])).unwrap_err();
/// assert_eq!(error.message, "unhashable type: 'list'");
/// ```
///
/// # Errors
/// As [`hash_key`] for what Python cannot hash, and for strictly undefined objects.
pub fn lookup_key(object: &Obj) -> Result<Option<Key>> {
    let mut is_key = true;
    let mut foreign = |other: &Obj| {
        is_key = false;
        match other {
            Obj::Undefined(u) => u.check(),
            other if is_hashable(other) => Ok(()),
            other => Err(unhashable(other)),
        }
    };
    let key = key_within(object, &mut Budget::default(), 0, &mut foreign)?;
    Ok(is_key.then_some(key))
}

/// Whether the object's type has a hash, whatever it contains.
#[must_use]
pub fn is_hashable(object: &Obj) -> bool {
    match object {
        Obj::List(_) | Obj::Dict(_) | Obj::Set(_) => false,
        Obj::Native(native) => !matches!(
            native.type_name(),
            "dict_keys" | "dict_items" | "odict_keys" | "odict_items"
        ),
        _ => true,
    }
}

fn unhashable(object: &Obj) -> Box<Error> {
    Error::type_error(format!("unhashable type: '{}'", object.type_name()))
}

/// The key of an object; `foreign` says what becomes of a part that is none.
fn key_within(
    object: &Obj,
    budget: &mut Budget,
    depth: usize,
    foreign: &mut dyn FnMut(&Obj) -> Result<()>,
) -> Result<Key> {
    Ok(match object {
        Obj::None => Key::None,
        Obj::Bool(b) => Key::Bool(*b),
        Obj::Int(i) => Key::Int(i.clone()),
        Obj::Float(f) => Key::Float(*f),
        Obj::Str(s) | Obj::Markup(s) => {
            ledger::spend(s.len() / 16)?;
            Key::Str(s.clone())
        }
        Obj::Bytes(b) => {
            ledger::spend(b.len() / 16)?;
            Key::Bytes(b.clone())
        }
        Obj::Tuple(items) => {
            let depth = depth + 1;
            depth::objects(depth, depth::OBJECTS, " while calling a Python object")?;
            budget.spend(items.len())?;
            Key::Tuple(
                items
                    .iter()
                    .map(|item| key_within(item, budget, depth, foreign))
                    .collect::<Result<_>>()?,
            )
        }
        other => {
            foreign(other)?;
            Key::None
        }
    })
}

//! `str.translate` and `str.maketrans`.

use mapstack_value::Key;

use crate::Interpreter;
use crate::limits::{Error, Result};
use crate::methods::limit;
use crate::methods::signature::{Call, text};
use crate::object::{DictRef, Entries, Obj, as_index, get_item};

/// Replace each character by what the table holds under its number.
pub fn translate(vm: &dyn Interpreter, s: &str, table: &Obj) -> Result<Obj> {
    match table {
        Obj::Undefined(u) => return Err(u.error()),
        Obj::None | Obj::Bool(_) | Obj::Int(_) | Obj::Float(_) | Obj::Set(_) | Obj::Iter(_) => {
            return Err(Error::type_error(format!(
                "'{}' object is not subscriptable",
                table.type_name()
            )));
        }
        _ => {}
    }
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        vm.burn(1)?;
        match get_item(vm, table, &Obj::from(u64::from(u32::from(c))))? {
            None => out.push(c),
            Some(Obj::None) => {}
            Some(Obj::Str(text) | Obj::Markup(text)) => {
                limit::text(vm, text.len())?;
                limit::size(vm, out.len() + text.len())?;
                out.push_str(&text);
            }
            Some(other) => out.push(number_to_char(&other)?),
        }
    }
    Ok(Obj::from(out))
}

fn number_to_char(object: &Obj) -> Result<char> {
    match (object, as_index(object)) {
        (Obj::Undefined(u), _) => Err(u.error()),
        (_, Some(i)) => i
            .to_i64()
            .and_then(|i| u32::try_from(i).ok())
            .and_then(char::from_u32)
            .ok_or_else(|| Error::value_error("character mapping must be in range(0x110000)")),
        _ => Err(Error::type_error(
            "character mapping must return integer, None or str",
        )),
    }
}

/// The table for `translate`: from a dict, or from two texts of one length and one of characters
/// to delete.
pub fn make(call: Call<'_>) -> Result<Obj> {
    let [from, to, delete] = call.positional(1)?;
    let from = from.unwrap_or_default();
    let mut table = Entries::default();
    let number = |c: char| Key::from(i64::from(u32::from(c)));
    let Some(to) = to else {
        let Obj::Dict(dict) = from else {
            return Err(Error::type_error(
                "if you give only one argument to maketrans it must be a dict",
            ));
        };
        for (key, value) in dict.entries() {
            let key = match &key {
                Key::Int(_) | Key::Bool(_) => key,
                Key::Str(s) => {
                    let mut chars = s.chars();
                    match (chars.next(), chars.next()) {
                        (Some(only), None) => number(only),
                        _ => {
                            return Err(Error::value_error(
                                "string keys in translate table must be of length 1",
                            ));
                        }
                    }
                }
                _ => {
                    return Err(Error::type_error(
                        "keys in translate table must be strings or integers",
                    ));
                }
            };
            table.insert(key, value);
        }
        return Ok(Obj::Dict(DictRef::new(table)));
    };
    let from = text(&from, |_| {
        "first maketrans argument must be a string if there is a second argument".into()
    })?;
    let to = text(&to, |found| {
        format!("maketrans() argument 2 must be str, not {found}")
    })?;
    if from.chars().count() != to.chars().count() {
        return Err(Error::value_error(
            "the first two maketrans arguments must have equal length",
        ));
    }
    for (from, to) in from.chars().zip(to.chars()) {
        table.insert(number(from), Obj::from(i64::from(u32::from(to))));
    }
    if let Some(delete) = delete {
        let delete = text(&delete, |found| {
            format!("maketrans() argument 3 must be str, not {found}")
        })?;
        for c in delete.chars() {
            table.insert(number(c), Obj::None);
        }
    }
    Ok(Obj::Dict(DictRef::new(table)))
}

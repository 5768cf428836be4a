//! Operators as Python has them for whatever an sls may contain.

use mapstack_pyobject::{Budget, DictRef, ListRef, Obj, equal, hash_key};
use mapstack_value::Key;

use super::refusal::{Result, exception};

/// A container or text by its items.
pub(crate) fn items(budget: &Budget<'_>, object: &Obj) -> Result<Vec<Obj>> {
    let items = match object {
        Obj::List(list) => list.items(),
        Obj::Tuple(tuple) => tuple.to_vec(),
        Obj::Dict(dict) => dict.keys().iter().map(Obj::from).collect(),
        Obj::Set(set) => set.read(|items| items.iter().map(Obj::from).collect()),
        Obj::Str(text) | Obj::Markup(text) => text.chars().map(|c| c.to_string().into()).collect(),
        other => return exception(format!("{} is not a list", described(other))),
    };
    budget.burn(1 + items.len())?;
    Ok(items)
}

/// A value in words, as part of a sentence.
pub(crate) fn described(object: &Obj) -> String {
    match object {
        Obj::None => "nothing".into(),
        Obj::Str(text) | Obj::Markup(text) => format!("'{text}'"),
        Obj::Bool(_) | Obj::Int(_) | Obj::Float(_) => format!("{object:?}"),
        Obj::List(_) => "a list".into(),
        Obj::Dict(_) => "a mapping".into(),
        other => format!("a value of type '{}'", other.type_name()),
    }
}

/// The items that a list has now and will have: what is added meanwhile is met, too.
pub(crate) fn each(
    budget: &Budget<'_>,
    object: &Obj,
    look: &mut dyn FnMut(usize, Obj) -> Result<()>,
) -> Result<()> {
    let Obj::List(list) = object else {
        for (index, item) in items(budget, object)?.into_iter().enumerate() {
            look(index, item)?;
        }
        return Ok(());
    };
    let mut index = 0;
    while let Some(item) = list.get(index) {
        budget.burn(1)?;
        look(index, item)?;
        index += 1;
    }
    Ok(())
}

pub(crate) fn mapping(object: &Obj) -> Result<&DictRef> {
    match object {
        Obj::Dict(dict) => Ok(dict),
        other => exception(format!("{} is not a mapping", described(other))),
    }
}

pub(crate) fn list(object: &Obj) -> Result<&ListRef> {
    match object {
        Obj::List(list) => Ok(list),
        other => exception(format!("{} is not a list", described(other))),
    }
}

/// `list.extend(items)`, where both may be one.
pub(crate) fn extend(budget: &Budget<'_>, object: &Obj, more: &Obj) -> Result<()> {
    let list = list(object)?;
    let more = items(budget, more)?;
    budget.pay(more.len(), 0)?;
    list.change(|items| items.extend(more));
    Ok(())
}

/// The text of a name.
pub(crate) fn text(key: &Key) -> Result<&str> {
    match key.as_str() {
        Some(text) => Ok(text),
        None => exception(format!("the name {key} is not text")),
    }
}

/// True if a name begins with two underscores.
pub(crate) fn is_internal(key: &Key) -> Result<bool> {
    Ok(text(key)?.starts_with("__"))
}

/// The first entry of a mapping.
pub(crate) fn first(dict: &DictRef) -> Result<(Key, Obj)> {
    match dict.entry_at(0) {
        Some(entry) => Ok(entry),
        None => exception("a mapping is empty"),
    }
}

/// True if a container has a key or an item, or a text a part.
pub(crate) fn contains(budget: &Budget<'_>, object: &Obj, key: &Key) -> Result<bool> {
    match object {
        Obj::Dict(dict) => Ok(dict.contains(key)),
        Obj::Str(whole) | Obj::Markup(whole) => match key.as_str() {
            Some(part) => Ok(whole.contains(part)),
            None => exception(format!(
                "'{whole}' is looked at for {key}, which is not text"
            )),
        },
        Obj::List(_) | Obj::Tuple(_) | Obj::Set(_) => is_among(budget, object, &Obj::from(key)),
        other => exception(format!("{} is not a mapping", described(other))),
    }
}

/// True if a list has an item.
pub(crate) fn is_among(budget: &Budget<'_>, object: &Obj, wanted: &Obj) -> Result<bool> {
    is_in(&items(budget, object)?, wanted)
}

/// True if an object is one of several.
pub(crate) fn is_in(all: &[Obj], wanted: &Obj) -> Result<bool> {
    for item in all {
        if item.is_same(wanted) || equal(item, wanted)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// `object[key]` with a key that is a name.
pub(crate) fn item(object: &Obj, key: &Key) -> Result<Obj> {
    match mapping(object)?.get(key) {
        Some(found) => Ok(found),
        None => exception(format!("'{key}' is missing")),
    }
}

/// A value as a name in a mapping.
pub(crate) fn key(object: &Obj) -> Result<Key> {
    match hash_key(object) {
        Ok(key) => Ok(key),
        Err(_) => exception(format!("{} is used as a name", described(object))),
    }
}

//! The methods of `dict` and `OrderedDict`.

use mapstack_value::{Key, MapKind};

use super::signature::{Call, flag_or};
use super::views::View;
use crate::Interpreter;
use crate::limits::{Error, Result};
use crate::object::{
    CallArgs, DictPart, DictRef, Entries, Obj, get_item, hash_key, lookup_key, repr,
};

/// Every method of `dict`.
pub const NAMES: &[&str] = &[
    "clear",
    "copy",
    "fromkeys",
    "get",
    "items",
    "keys",
    "pop",
    "popitem",
    "setdefault",
    "update",
    "values",
];

/// The methods that other mapping types have beyond that.
pub fn beyond_dict(dict: &DictRef) -> &'static [&'static str] {
    if dict.kind().is_ordered() {
        &["move_to_end"]
    } else {
        &[]
    }
}

/// `dict.name(args)`.
pub fn call(vm: &dyn Interpreter, dict: &DictRef, name: &str, args: CallArgs) -> Result<Obj> {
    let ordered = dict.kind().is_ordered();
    let owner = if ordered && !matches!(name, "get") {
        "OrderedDict"
    } else {
        "dict"
    };
    let call = Call { owner, name, args };
    let view = |call: Call<'_>, part| {
        call.none().map(|()| {
            Obj::native(View {
                dict: dict.clone(),
                part,
            })
        })
    };
    match name {
        "get" => {
            let [key, default] = call.positional(1)?;
            let key = lookup_key(&key.unwrap_or_default())?;
            let found = key.and_then(|key| dict.get(&key));
            Ok(found.or(default).unwrap_or_default())
        }
        "keys" => view(call, DictPart::Keys),
        "values" => view(call, DictPart::Values),
        "items" => view(call, DictPart::Items),
        "clear" => call
            .none()
            .map(|()| dict.change(Entries::clear))
            .map(|()| Obj::None),
        "copy" => call.none().map(|()| copy(dict)),
        "fromkeys" => from_keys(vm, dict.kind(), call),
        "pop" => {
            let [key, default] = if ordered {
                call.keywords(["key", "default"], 1)?
            } else {
                call.positional(1)?
            };
            pop(vm, dict, &key.unwrap_or_default(), default)
        }
        "popitem" => pop_item(vm, dict, call),
        "setdefault" => {
            let [key, default] = if ordered {
                call.keywords(["key", "default"], 1)?
            } else {
                call.positional(1)?
            };
            set_default(dict, &key.unwrap_or_default(), default)
        }
        "update" => update(vm, dict, call),
        "move_to_end" if ordered => {
            let [key, last] = call.keywords(["key", "last"], 1)?;
            move_to_end(dict, &key.unwrap_or_default(), flag_or(last, true)?)
        }
        _ => Err(super::no_attribute(dict.type_name(), name)),
    }
}

fn copy(dict: &DictRef) -> Obj {
    // Python's own method makes its own type.
    let kind = match dict.kind() {
        MapKind::Bunch => MapKind::Dict,
        kind => kind,
    };
    Obj::Dict(dict.copy(kind))
}

fn from_keys(vm: &dyn Interpreter, kind: MapKind, call: Call<'_>) -> Result<Obj> {
    let [keys, value] = if !kind.is_ordered() {
        call.positional(1)?
    } else {
        call.keywords(["iterable", "value"], 1)?
    };
    let keys = keys.unwrap_or_default();
    if let Obj::Undefined(u) = &keys {
        return Err(u.error());
    }
    let value = value.unwrap_or_default();
    let entries = keys
        .collect(vm)?
        .iter()
        .map(|key| Ok((hash_key(key)?, value.clone())))
        .collect::<Result<Entries>>()?;
    Ok(Obj::Dict(DictRef::with_kind(entries, kind)))
}

fn pop(vm: &dyn Interpreter, dict: &DictRef, key: &Obj, default: Option<Obj>) -> Result<Obj> {
    // The entries after it move up.
    vm.burn(dict.len() / 16)?;
    // An empty dict is not asked, so that not even an unhashable key is an error.
    if (!dict.is_empty() || matches!(key, Obj::Undefined(_)))
        && let Some(key) = lookup_key(key)?
        && dict.contains(&key)
        && let Some(value) = dict.change(|entries| entries.shift_remove(&key))
    {
        dict.note_move();
        return Ok(value);
    }
    match default {
        Some(default) => Ok(default),
        None => Err(Error::python("KeyError", repr(key)?)),
    }
}

fn pop_item(vm: &dyn Interpreter, dict: &DictRef, call: Call<'_>) -> Result<Obj> {
    let ordered = dict.kind().is_ordered();
    let [last] = if ordered {
        call.keywords(["last"], 0)?
    } else {
        call.none()?;
        [None]
    };
    let last = flag_or(last, true)?;
    vm.burn(if last { 1 } else { dict.len() / 16 })?;
    let popped = dict.change(|entries| {
        if last {
            entries.pop()
        } else {
            entries.shift_remove_index(0)
        }
    });
    if ordered {
        dict.note_move();
    }
    let empty = if ordered {
        "'dictionary is empty'"
    } else {
        "'popitem(): dictionary is empty'"
    };
    match popped {
        Some((key, value)) => Ok(Obj::tuple([Obj::from(&key), value])),
        None => Err(Error::python("KeyError", empty)),
    }
}

fn set_default(dict: &DictRef, key: &Obj, default: Option<Obj>) -> Result<Obj> {
    let key = hash_key(key)?;
    if let Some(found) = dict.get(&key) {
        return Ok(found);
    }
    let default = default.unwrap_or_default();
    dict.insert(key, default.clone());
    Ok(default)
}

fn move_to_end(dict: &DictRef, key: &Obj, last: bool) -> Result<Obj> {
    let index = hash_key(key).map(|key| dict.position(&key))?;
    let Some(index) = index else {
        return Err(Error::python("KeyError", repr(key)?));
    };
    let to = if last { dict.len() - 1 } else { 0 };
    if to != index {
        dict.change(|entries| entries.move_index(index, to));
        dict.note_move();
    }
    Ok(Obj::None)
}

fn update(vm: &dyn Interpreter, dict: &DictRef, call: Call<'_>) -> Result<Obj> {
    let ordered = dict.kind().is_ordered();
    let given = call.args.positional.len();
    if given > 1 {
        return Err(Error::type_error(if ordered {
            format!("update() takes at most 1 positional argument ({given} given)")
        } else {
            format!("update expected at most 1 argument, got {given}")
        }));
    }
    let mut entries = match call.args.positional.first() {
        Some(source) => pairs(vm, source, ordered)?,
        None => Vec::new(),
    };
    entries.extend(
        call.args
            .named
            .into_iter()
            .map(|(name, value)| (Key::Str(name), value)),
    );
    dict.change(|into| into.extend(entries));
    Ok(Obj::None)
}

/// The entries of a mapping, or of an iterable of pairs.
///
/// # Errors
/// Python's errors for what is neither; `ordered` chooses the words of `OrderedDict`.
pub fn pairs(vm: &dyn Interpreter, source: &Obj, ordered: bool) -> Result<Vec<(Key, Obj)>> {
    match source {
        Obj::Dict(dict) => {
            vm.burn(dict.len())?;
            return Ok(dict.entries());
        }
        Obj::Undefined(u) => return Err(u.error()),
        Obj::Native(native) => {
            if let Some(keys) = native.attr(vm, "keys")
                && let Obj::Native(method) = &keys
                && method.callable()
            {
                return entries_by_key(vm, source, &keys);
            }
        }
        _ => {}
    }
    let mut entries = Vec::new();
    for (i, element) in source.collect(vm)?.into_iter().enumerate() {
        let pair = element.collect(vm).map_err(|error| match element {
            Obj::None | Obj::Bool(_) | Obj::Int(_) | Obj::Float(_) if !ordered => {
                Error::type_error(format!(
                    "cannot convert dictionary update sequence element #{i} to a sequence"
                ))
            }
            _ => error,
        })?;
        let [key, value] =
            <[Obj; 2]>::try_from(pair).map_err(|pair| wrong_length(i, pair.len(), ordered))?;
        entries.push((hash_key(&key)?, value));
    }
    Ok(entries)
}

fn wrong_length(element: usize, length: usize, ordered: bool) -> Box<Error> {
    Error::value_error(match (ordered, length) {
        (false, _) => {
            format!(
                "dictionary update sequence element #{element} has length {length}; 2 is required"
            )
        }
        (true, 0) => "need more than 0 values to unpack".into(),
        (true, 1) => "need more than 1 value to unpack".into(),
        (true, _) => "too many values to unpack (expected 2)".into(),
    })
}

fn entries_by_key(vm: &dyn Interpreter, source: &Obj, keys: &Obj) -> Result<Vec<(Key, Obj)>> {
    let mut entries = Vec::new();
    for key in vm.call(keys, CallArgs::default())?.collect(vm)? {
        let Some(value) = get_item(vm, source, &key)? else {
            return Err(Error::python("KeyError", repr(&key)?));
        };
        entries.push((hash_key(&key)?, value));
    }
    Ok(entries)
}

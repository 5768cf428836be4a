//! Salt's filters that change a dict in place, at the end of a path.

use mapstack_pyobject::{
    CallArgs, DictRef, Entries, Error, ErrorKind, ListRef, Obj, Result, hash_key, methods,
};
use mapstack_value::{Key, MapKind};

use mapstack_jinja::Filters;
use mapstack_jinja::Vm;
use mapstack_jinja::call::{class_of, flag, plain};

pub(super) const TABLE: Filters = &[
    ("append_dict_key_value", |vm, x, args| {
        change(vm, x, args, "append_dict_key_value", append)
    }),
    ("extend_dict_key_value", |vm, x, args| {
        change(vm, x, args, "extend_dict_key_value", extend)
    }),
    ("set_dict_key_value", |vm, x, args| {
        change(vm, x, args, "set_dict_key_value", set)
    }),
    ("update_dict_key_value", |vm, x, args| {
        change(vm, x, args, "update_dict_key_value", update)
    }),
];

/// The dict and key at the end of the path, and what kind of dict to make where one is missing.
struct DictEntry {
    dict: DictRef,
    key: Key,
    kind: MapKind,
}

type Change = fn(&Vm<'_>, &DictEntry, Obj) -> Result<()>;

fn change(vm: &Vm<'_>, x: Obj, args: CallArgs, name: &'static str, apply: Change) -> Result<Obj> {
    let names = ["keys", "value", "delimiter", "ordered_dict"];
    let [keys, value, delimiter, ordered] = plain(name, "in_dict").bind(args, 2, names)?;
    let kind = if flag(ordered, false)? {
        MapKind::Ordered
    } else {
        MapKind::Dict
    };
    let delimiter = delimiter.unwrap_or_else(|| Obj::from(":"));
    let place = find(&x, &keys.unwrap_or_default(), &delimiter, kind)?;
    apply(vm, &place, value.unwrap_or_default())?;
    Ok(x)
}

/// Follow the path up to the last key but one, and add missing dicts.
fn find(x: &Obj, keys: &Obj, delimiter: &Obj, kind: MapKind) -> Result<DictEntry> {
    let mut dict = match x {
        Obj::Dict(dict) => dict.clone(),
        Obj::Undefined(u) => return Err(u.error()),
        Obj::List(_) => {
            return Err(Error::type_error(
                "list indices must be integers or slices, not str",
            ));
        }
        other => {
            let message = format!(
                "'{}' object does not support item assignment",
                other.type_name()
            );
            return Err(Error::type_error(message));
        }
    };
    let (Some(path), Some(delimiter)) = (keys.as_str(), delimiter.as_str()) else {
        let ((Obj::Undefined(u), _) | (_, Obj::Undefined(u))) = (keys, delimiter) else {
            let message = format!("argument of type '{}' is not iterable", keys.type_name());
            return Err(Error::type_error(message));
        };
        return Err(u.error());
    };
    if delimiter.is_empty() {
        return Err(Error::value_error("empty separator"));
    }
    let (way, last) = match path.rsplit_once(&**delimiter) {
        Some((way, last)) => (Some(way), last),
        None => (None, &**path),
    };
    for step in way.into_iter().flat_map(|way| way.split(&**delimiter)) {
        dict = match dict.get_str(step) {
            Some(Obj::Dict(next)) => next,
            _ => {
                let next = DictRef::with_kind(Entries::default(), kind);
                dict.insert(step, Obj::Dict(next.clone()));
                next
            }
        };
    }
    Ok(DictEntry {
        dict,
        key: hash_key(&Obj::from(last))?,
        kind,
    })
}

impl DictEntry {
    /// The current value; `make` provides a missing one.
    fn current(&self, make: impl FnOnce() -> Obj) -> Obj {
        match self.dict.get(&self.key) {
            None | Some(Obj::None) => {
                let made = make();
                self.dict.insert(self.key.clone(), made.clone());
                made
            }
            Some(found) => found,
        }
    }
}

fn invocation_error(message: String) -> Box<Error> {
    Error::new(ErrorKind::Salt, message)
}

fn set(_: &Vm<'_>, place: &DictEntry, value: Obj) -> Result<()> {
    place.dict.insert(place.key.clone(), value);
    Ok(())
}

fn update(vm: &Vm<'_>, place: &DictEntry, value: Obj) -> Result<()> {
    let current = place.current(|| Obj::Dict(DictRef::with_kind(Entries::default(), place.kind)));
    let cannot = || {
        invocation_error(format!(
            "Cannot update {} with a {}.",
            class_of(&current),
            class_of(&value)
        ))
    };
    match &current {
        Obj::Dict(dict) => {
            let mut more = Entries::default();
            methods::update_entries(vm, &mut more, &value).map_err(|e| match e.kind {
                ErrorKind::Python("TypeError" | "ValueError") => cannot(),
                _ => e,
            })?;
            vm.burn(more.len())?;
            dict.change(|entries| entries.extend(more));
            Ok(())
        }
        Obj::Set(set) => {
            let keys = value
                .collect(vm)?
                .iter()
                .map(hash_key)
                .collect::<Result<Vec<_>>>()
                .map_err(|_| cannot())?;
            set.change(|elements| elements.extend(keys));
            Ok(())
        }
        other => Err(invocation_error(format!(
            "The last key contains a {}, which cannot update.",
            class_of(other)
        ))),
    }
}

fn append(_: &Vm<'_>, place: &DictEntry, value: Obj) -> Result<()> {
    match place.current(|| Obj::list([])) {
        Obj::List(list) => {
            list.change(|items| items.push(value));
            Ok(())
        }
        other => Err(invocation_error(format!(
            "The last key contains a {}, which cannot append.",
            class_of(&other)
        ))),
    }
}

fn extend(vm: &Vm<'_>, place: &DictEntry, value: Obj) -> Result<()> {
    let current = place.current(|| Obj::List(ListRef::new(Vec::new())));
    let Obj::List(list) = &current else {
        let message = format!(
            "The last key contains a {}, which cannot extend.",
            class_of(&current)
        );
        return Err(invocation_error(message));
    };
    let more = value.collect(vm).map_err(|e| match e.kind {
        ErrorKind::Python("TypeError") => invocation_error(format!(
            "Cannot extend {} with a {}.",
            class_of(&current),
            class_of(&value)
        )),
        _ => e,
    })?;
    vm.burn(more.len())?;
    list.change(|items| items.extend(more));
    Ok(())
}

//! Jinja2's filters for sequences and mappings, except those that take other filters or tests.

use std::any::Any;
use std::borrow::Cow;

use mapstack_pyobject::{
    CallArgs, Error, Iter, ListRef, Obj, Object, Result, Undefined, as_index, equal, len, methods,
    text_of, wrap_index,
};
use mapstack_value::Int;

use super::call::{
    attribute, builtin_of_one, flag, generator, index_of, inner, items_of, misuse, no_attribute,
    plain, room, room_for_more,
};
use crate::dialect::Filters;
use crate::vm::Vm;

pub(super) const TABLE: Filters = &[
    ("attr", attr),
    ("batch", batch),
    ("count", length),
    ("d", default),
    ("default", default),
    ("dictsort", dictsort),
    ("first", first),
    ("groupby", groupby),
    ("items", items),
    ("join", join),
    ("last", last),
    ("length", length),
    ("list", list),
    ("reverse", reverse),
    ("slice", slice),
    ("sort", sort),
];

/// Looks up a dotted path in an item (Jinja2: `make_attrgetter`).
pub struct Getter {
    parts: Vec<Obj>,
}

/// The getter for an `attribute` argument; without one it returns the item itself.
pub fn attribute_getter(attribute: Option<&Obj>) -> Getter {
    let parts = match attribute {
        None | Some(Obj::None) => Vec::new(),
        Some(Obj::Str(path) | Obj::Markup(path)) => path.split('.').map(part).collect(),
        Some(other) => vec![other.clone()],
    };
    Getter { parts }
}

fn part(name: &str) -> Obj {
    let number = !name.is_empty() && name.bytes().all(|b| b.is_ascii_digit());
    match name.parse::<Int>() {
        Ok(i) if number => Obj::Int(i),
        _ => Obj::from(name),
    }
}

impl Getter {
    /// The value in an item; `default` if a part of the path is missing.
    pub fn get(&self, vm: &Vm<'_>, item: Obj, default: Option<&Obj>) -> Result<Obj> {
        let mut item = item;
        for part in &self.parts {
            item = vm.get_key(&item, part)?;
            if let (Obj::Undefined(_), Some(default)) = (&item, default) {
                item = default.clone();
            }
        }
        Ok(item)
    }
}

/// Text in lower case, for comparisons that ignore case.
pub(super) fn fold(object: Obj) -> Obj {
    match object {
        Obj::Str(s) if is_lower(&s) => Obj::Str(s),
        Obj::Str(s) => Obj::from(s.to_lowercase()),
        Obj::Markup(s) => Obj::Markup(s.to_lowercase().into()),
        other => other,
    }
}

/// True if lower case certainly leaves a text as it is.
fn is_lower(text: &str) -> bool {
    text.bytes()
        .all(|byte| byte.is_ascii() && !byte.is_ascii_uppercase())
}

/// `environment.undefined(…)`.
pub(super) fn missing(vm: &Vm<'_>, message: &str) -> Obj {
    Undefined::hint(message, vm.strict()).into()
}

fn attr(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [name] = inner("do_attr", "obj").bind(args, 1, ["name"])?;
    let name = name.unwrap_or_default();
    let found = attribute(vm, &x, &name)?;
    Ok(found.unwrap_or_else(|| {
        Undefined::attr(&x, name.as_str().map_or("", |n| n), vm.strict()).into()
    }))
}

fn batch(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [count, fill] = plain("do_batch", "value").bind(args, 1, ["linecount", "fill_with"])?;
    let count = count.unwrap_or_default();
    let fill = fill.filter(|f| !f.is_none());
    let size = as_index(&count).map(|i| super::call::clamped(&i));
    let mut items: Option<Iter> = None;
    let mut held: Vec<Obj> = Vec::new();
    let mut done = false;
    generator("do_batch", &x.clone(), move |vm| {
        if done {
            return Ok(None);
        }
        let items = items.get_or_insert(x.iter()?);
        while let Some(item) = items.next(vm)? {
            let full = size.is_some_and(|size| i64::try_from(held.len()) == Ok(size));
            let line = full.then(|| std::mem::take(&mut held));
            held.push(item);
            if let Some(line) = line {
                vm.burn(16)?;
                return Ok(Some(Obj::list(line)));
            }
        }
        done = true;
        if held.is_empty() {
            return Ok(None);
        }
        if let Some(fill) = &fill {
            let size = index_of(&count)?;
            let wanted = usize::try_from(size).unwrap_or(0);
            if held.len() < wanted {
                room(vm, wanted.saturating_mul(16))?;
                held.resize(wanted, fill.clone());
            }
        }
        Ok(Some(Obj::list(std::mem::take(&mut held))))
    })
}

fn slice(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [slices, fill] = plain("sync_do_slice", "value").bind(args, 1, ["slices", "fill_with"])?;
    let slices = slices.unwrap_or_default();
    let fill = fill.filter(|f| !f.is_none());
    let mut state: Option<(Vec<Obj>, i64)> = None;
    let mut number = 0i64;
    generator("sync_do_slice", &x.clone(), move |vm| {
        if state.is_none() {
            let items = x.collect(vm)?;
            let Some(count) = as_index(&slices) else {
                let found = slices.type_name();
                return Err(Error::type_error(format!(
                    "unsupported operand type(s) for //: 'int' and '{found}'"
                )));
            };
            if count.is_zero() {
                return Err(Error::python(
                    "ZeroDivisionError",
                    "integer division or modulo by zero",
                ));
            }
            state = Some((items, super::call::clamped(&count)));
        }
        let Some((items, count)) = &state else {
            return Ok(None);
        };
        if number >= *count {
            return Ok(None);
        }
        let length = i64::try_from(items.len()).unwrap_or(i64::MAX);
        let (each, extra) = (length / count, length % count);
        let start = number * each + number.min(extra);
        let end = start + each + i64::from(number < extra);
        let at = |i: i64| usize::try_from(i).unwrap_or(0).min(items.len());
        let mut part = items[at(start)..at(end)].to_vec();
        if let Some(fill) = fill.as_ref().filter(|_| number >= extra) {
            part.push(fill.clone());
        }
        number += 1;
        vm.burn(16)?;
        Ok(Some(Obj::list(part)))
    })
}

fn length(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    // Characters are counted.
    vm.burn(x.as_str().map_or(0, |text| text.len() / 64))?;
    builtin_of_one("len", &args)?;
    len(&x).map(Obj::from)
}

fn default(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [value, boolean] =
        plain("do_default", "value").bind(args, 0, ["default_value", "boolean"])?;
    let replace = matches!(x, Obj::Undefined(_)) || (flag(boolean, false)? && !x.truthy()?);
    Ok(if replace {
        value.unwrap_or_else(|| Obj::from(""))
    } else {
        x
    })
}

fn dictsort(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let names = ["case_sensitive", "by", "reverse"];
    let [case_sensitive, by, reverse] = plain("do_dictsort", "value").bind(args, 0, names)?;
    let by_key = match by.as_ref().map(Obj::as_str) {
        None => true,
        Some(Some(by)) if **by == *"key" => true,
        Some(Some(by)) if **by == *"value" => false,
        _ => return Err(misuse("You can only sort by either \"key\" or \"value\"")),
    };
    let Obj::Dict(dict) = &x else {
        return Err(no_attribute(&x, "items"));
    };
    let case_sensitive = flag(case_sensitive, false)?;
    let keyed = dict.entries().into_iter().map(|(key, value)| {
        let key = Obj::from(&key);
        let by = if by_key { key.clone() } else { value.clone() };
        (
            if case_sensitive { by } else { fold(by) },
            Obj::tuple([key, value]),
        )
    });
    methods::sort(vm, keyed.collect(), flag(reverse, false)?).map(Obj::list)
}

fn first(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    inner("sync_do_first", "seq").alone(args)?;
    let found = x.iter()?.next(vm)?;
    Ok(found.unwrap_or_else(|| missing(vm, "No first item, sequence was empty.")))
}

fn last(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    inner("do_last", "seq").alone(args)?;
    let Some((_, items)) = reversed(vm, &x)? else {
        let name = x.type_name();
        // Python asks those that have items, and no iterator of their own, for their length first.
        let has_items = x.iter().is_ok_and(|iter| iter.type_name() == "iterator");
        return Err(Error::type_error(if has_items {
            format!("object of type '{name}' has no len()")
        } else {
            format!("'{name}' object is not reversible")
        }));
    };
    Ok(items
        .into_iter()
        .next()
        .unwrap_or_else(|| missing(vm, "No last item, sequence was empty.")))
}

/// `reversed(x)`: what Python calls the iterator, and its items; `None` for what has no end to
/// begin with.
fn reversed(vm: &Vm<'_>, x: &Obj) -> Result<Option<(&'static str, Vec<Obj>)>> {
    let type_name = match x {
        Obj::List(_) => "list_reverseiterator",
        Obj::Tuple(_) | Obj::Str(_) | Obj::Markup(_) | Obj::Bytes(_) => "reversed",
        Obj::Dict(_) => "dict_reversekeyiterator",
        Obj::Undefined(u) => {
            u.check()?;
            "reversed"
        }
        Obj::Native(native) => match native.type_name() {
            "dict_keys" => "dict_reversekeyiterator",
            "dict_values" => "dict_reversevalueiterator",
            "dict_items" => "dict_reverseitemiterator",
            "range" => "range_iterator",
            "_GroupTuple" => "reversed",
            _ => return Ok(None),
        },
        _ => return Ok(None),
    };
    let mut items = x.collect(vm)?;
    items.reverse();
    // From the end, Python takes characters by their numbers, and those of safe text are safe.
    if let Obj::Markup(_) = x {
        let texts = items.iter().filter_map(Obj::as_str);
        items = texts.map(|text| Obj::Markup(text.clone())).collect();
    }
    Ok(Some((type_name, items)))
}

fn reverse(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("do_reverse", "value").alone(args)?;
    if let Obj::Str(s) | Obj::Markup(s) = &x {
        return Ok(x.with_text(s.chars().rev().collect::<String>()));
    }
    if let Some((type_name, items)) = reversed(vm, &x)? {
        return Ok(Obj::Iter(Iter::over(type_name, items)));
    }
    let not_iterable = |e: Box<Error>| match e.kind {
        mapstack_pyobject::ErrorKind::Python("TypeError") => misuse("argument must be iterable"),
        _ => e,
    };
    let mut items = x.collect(vm).map_err(not_iterable)?;
    items.reverse();
    Ok(Obj::list(items))
}

fn items(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("do_items", "value").alone(args)?;
    let mut state: Option<Iter> = None;
    generator("do_items", &Obj::None, move |vm| {
        if let Obj::Undefined(_) = x {
            return Ok(None);
        }
        if state.is_none() {
            let found = items_of(&x);
            state = Some(
                found
                    .ok_or_else(|| Error::type_error("Can only get item pairs from a mapping."))?,
            );
        }
        state.as_ref().map_or(Ok(None), |items| items.next(vm))
    })
}

fn list(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("sync_do_list", "value").alone(args)?;
    let items = x.collect(vm)?;
    vm.burn(items.len() / 8)?;
    Ok(Obj::list(items))
}

fn join(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [separator, attribute] =
        inner("sync_do_join", "value").bind(args, 0, ["d", "attribute"])?;
    let separator = separator.unwrap_or_else(|| Obj::from(""));
    let getter = attribute_getter(attribute.as_ref());
    let mut items = x.collect(vm)?;
    if getter.parts.is_empty() {
        vm.burn(items.len())?;
    } else {
        for item in &mut items {
            vm.burn(1)?;
            *item = getter.get(vm, std::mem::take(item), None)?;
        }
    }
    let marked = |x: &Obj| matches!(x, Obj::Markup(_));
    // Text that is safe makes the whole safe, and everything else is escaped then.
    let escape = vm.autoescape() && (marked(&separator) || items.iter().any(marked));
    let separator = joined(&separator, escape)?;
    let mut out = String::new();
    for (i, item) in items.iter().enumerate() {
        let item = joined(item, escape)?;
        room_for_more(vm, out.len(), separator.len().saturating_add(item.len()))?;
        if i > 0 {
            out.push_str(&separator);
        }
        out.push_str(&item);
    }
    Ok(if escape {
        Obj::Markup(out.into())
    } else {
        Obj::from(out)
    })
}

/// The text of an item that is joined, escaped unless it is safe.
fn joined(item: &Obj, escape: bool) -> Result<Cow<'_, str>> {
    let text = text_of(item)?;
    Ok(if escape && !matches!(item, Obj::Markup(_)) {
        mapstack_value::pytext::markup::escape(&text).into()
    } else {
        text
    })
}

fn sort(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let names = ["reverse", "case_sensitive", "attribute"];
    let [reverse, case_sensitive, attribute] = inner("do_sort", "value").bind(args, 0, names)?;
    let getters: Vec<Getter> = match &attribute {
        Some(Obj::Str(paths) | Obj::Markup(paths)) => paths
            .split(',')
            .map(|path| attribute_getter(Some(&Obj::from(path))))
            .collect(),
        other => vec![attribute_getter(other.as_ref())],
    };
    let case_sensitive = flag(case_sensitive, false)?;
    let mut keyed = Vec::new();
    for item in x.collect(vm)? {
        vm.pay(2, 0)?;
        let mut keys = Vec::with_capacity(getters.len());
        for getter in &getters {
            let key = getter.get(vm, item.clone(), None)?;
            keys.push(if case_sensitive { key } else { fold(key) });
        }
        keyed.push((Obj::tuple(keys), item));
    }
    methods::sort(vm, keyed, flag(reverse, false)?).map(Obj::list)
}

fn groupby(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let names = ["attribute", "default", "case_sensitive"];
    let [attribute, default, case_sensitive] =
        inner("sync_do_groupby", "value").bind(args, 1, names)?;
    let getter = attribute_getter(attribute.as_ref());
    let default = default.filter(|d| !d.is_none());
    let case_sensitive = flag(case_sensitive, false)?;
    let key_of = |item: &Obj| -> Result<Obj> {
        let key = getter.get(vm, item.clone(), default.as_ref())?;
        Ok(if case_sensitive { key } else { fold(key) })
    };
    let mut keyed = Vec::new();
    for item in x.collect(vm)? {
        vm.burn(1)?;
        keyed.push((key_of(&item)?, item));
    }
    let mut groups: Vec<(Obj, Vec<Obj>)> = Vec::new();
    for item in methods::sort(vm, keyed, false)? {
        let key = key_of(&item)?;
        match groups.last_mut() {
            Some((last, members)) if equal(last, &key)? => members.push(item),
            _ => groups.push((key, vec![item])),
        }
    }
    let mut out = Vec::with_capacity(groups.len());
    for (key, members) in groups {
        let grouper = match members.first() {
            // The first member's own spelling.
            Some(first) if !case_sensitive => getter.get(vm, first.clone(), default.as_ref())?,
            _ => key,
        };
        out.push(Obj::native(GroupTuple {
            grouper,
            list: ListRef::new(members),
        }));
    }
    Ok(Obj::list(out))
}

/// A group of `groupby`: a tuple whose parts have names.
struct GroupTuple {
    grouper: Obj,
    list: ListRef,
}

impl GroupTuple {
    fn parts(&self) -> [Obj; 2] {
        [self.grouper.clone(), Obj::List(self.list.clone())]
    }
}

impl Object for GroupTuple {
    fn type_name(&self) -> &'static str {
        "_GroupTuple"
    }

    fn module(&self) -> Option<&str> {
        Some("jinja2.filters")
    }

    fn repr(&self) -> Result<String> {
        mapstack_pyobject::repr(&Obj::tuple(self.parts()))
    }

    fn attr(&self, _: &dyn mapstack_pyobject::Interpreter, name: &str) -> Option<Obj> {
        let [grouper, list] = self.parts();
        match name {
            "grouper" => Some(grouper),
            "list" => Some(list),
            _ => methods::bound(&Obj::tuple(self.parts()), name),
        }
    }

    fn is_subscriptable(&self) -> bool {
        true
    }

    fn item(&self, _: &dyn mapstack_pyobject::Interpreter, key: &Obj) -> Result<Option<Obj>> {
        Ok(as_index(key)
            .and_then(|i| wrap_index(&i, 2))
            .map(|i| self.parts()[i].clone()))
    }

    fn iter(&self) -> Option<Iter> {
        Some(Iter::over("tuple_iterator", self.parts().to_vec()))
    }

    fn len(&self) -> Option<usize> {
        Some(2)
    }

    fn as_value(&self) -> Option<Result<mapstack_value::Value>> {
        Some(Obj::tuple(self.parts()).to_value())
    }

    fn equals(&self, other: &dyn Object) -> Option<bool> {
        let other = other.as_any()?.downcast_ref::<GroupTuple>()?;
        equal(&Obj::tuple(self.parts()), &Obj::tuple(other.parts())).ok()
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

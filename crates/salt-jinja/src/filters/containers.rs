//! Salt's filters that look into and compare data.

use mapstack_pyobject::{
    CallArgs, Entries, Error, ErrorKind, Obj, Result, as_float, binary, contains, depth, equal,
    get_item, hash_key, len, methods,
};
use mapstack_value::{Key, Path};

use mapstack_jinja::Filters;
use mapstack_jinja::Vm;
use mapstack_jinja::ast::BinaryOp;
use mapstack_jinja::call::{
    FilterFunction, attribute, clamped, flag, index_of, no_attribute, pair, plain,
};
use mapstack_jinja::filters::number::int_of;

pub(super) const TABLE: Filters = &[
    ("avg", avg),
    ("compare_dicts", compare_dicts),
    ("compare_lists", compare_lists),
    ("exactly_n_true", |vm, x, args| {
        let [amount] = plain("exactly_n", "iterable").bind(args, 0, ["amount"])?;
        exactly(vm, &x, amount.map_or(Ok(1), |a| index_of(&a))?)
    }),
    ("exactly_one_true", |vm, x, args| {
        plain("exactly_one", "iterable").alone(args)?;
        exactly(vm, &x, 1)
    }),
    ("flatten", flatten),
    ("from_entries", from_entries),
    ("is_iter", is_iter),
    ("is_list", |_, x, args| {
        plain("is_list", "value").alone(args)?;
        Ok(Obj::Bool(matches!(x, Obj::List(_))))
    }),
    ("json_decode_dict", encode_dict),
    ("json_decode_list", encode_list),
    ("json_encode_dict", encode_dict),
    ("json_encode_list", encode_list),
    ("method_call", method_call),
    ("mysql_to_dict", mysql_to_dict),
    ("sequence", |_, x, args| {
        plain("ensure_sequence_filter", "data").alone(args)?;
        let is_sequence = matches!(x, Obj::List(_) | Obj::Tuple(_) | Obj::Set(_) | Obj::Dict(_));
        Ok(if is_sequence { x } else { Obj::list([x]) })
    }),
    ("skip", |_, _, args| {
        plain("skip_filter", "data")
            .alone(args)
            .map(|()| Obj::from(""))
    }),
    ("sorted_ignorecase", sorted_ignore_case),
    ("substring_in_list", substring_in_list),
    ("to_entries", to_entries),
    ("traverse", traverse),
];

/// Follow a path into data (Salt: `salt.utils.data.traverse_dict_and_list`).
pub(crate) fn traverse(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let function = plain("traverse_dict_and_list", "data");
    let [key, default, delimiter] = function.bind(args, 1, ["key", "default", "delimiter"])?;
    let key = key.unwrap_or_default();
    let default = default.unwrap_or_default();
    let path: Path = match &key {
        Obj::Str(s) | Obj::Markup(s) => {
            let delimiter = delimiter.unwrap_or_else(|| Obj::from(":"));
            let Some(delimiter) = delimiter.as_str() else {
                let found = delimiter.type_name();
                return Err(Error::type_error(format!(
                    "must be str or None, not {found}"
                )));
            };
            Path::split(s, delimiter).map_err(|_| Error::value_error("empty separator"))?
        }
        Obj::Int(_) | Obj::Bool(_) => std::iter::once(hash_key(&key)?).collect(),
        other => {
            let mut steps = Vec::new();
            for step in other.collect(vm)? {
                match hash_key(&step) {
                    Ok(step) => steps.push(step),
                    Err(e) if e.kind == ErrorKind::Python("TypeError") => return Ok(default),
                    Err(e) => return Err(e),
                }
            }
            steps.into_iter().collect()
        }
    };
    if let (Obj::Undefined(u), false) = (&x, path.steps().is_empty()) {
        return Err(u.error());
    }
    vm.burn(path.steps().len())?;
    Ok(mapstack_yaml::traverse(&x, &path).unwrap_or(default))
}

fn avg(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("lst_avg", "lst").alone(args)?;
    if mapstack_pyobject::is_hashable(&x) {
        return mapstack_jinja::filters::number::float_of(&x).map(Obj::Float);
    }
    let mut total = Obj::from(0);
    for item in x.collect(vm)? {
        total = binary(vm, BinaryOp::Add, &total, &item)?;
    }
    let mean = binary(vm, BinaryOp::Div, &total, &Obj::from(len(&x)?))?;
    Ok(as_float(&mean)?.map_or(mean, Obj::Float))
}

fn exactly(vm: &Vm<'_>, x: &Obj, amount: i64) -> Result<Obj> {
    let items = x.iter()?;
    let any = || -> Result<bool> {
        while let Some(item) = items.next(vm)? {
            if item.truthy()? {
                return Ok(true);
            }
        }
        Ok(false)
    };
    for _ in 0..amount {
        if !any()? {
            return Ok(Obj::Bool(false));
        }
    }
    Ok(Obj::Bool(!any()?))
}

fn flatten(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let names = ["levels", "preserve_nulls", "_ids"];
    let [levels, preserve_nulls, _ids] = plain("flatten", "data").bind(args, 0, names)?;
    let levels = match levels {
        None | Some(Obj::None) => None,
        Some(levels) => match int_of(&levels)? {
            Some(levels) => Some(clamped(&levels)),
            None => {
                return Err(Error::type_error(
                    "'>=' not supported between instances of 'str' and 'int'",
                ));
            }
        },
    };
    let mut flattener = Flattener {
        vm,
        keep_nulls: flag(preserve_nulls, false)?,
        met: Vec::new(),
        out: Vec::new(),
    };
    flattener.add(&x, levels, 0)?;
    Ok(Obj::list(flattener.out))
}

struct Flattener<'v> {
    vm: &'v Vm<'v>,
    keep_nulls: bool,
    /// Containers met so far; the reference takes one in two places for a cycle, too.
    met: Vec<usize>,
    out: Vec<Obj>,
}

impl Flattener<'_> {
    fn add(&mut self, x: &Obj, levels: Option<i64>, level: usize) -> Result<()> {
        let identity = match x {
            Obj::List(list) => Some(list.address()),
            Obj::Dict(dict) => Some(dict.address()),
            _ => None,
        };
        if let Some(identity) = identity {
            self.vm.burn(self.met.len() / 16)?;
            if self.met.contains(&identity) {
                return Err(Error::python(
                    "RecursionError",
                    "Reference cycle detected. Check input list.",
                ));
            }
            self.met.push(identity);
        }
        depth::objects(level, depth::OBJECTS, "")?;
        for element in x.collect(self.vm)? {
            self.vm.burn(1)?;
            if !self.keep_nulls && is_null(&element)? {
                continue;
            }
            match levels {
                _ if !iterates(&element) => self.out.push(element),
                None => self.add(&element, None, level + 1)?,
                Some(levels) if levels >= 1 => self.add(&element, Some(levels - 1), level + 1)?,
                Some(_) => self.out.push(element),
            }
        }
        Ok(())
    }
}

fn is_null(x: &Obj) -> Result<bool> {
    match x {
        Obj::None => Ok(true),
        Obj::Str(s) | Obj::Markup(s) => Ok(matches!(&**s, "None" | "null")),
        Obj::Undefined(u) => u.check().map(|()| false),
        _ => Ok(false),
    }
}

/// True if `iter(x)` works and `x` is not text.
fn iterates(x: &Obj) -> bool {
    x.as_str().is_none() && x.iter().is_ok()
}

fn is_iter(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [_ignore] = plain("is_iter", "thing").bind(args, 0, ["ignore"])?;
    if let Obj::Undefined(u) = &x {
        u.check()?;
    }
    Ok(Obj::Bool(iterates(&x)))
}

fn to_entries(_: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("to_entries", "data").alone(args)?;
    let entry = |key: Obj, value: Obj| Obj::dict([("key".into(), key), ("value".into(), value)]);
    match &x {
        Obj::Dict(dict) => Ok(Obj::list(
            dict.entries()
                .into_iter()
                .map(|(k, v)| entry(Obj::from(&k), v))
                .collect::<Vec<_>>(),
        )),
        Obj::List(list) => {
            let entries = list
                .items()
                .into_iter()
                .enumerate()
                .map(|(i, v)| entry(Obj::from(i), v));
            Ok(Obj::list(entries.collect::<Vec<_>>()))
        }
        _ => Err(Error::python(
            "SaltException",
            "Input data must be a dict or list",
        )),
    }
}

fn from_entries(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("from_entries", "entries").alone(args)?;
    let mut out = Entries::default();
    for entry in x.collect(vm)? {
        vm.burn(1)?;
        let mut fields = Entries::default();
        match &entry {
            _ if !entry.truthy()? => {}
            Obj::Dict(dict) => fields.extend(dict.entries()),
            other => {
                for item in other.collect(vm)? {
                    let [key, value] = pair(vm, &item)?;
                    fields.insert(hash_key(&key)?, value);
                }
            }
        }
        // Field names in any case; of several spellings the last counts.
        let field = |name: &str| {
            let same = |key: &Key| key.as_str().is_some_and(|key| key.to_lowercase() == name);
            fields
                .iter()
                .rev()
                .find(|(key, _)| same(key))
                .map(|(_, value)| value.clone())
        };
        for name in ["key", "name"] {
            if let Some(key) = field(name)
                && key.truthy()?
            {
                out.insert(hash_key(&key)?, field("value").unwrap_or_default());
                break;
            }
        }
    }
    Ok(Obj::Dict(mapstack_pyobject::DictRef::new(out)))
}

fn compare_dicts(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [new] = plain("compare_dicts", "old").bind(args, 0, ["new"])?;
    let new = new.unwrap_or_default();
    let mut keys = Entries::default();
    for side in [&new, &x] {
        if side.truthy()? {
            for key in side.collect(vm)? {
                keys.insert(hash_key(&key)?, Obj::None);
            }
        }
    }
    let mut out = Entries::default();
    let look = |side: &Obj, key: &Obj| -> Result<Option<Obj>> {
        if !contains(vm, side, key)? {
            return Ok(None);
        }
        match get_item(vm, side, key)? {
            Some(found) => Ok(Some(found)),
            None => Err(Error::type_error(format!(
                "{} indices must be integers",
                side.type_name()
            ))),
        }
    };
    let change = |old: Obj, new: Obj| Obj::dict([("old".into(), old), ("new".into(), new)]);
    for key in keys.into_keys() {
        let object = Obj::from(&key);
        let difference = match (look(&x, &object)?, look(&new, &object)?) {
            (None, Some(new)) => change(Obj::from(""), new),
            (Some(old), None) => Obj::dict([("new".into(), Obj::from("")), ("old".into(), old)]),
            (Some(old), Some(new)) if !equal(&new, &old)? => change(old, new),
            _ => continue,
        };
        out.insert(key, difference);
    }
    Ok(Obj::Dict(mapstack_pyobject::DictRef::new(out)))
}

fn compare_lists(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [new] = plain("compare_lists", "old").bind(args, 0, ["new"])?;
    let new = new.unwrap_or_default();
    let beyond = |these: &Obj, those: &Obj| -> Result<Vec<Obj>> {
        let mut out = Vec::new();
        for item in these.collect(vm)? {
            vm.burn(1)?;
            if !contains(vm, those, &item)? {
                out.push(item);
            }
        }
        Ok(out)
    };
    let mut out = Vec::new();
    for (name, items) in [("new", beyond(&new, &x)?), ("old", beyond(&x, &new)?)] {
        if !items.is_empty() {
            out.push((name.into(), Obj::list(items)));
        }
    }
    Ok(Obj::dict(out))
}

fn substring_in_list(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let function = plain("substr_in_list", "string_to_search_for");
    let [list] = function.bind(args, 1, ["list_to_search"])?;
    for item in list.unwrap_or_default().collect(vm)? {
        vm.burn(1)?;
        if contains(vm, &item, &x)? {
            return Ok(Obj::Bool(true));
        }
    }
    Ok(Obj::Bool(false))
}

fn sorted_ignore_case(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    plain("sorted_ignorecase", "to_sort").alone(args)?;
    let mut keyed = Vec::new();
    for item in x.collect(vm)? {
        let Some(text) = item.as_str() else {
            return Err(no_attribute(&item, "lower"));
        };
        keyed.push((Obj::from(text.to_lowercase()), item));
    }
    methods::sort(vm, keyed, false).map(Obj::list)
}

fn mysql_to_dict(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    let [key] = plain("mysql_to_dict", "data").bind(args, 1, ["key"])?;
    let key = hash_key(&key.unwrap_or_default())?;
    let mut headers: Vec<String> = vec![String::new()];
    let mut out = Entries::default();
    for line in x.collect(vm)? {
        vm.burn(1)?;
        if !line.truthy()? {
            continue;
        }
        let Some(line) = line.as_str() else {
            return Err(no_attribute(&line, "startswith"));
        };
        if line.starts_with('+') {
            continue;
        }
        let cells: Vec<String> = line
            .split('|')
            .map(|cell| cell.trim().to_string())
            .collect();
        if headers.len() <= 1 {
            headers = cells;
            continue;
        }
        let mut row = Entries::default();
        for (i, header) in headers.iter().enumerate().take(headers.len() - 1).skip(1) {
            let Some(cell) = cells.get(i) else {
                return Err(Error::python("IndexError", "list index out of range"));
            };
            row.insert(header.as_str().into(), super::strings::number_or_text(cell));
        }
        let Some(name) = row.get(&key) else {
            return Err(Error::python("KeyError", key.to_value().repr()));
        };
        out.insert(
            hash_key(name)?,
            Obj::Dict(mapstack_pyobject::DictRef::new(row)),
        );
    }
    Ok(Obj::Dict(mapstack_pyobject::DictRef::new(out)))
}

fn method_call(vm: &Vm<'_>, x: Obj, mut args: CallArgs) -> Result<Obj> {
    let name = if args.positional.is_empty() {
        match args.named.iter().position(|(name, _)| **name == *"f_name") {
            Some(i) => args.named.remove(i).1,
            None => {
                return Err(plain("method_call", "obj")
                    .error("missing 1 required positional argument: 'f_name'"));
            }
        }
    } else {
        args.positional.remove(0)
    };
    match attribute(vm, &x, &name)? {
        Some(Obj::Undefined(hidden)) => Err(hidden.error()),
        Some(callee) => vm.call(&callee, args),
        None => Ok(Obj::None),
    }
}

/// Turns text into bytes in nested data.
struct Encoder {
    keep_class: bool,
    keep_tuples: bool,
}

impl Encoder {
    fn bind(function: FilterFunction, args: CallArgs) -> Result<Self> {
        let names = [
            "encoding",
            "errors",
            "keep",
            "preserve_dict_class",
            "preserve_tuples",
        ];
        let [_encoding, _errors, _keep, keep_class, keep_tuples] = function.bind(args, 0, names)?;
        Ok(Encoder {
            keep_class: flag(keep_class, false)?,
            keep_tuples: flag(keep_tuples, false)?,
        })
    }

    fn item(&self, vm: &Vm<'_>, x: &Obj, level: usize) -> Result<Obj> {
        vm.burn(8)?;
        depth::objects(level, depth::OBJECTS, "")?;
        match x {
            Obj::Str(s) | Obj::Markup(s) => Ok(Obj::Bytes(s.as_bytes().into())),
            Obj::Tuple(_) if self.keep_tuples => self.list(vm, x, level).map(Obj::tuple),
            Obj::List(_) | Obj::Tuple(_) => self.list(vm, x, level).map(Obj::list),
            Obj::Dict(_) => self.dict(vm, x, level),
            other => Ok(other.clone()),
        }
    }

    fn list(&self, vm: &Vm<'_>, x: &Obj, level: usize) -> Result<Vec<Obj>> {
        x.collect(vm)?
            .iter()
            .map(|item| self.item(vm, item, level + 1))
            .collect()
    }

    fn dict(&self, vm: &Vm<'_>, x: &Obj, level: usize) -> Result<Obj> {
        let Obj::Dict(dict) = x else {
            return Err(no_attribute(x, "items"));
        };
        let mut out = Entries::default();
        for (key, value) in dict.entries() {
            let key = self.item(vm, &Obj::from(&key), level + 1)?;
            out.insert(hash_key(&key)?, self.item(vm, &value, level + 1)?);
        }
        let kind = if self.keep_class {
            dict.kind()
        } else {
            mapstack_value::MapKind::Dict
        };
        Ok(Obj::Dict(mapstack_pyobject::DictRef::with_kind(out, kind)))
    }
}

fn encode_dict(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    Encoder::bind(plain("encode_dict", "data"), args)?.dict(vm, &x, 0)
}

fn encode_list(vm: &Vm<'_>, x: Obj, args: CallArgs) -> Result<Obj> {
    Encoder::bind(plain("encode_list", "data"), args)?
        .list(vm, &x, 0)
        .map(Obj::list)
}

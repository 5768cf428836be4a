//! The base of the sandbox's module `yaml`: Salt's own reader and printer of YAML.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use mapstack_value::{Key, Map, Value};
use mapstack_yaml::{DumpOptions, Error, ErrorKind, Limits, Object, dump, load_objects};
use rustpython_vm::builtins::{
    PyBytes, PyDict, PyFloat, PyInt, PyList, PySet, PyStr, PyTuple, PyType,
};
use rustpython_vm::{AsObject, Py, PyObjectRef, PyResult, VirtualMachine};

use super::convert;
use super::shared::Service;

/// The services that the part in Python builds on.
pub(super) fn services(vm: &VirtualMachine) -> Vec<Service> {
    vec![
        ("yaml_load", vm.new_function("yaml_load", load).into()),
        ("yaml_dump", vm.new_function("yaml_dump", print).into()),
    ]
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "functions of the interpreter own what they are given"
)]
fn load(
    text: String,
    salt: bool,
    many: bool,
    date_of: PyObjectRef,
    vm: &VirtualMachine,
) -> PyResult {
    loaded(&text, salt, many, &date_of, vm)
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "functions of the interpreter own what they are given"
)]
fn print(data: PyObjectRef, dialect: String, options: Vec<usize>, vm: &VirtualMachine) -> PyResult {
    dumped(&data, &dialect, &options, vm)
}

/// The documents of a text, as a word for the result, and the result. For an error the word is its class in Python; its
/// message follows, with its line and column.
fn loaded(
    text: &str,
    salt: bool,
    many: bool,
    date_of: &PyObjectRef,
    vm: &VirtualMachine,
) -> PyResult {
    let documents = match load_objects(text, &Limits::default(), salt, many) {
        Ok(documents) => documents,
        Err(error) => return Ok(problem(&error, vm)),
    };
    let documents: PyResult<Vec<_>> = documents
        .iter()
        .map(|objects| document(objects, date_of, vm))
        .collect();
    let made = vm.ctx.new_list(documents?);
    Ok(pair(vm.ctx.new_str("made").into(), made.into(), vm))
}

fn problem(error: &Error, vm: &VirtualMachine) -> PyObjectRef {
    let mut class = error.reference_class();
    let mut message = error.kind().to_string();
    if let ErrorKind::UnknownTag { tag } = error.kind() {
        // PyYAML's other loaders make objects of these.
        if tag.starts_with("!!python/") {
            class = "ConstructorOfPython";
            message = format!("what yaml makes of the tag '{tag}'");
        }
    }
    let mut parts: Vec<PyObjectRef> =
        vec![vm.ctx.new_str(class).into(), vm.ctx.new_str(message).into()];
    if let Some(mark) = error.mark() {
        let number = |number: u32| vm.ctx.new_int(number.saturating_sub(1)).into();
        parts.extend([number(mark.line), number(mark.column)]);
    }
    vm.ctx.new_tuple(parts).into()
}

fn pair(first: PyObjectRef, second: PyObjectRef, vm: &VirtualMachine) -> PyObjectRef {
    vm.ctx.new_tuple(vec![first, second]).into()
}

/// A document. Its depth has a limit.
fn document(objects: &[Object], date_of: &PyObjectRef, vm: &VirtualMachine) -> PyResult {
    let mut builder = Builder {
        objects,
        made: vec![None; objects.len()],
        date_of,
        vm,
    };
    match objects.is_empty() {
        true => Ok(vm.ctx.none()),
        false => builder.object(0),
    }
}

struct Builder<'a> {
    objects: &'a [Object],
    made: Vec<Option<PyObjectRef>>,
    date_of: &'a PyObjectRef,
    vm: &'a VirtualMachine,
}

impl Builder<'_> {
    fn object(&mut self, number: usize) -> PyResult {
        if let Some(Some(made)) = self.made.get(number) {
            return Ok(made.clone());
        }
        let vm = self.vm;
        let made: PyObjectRef = match self.objects.get(number) {
            None => vm.ctx.none(),
            Some(Object::Scalar(value)) => convert::to_python(value, &vm.ctx.none(), vm)?,
            Some(Object::Date(text)) => self.date_of.call((vm.ctx.new_str(&**text),), vm)?,
            Some(Object::List(items)) => {
                let items: PyResult<Vec<_>> = items.iter().map(|item| self.object(*item)).collect();
                vm.ctx.new_list(items?).into()
            }
            Some(Object::Map(entries)) => {
                let dict = vm.ctx.new_dict();
                for (key, value) in entries {
                    let (key, value) = (self.object(*key)?, self.object(*value)?);
                    dict.set_item(&*key, value, vm)?;
                }
                dict.into()
            }
            Some(Object::Set(items)) => {
                let items: PyResult<Vec<_>> = items.iter().map(|item| self.object(*item)).collect();
                let set = vm.ctx.types.set_type.as_object();
                set.call((vm.ctx.new_list(items?),), vm)?
            }
            Some(Object::Pairs(items)) => {
                let pairs: PyResult<Vec<_>> = items.iter().map(|item| self.entry(*item)).collect();
                vm.ctx.new_list(pairs?).into()
            }
        };
        if let Some(place) = self.made.get_mut(number) {
            *place = Some(made.clone());
        }
        Ok(made)
    }

    /// The only entry of a mapping, as a tuple.
    fn entry(&mut self, number: usize) -> PyResult {
        let Some(Object::Map(entries)) = self.objects.get(number) else {
            return self.object(number);
        };
        match entries.first() {
            Some((key, value)) => Ok(pair(self.object(*key)?, self.object(*value)?, self.vm)),
            None => Ok(self.vm.ctx.none()),
        }
    }
}

/// The text of data as a tuple of it and `None`; or of `None` and an object that the dumper does not know.
///
/// The options are the layout (0: block, 1: flow, 2: flow for what holds scalars alone), the indent and the width, and
/// whether characters beyond ASCII stay, keys are sorted, and a mark begins the document.
fn dumped(data: &PyObjectRef, dialect: &str, options: &[usize], vm: &VirtualMachine) -> PyResult {
    let [layout, indent, width, unicode, sorted, begins] = *options else {
        return Err(vm.new_type_error("yaml_dump takes six options".to_owned()));
    };
    let allow_unicode = unicode > 0;
    let is_of_salt = dialect == "salt";
    let mut reader = Reader {
        left: MAX_PARTS,
        shared: HashMap::default(),
        takes_ordered: is_of_salt,
        takes_tuples: dialect != "all",
        vm,
    };
    let value = match reader.value(data, 0)? {
        Ok(value) => value,
        Err(unknown) => return Ok(pair(vm.ctx.none(), unknown, vm)),
    };
    let indent = if (2..10).contains(&indent) { indent } else { 2 };
    let options = DumpOptions {
        flow: layout == 1,
        flow_leaves: layout == 2,
        sort_keys: sorted > 0,
        aliases: true,
        indent,
        width: if width > indent * 2 { width } else { 80 },
        escape_astral: is_of_salt && allow_unicode,
        escape_non_ascii: !allow_unicode,
        ..DumpOptions::output()
    };
    let mut text = dump(&value, &options);
    if begins > 0 {
        let is_block = !options.flow && text.lines().count() > 1 || text.starts_with("- ");
        text.insert_str(0, if is_block { "---\n" } else { "--- " });
    }
    // A text that is open at its end gets an end mark.
    let is_open = !matches!(
        value,
        Value::List(_) | Value::Map(_) | Value::Set(_) | Value::Tuple(_)
    ) && !text
        .trim_start_matches("--- ")
        .starts_with(['\'', '"', '|', '!']);
    if is_open && !text.ends_with("...\n") {
        text.push_str("...\n");
    }
    Ok(pair(vm.ctx.new_str(text).into(), vm.ctx.none(), vm))
}

const MAX_PARTS: usize = 2_000_000;
const MAX_DEPTH: usize = 200;

/// Reads objects as PyYAML's representers do, which look at the exact class.
struct Reader<'a> {
    left: usize,
    /// Collections that were read, by their addresses, so that what is in two places stays one.
    shared: HashMap<usize, Value, RandomState>,
    takes_ordered: bool,
    takes_tuples: bool,
    vm: &'a VirtualMachine,
}

/// A value, or the object that has none.
type ReadValue = Result<Value, PyObjectRef>;

impl Reader<'_> {
    fn value(&mut self, object: &PyObjectRef, depth: usize) -> PyResult<ReadValue> {
        let vm = self.vm;
        self.left = self.left.saturating_sub(1);
        if depth > MAX_DEPTH || self.left == 0 {
            let why = "the data is too large, nested too deeply, or holds itself";
            return Err(vm.new_value_error(why.to_owned()));
        }
        let id = object.get_id();
        if let Some(known) = self.shared.get(&id) {
            return Ok(Ok(known.clone()));
        }
        let types = &vm.ctx.types;
        let class = object.class();
        let is = |other: &Py<PyType>| class.is(other);
        let made = if vm.is_none(object) {
            Value::None
        } else if is(types.str_type)
            || is(types.int_type)
            || is(types.bool_type)
            || is(types.float_type)
            || is(types.bytes_type)
        {
            return Ok(scalar(object, vm).ok_or_else(|| object.clone()));
        } else if is(types.list_type) || (self.takes_tuples && is(types.tuple_type)) {
            let items = match object.downcast_ref::<PyList>() {
                Some(list) => list.borrow_vec().to_vec(),
                None => object
                    .downcast_ref::<PyTuple>()
                    .map(|tuple| tuple.as_slice().to_vec())
                    .unwrap_or_default(),
            };
            let mut values = Vec::with_capacity(items.len());
            for item in &items {
                match self.value(item, depth + 1)? {
                    Ok(value) => values.push(value),
                    unknown => return Ok(unknown),
                }
            }
            Value::List(values.into())
        } else if is(types.dict_type) || self.is_ordered(object) {
            return self.mapping(object, depth);
        } else if is(types.set_type) {
            let items = object.downcast_ref::<PySet>().map(|set| set.elements());
            let mut keys = Vec::new();
            for item in items.unwrap_or_default() {
                match scalar(&item, vm).and_then(|value| Key::try_from(&value).ok()) {
                    Some(key) => keys.push(key),
                    None => return Ok(Err(object.clone())),
                }
            }
            Value::Set(keys.into_iter().collect())
        } else {
            return Ok(Err(object.clone()));
        };
        if !matches!(made, Value::None) {
            self.shared.insert(id, made.clone());
        }
        Ok(Ok(made))
    }

    fn is_ordered(&self, object: &PyObjectRef) -> bool {
        let name = object.class().name();
        self.takes_ordered && matches!(&*name, "OrderedDict" | "defaultdict")
    }

    fn mapping(&mut self, object: &PyObjectRef, depth: usize) -> PyResult<ReadValue> {
        let Some(dict) = object.downcast_ref::<PyDict>() else {
            return Ok(Err(object.clone()));
        };
        let mut map = Map::new();
        for (key, value) in dict {
            let Some(key) = self.key(&key) else {
                return Ok(Err(key));
            };
            match self.value(&value, depth + 1)? {
                Ok(value) => map.insert(key, value),
                unknown => return Ok(unknown),
            };
        }
        let is_ordered = &*object.class().name() == "OrderedDict";
        let kind = match is_ordered {
            true => mapstack_value::MapKind::Ordered,
            false => mapstack_value::MapKind::Dict,
        };
        let made = Value::Map(map.with_kind(kind));
        self.shared.insert(object.get_id(), made.clone());
        Ok(Ok(made))
    }

    fn key(&self, key: &PyObjectRef) -> Option<Key> {
        let types = &self.vm.ctx.types;
        let class = key.class();
        let plain = [
            types.str_type,
            types.int_type,
            types.bool_type,
            types.float_type,
            types.bytes_type,
        ];
        let is_plain = self.vm.is_none(key) || plain.iter().any(|plain| class.is(*plain));
        let value = is_plain.then(|| scalar(key, self.vm)).flatten()?;
        Key::try_from(&value).ok()
    }
}

fn scalar(object: &PyObjectRef, vm: &VirtualMachine) -> Option<Value> {
    let is_scalar = vm.is_none(object)
        || object.downcast_ref::<PyStr>().is_some()
        || object.downcast_ref::<PyInt>().is_some()
        || object.downcast_ref::<PyFloat>().is_some()
        || object.downcast_ref::<PyBytes>().is_some();
    // The class for ordered dicts has no part in it.
    let none = vm.ctx.none();
    is_scalar
        .then(|| convert::from_python(object, &none, vm).ok())
        .flatten()
}

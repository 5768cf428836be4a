//! Data in and out of the interpreter.

use mapstack_value::{Int, Key, Map, MapKind, Set, Value};
use rustpython_vm::builtins::{
    PyByteArray, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PyStr, PyTuple,
};
use rustpython_vm::{AsObject, PyObject, PyObjectRef, PyResult, VirtualMachine};

/// The most parts a value may have on its way out, each counted where it appears.
const MAX_PARTS: usize = 2_000_000;
/// The deepest nesting on the way out.
const MAX_DEPTH: usize = 200;

/// Data as Python objects.
pub(crate) fn to_python(value: &Value, ordered: &PyObject, vm: &VirtualMachine) -> PyResult {
    Ok(match value {
        Value::None => vm.ctx.none(),
        Value::Bool(b) => vm.ctx.new_bool(*b).into(),
        Value::Int(int) => integer(int, vm)?,
        Value::Float(float) => vm.ctx.new_float(*float).into(),
        Value::Str(text) => vm.ctx.new_str(&**text).into(),
        Value::Bytes(bytes) => vm.ctx.new_bytes(bytes.to_vec()).into(),
        Value::List(items) => {
            let items: PyResult<Vec<_>> = items
                .iter()
                .map(|item| to_python(item, ordered, vm))
                .collect();
            vm.ctx.new_list(items?).into()
        }
        Value::Tuple(items) => {
            let items: PyResult<Vec<_>> = items
                .iter()
                .map(|item| to_python(item, ordered, vm))
                .collect();
            vm.ctx.new_tuple(items?).into()
        }
        Value::Map(map) => {
            let dict: PyObjectRef = match map.kind() {
                MapKind::Dict => vm.ctx.new_dict().into(),
                MapKind::Ordered | MapKind::Aggregate => ordered.call((), vm)?,
                MapKind::Bunch => ordered.get_attr("_bunch", vm)?.call((), vm)?,
            };
            for (key, value) in map {
                dict.set_item(
                    &*key_to_python(key, ordered, vm)?,
                    to_python(value, ordered, vm)?,
                    vm,
                )?;
            }
            dict
        }
        Value::Set(items) => {
            let items: PyResult<Vec<_>> = items
                .iter()
                .map(|item| key_to_python(item, ordered, vm))
                .collect();
            vm.ctx
                .types
                .set_type
                .as_object()
                .call((vm.ctx.new_list(items?),), vm)?
        }
    })
}

fn key_to_python(key: &Key, ordered: &PyObject, vm: &VirtualMachine) -> PyResult {
    to_python(&key.to_value(), ordered, vm)
}

fn integer(int: &Int, vm: &VirtualMachine) -> PyResult {
    match int.to_i64() {
        Some(int) => Ok(vm.ctx.new_int(int).into()),
        None => vm
            .ctx
            .types
            .int_type
            .as_object()
            .call((int.to_str_radix(16), 16), vm),
    }
}

/// Python objects as data.
///
/// # Errors
/// Something is not data (a function, an object of some class), holds itself or is too large.
pub(crate) fn from_python(
    object: &PyObject,
    ordered: &PyObject,
    vm: &VirtualMachine,
) -> Result<Value, String> {
    Reader {
        left: MAX_PARTS,
        ordered,
        vm,
    }
    .value(object, 0)
}

fn int_from_python(int: &PyInt) -> Result<Int, String> {
    let int = int.as_bigint();
    match i64::try_from(int) {
        Ok(int) => Ok(int.into()),
        Err(_) => Int::from_str_radix(&int.to_str_radix(16), 16)
            .ok_or_else(|| "the data has an integer out of bounds".to_owned()),
    }
}

struct Reader<'a> {
    left: usize,
    ordered: &'a PyObject,
    vm: &'a VirtualMachine,
}

impl Reader<'_> {
    fn value(&mut self, object: &PyObject, depth: usize) -> Result<Value, String> {
        if depth > MAX_DEPTH {
            return Err("the data is nested too deeply, or holds itself".to_owned());
        }
        self.left = self
            .left
            .checked_sub(1)
            .ok_or("the data has too many parts")?;
        let vm = self.vm;
        if vm.is_none(object) {
            Ok(Value::None)
        } else if let Some(text) = object.downcast_ref::<PyStr>() {
            let text = text
                .to_str()
                .ok_or("the data has text that is not Unicode")?;
            Ok(Value::Str(text.into()))
        } else if let Some(int) = object.downcast_ref::<PyInt>() {
            if object.fast_isinstance(vm.ctx.types.bool_type) {
                return Ok(Value::Bool(i64::try_from(int.as_bigint()) == Ok(1)));
            }
            int_from_python(int).map(Value::Int)
        } else if let Some(float) = object.downcast_ref::<PyFloat>() {
            Ok(Value::Float(float.to_f64()))
        } else if let Some(dict) = object.downcast_ref::<PyDict>() {
            let mut map = Map::new();
            for (key, value) in dict {
                let key = self.key(&key, depth + 1)?;
                map.insert(key, self.value(&value, depth + 1)?);
            }
            let ordered = object.is_instance(self.ordered, vm).unwrap_or(false);
            Ok(Value::Map(map.with_kind(if ordered {
                MapKind::Ordered
            } else {
                MapKind::Dict
            })))
        } else if let Some(list) = object.downcast_ref::<PyList>() {
            let items = list.borrow_vec().to_vec();
            Ok(Value::List(self.items(&items, depth + 1)?.into()))
        } else if let Some(tuple) = object.downcast_ref::<PyTuple>() {
            let items = self.items(tuple.as_slice(), depth + 1)?;
            Ok(Value::Tuple(items.into()))
        } else if let Some(bytes) = object.downcast_ref::<PyBytes>() {
            Ok(Value::Bytes(bytes.as_bytes().into()))
        } else if let Some(bytes) = object.downcast_ref::<PyByteArray>() {
            Ok(Value::Bytes(bytes.borrow_buf().to_vec().into()))
        } else if let Some(set) = object.downcast_ref::<PySet>() {
            self.set(&set.elements(), depth + 1)
        } else if let Some(set) = object.downcast_ref::<PyFrozenSet>() {
            self.set(&set.elements(), depth + 1)
        } else {
            self.other(object)
        }
    }

    fn items(&mut self, items: &[PyObjectRef], depth: usize) -> Result<Vec<Value>, String> {
        items.iter().map(|item| self.value(item, depth)).collect()
    }

    fn set(&mut self, items: &[PyObjectRef], depth: usize) -> Result<Value, String> {
        let items: Result<Set, _> = items.iter().map(|item| self.key(item, depth)).collect();
        Ok(Value::Set(items?))
    }

    /// Dates become text, as they do in Salt's YAML.
    fn other(&self, object: &PyObject) -> Result<Value, String> {
        let class = object.class().name().to_string();
        if matches!(class.as_str(), "date" | "datetime" | "time")
            && let Ok(text) = object.str(self.vm)
        {
            return Ok(Value::Str(text.to_string_lossy().into()));
        }
        Err(format!("an object of class '{class}' is not data"))
    }

    fn key(&mut self, object: &PyObject, depth: usize) -> Result<Key, String> {
        let value = self.value(object, depth)?;
        Key::try_from(&value).map_err(|error| error.to_string())
    }
}

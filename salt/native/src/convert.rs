//! Python's objects to values and back.

use mapstack::value::{Int, Key, Map, MapKind, Set, Value};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{
    PyBool, PyBytes, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PyMapping, PySet, PyString,
    PyTuple, PyType,
};

use crate::errors::class;

/// The most levels of nested containers.
const MAX_DEPTH: usize = 500;

static ORDERED: PyOnceLock<Py<PyType>> = PyOnceLock::new();

fn ordered(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    ORDERED.import(py, "collections", "OrderedDict")
}

/// The treatment of an object that is not data.
pub(crate) enum ForeignObjects<'f> {
    /// It is an error.
    Refused,
    /// It is left out of its container, and its path is noted.
    LeftOut(&'f mut Vec<String>),
}

/// Converts objects to values, and knows where it is for its messages.
pub(crate) struct Reader<'f> {
    foreign: ForeignObjects<'f>,
    path: Vec<String>,
}

impl<'f> Reader<'f> {
    pub(crate) fn new(name: &str, foreign: ForeignObjects<'f>) -> Self {
        Reader {
            foreign,
            path: vec![name.to_owned()],
        }
    }

    /// The value of an object; `None` if it is left out.
    ///
    /// Subclasses of Python's types count as these types, so containers that hide their content when they are printed,
    /// as Salt's pillar does, are read as they are.
    pub(crate) fn value(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
        if let Some(leaf) = leaf(object)? {
            return Ok(Some(leaf));
        }
        if self.path.len() > MAX_DEPTH {
            let message = format!("data is nested more than {MAX_DEPTH} deep, or contains itself");
            return Err(PyValueError::new_err(message));
        }
        if let Ok(dict) = object.cast::<PyDict>() {
            return self.map(dict).map(|map| Some(Value::Map(map)));
        }
        if object.cast::<PyList>().is_ok() {
            let items: Vec<Bound<'_, PyAny>> = object.try_iter()?.collect::<PyResult<_>>()?;
            return Ok(Some(self.items(items.into_iter())?.into_iter().collect()));
        }
        if let Ok(tuple) = object.cast::<PyTuple>() {
            return Ok(Some(Value::Tuple(self.items(tuple.iter())?.into())));
        }
        if object.cast::<PySet>().is_ok() || object.cast::<PyFrozenSet>().is_ok() {
            let items: Vec<Bound<'_, PyAny>> = object.try_iter()?.collect::<PyResult<_>>()?;
            let keys = items.iter().map(key).collect::<PyResult<Set>>()?;
            return Ok(Some(Value::Set(keys)));
        }
        if let Ok(mapping) = object.cast::<PyMapping>() {
            let dict = PyDict::new(object.py());
            dict.update(mapping)?;
            return self.map(&dict).map(|map| Some(Value::Map(map)));
        }
        self.not_data(object)
    }

    fn not_data(&mut self, object: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
        let kind = object.get_type();
        let place = self.path.join(":");
        match &mut self.foreign {
            ForeignObjects::Refused => {
                let message = format!(
                    "{place} is of the type {}, not data",
                    kind.fully_qualified_name()?
                );
                let class = class(object.py(), "NotData")?;
                Err(PyErr::from_type(class, (message,)))
            }
            ForeignObjects::LeftOut(places) => {
                places.push(place);
                Ok(None)
            }
        }
    }

    pub(crate) fn map(&mut self, dict: &Bound<'_, PyDict>) -> PyResult<Map> {
        let kind = kind(dict)?;
        let mut map = Map::with_capacity(dict.len());
        for pair in entries(dict)? {
            let (name, item) = pair?;
            let Ok(name) = key(&name) else {
                self.path.push(name.repr()?.to_string());
                let left_out = self.not_data(&name)?;
                self.path.pop();
                debug_assert!(left_out.is_none());
                continue;
            };
            // The text of the name is needed for containers and in messages alone.
            if let Some(leaf) = leaf(&item)? {
                map.insert(name, leaf);
                continue;
            }
            self.path.push(name.to_string());
            let value = self.value(&item)?;
            self.path.pop();
            if let Some(value) = value {
                map.insert(name, value);
            }
        }
        Ok(map.with_kind(kind))
    }

    fn items<'py>(
        &mut self,
        items: impl Iterator<Item = Bound<'py, PyAny>>,
    ) -> PyResult<Vec<Value>> {
        let mut values = Vec::with_capacity(items.size_hint().0);
        for (index, item) in items.enumerate() {
            self.path.push(index.to_string());
            let value = self.value(&item)?;
            self.path.pop();
            values.extend(value);
        }
        Ok(values)
    }
}

/// The kind of mapping that a dict is.
pub(crate) fn kind(dict: &Bound<'_, PyDict>) -> PyResult<MapKind> {
    Ok(match dict.is_exact_instance_of::<PyDict>() {
        false if dict.is_instance(ordered(dict.py())?)? => MapKind::Ordered,
        _ => MapKind::Dict,
    })
}

/// An entry of a dict.
type PyDictEntry<'py> = (Bound<'py, PyAny>, Bound<'py, PyAny>);

/// The entries of a dict. Subclasses are asked for theirs: Salt's options are one that keeps them elsewhere.
pub(crate) fn entries<'py>(
    dict: &Bound<'py, PyDict>,
) -> PyResult<Box<dyn Iterator<Item = PyResult<PyDictEntry<'py>>> + 'py>> {
    if dict.is_exact_instance_of::<PyDict>() {
        return Ok(Box::new(dict.iter().map(Ok)));
    }
    let items = dict.as_any().call_method0("items")?.try_iter()?;
    Ok(Box::new(
        items.map(|item| item?.extract::<PyDictEntry<'py>>()),
    ))
}

/// The value of an object, which messages call `name`.
pub(crate) fn from_python(name: &str, object: &Bound<'_, PyAny>) -> PyResult<Value> {
    let value = Reader::new(name, ForeignObjects::Refused).value(object)?;
    // Whatever is not data was refused.
    Ok(value.unwrap_or_default())
}

/// The value of an object that is not a container.
fn leaf(object: &Bound<'_, PyAny>) -> PyResult<Option<Value>> {
    Ok(Some(if let Ok(text) = object.cast::<PyString>() {
        Value::Str(text.to_cow()?.into())
    } else if object.is_none() {
        Value::None
    } else if let Ok(truth) = object.cast::<PyBool>() {
        Value::Bool(truth.is_true())
    } else if let Ok(number) = object.cast::<PyInt>() {
        Value::Int(int(number)?)
    } else if let Ok(number) = object.cast::<PyFloat>() {
        Value::Float(number.value())
    } else if let Ok(bytes) = object.cast::<PyBytes>() {
        Value::Bytes(bytes.as_bytes().into())
    } else {
        return Ok(None);
    }))
}

fn int(number: &Bound<'_, PyInt>) -> PyResult<Int> {
    if let Ok(small) = number.extract::<i64>() {
        return Ok(small.into());
    }
    let digits: String = number.call_method1("__format__", ("x",))?.extract()?;
    Int::from_str_radix(&digits, 16)
        .ok_or_else(|| PyValueError::new_err(format!("{digits} is not a hexadecimal number")))
}

pub(crate) fn key(object: &Bound<'_, PyAny>) -> PyResult<Key> {
    let value = match leaf(object)? {
        Some(leaf) => leaf,
        None => from_python("a key", object)?,
    };
    Key::try_from(&value).map_err(|e| PyTypeError::new_err(e.to_string()))
}

/// The object of a value.
pub(crate) fn to_python<'py>(py: Python<'py>, value: &Value) -> PyResult<Bound<'py, PyAny>> {
    Ok(match value {
        Value::None => py.None().into_bound(py),
        Value::Bool(truth) => PyBool::new(py, *truth).to_owned().into_any(),
        Value::Int(number) => int_to_python(py, number)?,
        Value::Float(number) => PyFloat::new(py, *number).into_any(),
        Value::Str(text) => PyString::new(py, text).into_any(),
        Value::Bytes(bytes) => PyBytes::new(py, bytes).into_any(),
        Value::List(items) => {
            let items = items.iter().map(|item| to_python(py, item));
            PyList::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Value::Tuple(items) => {
            let items = items.iter().map(|item| to_python(py, item));
            PyTuple::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
        Value::Map(map) => map_to_python(py, map)?.into_any(),
        Value::Set(set) => {
            let items = set.iter().map(|item| key_to_python(py, item));
            PySet::new(py, items.collect::<PyResult<Vec<_>>>()?)?.into_any()
        }
    })
}

pub(crate) fn map_to_python<'py>(py: Python<'py>, map: &Map) -> PyResult<Bound<'py, PyDict>> {
    let dict = match map.kind() {
        MapKind::Dict | MapKind::Bunch => PyDict::new(py),
        MapKind::Ordered | MapKind::Aggregate => ordered(py)?.call0()?.cast_into::<PyDict>()?,
    };
    for (name, value) in map {
        // `OrderedDict` keeps a separate order, which the method of `dict` does not see.
        let (name, value) = (key_to_python(py, name)?, to_python(py, value)?);
        dict.as_any().set_item(name, value)?;
    }
    Ok(dict)
}

fn key_to_python<'py>(py: Python<'py>, key: &Key) -> PyResult<Bound<'py, PyAny>> {
    match key {
        Key::Str(text) => Ok(PyString::new(py, text).into_any()),
        other => to_python(py, &other.to_value()),
    }
}

fn int_to_python<'py>(py: Python<'py>, number: &Int) -> PyResult<Bound<'py, PyAny>> {
    match number.to_i64() {
        Some(small) => Ok(small.into_pyobject(py)?.into_any()),
        None => py.get_type::<PyInt>().call1((number.to_str_radix(16), 16)),
    }
}

//! Dicts that were converted before: what did not change in them is not converted again.
//!
//! A minion's options, grains and pillar are thousands of objects, which hardly change from one template to the next.

use std::sync::Arc;

use mapstack::value::{Key, Map, Value};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyFloat, PyInt, PyList, PyString, PyTuple};

use crate::convert::{ForeignObjects, Reader, entries, key, kind};

/// A converted dict.
pub(crate) struct Converted {
    entries: Vec<Arc<KnownObject>>,
    pub(crate) map: Map,
}

struct KnownObject {
    name: Py<PyAny>,
    known: UnchangedProof,
    /// `None` if the entry is not data.
    data: Option<(Key, Value)>,
    left_out: Vec<String>,
}

/// A dict within another one that is converted by itself.
pub(crate) struct ConvertedDict<'p, 'py> {
    pub(crate) dict: &'p Bound<'py, PyDict>,
    pub(crate) converted: &'p Converted,
}

impl Converted {
    /// Convert a dict, whose content is called `name` in paths. `before` is an earlier conversion of it, or of a dict
    /// that is much like it.
    pub(crate) fn of(
        name: &str,
        dict: &Bound<'_, PyDict>,
        parts: &[ConvertedDict<'_, '_>],
        before: Option<&Arc<Converted>>,
    ) -> PyResult<Arc<Self>> {
        let mut old = before.into_iter().flat_map(|before| &before.entries);
        let mut entries_now = Vec::with_capacity(dict.len());
        let mut is_changed = false;
        for pair in entries(dict)? {
            let (key, object) = pair?;
            match old.next() {
                Some(entry) if entry.is_still(&key, &object, parts)? => {
                    entries_now.push(entry.clone());
                }
                _ => {
                    is_changed = true;
                    entries_now.push(Arc::new(KnownObject::of(name, &key, &object, parts)?));
                }
            }
        }
        if let Some(before) = before.filter(|_| !is_changed && old.next().is_none()) {
            return Ok(before.clone());
        }
        let data = entries_now.iter().filter_map(|entry| entry.data.clone());
        let map = data.collect::<Map>().with_kind(kind(dict)?);
        Ok(Arc::new(Converted {
            entries: entries_now,
            map,
        }))
    }

    /// The paths of what is not data.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = &String> {
        self.entries.iter().flat_map(|entry| &entry.left_out)
    }
}

impl KnownObject {
    fn of(
        dict: &str,
        name: &Bound<'_, PyAny>,
        object: &Bound<'_, PyAny>,
        parts: &[ConvertedDict<'_, '_>],
    ) -> PyResult<Self> {
        let mut left_out = Vec::new();
        let mut data = None;
        let part = parts.iter().find(|part| object.is(part.dict));
        if let Ok(key) = key(name) {
            let value = match part {
                Some(part) => Some(Value::Map(part.converted.map.clone())),
                None => {
                    let path = format!("{dict}:{key}");
                    Reader::new(&path, ForeignObjects::LeftOut(&mut left_out)).value(object)?
                }
            };
            data = value.map(|value| (key, value));
        } else {
            left_out.push(format!("{dict}:{}", name.repr()?));
        }
        let known = match part {
            Some(_) => UnchangedProof::Part(object.clone().unbind()),
            None => UnchangedProof::of(object)?,
        };
        Ok(KnownObject {
            name: name.clone().unbind(),
            known,
            data,
            left_out,
        })
    }

    fn is_still(
        &self,
        name: &Bound<'_, PyAny>,
        object: &Bound<'_, PyAny>,
        parts: &[ConvertedDict<'_, '_>],
    ) -> PyResult<bool> {
        if !name.is(&self.name) {
            return Ok(false);
        }
        let UnchangedProof::Part(known) = &self.known else {
            return self.known.is_still(object);
        };
        let part = parts.iter().find(|part| object.is(part.dict));
        Ok(match (part, &self.data) {
            (Some(part), Some((_, Value::Map(map)))) => {
                object.is(known) && map.ptr_eq(&part.converted.map)
            }
            _ => false,
        })
    }
}

/// The evidence that an object has not changed.
enum UnchangedProof {
    /// An object that never changes.
    Leaf(Py<PyAny>),
    Dict(Py<PyAny>, Vec<(Py<PyAny>, UnchangedProof)>),
    /// A list or a tuple.
    List(Py<PyAny>, Vec<UnchangedProof>),
    /// A dict that is converted by itself.
    Part(Py<PyAny>),
    /// An object that can change without a trace.
    Other,
}

impl UnchangedProof {
    fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let itself = || object.clone().unbind();
        if is_leaf(object) {
            return Ok(UnchangedProof::Leaf(itself()));
        }
        if let Ok(dict) = object.cast::<PyDict>() {
            let known = entries(dict)?.map(|pair| {
                let (name, item) = pair?;
                Ok((name.unbind(), UnchangedProof::of(&item)?))
            });
            let known = known.collect::<PyResult<Vec<_>>>()?;
            return Ok(UnchangedProof::Dict(itself(), known));
        }
        if object.cast::<PyList>().is_ok() || object.cast::<PyTuple>().is_ok() {
            let known = object.try_iter()?.map(|item| UnchangedProof::of(&item?));
            let known = known.collect::<PyResult<Vec<_>>>()?;
            return Ok(UnchangedProof::List(itself(), known));
        }
        Ok(UnchangedProof::Other)
    }

    fn is_still(&self, object: &Bound<'_, PyAny>) -> PyResult<bool> {
        match self {
            UnchangedProof::Leaf(known) => Ok(object.is(known)),
            UnchangedProof::Dict(known, inside) => {
                let Some(dict) = object.cast::<PyDict>().ok().filter(|_| object.is(known)) else {
                    return Ok(false);
                };
                let mut inside = inside.iter();
                for pair in entries(dict)? {
                    let (name, item) = pair?;
                    match inside.next() {
                        Some((known, value)) if name.is(known) && value.is_still(&item)? => {}
                        _ => return Ok(false),
                    }
                }
                Ok(inside.next().is_none())
            }
            UnchangedProof::List(known, inside) => {
                if !object.is(known) || object.len()? != inside.len() {
                    return Ok(false);
                }
                for (item, known) in object.try_iter()?.zip(inside.iter()) {
                    if !known.is_still(&item?)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            UnchangedProof::Part(_) | UnchangedProof::Other => Ok(false),
        }
    }
}

/// True if an object is of a type whose objects never change; those of its subclasses may.
fn is_leaf(object: &Bound<'_, PyAny>) -> bool {
    object.is_none()
        || object.is_exact_instance_of::<PyString>()
        || object.is_exact_instance_of::<PyBool>()
        || object.is_exact_instance_of::<PyInt>()
        || object.is_exact_instance_of::<PyFloat>()
        || object.is_exact_instance_of::<PyBytes>()
}

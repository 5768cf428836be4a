//! A mistake of the library on demand, for tests of its effects. Only builds for tests have it.

use pyo3::prelude::*;

use crate::errors::without_lock;
use crate::frame::{ask, for_caller};

/// Panic in the middle of work for a caller, whose method `has` is called before.
#[pyfunction]
pub(crate) fn panic(py: Python<'_>, caller: Py<PyAny>) -> PyResult<()> {
    without_lock(py, || {
        for_caller(caller, || {
            ask(|caller| caller.call_method1("has", ("before",)).map(drop));
            panic!("on demand");
        })
    })
    .map(|((), _)| ())
}

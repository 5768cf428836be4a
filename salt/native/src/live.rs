//! The functions of a live Salt as answers to calls in templates.

use mapstack::value::Value;
use mapstack::{Call, CallError, Functions};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::convert::{from_python, map_to_python, to_python};
use crate::frame::{ask, keep};

/// Passes calls on to the current caller, on its own thread.
pub(crate) struct CallerProxy;

impl CallerProxy {
    /// The answer of one of the caller's predicates.
    fn is(method: &str, name: &str) -> bool {
        let answer = |caller: &Bound<'_, PyAny>| -> PyResult<bool> {
            caller.call_method1(method, (name,))?.extract()
        };
        let asked = ask(|caller| {
            answer(caller).unwrap_or_else(|raised| {
                keep(caller.py(), raised);
                false
            })
        });
        asked.unwrap_or_default()
    }

    /// Pass a call on to one of the caller's methods. `None` if it returns `NotImplemented`.
    fn pass_on(method: &str, call: &Call) -> Option<Result<Value, CallError>> {
        let answer = |caller: &Bound<'_, PyAny>| -> PyResult<Option<Value>> {
            let py = caller.py();
            let args = call.args.iter().map(|arg| to_python(py, arg));
            let args = PyTuple::new(py, args.collect::<PyResult<Vec<_>>>()?)?;
            let kwargs: Bound<'_, PyDict> = map_to_python(py, &call.kwargs)?;
            let answer = caller.call_method1(method, (&*call.name, args, kwargs))?;
            if answer.is(py.NotImplemented()) {
                return Ok(None);
            }
            from_python(&format!("the result of {}", call.name), &answer).map(Some)
        };
        ask(|caller| {
            answer(caller)
                .map_err(|raised| CallError::new(keep(caller.py(), raised)))
                .transpose()
        })?
    }
}

impl Functions for CallerProxy {
    fn has(&self, name: &str) -> bool {
        CallerProxy::is("has", name)
    }

    fn has_module(&self, module: &str) -> bool {
        CallerProxy::is("has_module", module)
    }

    fn replaces(&self, name: &str) -> bool {
        CallerProxy::is("replaces", name)
    }

    fn call(&self, call: &Call) -> Option<Result<Value, CallError>> {
        CallerProxy::pass_on("call", call)
    }

    fn change(&self, call: &Call) -> Option<Result<Value, CallError>> {
        CallerProxy::pass_on("change", call)
    }
}

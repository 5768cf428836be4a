//! The objects that a call from Python brings with it, which Rust asks on the way.

use std::cell::RefCell;

use pyo3::prelude::*;

use crate::errors::without_lock;

/// One call. Calls nest: a function that Rust calls can use the module again.
struct Frame {
    caller: Py<PyAny>,
    /// The exception that a function raised last.
    raised: Option<PyErr>,
}

thread_local! {
    /// The calls of this thread. Salt's functions work on the thread of their caller alone, so another thread has none.
    static FRAMES: RefCell<Vec<Frame>> = const { RefCell::new(Vec::new()) };
}

/// Takes the frame away at the end of the call, also by a panic.
struct FrameGuard;

impl Drop for FrameGuard {
    fn drop(&mut self) {
        FRAMES.with_borrow_mut(Vec::pop);
    }
}

/// Work for a caller. Returns the exception that one of its functions raised last, too.
pub(crate) fn for_caller<T>(caller: Py<PyAny>, work: impl FnOnce() -> T) -> (T, Option<PyErr>) {
    FRAMES.with_borrow_mut(|frames| {
        frames.push(Frame {
            caller,
            raised: None,
        });
    });
    let popped = FrameGuard;
    let result = work();
    let raised = FRAMES.with_borrow_mut(|frames| frames.last_mut()?.raised.take());
    drop(popped);
    (result, raised)
}

/// Work for a caller without the interpreter's lock, and hand it the warnings of the work. Returns the exception that
/// one of its functions raised last, too.
pub(crate) fn work_for<T: Send>(
    py: Python<'_>,
    caller: Option<Py<PyAny>>,
    work: impl FnOnce() -> (T, Vec<String>) + Send,
) -> PyResult<(T, Option<PyErr>)> {
    let caller = caller.unwrap_or_else(|| py.None());
    let warned = caller.clone_ref(py);
    let ((result, warnings), raised) = without_lock(py, || for_caller(caller, work))?;
    if !warned.is_none(py) {
        for warning in warnings {
            warned.call_method1(py, "warn", (warning,))?;
        }
    }
    Ok((result, raised))
}

/// Ask the current caller. `None` if the present thread works for no caller, or if the caller is Python's `None`.
pub(crate) fn ask<T>(work: impl FnOnce(&Bound<'_, PyAny>) -> T) -> Option<T> {
    Python::attach(|py| {
        let caller = FRAMES.with_borrow(|frames| Some(frames.last()?.caller.clone_ref(py)))?;
        let caller = caller.into_bound(py);
        (!caller.is_none()).then(|| work(&caller))
    })
}

/// Keep the exception that a function raised, for the end of the call, and return its text.
pub(crate) fn keep(py: Python<'_>, raised: PyErr) -> String {
    let value = raised.value(py);
    let class = value.get_type();
    let name = class
        .name()
        .map_or_else(|_| "Exception".to_owned(), |name| name.to_string());
    let text = format!("{name}: {value}");
    FRAMES.with_borrow_mut(|frames| {
        if let Some(frame) = frames.last_mut() {
            frame.raised = Some(raised);
        }
    });
    text
}

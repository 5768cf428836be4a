//! Python's exceptions as errors that point into templates.

use rustpython_vm::builtins::{PyBaseExceptionRef, PyInt};
use rustpython_vm::{AsObject, VirtualMachine};

use super::shared::InterpreterState;
use super::unit::unit_of;
use crate::error::{Error, ErrorKind, SourceSpan};

/// An uncaught exception as an error, with the way there.
pub(crate) fn error(
    shared: &InterpreterState,
    exception: &PyBaseExceptionRef,
    vm: &VirtualMachine,
) -> Box<Error> {
    let places = places(shared, exception);
    let mut error = match (shared.meter.broken(), remembered(shared, exception, vm)) {
        (Some(why), _) => Error::limit(why),
        (None, Some(error)) => error,
        (None, None) => described(exception, vm),
    };
    let mut places = places.into_iter().rev().peekable();
    if shared.meter.broken().is_some()
        && let Some((unit, line)) = shared.meter.broken_at()
    {
        let place = shared.place(unit, line);
        // The way there ends there, or where the error was raised again later.
        places.next_if(|(_, last)| last.span == place.span);
        error.place = Some(place);
    }
    if error.place.is_none() {
        error.place = places.next().map(|(_, place)| place);
    }
    for (what, place) in places {
        error = error.through(what, place);
    }
    error
}

fn described(exception: &PyBaseExceptionRef, vm: &VirtualMachine) -> Box<Error> {
    let class = exception.class().name().to_string();
    let message = exception
        .as_object()
        .str(vm)
        .map(|text| text.to_string_lossy().into_owned())
        .unwrap_or_default();
    if class == "Refused" {
        return Error::new(ErrorKind::Forbidden, message);
    }
    let message = if message.is_empty() {
        class.clone()
    } else {
        format!("{class}: {message}")
    };
    Error::new(ErrorKind::Raised(class.into()), message)
}

/// The error that the exception was made of.
fn remembered(
    shared: &InterpreterState,
    exception: &PyBaseExceptionRef,
    vm: &VirtualMachine,
) -> Option<Box<Error>> {
    let number = exception.as_object().get_attr("_failure", vm).ok()?;
    let number = usize::try_from(number.downcast_ref::<PyInt>()?.as_bigint()).ok()?;
    shared.failures.borrow().get(number).cloned().map(Box::new)
}

/// The places in templates that the exception passed, outermost first, and what was done there.
fn places(shared: &InterpreterState, exception: &PyBaseExceptionRef) -> Vec<(String, SourceSpan)> {
    let Some(traceback) = exception.__traceback__() else {
        return Vec::new();
    };
    let mut out = Vec::new();
    for entry in traceback.iter() {
        let code = &entry.frame.code;
        let Some(unit) = unit_of(code.source_path.as_str()) else {
            continue;
        };
        let named = shared
            .units
            .borrow()
            .get(unit)
            .is_some_and(|unit| unit.name.is_some() || !unit.lines.is_empty());
        // Modules of the library are on the way, but users cannot edit them.
        if !named
            && shared
                .units
                .borrow()
                .get(unit)
                .is_some_and(|unit| unit.source.len() > 10_000)
        {
            continue;
        }
        let what = match code.obj_name.as_str() {
            "<module>" => "in the module".to_owned(),
            "render_body" => "in the template".to_owned(),
            name => match name.strip_prefix("render_") {
                Some(name) => format!("in '{name}'"),
                None => format!("in '{name}'"),
            },
        };
        out.push((what, shared.place(unit, entry.lineno.get())));
    }
    out
}

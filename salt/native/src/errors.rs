//! Errors of the library as Python's exceptions.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use mapstack::{Diagnostic, ErrorKind, Place};
use pyo3::prelude::*;
use pyo3::types::PyType;

/// The class in `mapstack.errors` for a kind of error.
fn class_name(kind: ErrorKind) -> &'static str {
    match kind {
        ErrorKind::Definition => "DefinitionError",
        ErrorKind::Template | ErrorKind::Undefined => "TemplateError",
        ErrorKind::Yaml | ErrorKind::Json | ErrorKind::Toml => "ParseError",
        ErrorKind::DataSource => "DataSourceError",
        ErrorKind::Merge => "MergeError",
        ErrorKind::Options => "OptionsError",
        ErrorKind::Lookup | ErrorKind::Facts => "LookupFailed",
        ErrorKind::File => "FileError",
        ErrorKind::Limit => "LimitError",
        _ => "Error",
    }
}

/// A class of `mapstack.errors`.
pub(crate) fn class<'py>(py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyType>> {
    let class = py.import("mapstack.errors")?.getattr(name)?;
    Ok(class.cast_into::<PyType>()?)
}

fn place_text(place: &Place) -> String {
    format!("{}:{}:{}", place.file, place.line(), place.column())
}

/// A message with its place in front, and its notes on separate lines.
fn text(diagnostic: &Diagnostic) -> String {
    let mut text = match &diagnostic.place {
        Some(place) => format!("{}: {}", place_text(place), diagnostic.message),
        None => diagnostic.message.clone(),
    };
    for step in &diagnostic.trace {
        text.push_str(&format!("\n  {}: {}", place_text(&step.place), step.what));
    }
    for note in &diagnostic.notes {
        text.push_str(&format!("\n  note: {note}"));
    }
    if let Some(help) = &diagnostic.help {
        text.push_str(&format!("\n  help: {help}"));
    }
    text
}

/// The [`text`]s of diagnostics.
pub(crate) fn texts(diagnostics: &[Diagnostic]) -> Vec<String> {
    diagnostics.iter().map(text).collect()
}

/// The exception of an error.
pub(crate) fn exception(py: Python<'_>, error: &mapstack::Error) -> PyErr {
    build(py, error.diagnostic()).unwrap_or_else(|e| e)
}

fn build(py: Python<'_>, diagnostic: &Diagnostic) -> PyResult<PyErr> {
    let place = diagnostic.place.as_ref();
    let template = diagnostic.caused::<mapstack_pyobject::Error>();
    let exception = Exception {
        text: text(diagnostic),
        message: &diagnostic.message,
        help: diagnostic.help.as_deref(),
        missing_function: template.and_then(|e| e.missing_function.as_deref()),
        place: place.map(|place| (Some(&*place.file), place.line(), place.column())),
    };
    exception.instance(py, class_name(diagnostic.kind))
}

/// The exception of a template that was given as text, in the words of Salt's renderer.
pub(crate) fn of_template(py: Python<'_>, error: &mapstack_pyobject::Error) -> PyErr {
    let place = error.place.as_ref();
    let exception = Exception {
        text: error.to_string(),
        message: &error.message,
        help: error.help.as_deref(),
        missing_function: error.missing_function.as_deref(),
        place: place.map(|place| (place.template.as_deref(), place.line(), place.column())),
    };
    exception
        .instance(py, "TemplateError")
        .unwrap_or_else(|e| e)
}

/// The parts of an exception.
struct Exception<'e> {
    text: String,
    message: &'e str,
    help: Option<&'e str>,
    /// The function of Salt that does not exist.
    missing_function: Option<&'e str>,
    /// The file, unless the text has none; the line and the column.
    place: Option<(Option<&'e str>, usize, usize)>,
}

impl Exception<'_> {
    fn instance(self, py: Python<'_>, class_name: &str) -> PyResult<PyErr> {
        let error = class(py, class_name)?.call1((self.text,))?;
        error.setattr("message", self.message)?;
        error.setattr("help", self.help)?;
        error.setattr("missing_function", self.missing_function)?;
        if let Some((file, line, column)) = self.place {
            error.setattr("file", file)?;
            error.setattr("line", line)?;
            error.setattr("column", column)?;
        }
        Ok(PyErr::from_value(error))
    }
}

/// Work without the interpreter's lock. A panic in it, which is a mistake in the library, becomes an exception.
pub(crate) fn without_lock<T: Send>(
    py: Python<'_>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    py.detach(|| catch_unwind(AssertUnwindSafe(work)))
        .map_err(|panic| {
            let message = format!("mapstack panicked: {}", panic_text(&*panic));
            class(py, "InternalError")
                .map_or_else(|e| e, |class| PyErr::from_type(class, (message,)))
        })
}

fn panic_text(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("for an unknown reason")
}

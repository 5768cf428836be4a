//! Files and functions, which templates reach outside themselves.

use std::sync::Arc;

use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result, TemplatePlace};

use super::vm::Vm;

/// The files and functions that a template can reach outside itself. The caller of a render provides it.
///
/// Functions are for dialects whose objects refer to [`HostFunction`](super::HostFunction)s; plain Jinja2 calls none.
pub trait Host {
    /// The source of another template, by its path; `None` if it does not exist.
    ///
    /// # Errors
    /// The template exists and cannot be read.
    fn template(&self, path: &str) -> Result<Option<Arc<str>>>;

    /// Advice with the paths that were searched for a missing template.
    fn missing_template_help(&self, path: &str) -> String {
        format!("no file salt://{path} on the file server")
    }

    /// True if there is a function of this name.
    fn has_function(&self, _name: &str) -> bool {
        false
    }

    /// True if a function that is not here may be on a minion.
    fn is_elsewhere(&self, _name: &str) -> bool {
        false
    }

    /// True if there is any function of this module.
    fn has_module(&self, _module: &str) -> bool {
        false
    }

    /// Call a function.
    ///
    /// # Errors
    /// The exception of the function.
    fn call_function(&self, _vm: &Vm<'_>, name: &str, _args: CallArgs) -> Result<Obj> {
        let message = format!("'{name}' is not available.");
        Err(Error::new(ErrorKind::Nested, message))
    }

    /// Python's view of a path of the machine, if it is known: `False`, a file's bytes, or names.
    fn on_machine(&self, _path: &str) -> Option<Result<mapstack_value::Value>> {
        None
    }

    /// The advice about a function that does not exist.
    fn missing_function_help(&self, _name: &str) -> Option<String> {
        None
    }

    /// A better error for calling a function that does not exist than that it is undefined, if there is one.
    fn unanswered(&self, _name: &str, _args: &CallArgs) -> Option<Box<Error>> {
        None
    }

    /// Apply a filter that accesses the machine; its input is the first argument.
    ///
    /// # Errors
    /// The exception of the filter; `refusal`, perhaps with advice, if templates are not allowed to do this.
    fn host_filter(
        &self,
        _vm: &Vm<'_>,
        _name: &str,
        _args: CallArgs,
        refusal: Box<Error>,
    ) -> Result<Obj> {
        Err(refusal)
    }

    /// Hear that a template asked whether there is a function, or all functions of a module, and got no for an answer.
    ///
    /// `place` is the expression that asked; templates in other languages do not say where they ask.
    fn note_missing_function(&self, _name: &str, _place: Option<TemplatePlace>) {}

    /// Report a message to the user, such as a warning.
    fn log(&self, _level: &str, _message: &str) {}
}

/// A host without templates and functions.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoHost;

impl Host for NoHost {
    fn template(&self, _: &str) -> Result<Option<Arc<str>>> {
        Ok(None)
    }
}

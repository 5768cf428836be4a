//! What is outside of a template.

use std::sync::Arc;

use mapstack_pyobject::{CallArgs, Error, ErrorKind, Obj, Result};

use super::vm::Vm;

/// What a template can reach outside itself. The caller of a render provides it.
///
/// Functions are for dialects whose objects lead to [`HostFunction`](super::HostFunction)s; Jinja2 by itself calls none.
pub trait Host {
    /// The source of another template, by its path; `None` if there is no such template.
    ///
    /// # Errors
    /// The template exists and cannot be read.
    fn template(&self, path: &str) -> Result<Option<Arc<str>>>;

    /// Whether there is a function of this name.
    fn has_function(&self, _name: &str) -> bool {
        false
    }

    /// Whether there is any function of this module.
    fn has_module(&self, _module: &str) -> bool {
        false
    }

    /// Call a function.
    ///
    /// # Errors
    /// What the function raises.
    fn call_function(&self, _vm: &Vm<'_>, name: &str, _args: CallArgs) -> Result<Obj> {
        let message = format!("'{name}' is not available.");
        Err(Error::new(ErrorKind::Nested, message))
    }

    /// What to do about a function that does not exist.
    fn missing_function_help(&self, _name: &str) -> Option<String> {
        None
    }

    /// The error about a call of a function that does not exist, where more can be said of it than
    /// that. A template meets it where the function would be undefined.
    fn unanswered(&self, _name: &str, _args: &CallArgs) -> Option<Box<Error>> {
        None
    }

    /// Apply a filter that looks at the machine; its input is the first argument.
    ///
    /// # Errors
    /// What the filter raises; `refusal`, perhaps with advice, where templates must not do this.
    fn host_filter(
        &self,
        _vm: &Vm<'_>,
        _name: &str,
        _args: CallArgs,
        refusal: Box<Error>,
    ) -> Result<Obj> {
        Err(refusal)
    }

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

//! What is outside of a template.

use std::any::Any;
use std::sync::Arc;

use mapstack_pyobject::{CallArgs, Error, ErrorKind, Interpreter, Obj, Object, Result, Undefined};
use mapstack_value::Str;

use super::charge::Named;
use super::job::call_in_render;
use super::vm::Vm;

/// What a template can reach outside itself. The caller of a render provides it.
///
/// Functions are for dialects whose objects lead to [`HostFunction`]s; Jinja2 by itself calls none.
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

    /// Hand on a message that is no error.
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

/// Times that a function goes over a text: it converts it, takes a key apart, looks for each part, reads a pattern.
const PASSES: usize = 8;

/// A function of the host as an object that templates can call.
#[derive(Clone)]
pub struct HostFunction(Str);

impl HostFunction {
    /// The function of a name, whether or not the host has it.
    #[must_use]
    pub fn object(name: Str) -> Obj {
        Obj::native(HostFunction(name))
    }

    /// Call the function.
    pub(super) fn call_in(&self, vm: &Vm<'_>, args: CallArgs) -> Result<Obj> {
        for _ in 0..PASSES {
            vm.charged(Named::Function, &self.0, None, &args)?;
        }
        vm.made(vm.host().call_function(vm, &self.0, args)?)
    }
}

impl Object for HostFunction {
    fn type_name(&self) -> &'static str {
        "function"
    }

    fn repr(&self) -> Result<String> {
        Ok(format!("<function {}>", self.0))
    }

    fn callable(&self) -> bool {
        true
    }

    fn call(&self, interpreter: &dyn Interpreter, args: CallArgs) -> Result<Obj> {
        let this = self.clone();
        call_in_render(interpreter, move |vm| this.call_in(vm, args))
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(self)
    }
}

/// The error that a call of something undefined raises; the host can say more of a function than that it is missing.
pub(super) fn call_of_undefined(vm: &Vm<'_>, missing: &Undefined, args: &CallArgs) -> Box<Error> {
    let function = missing.function.as_ref().filter(|name| name.contains('.'));
    function
        .and_then(|name| vm.host().unanswered(name, args))
        .unwrap_or_else(|| missing.error())
}

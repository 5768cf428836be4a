//! The functions of a host as objects.

use std::any::Any;

use mapstack_pyobject::{CallArgs, Interpreter, Obj, Object, Result};
use mapstack_value::Str;

use super::job::call_in_render;
use super::named::NamedFunction;
use super::vm::Vm;

/// The most times that a function reads a text: it converts it, splits a key, looks up each part, compiles a pattern.
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
        let reads = || vm.dialect().reads(NamedFunction::Function, &self.0);
        vm.charge_passes(PASSES, reads, None, &args)?;
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

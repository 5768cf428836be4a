//! Work that objects of this crate leave to the render that uses them.
//!
//! Objects know an [`Interpreter`], not a `Vm`. Work that needs a `Vm` is put into a `Job`, which only a `Vm` can run.

use std::any::Any;

use mapstack_pyobject::{Budget, CallArgs, Error, Interpreter, Obj, ObjIter, Result};
use mapstack_value::Str;

use super::vm::Vm;

type JobWork = dyn FnMut(&Vm<'_>) -> Result<Option<Obj>>;

/// Work for a render. Run repeatedly, it is an iterator.
pub(super) struct Job(Box<JobWork>);

impl Job {
    pub fn new(work: impl FnMut(&Vm<'_>) -> Result<Option<Obj>> + 'static) -> Self {
        Job(Box::new(work))
    }
}

impl ObjIter for Job {
    fn next(&mut self, interpreter: &dyn Interpreter) -> Result<Option<Obj>> {
        interpreter.run(self)
    }
}

/// Run an object's work in the render.
///
/// # Errors
/// The exception of the work.
pub fn in_render(
    interpreter: &dyn Interpreter,
    work: impl FnMut(&Vm<'_>) -> Result<Option<Obj>> + 'static,
) -> Result<Option<Obj>> {
    interpreter.run(&mut Job::new(work))
}

/// The same for a call, which has a result and is made once.
///
/// # Errors
/// The exception of the call.
pub fn call_in_render(
    interpreter: &dyn Interpreter,
    call: impl FnOnce(&Vm<'_>) -> Result<Obj> + 'static,
) -> Result<Obj> {
    let mut call = Some(call);
    let mut made = move |vm: &Vm<'_>| call.take().map(|call| call(vm)).transpose();
    in_render(interpreter, move |vm| made(vm)).map(Option::unwrap_or_default)
}

impl Interpreter for Vm<'_> {
    fn budget(&self) -> &Budget<'_> {
        self
    }

    fn strict(&self) -> bool {
        Vm::strict(self)
    }

    fn call(&self, callee: &Obj, args: CallArgs) -> Result<Obj> {
        Vm::call(self, callee, args)
    }

    fn get_attr(&self, object: &Obj, name: &Str) -> Result<Obj> {
        Vm::get_attr(self, object, name)
    }

    fn get_key(&self, object: &Obj, key: &Obj) -> Result<Obj> {
        Vm::get_key(self, object, key)
    }

    fn run(&self, job: &mut dyn Any) -> Result<Option<Obj>> {
        match job.downcast_mut::<Job>() {
            Some(Job(work)) => work(self),
            None => Err(Error::type_error("the object belongs to another language")),
        }
    }
}

//! The interpreter, which runs the code that works on objects.

use std::any::Any;

use mapstack_value::Str;

use crate::budget::Budget;
use crate::limits::Limits;
use crate::limits::Result;
use crate::object::{CallArgs, Obj};
use crate::price::OperandReads;

/// The language that a piece of code is written in, as far as objects ask for it: what it may spend, and how its own
/// callables run.
///
/// A method such as `list.sort(key=…)` calls whatever it is given, be that a macro of a template or a function of the
/// program around it. It cannot know either; it asks this.
pub trait Interpreter {
    /// The budget that is left.
    fn budget(&self) -> &Budget<'_>;

    /// True if every use of something undefined is an error.
    fn strict(&self) -> bool;

    /// `callee(*args)`.
    ///
    /// # Errors
    /// The exception of the call.
    fn call(&self, callee: &Obj, args: CallArgs) -> Result<Obj>;

    /// `object.name` by the rules of the language.
    ///
    /// # Errors
    /// The exception of the language if the attribute may not be read.
    fn get_attr(&self, object: &Obj, name: &Str) -> Result<Obj>;

    /// `object[key]` by the rules of the language.
    ///
    /// # Errors
    /// The exception of the language if the item may not be read.
    fn get_key(&self, object: &Obj, key: &Obj) -> Result<Obj>;

    /// Do work that only the language can do: the language knows the type of `job`.
    ///
    /// # Errors
    /// The exception of the job; a `TypeError` if the language does not know the type.
    fn run(&self, job: &mut dyn Any) -> Result<Option<Obj>>;
}

impl dyn Interpreter + '_ {
    /// The limits.
    pub fn limits(&self) -> &Limits {
        self.budget().limits()
    }

    /// [`Budget::burn`].
    ///
    /// # Errors
    /// A limit error.
    pub fn burn(&self, steps: usize) -> Result<()> {
        self.budget().burn(steps)
    }

    /// [`Budget::pay`].
    ///
    /// # Errors
    /// A limit error.
    pub fn pay(&self, objects: usize, bytes: usize) -> Result<()> {
        self.budget().pay(objects, bytes)
    }

    /// [`Budget::ask_for`].
    ///
    /// # Errors
    /// A limit error.
    pub fn ask_for(&self, bytes: usize) -> Result<()> {
        self.budget().ask_for(bytes)
    }

    /// [`Budget::charge`].
    ///
    /// # Errors
    /// A limit error.
    pub fn charge(
        &self,
        reads: impl FnOnce() -> OperandReads,
        object: Option<&Obj>,
        args: &CallArgs,
    ) -> Result<()> {
        self.budget().charge(reads, object, args)
    }

    /// [`Budget::read_all`].
    ///
    /// # Errors
    /// A limit error.
    pub fn read_all(&self, operands: &[&Obj]) -> Result<()> {
        self.budget().read_all(operands)
    }

    /// [`Budget::made`].
    ///
    /// # Errors
    /// A limit error.
    pub fn made(&self, result: Obj) -> Result<Obj> {
        self.budget().made(result)
    }

    /// [`Budget::settle`].
    ///
    /// # Errors
    /// A limit error.
    pub fn settle(&self, steps: usize) -> Result<()> {
        self.budget().settle(steps)
    }

    /// [`Budget::deeper`].
    ///
    /// # Errors
    /// A limit error, or what `run` returns.
    pub fn deeper<T>(&self, run: impl FnOnce() -> Result<T>) -> Result<T> {
        self.budget().deeper(run)
    }
}

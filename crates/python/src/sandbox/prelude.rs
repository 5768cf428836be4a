//! The names that exist before any template: functions of the minion, and those that code of Mako, modules and
//! renderers needs.
//!
//! It is written in Python, in parts that build on those before them. Most jobs need two of them and cannot tell whether
//! the others are there; so these run when a job needs them, or can tell. A process that serves many jobs prepares
//! everything once.

use std::cell::RefCell;
use std::rc::Rc;

use mapstack_sandbox::protocol::{Bounds, Names, RefusalKind};
use mapstack_value::{Str, Value};
use rustpython_vm::builtins::{PyDictRef, PyStr};
use rustpython_vm::frozen::FrozenLib;
use rustpython_vm::function::FuncArgs;
use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};

use super::shared::{InterpreterState, Service, scope};
use super::{convert, extmods, instrument, jinja, renderers, template, unfold, yaml};
use crate::error::{Error, ErrorKind, Result};

static FROZEN: &FrozenLib = include!(concat!(env!("OUT_DIR"), "/prelude.rs"));
/// The modules that templates may import.
const MODULES: &[&str] = &include!(concat!(env!("OUT_DIR"), "/names.rs"));

/// The names of the parts, in their order.
const PARTS: [&str; 8] = [
    "prelude", "runtime", "imports", "library", "packages", "saltlib", "extmods", "objects",
];

/// The modules that templates import most.
const COMMON: [&str; 8] = [
    "copy",
    "datetime",
    "functools",
    "json",
    "math",
    "re",
    "string",
    "textwrap",
];

/// The bounds of preparing the interpreter.
const WARMING: Bounds = Bounds {
    fuel: 10_000_000,
    output: 0,
    depth: 900,
    time: 600_000,
    memory: 0,
};

/// The parts of the prelude that a job needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PreludeParts {
    /// The parts for templates, which the first jobs have at once.
    Templates,
    /// All parts, and what templates import most. Code that can look at the interpreter finds the same in each session.
    All,
}

/// The parts, and what they run in.
pub(super) struct Prelude {
    globals: PyDictRef,
    /// The needs of the code that has run, or the reason why it did not.
    ran: RefCell<std::result::Result<PreludeParts, String>>,
}

impl Prelude {
    /// Run what templates need.
    pub fn new(shared: &Rc<InterpreterState>, vm: &VirtualMachine) -> Self {
        let (globals, error) = match globals(shared, vm) {
            Ok(globals) => (globals, None),
            Err(error) => (vm.ctx.new_dict(), Some(error)),
        };
        let prelude = Prelude {
            globals,
            ran: RefCell::new(Ok(PreludeParts::Templates)),
        };
        prelude.attempt(vm, || {
            error.map_or(Ok(()), Err)?;
            prelude.run(&PARTS[..2], shared, vm)?;
            prelude.settle(vm)
        });
        prelude
    }

    /// The globals, when what a job needs has run.
    ///
    /// # Errors
    /// A part failed, now or before.
    pub fn with(
        &self,
        needs: PreludeParts,
        shared: &InterpreterState,
        vm: &VirtualMachine,
    ) -> Result<&PyDictRef> {
        self.attempt(vm, || self.complete(needs, shared, vm));
        match &*self.ran.borrow() {
            Ok(_) => Ok(&self.globals),
            Err(why) => Err(Error::new(
                ErrorKind::Broken,
                format!("the Python prelude failed: {why}"),
            )),
        }
    }

    /// Prepare for any job.
    #[cfg(unix)]
    pub fn prepare(&self, shared: &InterpreterState, vm: &VirtualMachine) {
        self.attempt(vm, || {
            self.complete(PreludeParts::All, shared, vm)?;
            self.settle(vm)
        });
    }

    /// Do something that ends the prelude if it fails.
    fn attempt(&self, vm: &VirtualMachine, work: impl FnOnce() -> PyResult<()>) {
        if let Err(error) = work() {
            let mut text = String::new();
            let _ = vm.write_exception(&mut text, &error);
            *self.ran.borrow_mut() = Err(text);
        }
    }

    fn complete(
        &self,
        needs: PreludeParts,
        shared: &InterpreterState,
        vm: &VirtualMachine,
    ) -> PyResult<()> {
        if needs == PreludeParts::Templates || *self.ran.borrow() != Ok(PreludeParts::Templates) {
            return Ok(());
        }
        self.run(&PARTS[2..], shared, vm)?;
        for module in COMMON {
            vm.import(&*vm.ctx.new_str(module), 0)?;
        }
        *self.ran.borrow_mut() = Ok(PreludeParts::All);
        Ok(())
    }

    fn run(&self, parts: &[&str], shared: &InterpreterState, vm: &VirtualMachine) -> PyResult<()> {
        shared.meter.start(&WARMING);
        for name in parts {
            let part = FROZEN.decode().find(|(found, _)| found == name);
            let (_, part) = part.ok_or_else(|| vm.new_runtime_error((*name).to_owned()))?;
            vm.run_code_obj(vm.ctx.new_code(part.code), scope(&self.globals))?;
        }
        Ok(())
    }

    fn settle(&self, vm: &VirtualMachine) -> PyResult<()> {
        self.globals.get_item("settle", vm)?.call((), vm).map(drop)
    }
}

/// The globals in which the parts run, with the functions that they build on.
fn globals(shared: &Rc<InterpreterState>, vm: &VirtualMachine) -> PyResult<PyDictRef> {
    let base = vm.ctx.exceptions.base_exception_type.to_owned();
    let limit_error = vm
        .ctx
        .new_exception_type("template", "LimitError", Some(vec![base]));
    let native = vm.ctx.new_dict();
    for (name, function) in shared.meter.functions(&limit_error, vm) {
        native.set_item(name, function, vm)?;
    }
    native.set_item("tick_name", vm.ctx.new_str(instrument::TICK).into(), vm)?;
    native.set_item("unfold_name", vm.ctx.new_str(unfold::UNFOLD).into(), vm)?;
    let this = shared.clone();
    let note = vm.new_function("note", move |vm: &VirtualMachine| this.note(vm));
    native.set_item("note", note.into(), vm)?;
    native.set_item("note_name", vm.ctx.new_str(instrument::NOTE).into(), vm)?;
    let modules = MODULES
        .iter()
        .map(|name| vm.ctx.new_str(*name).into())
        .collect();
    native.set_item("modules", vm.ctx.new_list(modules).into(), vm)?;
    let globals = vm.ctx.new_dict();
    for (name, function) in host(shared, &globals, vm)
        .into_iter()
        .chain(template::services(shared, &globals, vm))
        .chain(extmods::services(shared, &globals, vm))
        .chain(renderers::services(shared, &globals, vm))
        .chain(jinja::services(vm))
        .chain(yaml::services(vm))
    {
        native.set_item(name, function, vm)?;
    }
    globals.set_item("__builtins__", vm.builtins.clone().into(), vm)?;
    globals.set_item("__name__", vm.ctx.new_str("prelude").into(), vm)?;
    globals.set_item("native", native.into(), vm)?;
    Ok(globals)
}

/// The functions behind the `salt` object.
fn host(shared: &Rc<InterpreterState>, prelude: &PyDictRef, vm: &VirtualMachine) -> Vec<Service> {
    let this = shared.clone();
    let has_function = vm.new_function("has_function", move |name: String| -> bool {
        this.line.has_function(&name)
    });
    let this = shared.clone();
    let has_module = vm.new_function("has_module", move |name: String| -> bool {
        this.line.has_module(&name)
    });
    let (this, names) = (shared.clone(), prelude.clone());
    let call = vm.new_function(
        "call",
        move |args: FuncArgs, vm: &VirtualMachine| -> PyResult {
            let ordered = names.get_item("ordered", vm)?;
            let out = |value: &PyObjectRef| {
                convert::from_python(value, &ordered, vm).map_err(|why| {
                    vm.new_type_error(format!("a function of the minion takes data: {why}"))
                })
            };
            let mut arguments = args.args.iter();
            let name = match arguments
                .next()
                .and_then(|name| name.downcast_ref::<PyStr>())
            {
                Some(name) => name.to_string_lossy().into_owned(),
                None => return Err(vm.new_type_error("the name of a function is text".to_owned())),
            };
            let positional: PyResult<Vec<Value>> = arguments.map(out).collect();
            let keywords: PyResult<Names> = args
                .kwargs
                .iter()
                .map(|(name, value)| Ok((Str::from(name.as_str()), out(value)?)))
                .collect();
            let (positional, keywords) = (positional?, keywords?);
            match this.ask(|line| line.call(&name, positional, keywords)) {
                Ok(value) => convert::to_python(&value, &ordered, vm),
                Err(error)
                    if matches!(error.kind, ErrorKind::Refused(_, RefusalKind::Unanswered)) =>
                {
                    Err(this.give_up(*error, &names, vm))
                }
                Err(error) => Err(this.raise(*error, "CommandExecutionError", &names, vm)),
            }
        },
    );
    vec![
        ("has_function", has_function.into()),
        ("has_module", has_module.into()),
        ("call", call.into()),
    ]
}

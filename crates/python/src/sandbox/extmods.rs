//! Functions of the modules that a tree ships for Salt's loaders.
//!
//! The part in Python loads them as Salt's loader does. A module asks the command for others; so a module that calls
//! another one of the tree does so in the same session.

use std::rc::Rc;

use mapstack_sandbox::protocol::{FunctionAnswer, FunctionJob, JobOutcome, Loader};
use mapstack_value::{Str, Value};
use rustpython_vm::builtins::{PyDictRef, PyList, PyStr, PyTuple};
use rustpython_vm::function::{FuncArgs, KwArgs};
use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};

use super::convert;
use super::shared::{InterpreterState, JobEnd, Service};
use super::unit::Unit;
use crate::error::{Error, ErrorKind, Result};

/// The names of the modules of `salt.utils` and some others, from Salt 3008.3.
const SALT_MODULES: &str = include_str!("salt_modules.txt");

/// The services that the part in Python builds on.
pub(super) fn services(
    shared: &Rc<InterpreterState>,
    prelude: &PyDictRef,
    vm: &VirtualMachine,
) -> Vec<Service> {
    vec![
        ("unavailable", unavailable(shared, prelude, vm)),
        ("fact", fact(shared, prelude, vm)),
        ("machine", machine(shared, prelude, vm)),
        ("find", find(shared, prelude, vm)),
        ("run_unit", run_unit(shared, prelude, vm)),
        ("by_chance", by_chance(shared, vm)),
        ("salt_modules", vm.ctx.new_str(SALT_MODULES).into()),
    ]
}

/// Ends the job with a message.
fn unavailable(
    shared: &Rc<InterpreterState>,
    prelude: &PyDictRef,
    vm: &VirtualMachine,
) -> PyObjectRef {
    let (this, names) = (shared.clone(), prelude.clone());
    let unavailable = move |message: String, vm: &VirtualMachine| -> PyResult<()> {
        let error = Error::new(ErrorKind::Unavailable, message);
        Err(this.give_up(*error, &names, vm))
    };
    vm.new_function("unavailable", unavailable).into()
}

/// Notes that the job looks at what differs from run to run.
fn by_chance(shared: &Rc<InterpreterState>, vm: &VirtualMachine) -> PyObjectRef {
    let this = shared.clone();
    let by_chance = move || this.is_by_chance.set(true);
    vm.new_function("by_chance", by_chance).into()
}

/// One of the minion's dicts, such as `__grains__`.
fn fact(shared: &Rc<InterpreterState>, prelude: &PyDictRef, vm: &VirtualMachine) -> PyObjectRef {
    let (this, names) = (shared.clone(), prelude.clone());
    let fact = move |name: String, vm: &VirtualMachine| -> PyResult {
        let value = this.require(|line| line.fact(&name), &names, vm)?;
        let ordered = names.get_item("ordered", vm)?;
        convert::to_python(&value, &ordered, vm)
    };
    vm.new_function("fact", fact).into()
}

/// Read a path of the machine.
fn machine(shared: &Rc<InterpreterState>, prelude: &PyDictRef, vm: &VirtualMachine) -> PyObjectRef {
    let (this, names) = (shared.clone(), prelude.clone());
    let machine = move |path: String, vm: &VirtualMachine| -> PyResult {
        let found = this.require(|line| line.machine(&path), &names, vm)?;
        convert::to_python(&found, &vm.ctx.none(), vm)
    };
    vm.new_function("machine", machine).into()
}

/// The files that a loader has for a name, as tuples of a path, a text and a unit; and whether it knows the name.
fn find(shared: &Rc<InterpreterState>, prelude: &PyDictRef, vm: &VirtualMachine) -> PyObjectRef {
    let (this, names) = (shared.clone(), prelude.clone());
    let find = move |loader: String, name: String, vm: &VirtualMachine| -> PyResult {
        let Some(loader) = loader_of(&loader) else {
            return Err(vm.new_value_error(format!("unknown loader '{loader}'")));
        };
        let found = this.require(|line| line.find(loader, &name), &names, vm)?;
        let sources = found.sources.into_iter().map(|source| {
            let number = vm
                .ctx
                .new_int(this.unit_of_source(&source.name, &source.text));
            let path = vm.ctx.new_str(&*source.name);
            let text = vm.ctx.new_str(&*source.text);
            vm.ctx
                .new_tuple(vec![path.into(), text.into(), number.into()])
                .into()
        });
        let sources = vm.ctx.new_list(sources.collect());
        let is_known = vm.ctx.new_bool(found.is_known);
        Ok(vm
            .ctx
            .new_tuple(vec![sources.into(), is_known.into()])
            .into())
    };
    vm.new_function("find", find).into()
}

/// Runs a unit's source in a dict of globals.
fn run_unit(
    shared: &Rc<InterpreterState>,
    prelude: &PyDictRef,
    vm: &VirtualMachine,
) -> PyObjectRef {
    let (this, names) = (shared.clone(), prelude.clone());
    let run_unit = move |unit: usize, globals: PyDictRef, vm: &VirtualMachine| -> PyResult<()> {
        let source = this
            .units
            .borrow()
            .get(unit)
            .map(|unit| unit.source.clone());
        this.run_code(
            source.as_deref().unwrap_or_default(),
            unit,
            &globals,
            &names,
            vm,
        )
    };
    vm.new_function("run_unit", run_unit).into()
}

/// Let code find what a minion's Python has. `grains` are those of a job whose command does not answer for facts.
pub(super) fn enter_module_mode(
    prelude: &PyDictRef,
    grains: Option<PyObjectRef>,
    vm: &VirtualMachine,
) -> PyResult<()> {
    let grains = grains.unwrap_or_else(|| vm.ctx.none());
    let enter = prelude.get_item("enter_module_mode", vm)?;
    enter.call((grains,), vm).map(drop)
}

fn loader_of(name: &str) -> Option<Loader> {
    let mut all = Loader::ALL.into_iter();
    all.find(|loader| loader.directory().trim_start_matches('_') == name)
}

/// Do a job.
pub(super) fn perform(
    shared: &Rc<InterpreterState>,
    prelude: &PyDictRef,
    job: &FunctionJob,
    vm: &VirtualMachine,
) -> Result<JobOutcome, JobEnd> {
    let ordered = prelude.get_item("ordered", vm)?;
    let arguments: PyResult<Vec<_>> = job
        .arguments
        .iter()
        .map(|argument| convert::to_python(argument, &ordered, vm))
        .collect();
    let arguments = arguments?;
    let keywords = vm.ctx.new_dict();
    for (name, value) in &job.keywords {
        keywords.set_item(&**name, convert::to_python(value, &ordered, vm)?, vm)?;
    }
    let function = match &job.function {
        Some(function) => vm.ctx.new_str(&**function).into(),
        None => vm.ctx.none(),
    };
    let loader = vm
        .ctx
        .new_str(job.loader.directory().trim_start_matches('_'));
    let given: Vec<PyObjectRef> = vec![
        loader.into(),
        vm.ctx.new_str(&*job.module).into(),
        function,
        vm.ctx.new_tuple(arguments.clone()).into(),
        keywords.into(),
    ];
    let came = prelude
        .get_item("load_and_call", vm)?
        .call(FuncArgs::new(given, KwArgs::default()), vm)?;
    let answer = answer(shared, &came, &ordered, vm)?;
    let mut changed = Vec::new();
    for (number, (now, before)) in arguments.iter().zip(&job.arguments).enumerate() {
        let now = convert::from_python(now, &ordered, vm).map_err(|why| {
            not_data(
                &format!("what the function left in argument {number}"),
                &why,
            )
        })?;
        if !now.is_same(before) {
            changed.push((number, now));
        }
    }
    Ok(JobOutcome::Function { answer, changed })
}

/// The answer of the part in Python about a job.
pub(super) fn answer(
    shared: &InterpreterState,
    came: &PyObjectRef,
    ordered: &PyObjectRef,
    vm: &VirtualMachine,
) -> Result<FunctionAnswer, JobEnd> {
    let broken = || Error::new(ErrorKind::Broken, "the loader of modules failed");
    let pair = came.downcast_ref::<PyTuple>().ok_or_else(broken)?;
    let [kind, what] = pair.as_slice() else {
        return Err(broken().into());
    };
    let kind = kind.downcast_ref::<PyStr>().ok_or_else(broken)?;
    let text = |object: &PyObjectRef| {
        let text = object.downcast_ref::<PyStr>();
        text.map(|text| text.to_string_lossy().into_owned())
    };
    Ok(match &*kind.to_string_lossy() {
        "missing" => FunctionAnswer::Missing(text(what)),
        "text" => FunctionAnswer::Text(text(what).ok_or_else(broken)?),
        "names" => {
            let names = what.downcast_ref::<PyList>().ok_or_else(broken)?;
            let names = names.borrow_vec();
            let names = names.iter().filter_map(text).map(Str::from);
            FunctionAnswer::Names(names.collect())
        }
        _ => FunctionAnswer::Value(returned(shared, what, ordered, vm)?),
    })
}

fn returned(
    shared: &InterpreterState,
    what: &PyObjectRef,
    ordered: &PyObjectRef,
    vm: &VirtualMachine,
) -> Result<Value, JobEnd> {
    // A placeholder for a missing answer reports the reason itself.
    if let Some(error) = shared.given_up() {
        return Err(error.into());
    }
    convert::from_python(what, ordered, vm)
        .map_err(|why| not_data("what the function returns", &why).into())
}

fn not_data(what: &str, why: &str) -> Box<Error> {
    Error::new(
        ErrorKind::Unavailable,
        format!("{what} cannot be given to a template: {why}"),
    )
}

impl InterpreterState {
    /// The unit of a source that the command sent.
    pub(super) fn unit_of_source(&self, name: &Str, text: &std::sync::Arc<str>) -> usize {
        self.unit(Unit {
            name: Some(name.clone()),
            source: text.clone(),
            lines: Vec::new(),
        })
    }
}

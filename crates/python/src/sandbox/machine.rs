//! One interpreter on its thread: set up once, then job after job.

use std::rc::Rc;

use mapstack_python_protocol::{Bounds, Job, JobOutcome, ModuleJob, Names, RefusalKind};
use mapstack_value::{Str, Value};
use rustpython_vm::builtins::{PyDictRef, PyFunction, PyStr};
use rustpython_vm::compiler::Mode;
use rustpython_vm::frozen::FrozenLib;
use rustpython_vm::function::FuncArgs;
use rustpython_vm::{Interpreter, PyObjectRef, PyResult, Settings, VirtualMachine};

use super::instrument;
use super::shared::{Raised, Service, Shared, left, scope};
use super::unit::{MAX_DEPTH, Unit};
use super::{Line, convert, extmods, failure, renderers, template, unfold};
use crate::error::{Error, ErrorKind, Result};

/// The modules that templates may import, compiled.
static FROZEN: &FrozenLib = include!(concat!(env!("OUT_DIR"), "/frozen.rs"));
const FROZEN_NAMES: &[&str] = &include!(concat!(env!("OUT_DIR"), "/names.rs"));
const PRELUDE: &str = include_str!("prelude.py");

/// What preparing the interpreter may take.
const WARMING: Bounds = Bounds {
    fuel: 10_000_000,
    output: 0,
    depth: 900,
    time: 600_000,
    memory: 0,
};

/// An interpreter with its sandbox.
pub(crate) struct Machine {
    interpreter: Interpreter,
    shared: Rc<Shared>,
    /// The prelude's globals, or why it did not run.
    prelude: std::result::Result<PyDictRef, String>,
}

impl Machine {
    pub(crate) fn new() -> Self {
        let mut settings = Settings::default();
        settings.install_signal_handlers = false;
        settings.ignore_environment = true;
        settings.isolated = true;
        settings.import_site = false;
        settings.hash_seed = Some(0);
        settings.allow_external_library = false;
        let builder = Interpreter::builder(settings);
        let modules = rustpython_stdlib::stdlib_module_defs(&builder.ctx);
        let interpreter = builder
            .add_native_modules(&modules)
            .add_frozen_modules(FROZEN)
            .build();
        let shared = Rc::new(Shared::new());
        let prelude = interpreter.enter(|vm| {
            shared.meter.start(&WARMING);
            prelude(&shared, vm).map_err(|error| {
                let mut text = String::new();
                let _ = vm.write_exception(&mut text, &error);
                text
            })
        });
        Machine {
            interpreter,
            shared,
            prelude,
        }
    }

    /// The line to the command.
    pub(crate) fn line(&self) -> &Line {
        &self.shared.line
    }

    /// Do a job.
    pub(crate) fn perform(&self, job: Job, bounds: &Bounds) -> JobOutcome {
        let outcome = self
            .interpreter
            .enter(|vm| self.perform_in(job, bounds, vm));
        outcome.unwrap_or_else(|error| JobOutcome::Failed {
            failure: self.shared.line.failure(&error),
            changed: Names::new(),
        })
    }

    fn perform_in(&self, job: Job, bounds: &Bounds, vm: &VirtualMachine) -> Result<JobOutcome> {
        let prelude = match &self.prelude {
            Ok(prelude) => prelude,
            Err(why) => {
                return Err(Error::new(
                    ErrorKind::Broken,
                    format!("the Python prelude failed: {why}"),
                ));
            }
        };
        self.shared.meter.start(bounds);
        self.shared.failures.borrow_mut().clear();
        vm.recursion_limit.set(
            usize::try_from(bounds.depth)
                .unwrap_or(MAX_DEPTH)
                .clamp(20, MAX_DEPTH),
        );
        let forgotten = prelude
            .get_item("forget", vm)
            .and_then(|forget| forget.call((), vm));
        forgotten.map_err(|exception| failure::error(&self.shared, &exception, vm))?;
        let performed = match job {
            Job::Module(job) => self.module(prelude, job, vm),
            Job::Template(job) => template::render(&self.shared, prelude, &job, vm),
            Job::Compile(job) => {
                template::compile(&self.shared, prelude, &job, vm).map(JobOutcome::Compiled)
            }
            Job::Function(job) => extmods::perform(&self.shared, prelude, &job, vm),
            Job::Render(job) => renderers::perform(&self.shared, prelude, &job, vm),
        };
        performed
            .map_err(|raised| raised.into_error(&self.shared, vm))
            .and_then(|outcome| match self.shared.meter.broken() {
                // Code can swallow the exception, but not go on.
                Some(why) => {
                    let (unit, line) = self.shared.meter.broken_at().unwrap_or((template::MAIN, 1));
                    Err(Error::limit(why).at(|| self.shared.place(unit, line)))
                }
                None => Ok(outcome),
            })
            // Nor turn what nothing is known of into something else.
            .map_or_else(
                |error| Err(self.shared.given_up().unwrap_or(error)),
                |outcome| self.shared.given_up().map_or(Ok(outcome), Err),
            )
    }

    /// A module whose `run()` returns data, as Salt's `py` renderer has it.
    fn module(
        &self,
        prelude: &PyDictRef,
        job: ModuleJob,
        vm: &VirtualMachine,
    ) -> Result<JobOutcome, Raised> {
        let shared = &self.shared;
        let unit = template::MAIN;
        let code = match &job.compiled {
            Some(compiled) => template::unpacked(shared, compiled, (&job.name, &job.source), vm)?,
            None => {
                shared.set_unit(
                    unit,
                    Unit {
                        name: job.name,
                        source: job.source.clone(),
                        lines: Vec::new(),
                    },
                );
                vm.ctx.new_code(shared.compile(&job.source, unit)?)
            }
        };
        let globals = vm.ctx.new_dict();
        globals.set_item("__builtins__", prelude.get_item("BUILTINS", vm)?, vm)?;
        globals.set_item("__name__", vm.ctx.new_str("template").into(), vm)?;
        vm.run_code_obj(code, scope(&globals))?;
        let ordered = prelude.get_item("ordered", vm)?;
        let given = vm.ctx.new_dict();
        for (name, value) in &job.variables {
            let value = convert::to_python(value, &ordered, vm)?;
            given.set_item(&**name, value.clone(), vm)?;
            globals.set_item(&**name, value, vm)?;
        }
        let functions = prelude.get_item("functions", vm)?;
        for name in ["__salt__", "salt"] {
            globals.set_item(name, functions.clone(), vm)?;
        }
        let run = run_of(&globals, vm)?;
        let result = run.call((), vm)?;
        let value = convert::from_python(&result, &ordered, vm).map_err(|why| {
            let place = run
                .downcast_ref::<PyFunction>()
                .map(|_| shared.place(unit, 1));
            let mut error = Error::raised(
                "TypeError",
                format!("run() returned a value that is not data: {why}"),
            );
            error.place = place;
            Raised::Error(error)
        })?;
        let changed = left(&given, &job.changed, &job.variables, &ordered, vm)?;
        Ok(JobOutcome::Value { value, changed })
    }
}

/// Run the prelude, with the functions it builds on.
fn prelude(shared: &Rc<Shared>, vm: &VirtualMachine) -> PyResult<PyDictRef> {
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
    let modules = FROZEN_NAMES
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
    {
        native.set_item(name, function, vm)?;
    }
    globals.set_item("__builtins__", vm.builtins.clone().into(), vm)?;
    globals.set_item("__name__", vm.ctx.new_str("prelude").into(), vm)?;
    globals.set_item("native", native.into(), vm)?;
    for (part, name) in [
        (PRELUDE, "<prelude>"),
        (template::RUNTIME, "<mako>"),
        (extmods::EXTMODS, "<modules>"),
        (renderers::OBJECTS, "<objects>"),
    ] {
        let code = vm
            .compile(part, Mode::Exec, name.to_owned())
            .map_err(|error| {
                vm.new_runtime_error(format!("{error} at {:?}", error.python_location()))
            })?;
        vm.run_code_obj(code, scope(&globals))?;
    }
    Ok(globals)
}

/// The function `run` of a module.
fn run_of(globals: &PyDictRef, vm: &VirtualMachine) -> Result<PyObjectRef, Raised> {
    globals.get_item_opt("run", vm)?.ok_or_else(|| {
        let error = Error::raised(
            "AttributeError",
            "AttributeError: the module has no function 'run'",
        );
        Raised::Error(error.with_help("define 'def run():' and return the data from it"))
    })
}

/// The functions behind the `salt` object.
fn host(shared: &Rc<Shared>, prelude: &PyDictRef, vm: &VirtualMachine) -> Vec<Service> {
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
                    if this.is_of_tree.get()
                        && matches!(error.kind, ErrorKind::Refused(_, RefusalKind::Unanswered)) =>
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

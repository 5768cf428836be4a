//! One interpreter on its thread: set up once, then job after job.

use std::rc::Rc;

use mapstack_sandbox::protocol::{Bounds, Job, JobOutcome, JobUsage, ModuleJob, Names};
use rustpython_vm::builtins::{PyDictRef, PyFunction};
use rustpython_vm::frozen::FrozenLib;
use rustpython_vm::{Interpreter, PyObjectRef, Settings, VirtualMachine};

use super::prelude::{Prelude, PreludeParts};
use super::shared::{InterpreterState, JobEnd, left, scope};
use super::unit::{MAX_DEPTH, Unit};
use super::{SessionLine, convert, extmods, failure, renderers, template};
use crate::error::{Error, Result};

/// The modules that templates may import, compiled.
static FROZEN: &FrozenLib = include!(concat!(env!("OUT_DIR"), "/python.rs"));

/// An interpreter with its sandbox.
pub(crate) struct Machine {
    interpreter: Interpreter,
    shared: Rc<InterpreterState>,
    prelude: Prelude,
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
        let shared = Rc::new(InterpreterState::new());
        let prelude = interpreter.enter(|vm| Prelude::new(&shared, vm));
        Machine {
            interpreter,
            shared,
            prelude,
        }
    }

    /// The line to the command.
    pub(crate) fn line(&self) -> &SessionLine {
        &self.shared.line
    }

    /// The resources that the last job took.
    pub(crate) fn taken(&self) -> JobUsage {
        JobUsage {
            steps: self.shared.meter.spent(),
            is_by_chance: self.shared.is_by_chance.get(),
        }
    }

    /// Prepare for many jobs of all kinds.
    #[cfg(unix)]
    pub(crate) fn prepare(&self) {
        self.interpreter
            .enter(|vm| self.prelude.prepare(&self.shared, vm));
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
        let needs = if job.is_pure() {
            PreludeParts::Templates
        } else {
            PreludeParts::All
        };
        let prelude = self.prelude.with(needs, &self.shared, vm)?;
        self.shared.meter.start(bounds);
        self.shared.failures.borrow_mut().clear();
        self.shared.is_by_chance.set(false);
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
            // Nor turn what nothing is known about into something else.
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
    ) -> Result<JobOutcome, JobEnd> {
        let shared = &self.shared;
        let unit = template::MAIN;
        let code = match &job.compiled {
            Some(compiled) => template::unpacked(shared, compiled, &job.name, &job.source, vm)?,
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
        let ordered = prelude.get_item("ordered", vm)?;
        let given = vm.ctx.new_dict();
        for (name, value) in &job.variables {
            given.set_item(&**name, convert::to_python(value, &ordered, vm)?, vm)?;
        }
        if !job.is_pure {
            let grains = given.get_item_opt("__grains__", vm)?;
            extmods::enter_module_mode(prelude, grains, vm)?;
        }
        vm.run_code_obj(code, scope(&globals))?;
        for (name, _) in &job.variables {
            globals.set_item(&**name, given.get_item(&**name, vm)?, vm)?;
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
            JobEnd::Error(error)
        })?;
        let changed = left(&given, &job.changed, &job.variables, &ordered, vm)?;
        Ok(JobOutcome::Value { value, changed })
    }
}

/// The function `run` of a module.
fn run_of(globals: &PyDictRef, vm: &VirtualMachine) -> Result<PyObjectRef, JobEnd> {
    globals.get_item_opt("run", vm)?.ok_or_else(|| {
        let error = Error::raised(
            "AttributeError",
            "AttributeError: the module has no function 'run'",
        );
        JobEnd::Error(error.with_help("define 'def run():' and return the data from it"))
    })
}

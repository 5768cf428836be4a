//! One interpreter on its thread: set up once, then job after job.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use mapstack_python_protocol::{
    Bounds, Job, JobOutcome, Lookup, ModuleJob, Names, RefusalKind, Span,
};
use mapstack_value::{Str, Value};
use ruff_source_file::SourceFileBuilder;
use rustpython_vm::builtins::{PyBaseExceptionRef, PyDictRef, PyFunction, PyStr};
use rustpython_vm::bytecode::CodeObject;
use rustpython_vm::compiler::ast::{Mod, ModModule};
use rustpython_vm::compiler::codegen::compile::compile_top;
use rustpython_vm::compiler::parser;
use rustpython_vm::compiler::{CompileOpts, Mode};
use rustpython_vm::frozen::FrozenLib;
use rustpython_vm::function::{ArgMapping, FuncArgs};
use rustpython_vm::scope::Scope;
use rustpython_vm::{AsObject, Interpreter, PyObjectRef, PyResult, Settings, VirtualMachine};

use super::instrument;
use super::meter::Meter;
use super::{Line, convert, extmods, failure, span, template, unfold};
use crate::error::{Error, ErrorKind, Result, SourceSpan};

/// The modules that templates may import, compiled.
static FROZEN: &FrozenLib = include!(concat!(env!("OUT_DIR"), "/frozen.rs"));
const FROZEN_NAMES: &[&str] = &include!(concat!(env!("OUT_DIR"), "/names.rs"));
const PRELUDE: &str = include_str!("prelude.py");

/// A text that was compiled, and where its lines come from.
pub(crate) struct Unit {
    pub(crate) name: Option<Str>,
    pub(crate) source: Arc<str>,
    /// The span in the source behind each line of code; empty where they are the same lines.
    pub(crate) lines: Vec<Option<Span>>,
}

impl Unit {
    /// The place of a line of the code, counted from 1.
    pub(crate) fn place(&self, line: usize) -> SourceSpan {
        SourceSpan {
            template: self.name.clone(),
            source: self.source.clone(),
            span: self.span(line),
        }
    }

    /// The part of the source that a line of the code was made from; none for a line that only holds code together.
    fn own_span(&self, line: usize) -> Option<Span> {
        if self.lines.is_empty() {
            return Some(line_span(&self.source, line));
        }
        *self.lines.get(line.checked_sub(1)?)?
    }

    /// The part of the source behind a line of the code, counted from 1.
    fn span(&self, line: usize) -> Span {
        if self.lines.is_empty() {
            return line_span(&self.source, line);
        }
        let before = self
            .lines
            .get(..line.min(self.lines.len()))
            .unwrap_or_default();
        before
            .iter()
            .rev()
            .find_map(|span| *span)
            .unwrap_or(Span { start: 0, end: 0 })
    }
}

/// A line's text without its indentation.
pub(crate) fn line_span(source: &str, line: usize) -> Span {
    let mut start = 0;
    for (at, text) in source.split_inclusive('\n').enumerate() {
        if at + 1 == line {
            let indent = text.len() - text.trim_start().len();
            let length = text.trim_end().len().max(indent);
            return span(start + indent, start + length);
        }
        start += text.len();
    }
    span(source.len(), source.len())
}

/// What the functions of one interpreter share.
pub(crate) struct Shared {
    pub(crate) line: Line,
    pub(crate) meter: Rc<Meter>,
    pub(crate) units: RefCell<Vec<Unit>>,
    /// Errors that became exceptions on their way through Python.
    pub(crate) failures: RefCell<Vec<Error>>,
    pub(crate) marks: RefCell<template::Marks>,
    /// How the current job reads further templates: the way, and whether names are strict.
    pub(crate) lookup: Cell<(Lookup, bool)>,
    /// Whether the job is of the tree's modules, for which calls that nothing answers end the job.
    pub(crate) is_of_tree: Cell<bool>,
    /// Why nothing is known of what the job would do; set once, it stays.
    unavailable: RefCell<Option<Error>>,
}

const SYNTAX: ErrorKind = ErrorKind::Raised(Cow::Borrowed("SyntaxError"));

/// What preparing the interpreter may take.
const WARMING: Bounds = Bounds {
    fuel: 10_000_000,
    output: 0,
    depth: 900,
    time: 600_000,
    memory: 0,
};
/// Calls inside each other that the stack has room for.
const MAX_DEPTH: usize = 900;

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
        let shared = Rc::new(Shared {
            line: Line::default(),
            meter: Rc::new(Meter::new()),
            // The first unit is the job's.
            units: RefCell::new(vec![Unit {
                name: None,
                source: "".into(),
                lines: Vec::new(),
            }]),
            failures: RefCell::default(),
            marks: RefCell::default(),
            lookup: Cell::default(),
            is_of_tree: Cell::new(false),
            unavailable: RefCell::default(),
        });
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
        };
        performed
            .map_err(|raised| match raised {
                Raised::Error(error) => error,
                Raised::Exception(exception) => failure::error(&self.shared, &exception, vm),
            })
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
        let Some(run) = globals.get_item_opt("run", vm)? else {
            let error = Error::raised(
                "AttributeError",
                "AttributeError: the module has no function 'run'",
            );
            return Err(Raised::Error(
                error.with_help("define 'def run():' and return the data from it"),
            ));
        };
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

/// What code has left in variables that it was given, where that is something else.
pub(crate) fn left(
    given: &PyDictRef,
    names: &[Str],
    before: &Names,
    ordered: &PyObjectRef,
    vm: &VirtualMachine,
) -> Result<Names, Raised> {
    let mut changed = Vec::new();
    for name in names {
        if let Some(value) = given.get_item_opt(&**name, vm)? {
            let value = convert::from_python(&value, ordered, vm).map_err(|why| {
                Raised::Error(Error::new(
                    ErrorKind::Raised("TypeError".into()),
                    format!("the value that the template left in '{name}' is not data: {why}"),
                ))
            })?;
            let same = before
                .iter()
                .rfind(|(known, _)| known == name)
                .is_some_and(|(_, before)| value.is_same(before));
            if !same {
                changed.push((name.clone(), value));
            }
        }
    }
    Ok(changed)
}

/// What ended a job.
pub(crate) enum Raised {
    Error(Box<Error>),
    Exception(PyBaseExceptionRef),
}

impl From<Box<Error>> for Raised {
    fn from(error: Box<Error>) -> Self {
        Raised::Error(error)
    }
}

impl From<PyBaseExceptionRef> for Raised {
    fn from(exception: PyBaseExceptionRef) -> Self {
        Raised::Exception(exception)
    }
}

pub(crate) fn scope(globals: &PyDictRef) -> Scope {
    Scope::new(
        Some(ArgMapping::from_dict_exact(globals.clone())),
        globals.clone(),
    )
}

/// What the source of a unit is called inside the interpreter.
fn unit_path(unit: usize) -> String {
    format!("<unit {unit}>")
}

/// The unit and the line of the template's code that runs, or that called what runs.
pub(crate) fn current_line(vm: &VirtualMachine) -> Option<(usize, usize)> {
    let frames = std::iter::successors(vm.current_frame(), |frame| frame.f_back(vm));
    frames.take(MAX_DEPTH).find_map(|frame| {
        let unit = unit_of(frame.code.source_path.as_str())?;
        Some((unit, frame.current_location().line.get()))
    })
}

/// The unit that a path names.
pub(crate) fn unit_of(path: &str) -> Option<usize> {
    path.strip_prefix("<unit ")?.strip_suffix('>')?.parse().ok()
}

impl Shared {
    /// Register a text that is about to be compiled.
    pub(crate) fn unit(&self, unit: Unit) -> usize {
        let mut units = self.units.borrow_mut();
        units.push(unit);
        units.len() - 1
    }

    /// Say what a unit is that has its number already.
    pub(crate) fn set_unit(&self, number: usize, unit: Unit) {
        if let Some(known) = self.units.borrow_mut().get_mut(number) {
            *known = unit;
        }
    }

    pub(crate) fn place(&self, unit: usize, line: usize) -> SourceSpan {
        let units = self.units.borrow();
        match units.get(unit) {
            Some(unit) => unit.place(line),
            None => SourceSpan {
                template: None,
                source: "".into(),
                span: Span { start: 0, end: 0 },
            },
        }
    }

    /// Note where the code is that runs.
    fn note(&self, vm: &VirtualMachine) {
        let Some((unit, line)) = current_line(vm) else {
            return;
        };
        let units = self.units.borrow();
        // A line of the frame around the template, such as its `finally:`, runs after the statement to blame.
        if let Some(unit) = units.get(unit)
            && let Some(span) = unit.own_span(line)
        {
            self.line.note(&unit.source, span);
        }
    }

    /// Compile code of a unit, rewritten so that it spends steps.
    pub(crate) fn compile(&self, code: &str, unit: usize) -> Result<CodeObject> {
        let module = self.parse(code, unit)?;
        self.assemble(module, code, unit)
    }

    /// The syntax tree of a unit's code, rewritten so that it spends steps.
    pub(crate) fn parse(&self, code: &str, unit: usize) -> Result<ModModule> {
        let line_at = |offset: usize| crate::error::line_of(code, offset);
        let fail = |message: String, kind: ErrorKind, line: usize| {
            Error::new(kind, message).at(|| self.place(unit, line))
        };
        let parsed = parser::parse_module(code).map_err(|error| {
            let line = line_at(error.location.start().to_usize());
            fail(format!("SyntaxError: {}", error.error), SYNTAX, line)
        })?;
        let mut module = parsed.into_syntax();
        instrument::module(&mut module).map_err(|deep| {
            fail(
                "the code is nested too deeply".to_owned(),
                ErrorKind::Limit,
                line_at(deep.offset),
            )
        })?;
        Ok(module)
    }

    /// A unit's code from its syntax tree.
    pub(crate) fn assemble(
        &self,
        mut module: ModModule,
        code: &str,
        unit: usize,
    ) -> Result<CodeObject> {
        unfold::module(&mut module);
        let file = SourceFileBuilder::new(unit_path(unit), code).finish();
        compile_top(
            Mod::Module(module),
            file,
            Mode::Exec,
            CompileOpts::default(),
        )
        .map_err(|error| {
            let line = error.location.map_or(1, |location| location.line.get());
            Error::new(SYNTAX, format!("SyntaxError: {}", error.error))
                .at(|| self.place(unit, line))
        })
    }

    /// End the job with an error that code cannot catch for good.
    pub(crate) fn give_up(
        &self,
        mut error: Error,
        prelude: &PyDictRef,
        vm: &VirtualMachine,
    ) -> PyBaseExceptionRef {
        if error.place.is_none() {
            error.place = extmods::innermost(self, vm);
        }
        self.unavailable
            .borrow_mut()
            .get_or_insert_with(|| error.clone());
        self.raise(error, "Unavailable", prelude, vm)
    }

    /// Why nothing is known of what the job would do, if so.
    pub(crate) fn given_up(&self) -> Option<Box<Error>> {
        self.unavailable.borrow().clone().map(Box::new)
    }

    /// An error as an exception that remembers it.
    pub(crate) fn raise(
        &self,
        error: Error,
        class: &str,
        prelude: &PyDictRef,
        vm: &VirtualMachine,
    ) -> PyBaseExceptionRef {
        let message = error.message.clone();
        let mut failures = self.failures.borrow_mut();
        failures.push(error);
        let number = failures.len() - 1;
        let made = prelude
            .get_item_opt(class, vm)
            .ok()
            .flatten()
            .and_then(|class| class.call((message.clone(),), vm).ok())
            .and_then(|made| made.downcast().ok());
        match made {
            Some(exception) => {
                let exception: PyBaseExceptionRef = exception;
                let _ = exception
                    .as_object()
                    .set_attr("_failure", vm.ctx.new_int(number), vm);
                exception
            }
            None => vm.new_runtime_error(message),
        }
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

/// The functions behind the `salt` object.
fn host(
    shared: &Rc<Shared>,
    prelude: &PyDictRef,
    vm: &VirtualMachine,
) -> Vec<(&'static str, PyObjectRef)> {
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
            let called = this.line.call(&name, positional?, keywords?);
            this.meter.pause(this.line.waited());
            match called {
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

//! The state that the functions of one interpreter share.

use std::borrow::Cow;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::rc::Rc;

use foldhash::fast::RandomState;
use mapstack_sandbox::protocol::{Lookup, Names, Span};
use mapstack_value::Str;
use ruff_source_file::SourceFileBuilder;
use rustpython_vm::builtins::{PyBaseExceptionRef, PyDictRef};
use rustpython_vm::bytecode::CodeObject;
use rustpython_vm::compiler::ast::{Mod, ModModule};
use rustpython_vm::compiler::codegen::compile::compile_top;
use rustpython_vm::compiler::parser;
use rustpython_vm::compiler::{CompileOpts, Mode};
use rustpython_vm::function::ArgMapping;
use rustpython_vm::scope::Scope;
use rustpython_vm::{AsObject, PyObjectRef, PyResult, VirtualMachine};

use super::meter::Meter;
use super::unit::{Unit, current_line, unit_of, unit_path};
use super::{SessionLine, convert, failure, instrument, unfold};
use crate::error::{Error, ErrorKind, Result, SourceSpan};

const SYNTAX: ErrorKind = ErrorKind::Raised(Cow::Borrowed("SyntaxError"));

/// A function or a text that the part in Python builds on, and its name there.
pub(super) type Service = (&'static str, PyObjectRef);

/// The marks of each unit that is a template.
#[derive(Default)]
pub(crate) struct Marks(pub(super) HashMap<usize, Rc<[(Span, bool)]>, RandomState>);

/// The state that the functions of one interpreter share.
pub(crate) struct InterpreterState {
    pub(crate) line: SessionLine,
    pub(crate) meter: Rc<Meter>,
    pub(crate) units: RefCell<Vec<Unit>>,
    /// Errors that became exceptions on their way through Python.
    pub(crate) failures: RefCell<Vec<Error>>,
    pub(crate) marks: RefCell<Marks>,
    /// The way in which the current job reads further templates, and true if names are strict.
    pub(crate) lookup: Cell<(Lookup, bool)>,
    /// True if the job has looked at what differs from run to run, such as the clock.
    pub(crate) is_by_chance: Cell<bool>,
    /// Why nothing is known about what the job would do; set once, it stays.
    unavailable: RefCell<Option<Error>>,
}

impl InterpreterState {
    pub(super) fn new() -> Self {
        InterpreterState {
            line: SessionLine::default(),
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
            is_by_chance: Cell::new(false),
            unavailable: RefCell::default(),
        }
    }

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
    pub(super) fn note(&self, vm: &VirtualMachine) {
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

    /// Run code of a unit in a dict of globals, on behalf of the part in Python.
    pub(super) fn run_code(
        &self,
        code: &str,
        unit: usize,
        globals: &PyDictRef,
        prelude: &PyDictRef,
        vm: &VirtualMachine,
    ) -> PyResult<()> {
        let code = self
            .compile(code, unit)
            .map_err(|error| self.raise(*error, "SyntaxError", prelude, vm))?;
        vm.run_code_obj(vm.ctx.new_code(code), scope(globals))
            .map(drop)
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

    /// Ask the command. The time until it answers is not the code's.
    pub(crate) fn ask<T>(&self, question: impl FnOnce(&SessionLine) -> Result<T>) -> Result<T> {
        let answer = question(&self.line);
        self.meter.pause(self.line.waited());
        answer
    }

    /// Ask the command for what the job cannot go on without.
    pub(crate) fn require<T>(
        &self,
        question: impl FnOnce(&SessionLine) -> Result<T>,
        prelude: &PyDictRef,
        vm: &VirtualMachine,
    ) -> PyResult<T> {
        self.ask(question)
            .map_err(|error| self.give_up(*error, prelude, vm))
    }

    /// End the job with an error that code cannot catch for good.
    pub(crate) fn give_up(
        &self,
        mut error: Error,
        prelude: &PyDictRef,
        vm: &VirtualMachine,
    ) -> PyBaseExceptionRef {
        if error.place.is_none() {
            error.place = self.innermost(vm);
        }
        self.unavailable
            .borrow_mut()
            .get_or_insert_with(|| error.clone());
        self.raise(error, "Unavailable", prelude, vm)
    }

    /// Why nothing is known about what the job would do, if so.
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

    /// The place in the tree's code that led here.
    fn innermost(&self, vm: &VirtualMachine) -> Option<SourceSpan> {
        let mut frame = vm.current_frame();
        while let Some(here) = frame {
            if let Some(unit) = unit_of(here.code.source_path.as_str()) {
                return Some(self.place(unit, here.current_location().line.get()));
            }
            frame = here.f_back(vm);
        }
        None
    }
}

/// The reason for the end of a job.
pub(crate) enum JobEnd {
    Error(Box<Error>),
    Exception(PyBaseExceptionRef),
}

impl JobEnd {
    /// The error that the command receives.
    pub(crate) fn into_error(
        self,
        shared: &Rc<InterpreterState>,
        vm: &VirtualMachine,
    ) -> Box<Error> {
        match self {
            JobEnd::Error(error) => error,
            JobEnd::Exception(exception) => failure::error(shared, &exception, vm),
        }
    }
}

impl From<Box<Error>> for JobEnd {
    fn from(error: Box<Error>) -> Self {
        JobEnd::Error(error)
    }
}

impl From<PyBaseExceptionRef> for JobEnd {
    fn from(exception: PyBaseExceptionRef) -> Self {
        JobEnd::Exception(exception)
    }
}

pub(crate) fn scope(globals: &PyDictRef) -> Scope {
    Scope::new(
        Some(ArgMapping::from_dict_exact(globals.clone())),
        globals.clone(),
    )
}

/// The values that code has left in variables that it was given, where that is something else.
pub(crate) fn left(
    given: &PyDictRef,
    names: &[Str],
    before: &Names,
    ordered: &PyObjectRef,
    vm: &VirtualMachine,
) -> Result<Names, JobEnd> {
    let mut changed = Vec::new();
    for name in names {
        if let Some(value) = given.get_item_opt(&**name, vm)? {
            let value = convert::from_python(&value, ordered, vm).map_err(|why| {
                JobEnd::Error(Error::new(
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

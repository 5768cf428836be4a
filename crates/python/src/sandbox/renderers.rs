//! Renderers that are Python: those of the tree, and Salt's `pyobjects`.

use std::rc::Rc;

use mapstack_sandbox::protocol::{JobOutcome, RenderJob};
use rustpython_vm::builtins::PyDictRef;
use rustpython_vm::function::{FuncArgs, KwArgs};
use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};

use super::shared::{InterpreterState, JobEnd, Service};
use super::template::MAIN;
use super::unit::{Unit, line_span};
use super::{convert, extmods};
use crate::error::{Error, ErrorKind, Result};

/// The functions of Salt's modules of states, from Salt 3008.3.
const SALT_STATES: &str = include_str!("salt_states.txt");

/// The services that the part in Python builds on.
pub(super) fn services(
    shared: &Rc<InterpreterState>,
    prelude: &PyDictRef,
    vm: &VirtualMachine,
) -> Vec<Service> {
    vec![
        ("file", file(shared, prelude, vm)),
        ("run_lines", run_lines(shared, prelude, vm)),
        ("raise_at", raise_at(shared, prelude, vm)),
        ("salt_states", vm.ctx.new_str(SALT_STATES).into()),
    ]
}

/// A file of the tree as a tuple of its text and its unit, or `None`.
fn file(shared: &Rc<InterpreterState>, prelude: &PyDictRef, vm: &VirtualMachine) -> PyObjectRef {
    let (this, names) = (shared.clone(), prelude.clone());
    let file = move |uri: String, vm: &VirtualMachine| -> PyResult {
        let found = this.require(|line| line.template(&uri), &names, vm)?;
        Ok(match found {
            None => vm.ctx.none(),
            Some(source) => {
                let number = this.unit_of_source(&source.name, &source.text);
                let (text, number) = (vm.ctx.new_str(&*source.text), vm.ctx.new_int(number));
                vm.ctx.new_tuple(vec![text.into(), number.into()]).into()
            }
        })
    };
    vm.new_function("file", file).into()
}

/// Runs code that was made from a unit, in a dict of globals; `lines` has the unit's line for each of the code's.
fn run_lines(
    shared: &Rc<InterpreterState>,
    prelude: &PyDictRef,
    vm: &VirtualMachine,
) -> PyObjectRef {
    let (this, names) = (shared.clone(), prelude.clone());
    let run_lines = move |unit: usize,
                          code: String,
                          lines: Vec<usize>,
                          globals: PyDictRef,
                          vm: &VirtualMachine|
          -> PyResult<()> {
        if let Some(unit) = this.units.borrow_mut().get_mut(unit) {
            let spans = lines.into_iter();
            unit.lines = spans
                .map(|line| Some(line_span(&unit.source, line)))
                .collect();
        }
        this.run_code(&code, unit, &globals, &names, vm)
    };
    vm.new_function("run_lines", run_lines).into()
}

/// Raises an error at a line of a unit.
fn raise_at(
    shared: &Rc<InterpreterState>,
    prelude: &PyDictRef,
    vm: &VirtualMachine,
) -> PyObjectRef {
    let (this, names) = (shared.clone(), prelude.clone());
    let raise_at = move |class: String,
                         message: String,
                         unit: usize,
                         line: usize,
                         vm: &VirtualMachine|
          -> PyResult<()> {
        let message = format!("{class}: {message}");
        let error = Error::new(ErrorKind::Raised(class.clone().into()), message);
        let error = error.at(|| this.place(unit, line));
        Err(this.raise(*error, &class, &names, vm))
    };
    vm.new_function("raise_at", raise_at).into()
}

/// Do a job.
pub(super) fn perform(
    shared: &Rc<InterpreterState>,
    prelude: &PyDictRef,
    job: &RenderJob,
    vm: &VirtualMachine,
) -> Result<JobOutcome, JobEnd> {
    let ordered = prelude.get_item("ordered", vm)?;
    let unit = Unit {
        name: job.name.clone(),
        source: job.source.clone(),
        lines: Vec::new(),
    };
    shared.set_unit(MAIN, unit);
    let keywords = vm.ctx.new_dict();
    for (name, value) in &job.keywords {
        keywords.set_item(&**name, convert::to_python(value, &ordered, vm)?, vm)?;
    }
    let text = |text: &str| -> PyObjectRef { vm.ctx.new_str(text).into() };
    let (function, first) = match &job.renderer {
        None => ("render_objects", vm.ctx.new_int(MAIN).into()),
        Some(name) => ("render_by", text(name)),
    };
    let data = match &job.data {
        None => vm.ctx.none(),
        Some(data) => {
            let data = convert::to_python(data, &ordered, vm)?;
            vm.ctx.new_tuple(vec![data]).into()
        }
    };
    let given = vec![
        first,
        text(&job.source),
        data,
        text(&job.saltenv),
        text(&job.sls),
        keywords.into(),
    ];
    let came = prelude
        .get_item(function, vm)?
        .call(FuncArgs::new(given, KwArgs::default()), vm)?;
    let answer = extmods::answer(shared, &came, &ordered, vm)?;
    Ok(JobOutcome::Function {
        answer,
        changed: Vec::new(),
    })
}

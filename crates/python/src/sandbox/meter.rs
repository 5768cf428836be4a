//! The budget of a run, and the functions by which code spends it.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use mapstack_sandbox::protocol::Bounds;
use rustpython_vm::builtins::{PyStr, PyTypeRef};
use rustpython_vm::{PyObjectRef, PyResult, VirtualMachine};

use super::unfold;
use super::unit::current_line;

/// The budget that is left to a run.
#[derive(Debug)]
pub(crate) struct Meter {
    /// The steps that the run may spend in all.
    given: Cell<u64>,
    fuel: Cell<u64>,
    deadline: Cell<Option<Instant>>,
    clock: Cell<u8>,
    output: Cell<usize>,
    /// Why the run ends; set once, it stays.
    broken: RefCell<Option<&'static str>>,
    /// The unit and the line where that was.
    broken_at: Cell<Option<(usize, usize)>>,
}

const TOO_MANY_STEPS: &str = "the template ran for too many steps";

impl Meter {
    pub(crate) fn new() -> Self {
        Meter {
            given: Cell::new(0),
            fuel: Cell::new(0),
            deadline: Cell::new(None),
            clock: Cell::new(0),
            output: Cell::new(0),
            broken: RefCell::new(None),
            broken_at: Cell::new(None),
        }
    }

    pub(crate) fn start(&self, bounds: &Bounds) {
        self.given.set(bounds.fuel);
        self.fuel.set(bounds.fuel);
        self.deadline
            .set(Instant::now().checked_add(Duration::from_millis(bounds.time)));
        self.output
            .set(usize::try_from(bounds.output).unwrap_or(usize::MAX));
        *self.broken.borrow_mut() = None;
        self.broken_at.set(None);
    }

    /// Work done for the run by the command does not count.
    pub(crate) fn pause(&self, spent: Duration) {
        if let Some(deadline) = self.deadline.get() {
            self.deadline.set(deadline.checked_add(spent));
        }
    }

    /// The steps that were spent.
    pub(crate) fn spent(&self) -> u64 {
        self.given.get().saturating_sub(self.fuel.get())
    }

    pub(crate) fn broken(&self) -> Option<&'static str> {
        *self.broken.borrow()
    }

    /// The unit and the line that a limit was reached in.
    pub(crate) fn broken_at(&self) -> Option<(usize, usize)> {
        self.broken_at.get()
    }

    /// End the run, unless it has ended before; why it ends.
    fn end(&self, why: &'static str, vm: &VirtualMachine) -> &'static str {
        if let Some(before) = self.broken() {
            return before;
        }
        *self.broken.borrow_mut() = Some(why);
        self.broken_at.set(current_line(vm));
        why
    }

    fn tick(&self) -> Result<(), &'static str> {
        if let Some(why) = self.broken() {
            return Err(why);
        }
        let fuel = self.fuel.get();
        if fuel == 0 {
            return Err(TOO_MANY_STEPS);
        }
        self.fuel.set(fuel - 1);
        let clock = self.clock.get().wrapping_add(1);
        self.clock.set(clock);
        if clock.is_multiple_of(8)
            && self
                .deadline
                .get()
                .is_some_and(|deadline| Instant::now() > deadline)
        {
            return Err("the template ran for too long");
        }
        Ok(())
    }

    /// Spend many steps at once.
    fn spend(&self, steps: u64) -> Result<(), &'static str> {
        match self.fuel.get().checked_sub(steps) {
            Some(left) => self.fuel.set(left),
            None => return Err(self.broken().unwrap_or(TOO_MANY_STEPS)),
        }
        Ok(())
    }

    fn write(&self, bytes: usize) -> Result<(), &'static str> {
        match self.output.get().checked_sub(bytes) {
            Some(left) => {
                self.output.set(left);
                Ok(())
            }
            None => Err("the template's output is too large"),
        }
    }

    /// The functions of a meter, by name: `tick` spends a step, `unfold` those that the text of its argument
    /// [repeats](unfold::repeated), `written` output. They raise what no handler of exceptions names, and again at
    /// every further step.
    pub(crate) fn functions(
        self: &Rc<Self>,
        limit_error: &PyTypeRef,
        vm: &VirtualMachine,
    ) -> [(&'static str, PyObjectRef); 3] {
        let raise = |meter: &Meter,
                     spent: Result<(), &'static str>,
                     error: &PyTypeRef,
                     vm: &VirtualMachine| {
            spent.map_err(|why| {
                let why = meter.end(why, vm);
                vm.new_exception_msg(error.clone(), why.into())
            })
        };
        let (meter, error) = (self.clone(), limit_error.clone());
        let tick =
            move |vm: &VirtualMachine| -> PyResult<()> { raise(&meter, meter.tick(), &error, vm) };
        let (meter, error) = (self.clone(), limit_error.clone());
        let written = move |text: PyObjectRef, vm: &VirtualMachine| -> PyResult<()> {
            let bytes = text
                .downcast_ref::<PyStr>()
                .map_or(0, |text| text.byte_len());
            raise(&meter, meter.write(bytes), &error, vm)
        };
        let (meter, error) = (self.clone(), limit_error.clone());
        let unfold = move |value: PyObjectRef, vm: &VirtualMachine| -> PyResult {
            match unfold::repeated(&value) {
                0 => Ok(value),
                steps => raise(&meter, meter.spend(steps), &error, vm).map(|()| value),
            }
        };
        [
            ("tick", vm.new_function("tick", tick).into()),
            ("unfold", vm.new_function("unfold", unfold).into()),
            ("written", vm.new_function("written", written).into()),
        ]
    }
}

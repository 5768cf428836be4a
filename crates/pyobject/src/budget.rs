//! The budget of work on objects, and the one place that pays.
//!
//! Each filter, test, method, function, operator and slice is started by a function that asks here. A new one cannot
//! forget.

use std::cell::Cell;

use crate::limits::Limits;
use crate::limits::ledger;
use crate::limits::{Error, Result};
use crate::object::{CallArgs, NotedRender, Obj};
use crate::price::{self, OperandReads, STEP_BYTES};

/// More bytes than this are requested before they are made.
const LARGE: usize = 1 << 20;
/// Steps that pay for one object: its place in a container, and what it points to.
const OBJECT_STEPS: usize = 6;
/// Grow the stack when less than this is left …
const RED_ZONE: usize = 256 << 10;
/// … by this much.
const STACK_CHUNK: usize = 4 << 20;

/// The budget that is left.
pub struct Budget<'r> {
    limits: Limits,
    own_fuel: Cell<u64>,
    shared_fuel: Option<&'r Cell<u64>>,
    /// The budget is checked more closely when fewer steps are left.
    floor: Cell<u64>,
    depth: Cell<usize>,
    _account: ledger::OpenAccount,
    _noted: NotedRender,
}

impl<'r> Budget<'r> {
    /// A budget that counts time and memory from now, unless the limits were started before. `shared_fuel` are steps
    /// to spend together with others; `limits.fuel` alone counts without it.
    ///
    /// ```
    /// use mapstack_pyobject::{Budget, Limits};
    /// let budget = Budget::new(Limits { fuel: 10, ..Limits::default() }, None);
    /// assert!(budget.burn(10).is_ok());
    /// assert!(budget.burn(1).is_err());
    /// ```
    #[must_use]
    pub fn new(limits: Limits, shared_fuel: Option<&'r Cell<u64>>) -> Self {
        let limits = limits.started();
        let fuel = shared_fuel.map_or(limits.fuel, Cell::get);
        Budget {
            limits,
            own_fuel: Cell::new(fuel),
            shared_fuel,
            floor: Cell::new(floor_below(&limits, fuel)),
            depth: Cell::new(0),
            _account: ledger::OpenAccount::new(limits, fuel),
            _noted: NotedRender::new(),
        }
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Spend steps.
    ///
    /// # Errors
    /// A limit error when they are used up, the time is over, or more memory is held than may be.
    #[inline]
    pub fn burn(&self, steps: usize) -> Result<()> {
        let fuel = self.shared_fuel.unwrap_or(&self.own_fuel);
        let before = fuel.get();
        let left = before.saturating_sub(steps as u64);
        fuel.set(left);
        if left > self.floor.get() {
            Ok(())
        } else {
            self.look_closer(before, steps)
        }
    }

    /// Check that the steps were there, and that time and memory are left.
    #[cold]
    fn look_closer(&self, before: u64, steps: usize) -> Result<()> {
        let Some(left) = before.checked_sub(steps as u64) else {
            return Err(ledger::exhausted(&self.limits));
        };
        self.floor.set(floor_below(&self.limits, left));
        ledger::renew(left);
        self.limits.check(0)
    }

    /// Pay for what a step makes: this many objects, and this many bytes of text in them.
    ///
    /// # Errors
    /// As [`burn`](Self::burn).
    pub fn pay(&self, objects: usize, bytes: usize) -> Result<()> {
        self.ask_for(bytes.saturating_add(objects.saturating_mul(size_of::<Obj>())))?;
        self.burn(
            objects
                .saturating_mul(OBJECT_STEPS)
                .saturating_add(bytes / STEP_BYTES),
        )
    }

    /// True if it is certain that this many objects and steps more can be [paid](Self::pay) for.
    ///
    /// ```
    /// use mapstack_pyobject::{Budget, Limits};
    /// let budget = Budget::new(Limits { fuel: 100, ..Limits::default() }, None);
    /// assert!(budget.affords(10, 30) && !budget.affords(10, 50));
    /// ```
    #[must_use]
    pub fn affords(&self, objects: usize, steps: usize) -> bool {
        let steps = objects.saturating_mul(OBJECT_STEPS).saturating_add(steps);
        self.shared_fuel.unwrap_or(&self.own_fuel).get() > steps as u64
    }

    /// Make sure that there is room for this many bytes, if they are many.
    ///
    /// # Errors
    /// A limit error when more would be held than may be.
    pub fn ask_for(&self, bytes: usize) -> Result<()> {
        if bytes > LARGE {
            self.limits.check(bytes)
        } else {
            Ok(())
        }
    }

    /// Pay for an operation on an object and arguments, before it runs. What it `reads` is asked only where that
    /// makes a difference.
    ///
    /// # Errors
    /// A limit error when it cannot be paid.
    pub fn charge(
        &self,
        reads: impl FnOnce() -> OperandReads,
        object: Option<&Obj>,
        args: &CallArgs,
    ) -> Result<()> {
        self.charge_passes(1, reads, object, args)
    }

    /// As [`charge`](Self::charge), for an operation that reads its operands this many times.
    ///
    /// # Errors
    /// A limit error when it cannot be paid.
    ///
    /// ```
    /// use mapstack_pyobject::{Budget, CallArgs, Limits, Obj, OperandReads};
    /// let text = Obj::from("x".repeat(1 << 16));
    /// let steps = |passes| {
    ///     let fuel = std::cell::Cell::new(1_000_000);
    ///     let budget = Budget::new(Limits::default(), Some(&fuel));
    ///     budget.charge_passes(passes, || OperandReads::All, Some(&text), &CallArgs::default()).unwrap();
    ///     1_000_000 - fuel.get()
    /// };
    /// assert!(steps(1) > 0);
    /// assert_eq!(steps(8), 8 * steps(1));
    /// ```
    pub fn charge_passes(
        &self,
        passes: usize,
        reads: impl FnOnce() -> OperandReads,
        object: Option<&Obj>,
        args: &CallArgs,
    ) -> Result<()> {
        let steps = price::to_run(reads, object, args);
        if steps == 0 {
            return Ok(());
        }
        // The result can be as large again.
        self.ask_for(steps.saturating_mul(STEP_BYTES))?;
        self.burn(steps.saturating_mul(passes))
    }

    /// Pay for reading the operands of an operator.
    ///
    /// # Errors
    /// A limit error when they cannot be paid.
    pub fn read_all(&self, operands: &[&Obj]) -> Result<()> {
        match operands.iter().map(|object| price::to_read(object)).sum() {
            0 => Ok(()),
            steps => self.burn(steps),
        }
    }

    /// Pay for a result, and for what was done deep inside the operation.
    ///
    /// # Errors
    /// A limit error when it cannot be paid.
    pub fn made(&self, result: Obj) -> Result<Obj> {
        self.settle(price::to_make(&result))?;
        Ok(result)
    }

    /// Pay for what was done deep inside an operation, and some steps more.
    ///
    /// # Errors
    /// A limit error when it cannot be paid.
    pub fn settle(&self, steps: usize) -> Result<()> {
        let debt = usize::try_from(ledger::take()).unwrap_or(usize::MAX);
        match steps.saturating_add(debt) {
            0 => Ok(()),
            steps => self.burn(steps),
        }
    }

    /// Check that something may run one level deeper.
    ///
    /// # Errors
    /// A limit error when nesting too deep.
    #[inline]
    pub fn may_go_deeper(&self) -> Result<()> {
        if self.depth.get() < self.limits.depth {
            Ok(())
        } else {
            Err(self.too_deep())
        }
    }

    #[cold]
    fn too_deep(&self) -> Box<Error> {
        Error::limit(format!(
            "macro calls, includes and imports are nested more than {} levels deep",
            self.limits.depth
        ))
        .with_help("look for a template or macro that calls itself without end")
    }

    /// Run something one level deeper.
    ///
    /// # Errors
    /// A limit error when nesting too deep, else what `run` returns.
    pub fn deeper<T>(&self, run: impl FnOnce() -> Result<T>) -> Result<T> {
        self.may_go_deeper()?;
        self.depth.set(self.depth.get() + 1);
        let result = stacker::maybe_grow(RED_ZONE, STACK_CHUNK, run);
        self.depth.set(self.depth.get() - 1);
        result
    }
}

/// The steps at which the budget is checked more closely next: none before the end without limits of time and memory.
fn floor_below(limits: &Limits, left: u64) -> u64 {
    if limits.need_checks() {
        left.saturating_sub(ledger::CHECK_EVERY)
    } else {
        0
    }
}

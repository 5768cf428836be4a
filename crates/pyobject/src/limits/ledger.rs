//! Work deep inside an operation: it pays as it goes.
//!
//! Printing, freezing, comparing and hashing walk through objects that can expand to far more than their size. They
//! have no interpreter at hand, so they record their steps here, for the render that runs on this
//! thread. It settles the account after each operation, and this stops an operation that could not be paid.

use std::cell::{Cell, RefCell};

use crate::limits::Limits;
use crate::limits::error::{Error, Result};

/// Steps between two looks at the clock and the memory.
pub const CHECK_EVERY: u64 = 4096;

thread_local! {
    /// Steps that were taken and are not paid yet.
    static DEBT: Cell<u64> = const { Cell::new(0) };
    /// The debt at which the render has to settle; never reached without a render.
    static STOP: Cell<u64> = const { Cell::new(u64::MAX) };
    /// The account of the render that runs now.
    static OPEN: RefCell<Option<RenderAccount>> = const { RefCell::new(None) };
}

/// The account of a render: its limits, and the debt that it can still pay.
#[derive(Clone, Copy)]
struct RenderAccount {
    limits: Limits,
    /// The largest debt that can be paid.
    most: u64,
}

/// Take steps on behalf of the render that runs on this thread. Outside a render they cost nothing.
///
/// # Errors
/// A limit error when the render cannot pay for them, has run out of time, or takes too much memory.
///
/// ```
/// assert!(mapstack_pyobject::limits::ledger::spend(1_000_000_000).is_ok());
/// ```
#[inline]
pub fn spend(steps: usize) -> Result<()> {
    let debt = DEBT.get().saturating_add(steps as u64);
    DEBT.set(debt);
    if debt < STOP.get() {
        Ok(())
    } else {
        look_closer(debt)
    }
}

#[cold]
fn look_closer(debt: u64) -> Result<()> {
    let Some(account) = OPEN.with_borrow(|open| *open) else {
        DEBT.set(0);
        return Ok(());
    };
    if debt > account.most {
        return Err(exhausted(&account.limits));
    }
    STOP.set(stop_after(debt, account.most));
    account.limits.check(0)
}

/// Make sure that the render that runs on this thread has room for this many bytes.
///
/// # Errors
/// A limit error when more would be held than may be.
pub fn room_for(bytes: usize) -> Result<()> {
    OPEN.with_borrow(|open| *open)
        .map_or(Ok(()), |account| account.limits.check(bytes))
}

fn stop_after(debt: u64, most: u64) -> u64 {
    debt.saturating_add(CHECK_EVERY).min(most.saturating_add(1))
}

/// The steps are used up.
pub fn exhausted(limits: &Limits) -> Box<Error> {
    let Limits { spender, fuel, .. } = limits;
    Error::limit(format!("{spender} ran for more than {fuel} steps")).with_help(format!(
        "look for {}, or raise the step limit",
        spender.cause_of_steps()
    ))
}

/// The steps that were taken since the last time, to be paid now.
#[inline]
pub fn take() -> u64 {
    let debt = DEBT.get();
    if debt != 0 {
        DEBT.set(0);
    }
    debt
}

/// So many steps are left to the render that runs.
pub fn renew(left: u64) {
    OPEN.with_borrow_mut(|open| {
        if let Some(account) = open {
            account.most = left;
        }
    });
    STOP.set(stop_after(DEBT.get(), left));
}

/// An account that is open; closing it opens the one before again.
pub struct OpenAccount {
    before: Option<RenderAccount>,
    debt: u64,
}

impl OpenAccount {
    /// Open an account for a render with this many steps left.
    pub fn new(limits: Limits, left: u64) -> Self {
        let account = RenderAccount { limits, most: left };
        let before = OPEN.with_borrow_mut(|open| open.replace(account));
        let debt = DEBT.replace(0);
        STOP.set(stop_after(0, left));
        OpenAccount { before, debt }
    }
}

impl Drop for OpenAccount {
    fn drop(&mut self) {
        // The render around this one pays its unpaid steps.
        let debt = self.debt.saturating_add(DEBT.get());
        DEBT.set(if self.before.is_some() { debt } else { 0 });
        STOP.set(
            self.before
                .map_or(u64::MAX, |account| stop_after(debt, account.most)),
        );
        OPEN.with_borrow_mut(|open| *open = self.before);
    }
}

/// Do work that the render did not ask for: it pays from a separate allowance, so that the
/// render's steps do not depend on it.
///
/// ```
/// use std::cell::Cell;
/// use mapstack_pyobject::limits::{Limits, ledger};
/// let (limits, allowance) = (Limits::default(), Cell::new(100));
/// let render = ledger::OpenAccount::new(limits, 1_000);
/// assert!(ledger::spend_apart(limits, &allowance, || ledger::spend(70)).is_ok());
/// assert_eq!((allowance.get(), ledger::take()), (30, 0));
/// assert!(ledger::spend_apart(limits, &allowance, || ledger::spend(70)).is_err());
/// # drop(render);
/// ```
pub fn spend_apart<T>(limits: Limits, allowance: &Cell<u64>, work: impl FnOnce() -> T) -> T {
    let account = OpenAccount::new(limits, allowance.get());
    let result = work();
    allowance.set(allowance.get().saturating_sub(take()));
    drop(account);
    result
}

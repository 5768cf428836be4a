//! The limits of a run, and what is left of them.

use std::cell::Cell;

use mapstack_minion::Minion;
use mapstack_salt_jinja::{Limits, RunningWork};

/// The limits on the templates of a run, and what is left of them.
pub(crate) struct Allowance {
    /// The limits, with times counted from the start of the run.
    pub limits: Limits,
    /// Remaining steps of the templates.
    pub fuel: Cell<u64>,
    /// Remaining steps for following what templates change in the facts. How many it takes depends on which facts
    /// earlier templates turned into objects, so on which of them were rendered and which were answered from memory:
    /// the templates do not pay for it.
    pub following: Cell<u64>,
    /// The nesting of map functions that call each other through templates.
    pub depth: Cell<usize>,
    /// The entry of this run in the budget of the command, while the run lasts.
    pub busy: Option<RunningWork<'static>>,
}

impl Allowance {
    /// The whole allowance of a minion's run.
    pub fn new(limits: &Limits, minion: &Minion) -> Self {
        let name = || minion.id().to_string();
        Allowance {
            limits: limits.restarted(),
            fuel: Cell::new(limits.fuel),
            following: Cell::new(limits.fuel),
            depth: Cell::new(0),
            busy: limits.run.map(|run| run.busy_with(name())),
        }
    }
}

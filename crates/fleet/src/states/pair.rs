//! The comparison of what states do on minions that share it in both states of the files.

use std::sync::Arc;

use mapstack::Error;
use mapstack::value::Str;

use super::compare::{PlanChanges, StateChange, compare};
use super::order::OrderChange;
use super::plan::StateName;
use super::plans::{SharedPlan, StatePlans};
use crate::departed::DepartedUse;
use crate::failures::{ErrorTurn, ErrorsOfState, turns};
use crate::own::MinionNames;

/// The plans of minions that share them, before and after a change.
pub struct StatesPair {
    /// The plans, which stay, so that their addresses do.
    pub(crate) sides: [Arc<SharedPlan>; 2],
    /// The sls that is run, if it is not what top files give.
    pub(crate) sls: Option<String>,
    /// The changes, each with its places.
    pub(crate) changes: Vec<(PlanChange, StatePlaces)>,
    /// The outcomes that are unknown in both plans, and the sources that do not count.
    pub(crate) rest: PlanChanges,
    /// The functions and arguments that the states use and that left Salt.
    pub(crate) departed: Vec<DepartedUse>,
    /// The errors that keep minions from the states in one of the files' states or in both.
    pub(crate) failures: Vec<(ErrorTurn, Error)>,
}

impl std::fmt::Debug for StatesPair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("StatesPair");
        shown
            .field("changes", &self.changes)
            .finish_non_exhaustive()
    }
}

/// The place of a state before and after.
pub type StatePlaces = [Option<String>; 2];

/// A change of what states do.
#[derive(Debug, Clone, PartialEq)]
pub enum PlanChange {
    /// A state appears, vanishes or changes.
    State(Box<StateChange>),
    /// A state runs before or after another one now.
    Order(Box<OrderChange>),
}

impl PlanChange {
    /// A text that equal changes have in common, with a digest in place of each text of a file; `own` has the names of a
    /// minion, which are left out.
    pub(crate) fn key(&self, own: &MinionNames, with_reactions: bool) -> String {
        match self {
            PlanChange::State(change) => change.key(own, with_reactions),
            PlanChange::Order(change) => {
                let states = [&change.state, &change.other].map(|state| own.alike(&state.key()));
                format!("order {} {states:?}", change.is_before)
            }
        }
    }
}

impl StatesPair {
    pub(crate) fn of(
        [before, after]: [&StatePlans<'_>; 2],
        sides: [Arc<SharedPlan>; 2],
        sls: Option<String>,
    ) -> Self {
        let [old, new] = &sides;
        let failures = turns(
            ErrorsOfState::new(&old.errors, old.reads().map(|read| read.path)),
            ErrorsOfState::new(&new.errors, new.reads().map(|read| read.path)),
        );
        let mut rest = match failures.is_empty() {
            true => compare(&old.plan, &new.plan),
            false => PlanChanges::default(),
        };
        rest.keep(after.shown());
        let known = [before.places(old), after.places(new)];
        let states = std::mem::take(&mut rest.states).into_iter();
        let states = states.map(|change| {
            let places = [
                change.old.as_ref().map(|state| state.place(&known[0])),
                change.new.as_ref().map(|state| state.place(&known[1])),
            ];
            (PlanChange::State(Box::new(change)), places)
        });
        let order = std::mem::take(&mut rest.order).into_iter();
        let order = order.map(|change| {
            let places = [None, Some(change.state.place(&known[1]))];
            (PlanChange::Order(Box::new(change)), places)
        });
        StatesPair {
            departed: match after.shown().states {
                true => after.departed(before, new),
                false => Vec::new(),
            },
            changes: states.chain(order).collect(),
            rest,
            failures,
            sls,
            sides,
        }
    }

    /// True if nothing is different.
    pub(crate) fn is_same(&self) -> bool {
        self.changes.is_empty() && self.failures.is_empty() && self.departed.is_empty()
    }

    /// True if it fails, and with the errors that it had.
    pub(crate) fn fails_still(&self) -> bool {
        let is_still = |(turn, _): &(ErrorTurn, Error)| *turn == ErrorTurn::Still;
        !self.failures.is_empty() && self.failures.iter().all(is_still)
    }

    /// The texts that templates made of secrets.
    pub(crate) fn secret_texts(&self) -> Vec<Str> {
        let sides = self.sides.iter();
        sides
            .flat_map(|side| side.secret_texts.iter().cloned())
            .collect()
    }
}

impl StateName {
    /// A text that no other state of a minion has.
    pub(crate) fn key(&self) -> String {
        let StateName {
            saltenv,
            sls,
            id,
            module,
            function,
            name,
        } = self;
        format!("{saltenv}\0{sls}\0{id}\0{module}.{function}\0{name}\0")
    }

    /// The place, as a file and a line, or the file alone where a template makes the ID.
    pub(crate) fn place(&self, places: &mapstack_states::Places<'_>) -> String {
        places.of_id(&self.sls, &self.saltenv, &self.id).0
    }
}

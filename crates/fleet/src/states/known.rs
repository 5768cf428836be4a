//! The plans of a minion in one state of the files, for those who follow it from change to change.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::plans::{SharedPlan, StatePlans, WantedStates};
use crate::reach::ChangedFiles;

/// An sls that is run, by saltenv and name; or none for all that top files give.
pub(crate) type RunKey = Option<(String, String)>;

/// The plans of a minion by what is run.
#[derive(Debug, Clone, Default)]
pub struct KnownPlans(BTreeMap<RunKey, KnownPlan>);

#[derive(Debug, Clone)]
struct KnownPlan {
    /// True if the states are not refused.
    works: bool,
    /// The plan, unless it was forgotten.
    plan: Option<Arc<SharedPlan>>,
}

/// The plans that are kept for a fleet: each has many states with their files, and minions may have no plan in common.
#[derive(Debug, Default)]
pub(crate) struct PlanRoom {
    /// The addresses of those that are kept.
    kept: HashSet<usize>,
}

/// The plans that are kept; of other minions the earlier one is worked out again.
const MAX_KEPT: usize = 128;

impl KnownPlans {
    pub(crate) fn add(&mut self, run: RunKey, plan: Arc<SharedPlan>) {
        let known = KnownPlan {
            works: plan.errors.is_empty(),
            plan: Some(plan),
        };
        self.0.insert(run, known);
    }

    /// The plan of a run, if it is kept.
    pub(crate) fn get(&self, run: &RunKey) -> Option<&Arc<SharedPlan>> {
        self.0.get(run)?.plan.as_ref()
    }

    /// The runs that work, with their plans as far as these are kept.
    pub(crate) fn working(&self) -> impl Iterator<Item = (&RunKey, Option<&Arc<SharedPlan>>)> {
        let working = self.0.iter().filter(|(_, known)| known.works);
        working.map(|(run, known)| (run, known.plan.as_ref()))
    }

    /// True if the states of a run are refused.
    pub(crate) fn refuses(&self, run: &RunKey) -> bool {
        self.0.get(run).is_some_and(|known| !known.works)
    }

    /// True if states of some run are refused.
    pub(crate) fn fails(&self) -> bool {
        self.0.values().any(|known| !known.works)
    }

    /// Forget the plans that do not fit into the room.
    pub(crate) fn fit(&mut self, room: &mut PlanRoom) {
        for known in self.0.values_mut() {
            let address = known.plan.as_ref().map(|plan| Arc::as_ptr(plan) as usize);
            if address.is_some_and(|address| !room.has(address)) {
                known.plan = None;
            }
        }
    }

    /// True if a change can reach one of the plans, or they are not those of the runs that are wanted.
    pub(crate) fn are_reached(
        &self,
        states: &StatePlans<'_>,
        changed: Option<&ChangedFiles>,
    ) -> bool {
        match states.wanted() {
            WantedStates::Top(_) => {
                let plan = self.get(&None);
                plan.is_none_or(|plan| !states.leaves_top(plan, changed))
            }
            // An sls that is new is a file that is new.
            WantedStates::Sls(_) => {
                let is_left = |(run, known): (&RunKey, &KnownPlan)| {
                    let plan = known.plan.as_ref().filter(|_| run.is_some());
                    plan.is_some_and(|plan| states.leaves(plan, changed))
                };
                !self.0.iter().all(is_left)
            }
        }
    }
}

impl PlanRoom {
    /// True if a plan is kept, which minions may share.
    fn has(&mut self, address: usize) -> bool {
        if self.kept.len() < MAX_KEPT {
            self.kept.insert(address);
        }
        self.kept.contains(&address)
    }
}

//! The data of a minion in one state of the files.

use std::sync::Arc;

use mapstack::share::Outcome;

use crate::pillars::Pillar;
use crate::states::{KnownPlans, PlanRoom};

/// The data of a minion in one state of the files.
#[derive(Debug, Clone, Default)]
pub struct MinionData {
    /// Its pillar, if pillars are compiled.
    pub pillar: Option<Pillar>,
    /// The outcome of each formula, in order; none if the pillar has errors.
    pub outcomes: Vec<Arc<Outcome>>,
    /// The plans of its states, if these are compared; none if the pillar has errors.
    pub plans: Option<KnownPlans>,
}

impl MinionData {
    /// Forget the plans that do not fit into the room.
    pub(crate) fn fit(&mut self, room: &mut PlanRoom) {
        if let Some(plans) = &mut self.plans {
            plans.fit(room);
        }
    }

    /// True if something of it fails.
    #[must_use]
    pub fn fails(&self) -> bool {
        let is_broken = |pillar: &Pillar| !pillar.is_whole();
        self.pillar.as_ref().is_some_and(is_broken)
            || self.outcomes.iter().any(|outcome| outcome.result.is_err())
            || self.plans.as_ref().is_some_and(KnownPlans::fails)
    }
}

impl From<Vec<Arc<Outcome>>> for MinionData {
    fn from(outcomes: Vec<Arc<Outcome>>) -> Self {
        MinionData {
            outcomes,
            ..MinionData::default()
        }
    }
}

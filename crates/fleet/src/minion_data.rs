//! The data of a minion in one state of the files.

use std::sync::Arc;

use mapstack::share::Outcome;

use crate::pillars::Pillar;

/// The data of a minion in one state of the files.
#[derive(Debug, Clone, Default)]
pub struct MinionData {
    /// Its pillar, if pillars are compiled.
    pub pillar: Option<Pillar>,
    /// The outcome of each formula, in order; none if the pillar has errors.
    pub outcomes: Vec<Arc<Outcome>>,
}

impl MinionData {
    /// True if something of it fails.
    #[must_use]
    pub fn fails(&self) -> bool {
        let is_broken = |pillar: &Pillar| !pillar.is_whole();
        self.pillar.as_ref().is_some_and(is_broken)
            || self.outcomes.iter().any(|outcome| outcome.result.is_err())
    }
}

impl From<Vec<Arc<Outcome>>> for MinionData {
    fn from(outcomes: Vec<Arc<Outcome>>) -> Self {
        MinionData {
            pillar: None,
            outcomes,
        }
    }
}

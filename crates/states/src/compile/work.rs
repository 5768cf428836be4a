//! The work on one minion's high data.

use mapstack::minion::Behaviour;
use mapstack_pyobject::Budget;

use super::refusal::Refusal;

/// The compilation of one minion's states.
pub(crate) struct MinionCompile<'w> {
    pub budget: &'w Budget<'w>,
    /// The rules of the version of Salt.
    pub behaviour: &'static Behaviour,
    pub refusals: Vec<Refusal>,
}

impl MinionCompile<'_> {
    pub fn refuse(&mut self, refusal: Refusal) {
        self.refusals.push(refusal);
    }
}

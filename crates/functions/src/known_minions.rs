//! Minions whose grains modules of the tree computed, so that each is computed once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use mapstack_minion::Minion;

use crate::TreeGrains;

/// The last minions that were requested. `R` is what was read for each.
#[derive(Debug)]
pub struct KnownMinions<R>(Mutex<VecDeque<Arc<KnownMinion<R>>>>);

/// There are some dozens of platforms.
const MAX_MINIONS: usize = 256;

/// A minion with the facts that the tree made.
#[derive(Debug)]
pub struct KnownMinion<R> {
    /// The minion as it was given, whatever its pillar.
    pub given: Minion,
    /// Its grains, and what was not computed.
    pub made: TreeGrains,
    /// The reads for it.
    pub reads: Vec<R>,
}

impl<R> Default for KnownMinions<R> {
    fn default() -> Self {
        KnownMinions(Mutex::default())
    }
}

impl<R> KnownMinions<R> {
    /// A minion as it was given, or as [`KnownMinion::minion`] has it. Facts that were changed since are others.
    pub fn find(&self, minion: &Minion) -> Option<Arc<KnownMinion<R>>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_of = |known: &&Arc<KnownMinion<R>>| match minion.has_tree_grains() {
            true => known.made.grains.ptr_eq(&minion.grains),
            false => {
                let given = &known.given;
                given.id == minion.id && given.grains == minion.grains && given.opts == minion.opts
            }
        };
        known.iter().find(is_of).cloned()
    }

    /// Keep a minion, perhaps in place of the oldest one.
    pub fn keep(&self, minion: Arc<KnownMinion<R>>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MAX_MINIONS {
            known.pop_front();
        }
        known.push_back(minion);
    }
}

impl<R> KnownMinion<R> {
    /// The minion with the grains.
    pub fn minion(&self, given: &Minion) -> Minion {
        match given.has_tree_grains() {
            true => given.clone(),
            false => given
                .clone()
                .with_tree_grains(self.made.grains.clone(), self.made.computed.clone()),
        }
    }
}

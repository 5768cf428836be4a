//! The minions whose states read a file.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use mapstack::Error;
use mapstack::minion::Minion;
use mapstack_states::{Compiled, Gatherer};

/// The states that may read a file.
pub struct ByStates<'s> {
    gatherer: &'s Gatherer<'s>,
    /// The files that states read, by the address of the states, which are kept so that it stays theirs.
    known: Mutex<HashMap<usize, (Arc<Compiled>, bool)>>,
}

impl<'s> ByStates<'s> {
    /// The states that a gatherer compiles.
    #[must_use]
    pub fn new(gatherer: &'s Gatherer<'s>) -> Self {
        ByStates {
            gatherer,
            known: Mutex::default(),
        }
    }

    /// True if a file is read for the states of a minion that has its pillar, also of those that do not compile.
    pub(crate) fn look(&self, minion: &Minion, path: &str) -> Result<bool, Error> {
        let compiled = self.gatherer.compiled(minion)?;
        if self.gatherer.is_top(path) {
            return Ok(true);
        }
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let address = Arc::as_ptr(&compiled) as usize;
        let (_, is_read) = known.entry(address).or_insert_with(|| {
            let is_read = files(&compiled).any(|file| file == path);
            (compiled, is_read)
        });
        Ok(*is_read)
    }

    /// The files that were read for states.
    pub(crate) fn read(&self) -> BTreeSet<String> {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let files = known.values().flat_map(|(compiled, _)| files(compiled));
        files.cloned().collect()
    }
}

fn files(compiled: &Compiled) -> impl Iterator<Item = &String> {
    compiled.sls.iter().flat_map(|sls| &sls.rendered.files)
}

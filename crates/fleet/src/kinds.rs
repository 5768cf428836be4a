//! Kinds of results: those that are made of the same files are alike.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use mapstack::trace::{FileRead, FileReadKind};

/// The number of the next kind: results of several states are never of the same one.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A number for each list of files that a result of one state is made of.
#[derive(Default)]
pub(crate) struct Kinds(Mutex<HashMap<Vec<FileRead>, u64>>);

impl Kinds {
    /// The kind of a result that these files gave. Files that were only looked for do not count: each minion
    /// looks for some under its name.
    pub fn of<'r>(&self, reads: impl IntoIterator<Item = &'r FileRead>) -> u64 {
        let is_there = |read: &&FileRead| read.kind != FileReadKind::Absent;
        let files = reads.into_iter().filter(is_there).cloned().collect();
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *known
            .entry(files)
            .or_insert_with(|| NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

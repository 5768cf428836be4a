//! Kinds of results: those that are made of the same files are alike.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use foldhash::fast::RandomState;
use indexmap::{Equivalent, IndexMap};
use mapstack::trace::{FileRead, FileReadKind};

/// The number of the next kind: results of several states are never of the same one.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// A number for each list of files that a result of one state is made of.
#[derive(Default)]
pub(crate) struct Kinds(Mutex<IndexMap<Vec<FileRead>, u64, RandomState>>);

/// The files of a result, by which its kind is found without a copy of them.
#[derive(Hash)]
struct Present<'r>(Vec<&'r FileRead>);

impl Equivalent<Vec<FileRead>> for Present<'_> {
    fn equivalent(&self, files: &Vec<FileRead>) -> bool {
        self.0.iter().copied().eq(files)
    }
}

impl Kinds {
    /// The kind of a result that these files gave. Files that were only looked for do not count: each minion
    /// looks for some under its name.
    pub fn of<'r>(&self, reads: impl IntoIterator<Item = &'r FileRead>) -> u64 {
        let is_there = |read: &&FileRead| read.kind != FileReadKind::Absent;
        let files = Present(reads.into_iter().filter(is_there).collect());
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match known.get(&files) {
            Some(kind) => *kind,
            None => {
                let kind = NEXT.fetch_add(1, Ordering::Relaxed);
                known.insert(files.0.into_iter().cloned().collect(), kind);
                kind
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(path: &str, kind: FileReadKind) -> FileRead {
        FileRead {
            saltenv: "base".into(),
            path: path.into(),
            kind,
        }
    }

    #[test]
    fn results_of_the_same_files_are_alike() {
        let kinds = Kinds::default();
        let there = |path| read(path, FileReadKind::Found);
        let first = kinds.of(&[there("a"), there("b")]);
        assert_eq!(
            kinds.of(&[there("a"), read("c", FileReadKind::Absent), there("b")]),
            first
        );
        assert_ne!(kinds.of(&[there("a")]), first);
        assert_ne!(kinds.of(&[there("b"), there("a")]), first);
        assert_ne!(Kinds::default().of(&[there("a"), there("b")]), first);
    }
}

//! The record of accesses to a file server.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use mapstack_value::Str;

/// An access to the file server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileRead {
    /// The saltenv.
    pub saltenv: Str,
    /// The path relative to the file server's root.
    pub path: Str,
    /// The kind of access, and whether the file exists.
    pub kind: FileReadKind,
}

impl FileRead {
    /// The saltenv of files outside of all roots, which are named by an absolute path on the machine.
    pub const OF_NO_SALTENV: &'static str = "";

    /// True if the file lies below no root.
    #[must_use]
    pub fn is_of_no_saltenv(&self) -> bool {
        *self.saltenv == *Self::OF_NO_SALTENV
    }
}

/// The kind of an access to the file server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileReadKind {
    /// The content of an existing file.
    Found,
    /// The content of a file that is missing or cannot be read.
    Absent,
    /// The names of the files below the path.
    List,
}

/// The files that [trees](crate::disk::FileTree) read, by their local paths; clones note into the same set.
#[derive(Debug, Clone, Default)]
pub struct TreeReads(Arc<Mutex<BTreeSet<PathBuf>>>);

impl TreeReads {
    pub(crate) fn note(&self, path: &Path) {
        let mut noted = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !noted.contains(path) {
            noted.insert(path.into());
        }
    }

    /// Take the paths recorded so far.
    #[must_use]
    pub fn take(&self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

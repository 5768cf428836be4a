//! What was found on the disk, for work on many minions, which is to see the same files.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use foldhash::fast::RandomState;
use mapstack::File;
use mapstack_diagnostic::Result;
use mapstack_loader::Tree;
use mapstack_value::Value;

use crate::files::DataFile;

/// A file that was read.
#[derive(Debug)]
pub(crate) struct Read {
    pub file: File,
    /// What is in it, if it is neither a template nor has aliases.
    pub plain: OnceLock<Value>,
}

impl From<File> for Read {
    fn from(file: File) -> Self {
        let plain = OnceLock::new();
        Read { file, plain }
    }
}

/// Directories whose files are looked for and read once.
#[derive(Debug, Default)]
pub(crate) struct FoundFiles {
    known: Mutex<Known>,
    max_bytes: usize,
}

#[derive(Debug, Default)]
struct Known {
    trees: HashMap<Vec<String>, Arc<Tree>, RandomState>,
    by_pattern: HashMap<String, Arc<[DataFile]>, RandomState>,
    by_path: HashMap<String, Option<Arc<Read>>, RandomState>,
    bytes: usize,
}

impl FoundFiles {
    /// Nothing was looked for yet. What was found takes approximately so many bytes at most.
    pub fn new(max_bytes: usize) -> Self {
        FoundFiles {
            known: Mutex::default(),
            max_bytes,
        }
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // Nothing panics while it holds the lock and the tables are incomplete, so a poisoned lock is usable.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Room for so many bytes.
    fn with_room(&self, bytes: usize) -> MutexGuard<'_, Known> {
        let mut known = self.known();
        known.bytes += bytes;
        if known.bytes > self.max_bytes {
            *known = Known {
                bytes,
                ..Known::default()
            };
        }
        known
    }

    /// The tree of some directories.
    pub fn tree(&self, directories: Vec<String>, make: impl FnOnce() -> Tree) -> Arc<Tree> {
        if let Some(tree) = self.known().trees.get(&directories) {
            return tree.clone();
        }
        let tree = Arc::new(make());
        let size = directories.iter().map(|directory| 512 + directory.len());
        let mut known = self.with_room(size.sum());
        known.trees.entry(directories).or_insert(tree).clone()
    }

    /// The files that a pattern stands for.
    pub fn matching(
        &self,
        pattern: String,
        find: impl FnOnce() -> Result<Vec<DataFile>>,
    ) -> Result<Arc<[DataFile]>> {
        if let Some(found) = self.known().by_pattern.get(&pattern) {
            return Ok(found.clone());
        }
        let found: Arc<[DataFile]> = find()?.into();
        let size = found.iter().map(|file| 128 + 3 * file.path.len());
        let mut known = self.with_room(128 + pattern.len() + size.sum::<usize>());
        known.by_pattern.insert(pattern, found.clone());
        Ok(found)
    }

    /// The file at a path.
    pub fn file(
        &self,
        path: &str,
        read: impl FnOnce() -> Result<Option<File>>,
    ) -> Result<Option<Arc<Read>>> {
        if let Some(found) = self.known().by_path.get(path) {
            return Ok(found.clone());
        }
        let found = read()?.map(|file| Arc::new(Read::from(file)));
        // Data takes some ten times as much as its text.
        let size = found.as_ref().map_or(0, |read| 11 * read.file.bytes.len());
        let mut known = self.with_room(256 + path.len() + size);
        known.by_path.insert(path.to_owned(), found.clone());
        Ok(found)
    }
}

//! A file server as it was when each file was first asked for.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

use foldhash::fast::RandomState;

use crate::{Fetched, FileServer, LoadError, SaltPath};

/// What a file server answered, kept: for work on many minions, which is to see the same files, and to
/// ask for each once.
///
/// Errors are not kept. What is kept is bounded: beyond some hundred megabytes, or a million paths that
/// lead nowhere, it starts over.
///
/// ```
/// use mapstack_loader::{FileServer, MemoryFiles, SaltPath, Snapshot};
/// let files = Snapshot::new(MemoryFiles::new().file("base", "a.yaml", "a: 1"));
/// let path = SaltPath::from_relative("a.yaml");
/// assert_eq!(files.fetch(&path, "base").unwrap(), files.fetch(&path, "base").unwrap());
/// ```
#[derive(Debug)]
pub struct Snapshot<F> {
    files: F,
    kept: RwLock<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// By saltenv, then by path.
    fetched: HashMap<String, HashMap<SaltPath, Fetched, RandomState>>,
    bytes: usize,
}

/// The most that is kept, a path counting as some bytes.
const MOST_BYTES: usize = 512 << 20;
const OF_A_PATH: usize = 512;

impl<F: FileServer> Snapshot<F> {
    /// Nothing was asked for yet.
    pub fn new(files: F) -> Self {
        Snapshot { files, kept: RwLock::default() }
    }
}

impl<F: FileServer> FileServer for Snapshot<F> {
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError> {
        {
            // A panic elsewhere leaves nothing half-written here.
            let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = kept.fetched.get(saltenv).and_then(|paths| paths.get(path)) {
                return Ok(found.clone());
            }
        }
        let fetched = self.files.fetch(path, saltenv)?;
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        kept.bytes += OF_A_PATH;
        if let Fetched::Found { bytes, .. } = &fetched {
            kept.bytes = kept.bytes.saturating_add(bytes.len());
        }
        if kept.bytes > MOST_BYTES {
            *kept = Kept::default();
        }
        let paths = kept.fetched.entry(saltenv.to_owned()).or_default();
        // Of two that asked at the same time, the first is right for both.
        Ok(paths.entry(path.clone()).or_insert(fetched).clone())
    }

    fn find_all(&self, path: &SaltPath, saltenv: &str) -> Result<Vec<PathBuf>, LoadError> {
        self.files.find_all(path, saltenv)
    }

    fn list(&self, saltenv: &str, prefix: &str) -> Result<Vec<String>, LoadError> {
        self.files.list(saltenv, prefix)
    }

    fn envs(&self) -> Vec<String> {
        self.files.envs()
    }
}

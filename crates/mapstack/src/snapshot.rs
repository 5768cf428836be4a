//! A file server as it was when each file, or its directory, was first asked for.

mod directories;
mod listing;
mod lists;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{PoisonError, RwLock};

use foldhash::fast::RandomState;
use mapstack_loader::{Fetched, FileServer, Link, LoadError, SaltPath, Unserved};

use self::directories::{Directories, ListedFile};
pub(crate) use self::listing::Listing;
use self::lists::Lists;

/// The answers of a file server, kept: for work on many minions, which is to see the same files, and to
/// ask for each once. Where files of one directory are missing again and again, it asks what is in there
/// ([`FileServer::names_in`]), and for no other file there from then on.
///
/// Lists of files are kept as well. Errors are not. What is kept is bounded: beyond some hundred megabytes of files, or
/// tens of thousands of paths that lead nowhere, it starts over with those.
///
/// ```
/// use mapstack::loader::{FileServer, MemoryFiles, SaltPath, Snapshot};
/// let files = Snapshot::new(MemoryFiles::new().file("base", "a.yaml", "a: 1"));
/// let path = SaltPath::from_relative("a.yaml");
/// assert_eq!(files.fetch(&path, "base").unwrap(), files.fetch(&path, "base").unwrap());
/// ```
#[derive(Debug)]
pub struct Snapshot<F> {
    files: F,
    kept: RwLock<KeptEntries>,
}

#[derive(Debug, Default)]
struct KeptEntries {
    /// By saltenv, then by path.
    fetched: HashMap<String, HashMap<SaltPath, Fetched, RandomState>, RandomState>,
    bytes: usize,
    missing: usize,
    directories: Directories,
    lists: Lists,
}

/// The most bytes of files that are kept.
const MAX_BYTES: usize = 512 << 20;
/// The most paths without a file: names of minions are among them, and hardly ever asked for again.
const MAX_MISSING: usize = 50_000;

impl<F: FileServer> Snapshot<F> {
    /// Nothing was requested yet.
    pub fn new(files: F) -> Self {
        Snapshot {
            files,
            kept: RwLock::default(),
        }
    }

    /// The server that was asked.
    ///
    /// ```
    /// use mapstack::loader::{FileServer, MemoryFiles, Snapshot};
    /// let files = Snapshot::new(MemoryFiles::new().file("dev", "a.yaml", "a: 1")).into_inner();
    /// assert_eq!(files.envs(), ["dev"]);
    /// ```
    #[must_use]
    pub fn into_inner(self) -> F {
        self.files
    }

    /// Count a file that is missing; of a directory that lacks several, learn what it has.
    fn note_missing(&self, place: &ListedFile<'_>) {
        let kept = || self.kept.write().unwrap_or_else(PoisonError::into_inner);
        if kept().directories.is_worth_asking(place) {
            let listing = place.listing(&self.files);
            kept().directories.learn(place, listing);
        }
    }
}

impl<F: FileServer> FileServer for Snapshot<F> {
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError> {
        let place;
        {
            // A panic elsewhere leaves nothing half-written here.
            let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
            if let Some(found) = kept.fetched.get(saltenv).and_then(|paths| paths.get(path)) {
                return Ok(found.clone());
            }
            place = ListedFile::of(path, saltenv);
            if place
                .as_ref()
                .is_some_and(|place| kept.directories.lacks(place))
            {
                return Ok(Fetched::Missing);
            }
        }
        let fetched = self.files.fetch(path, saltenv)?;
        if let Some(place) = place.filter(|_| fetched == Fetched::Missing) {
            self.note_missing(&place);
        }
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        match &fetched {
            Fetched::Found { bytes, .. } => kept.bytes = kept.bytes.saturating_add(bytes.len()),
            _ => kept.missing += 1,
        }
        if kept.bytes > MAX_BYTES {
            *kept = KeptEntries::default();
        }
        if kept.missing > MAX_MISSING {
            kept.missing = 0;
            for paths in kept.fetched.values_mut() {
                paths.retain(|_, fetched| matches!(fetched, Fetched::Found { .. }));
            }
        }
        let paths = kept.fetched.entry(saltenv.to_owned()).or_default();
        // Of two that asked at the same time, the first is right for both.
        Ok(paths.entry(path.clone()).or_insert(fetched).clone())
    }

    fn find_all(&self, path: &SaltPath, saltenv: &str) -> Result<Vec<PathBuf>, LoadError> {
        self.files.find_all(path, saltenv)
    }

    fn list(&self, saltenv: &str, prefix: &str) -> Result<Vec<String>, LoadError> {
        let kept = self.kept.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kept.lists.get(saltenv, prefix) {
            return Ok(known);
        }
        drop(kept);
        let listed = self.files.list(saltenv, prefix)?;
        let mut kept = self.kept.write().unwrap_or_else(PoisonError::into_inner);
        kept.lists.keep(saltenv, prefix, &listed);
        Ok(listed)
    }

    fn envs(&self) -> Vec<String> {
        self.files.envs()
    }

    fn mode(&self, path: &SaltPath, saltenv: &str) -> Result<Option<u32>, LoadError> {
        self.files.mode(path, saltenv)
    }

    fn links(&self, saltenv: &str, prefix: &str) -> Result<Option<Vec<Link>>, LoadError> {
        self.files.links(saltenv, prefix)
    }

    fn unserved(&self, saltenv: &str, prefix: &str) -> Result<Vec<Unserved>, LoadError> {
        self.files.unserved(saltenv, prefix)
    }

    fn names_in(&self, directory: &SaltPath, saltenv: &str) -> Option<Vec<String>> {
        self.files.names_in(directory, saltenv)
    }
}

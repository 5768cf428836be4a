//! Directories that a file server has in place of the disk, such as a work tree at another revision.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mapstack_loader::{Fetched, FileServer, LoadError, SaltPath};
use mapstack_value::posixpath::{join, normpath};

/// A directory whose files come from the saltenv `base` of a file server.
#[derive(Clone)]
pub(crate) struct Mount {
    /// Without links.
    at: PathBuf,
    files: Arc<dyn FileServer>,
}

impl fmt::Debug for Mount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Mount")
            .field("at", &self.at)
            .finish_non_exhaustive()
    }
}

const ENV: &str = "base";

impl Mount {
    /// `None` if the directory does not exist.
    pub fn new(directory: &Path, files: Arc<dyn FileServer>) -> Option<Self> {
        let at = std::fs::canonicalize(directory).ok()?;
        Some(Mount { at, files })
    }

    /// The directory.
    pub fn at(&self) -> &Path {
        &self.at
    }

    /// The way from the directory down to a path, by its names: what is below need not be on the disk.
    pub fn way_to(&self, path: &str) -> Option<String> {
        let absolute = PathBuf::from(absolute(path)?);
        if let Ok(way) = absolute.strip_prefix(&self.at) {
            return way.to_str().map(Into::into);
        }
        // Links above the directory spell it in another way.
        absolute.ancestors().find_map(|above| {
            let is_here = std::fs::canonicalize(above).is_ok_and(|real| real == self.at);
            let way = absolute.strip_prefix(above).ok().filter(|_| is_here)?;
            way.to_str().map(Into::into)
        })
    }

    /// The file at the end of a way.
    pub fn fetch(&self, way: &str) -> Result<Fetched, LoadError> {
        self.files.fetch(&SaltPath::from_relative(way), ENV)
    }

    /// True if a file is at the end of a way.
    pub fn is_file(&self, way: &str) -> Result<bool, LoadError> {
        Ok(!matches!(self.fetch(way)?, Fetched::Missing))
    }

    /// The names in the directory at the end of a way; none if the directory does not exist.
    pub fn names(&self, way: &str) -> Result<BTreeSet<String>, LoadError> {
        let listed = self.files.list(ENV, way)?;
        let names = listed.iter().filter_map(|path| {
            let rest = match way {
                "" => path,
                way => path.strip_prefix(way)?.strip_prefix('/')?,
            };
            rest.split('/').next().map(Into::into)
        });
        Ok(names.collect())
    }
}

/// A path from the root, without `.` and `..`.
fn absolute(path: &str) -> Option<String> {
    if path.starts_with('/') {
        return Some(normpath(path));
    }
    let here = std::env::current_dir().ok()?;
    Some(normpath(&join(here.to_str()?, path)))
}

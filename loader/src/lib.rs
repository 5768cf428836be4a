//! Salt's file server: the file of a `salt://` path.
//!
//! The crate does not know about YAML, templates or merging.
//!
#![doc = include_str!("../README.md")]

mod absent;
mod address;
mod deployed;
mod entries;
mod frozen;
#[cfg(feature = "git")]
pub mod git;
mod kept;
mod listing;
mod memory;
mod mount;
mod names;
mod open;
mod path;
pub mod processes;
mod reads;
mod roots;
mod snapshot;
mod tree;
mod unserved;
mod walk;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

pub use absent::Absent;
pub use address::without_login;
pub use deployed::{BadDeployed, Deployed};
pub use frozen::Frozen;
pub use kept::KeptFiles;
pub use listing::Listing;
pub use mapstack_value::pytext::{Fnmatch, fnmatch, has_magic};
pub use memory::MemoryFiles;
pub use names::NamePatterns;
pub use path::{BadPath, SaltPath};
pub use reads::{FileRead, FileReadKind, TreeReads};
pub use roots::Roots;
pub use snapshot::Snapshot;
pub use tree::{Entry, FileTree, glob_named, is_directory, is_file, read_named};
pub use unserved::{NotServed, Unserved};

/// A source of files.
pub trait FileServer: Send + Sync {
    /// The first file behind a path.
    ///
    /// # Errors
    /// [`LoadError`] when there is a file that cannot be read.
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError>;

    /// The content of a file that has to be there; it is in the saltenv `base` unless the path names another.
    ///
    /// # Errors
    /// [`LoadError::Missing`] if no server has the file, and what [`fetch`](Self::fetch) refuses.
    fn read(&self, path: &SaltPath) -> Result<Arc<[u8]>, LoadError> {
        let saltenv = path.saltenv().unwrap_or("base");
        match self.fetch(path, saltenv)? {
            Fetched::Found { bytes, .. } => Ok(bytes),
            Fetched::Missing => Err(LoadError::Missing {
                path: path.to_string(),
                saltenv: saltenv.into(),
            }),
            Fetched::Refused { reason } | Fetched::Unusable { reason } => {
                let path = path.to_string();
                Err(LoadError::NotServed { path, reason })
            }
        }
    }

    /// Every file behind a path, the one that [`fetch`](Self::fetch) gives first.
    ///
    /// # Errors
    /// [`LoadError`] when a directory cannot be read.
    fn find_all(&self, path: &SaltPath, saltenv: &str) -> Result<Vec<PathBuf>, LoadError>;

    /// The paths of all files of a saltenv below a prefix, sorted, each once.
    ///
    /// # Errors
    /// [`LoadError`] when a directory cannot be read.
    fn list(&self, saltenv: &str, prefix: &str) -> Result<Vec<String>, LoadError>;

    /// The saltenvs there are.
    fn envs(&self) -> Vec<String>;

    /// The names of everything in a directory of a saltenv, if the server knows at once and for sure that
    /// [`fetch`](Self::fetch) says [`Fetched::Missing`] for any other name there; not every name must lead to a
    /// file. That is about names of ASCII letters, digits, `-`, `_` and `.` that do not end with a dot.
    ///
    /// `None`, which is always right, where it cannot.
    fn names_in(&self, _directory: &SaltPath, _saltenv: &str) -> Option<Vec<String>> {
        None
    }

    /// The mode of the first file behind a path, with its type (Salt: `cp.stat_file`); nothing where the server does not
    /// know it.
    ///
    /// # Errors
    /// [`LoadError`] when the file cannot be looked at.
    fn mode(&self, _path: &SaltPath, _saltenv: &str) -> Result<Option<u32>, LoadError> {
        Ok(None)
    }

    /// The links below a prefix in a saltenv and their targets as they are written, sorted (Salt:
    /// `cp.list_master_symlinks`); nothing where the server does not know them.
    ///
    /// # Errors
    /// [`LoadError`] when a directory cannot be read.
    fn links(&self, _saltenv: &str, _prefix: &str) -> Result<Option<Vec<Link>>, LoadError> {
        Ok(None)
    }

    /// The names below a prefix in a saltenv that are not served, sorted, as far as the server knows: links that lead
    /// nowhere, in circles or out of the root, and names that are not UTF-8.
    ///
    /// # Errors
    /// [`LoadError`] when a directory cannot be read.
    fn unserved(&self, _saltenv: &str, _prefix: &str) -> Result<Vec<Unserved>, LoadError> {
        Ok(Vec::new())
    }
}

/// The path of a link, and its target.
pub type Link = (String, String);

/// The result of asking for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// There is one.
    Found {
        /// The file's path on disk.
        on_disk: PathBuf,
        /// Its content.
        bytes: Arc<[u8]>,
    },
    /// It does not exist.
    Missing,
    /// The path, or what it leads to, is not served. Others may have it.
    Refused {
        /// Why not.
        reason: String,
    },
    /// The file is the one that counts, and its content is not available; the files of other servers do not count.
    Unusable {
        /// Why not.
        reason: String,
    },
}

/// The reason why a file could not be loaded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// No server has the file.
    #[error("salt://{path} does not exist in saltenv {saltenv}")]
    Missing {
        /// Its path below the roots.
        path: String,
        /// The saltenv that was searched.
        saltenv: String,
    },
    /// The path, or the content of its file, is not served.
    #[error("salt://{path}: {reason}")]
    NotServed {
        /// Its path below the roots.
        path: String,
        /// Why not.
        reason: String,
    },
    /// A root is not a directory.
    #[error("{}: there is no such directory", path.display())]
    NoRoot {
        /// The root.
        path: PathBuf,
    },
    /// The operating system refuses.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file or directory.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file is larger than allowed.
    #[error("{} has {size} bytes, more than the {limit} that are read; is it a parameter file at all?", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        size: u64,
        /// The most that is read.
        limit: u64,
    },
    /// The path leads out of every directory that is read.
    #[error(
        "{} is outside of the directories that are read{}",
        path.display(),
        leads_to.as_ref().map(|real| format!(": it leads to {}", real.display())).unwrap_or_default()
    )]
    Outside {
        /// The file or directory.
        path: PathBuf,
        /// The target of the path, if it is another path.
        leads_to: Option<PathBuf>,
    },
    /// A git repository cannot be read.
    #[error("{repository}: {message}")]
    Git {
        /// The repository, or a place in it.
        repository: String,
        /// The message.
        message: String,
    },
    /// A tree has more entries than are listed.
    #[error(
        "{} has more than {limit} files and directories, links to directories counted each time; \
         is it the right root, or do links in it repeat a tree?",
        path.display()
    )]
    TooMany {
        /// The root.
        path: PathBuf,
        /// The most entries that are listed.
        limit: usize,
    },
}

/// Several servers, asked in order; the first that has a file wins, file by file.
#[derive(Default)]
pub struct Backends(Vec<Box<dyn FileServer>>);

impl Backends {
    /// Servers in order.
    #[must_use]
    pub fn new(servers: Vec<Box<dyn FileServer>>) -> Self {
        Backends(servers)
    }
}

impl FileServer for Backends {
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError> {
        let mut refused = None;
        for server in &self.0 {
            match server.fetch(path, saltenv)? {
                Fetched::Missing => {}
                Fetched::Refused { reason } => refused = refused.or(Some(reason)),
                found => return Ok(found),
            }
        }
        Ok(refused.map_or(Fetched::Missing, |reason| Fetched::Refused { reason }))
    }

    fn find_all(&self, path: &SaltPath, saltenv: &str) -> Result<Vec<PathBuf>, LoadError> {
        let found: Vec<Vec<PathBuf>> = self
            .0
            .iter()
            .map(|server| server.find_all(path, saltenv))
            .collect::<Result<_, _>>()?;
        Ok(found.concat())
    }

    fn list(&self, saltenv: &str, prefix: &str) -> Result<Vec<String>, LoadError> {
        let mut all = Vec::new();
        for server in &self.0 {
            all.extend(server.list(saltenv, prefix)?);
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    fn envs(&self) -> Vec<String> {
        let mut all: Vec<String> = self.0.iter().flat_map(|server| server.envs()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn names_in(&self, directory: &SaltPath, saltenv: &str) -> Option<Vec<String>> {
        let names: Option<Vec<_>> = self
            .0
            .iter()
            .map(|server| server.names_in(directory, saltenv))
            .collect();
        Some(names?.concat())
    }

    fn mode(&self, path: &SaltPath, saltenv: &str) -> Result<Option<u32>, LoadError> {
        for server in &self.0 {
            if matches!(server.fetch(path, saltenv)?, Fetched::Found { .. }) {
                return server.mode(path, saltenv);
            }
        }
        Ok(None)
    }

    fn links(&self, saltenv: &str, prefix: &str) -> Result<Option<Vec<Link>>, LoadError> {
        let mut all = std::collections::BTreeMap::new();
        for server in self.0.iter().rev() {
            let Some(links) = server.links(saltenv, prefix)? else {
                return Ok(None);
            };
            all.extend(links);
        }
        Ok(Some(all.into_iter().collect()))
    }

    fn unserved(&self, saltenv: &str, prefix: &str) -> Result<Vec<Unserved>, LoadError> {
        let all = self.0.iter().map(|server| server.unserved(saltenv, prefix));
        let mut all = all.collect::<Result<Vec<_>, _>>()?.concat();
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }
}

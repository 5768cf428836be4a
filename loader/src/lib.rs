//! Salt's file server: the file of a `salt://` path.
//!
//! The crate does not know about YAML, templates or merging.
//!
#![doc = include_str!("../README.md")]

mod entries;
#[doc(hidden)]
pub mod inside;
mod memory;
mod path;
#[doc(hidden)]
pub mod processes;
mod roots;
mod unserved;
mod walk;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

pub use memory::MemoryFiles;
pub use path::{BadPath, SaltPath};
pub use roots::Roots;
pub use unserved::{NotServed, Unserved};

/// A source of files.
pub trait FileServer: Send + Sync {
    /// The first file behind a path.
    ///
    /// # Errors
    /// [`LoadError`] when there is a file that cannot be read.
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError>;

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
    /// file. That is about names of at most 255 ASCII letters, digits, `-`, `_` and `.` that do not end with a dot.
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

/// The content of a file that has to be there; it is in the saltenv `base` unless the path names another.
///
/// ```
/// use mapstack_loader::{MemoryFiles, SaltPath, read};
/// let files = MemoryFiles::new().file("base", "a.yaml", "a: 1");
/// assert_eq!(*read(&files, &SaltPath::from_relative("a.yaml")).unwrap(), *b"a: 1");
/// let missing = read(&files, &SaltPath::from_relative("b.yaml")).unwrap_err();
/// assert_eq!(missing.to_string(), "salt://b.yaml does not exist in saltenv base");
/// ```
///
/// # Errors
/// [`LoadError::Missing`] if no server has the file, and what [`fetch`](FileServer::fetch) refuses.
pub fn read(files: &dyn FileServer, path: &SaltPath) -> Result<Arc<[u8]>, LoadError> {
    let saltenv = path.saltenv().unwrap_or("base");
    match files.fetch(path, saltenv)? {
        Fetched::Found { bytes, .. } => Ok(bytes),
        Fetched::Missing => Err(LoadError::Missing {
            path: path.to_string(),
            saltenv: saltenv.into(),
        }),
        Fetched::Refused { reason } | Fetched::Unusable { reason } => Err(LoadError::NotServed {
            place: format!("salt://{path}"),
            reason,
        }),
    }
}

/// A link below a root.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Link {
    /// Its path, relative to the root.
    pub path: String,
    /// Its target, as it is written.
    pub target: String,
}

impl Link {
    /// The links by path; of several with one path, the last.
    fn last_of_each(links: Vec<Link>) -> Vec<Link> {
        let by_path = links.into_iter().map(|link| (link.path.clone(), link));
        let by_path: std::collections::BTreeMap<String, Link> = by_path.collect();
        by_path.into_values().collect()
    }
}

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
    /// The path or its file is not served, or the repository of its files cannot be read.
    #[error("{place}: {reason}")]
    NotServed {
        /// The path, the repository, or a place in it.
        place: String,
        /// Why not.
        reason: String,
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
    /// A file is larger, or a directory has more entries, than is read.
    #[error("{} {reason}", path.display())]
    Limit {
        /// The file or directory.
        path: PathBuf,
        /// Its size, and the limit.
        reason: String,
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
}

/// Several servers, asked in order; the first that has a file wins, file by file.
///
/// ```
/// use mapstack_loader::{Backends, FileServer, MemoryFiles};
/// let servers: Backends = vec![
///     Box::new(MemoryFiles::new().file("base", "a", "first")),
///     Box::new(MemoryFiles::new().file("dev", "a", "second")),
/// ];
/// assert_eq!(servers.envs(), ["base", "dev"]);
/// ```
pub type Backends = Vec<Box<dyn FileServer>>;

impl FileServer for Backends {
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError> {
        let mut refused = None;
        for server in self {
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
            .iter()
            .map(|server| server.find_all(path, saltenv))
            .collect::<Result<_, _>>()?;
        Ok(found.concat())
    }

    fn list(&self, saltenv: &str, prefix: &str) -> Result<Vec<String>, LoadError> {
        let mut all = Vec::new();
        for server in self {
            all.extend(server.list(saltenv, prefix)?);
        }
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }

    fn envs(&self) -> Vec<String> {
        let mut all: Vec<String> = self.iter().flat_map(|server| server.envs()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    fn names_in(&self, directory: &SaltPath, saltenv: &str) -> Option<Vec<String>> {
        let names: Option<Vec<_>> = self
            .iter()
            .map(|server| server.names_in(directory, saltenv))
            .collect();
        Some(names?.concat())
    }

    fn mode(&self, path: &SaltPath, saltenv: &str) -> Result<Option<u32>, LoadError> {
        for server in self {
            if matches!(server.fetch(path, saltenv)?, Fetched::Found { .. }) {
                return server.mode(path, saltenv);
            }
        }
        Ok(None)
    }

    fn links(&self, saltenv: &str, prefix: &str) -> Result<Option<Vec<Link>>, LoadError> {
        let mut all = Vec::new();
        for server in self.iter().rev() {
            let Some(links) = server.links(saltenv, prefix)? else {
                return Ok(None);
            };
            all.extend(links);
        }
        Ok(Some(Link::last_of_each(all)))
    }

    fn unserved(&self, saltenv: &str, prefix: &str) -> Result<Vec<Unserved>, LoadError> {
        let all = self.iter().map(|server| server.unserved(saltenv, prefix));
        let mut all = all.collect::<Result<Vec<_>, _>>()?.concat();
        all.sort_unstable();
        all.dedup();
        Ok(all)
    }
}

//! Files that exist only in memory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::{Fetched, FileServer, LoadError, SaltPath};

/// A file server for tests and embedders.
///
/// It has no links, no permissions and no size limit; use [`Roots`](crate::Roots) over a temporary
/// directory where those matter.
#[derive(Debug, Clone, Default)]
pub struct MemoryFiles {
    envs: BTreeMap<String, BTreeMap<String, Arc<[u8]>>>,
}

impl MemoryFiles {
    /// No files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Add or replace a file.
    #[must_use]
    pub fn file(mut self, saltenv: &str, path: &str, content: impl AsRef<[u8]>) -> Self {
        let path = SaltPath::from_relative(path).to_string();
        self.envs
            .entry(saltenv.into())
            .or_default()
            .insert(path, content.as_ref().into());
        self
    }
}

impl FileServer for MemoryFiles {
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError> {
        if let Some(reason) = path.refusal() {
            return Ok(Fetched::Refused { reason });
        }
        let env = self.envs.get(path.saltenv().unwrap_or(saltenv));
        let path = path.to_string();
        Ok(match env.and_then(|files| files.get(&path)) {
            Some(bytes) => Fetched::Found {
                on_disk: PathBuf::from(path),
                bytes: bytes.clone(),
            },
            None => Fetched::Missing,
        })
    }

    fn find_all(&self, path: &SaltPath, saltenv: &str) -> Result<Vec<PathBuf>, LoadError> {
        Ok(match self.fetch(path, saltenv)? {
            Fetched::Found { on_disk, .. } => vec![on_disk],
            Fetched::Missing | Fetched::Refused { .. } | Fetched::Unusable { .. } => Vec::new(),
        })
    }

    fn list(&self, saltenv: &str, prefix: &str) -> Result<Vec<String>, LoadError> {
        let files = self.envs.get(saltenv).into_iter().flat_map(BTreeMap::keys);
        Ok(below(prefix, files))
    }

    fn envs(&self) -> Vec<String> {
        self.envs.keys().cloned().collect()
    }

    fn names_in(&self, directory: &SaltPath, saltenv: &str) -> Option<Vec<String>> {
        let directory = directory.as_str();
        let files = self.envs.get(saltenv).into_iter().flat_map(BTreeMap::keys);
        let inside = files.filter_map(|path| match directory {
            "" => Some(&**path),
            _ => path.strip_prefix(directory)?.strip_prefix('/'),
        });
        Some(
            inside
                .filter_map(|path| path.split('/').next())
                .map(str::to_owned)
                .collect(),
        )
    }
}

/// The paths below a prefix.
pub(crate) fn below<'p>(prefix: &str, paths: impl Iterator<Item = &'p String>) -> Vec<String> {
    let prefix = SaltPath::from_relative(prefix).to_string();
    let is_below = |path: &str| {
        prefix.is_empty()
            || path
                .strip_prefix(&prefix)
                .is_some_and(|rest| rest.starts_with('/'))
    };
    paths.filter(|path| is_below(path)).cloned().collect()
}

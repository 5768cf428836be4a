//! Files that exist only in memory.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::{Fetched, FileServer, LoadError, SaltPath};

/// A file server for tests and embedders.
///
/// It has no links, no permissions and no size limit; use [`Roots`](crate::Roots) over a temporary
/// directory where those matter.
#[derive(Debug, Clone, Default)]
pub struct MemoryFiles {
    envs: BTreeMap<String, BTreeMap<String, StoredFile>>,
}

#[derive(Debug, Clone)]
struct StoredFile {
    fetched: Fetched,
    /// The paths on disk of all files behind the path, where they were copied.
    all: Vec<PathBuf>,
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
        let on_disk = PathBuf::from(&path);
        let stored = StoredFile {
            all: vec![on_disk.clone()],
            fetched: Fetched::Found {
                on_disk,
                bytes: content.as_ref().into(),
            },
        };
        let files = self.envs.entry(saltenv.into()).or_default();
        files.insert(path, stored);
        self
    }

    /// Every file that another file server lists, read once: what happens to the files later is not seen.
    ///
    /// ```
    /// use mapstack_loader::{FileServer, MemoryFiles, Roots, SaltPath};
    /// let root = tempfile::tempdir().unwrap();
    /// let path = root.path().join("x.yaml");
    /// std::fs::write(&path, "a: 1").unwrap();
    /// let files = MemoryFiles::copied(&Roots::new().root("base", root.path())).unwrap();
    /// std::fs::remove_file(&path).unwrap();
    /// assert_eq!(files.list("base", "").unwrap(), ["x.yaml"]);
    /// assert_eq!(files.find_all(&SaltPath::from_relative("x.yaml"), "base").unwrap(), [path]);
    /// ```
    ///
    /// # Errors
    /// A directory or a file cannot be read.
    pub fn copied(files: &dyn FileServer) -> Result<Self, LoadError> {
        let mut envs = BTreeMap::new();
        for env in files.envs() {
            let mut stored = BTreeMap::new();
            for path in files.list(&env, "")? {
                let asked = SaltPath::from_relative(&path);
                let file = StoredFile {
                    fetched: files.fetch(&asked, &env)?,
                    all: files.find_all(&asked, &env)?,
                };
                stored.insert(path, file);
            }
            envs.insert(env, stored);
        }
        Ok(MemoryFiles { envs })
    }

    fn at(&self, path: &SaltPath, saltenv: &str) -> Option<&StoredFile> {
        let files = self.envs.get(path.saltenv().unwrap_or(saltenv))?;
        files.get(path.as_str())
    }
}

impl FileServer for MemoryFiles {
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError> {
        if let Some(reason) = path.refusal() {
            return Ok(Fetched::Refused { reason });
        }
        Ok(self
            .at(path, saltenv)
            .map_or(Fetched::Missing, |file| file.fetched.clone()))
    }

    fn find_all(&self, path: &SaltPath, saltenv: &str) -> Result<Vec<PathBuf>, LoadError> {
        let file = self.at(path, saltenv).filter(|_| path.refusal().is_none());
        Ok(file.map(|file| file.all.clone()).unwrap_or_default())
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
fn below<'p>(prefix: &str, paths: impl Iterator<Item = &'p String>) -> Vec<String> {
    let prefix = SaltPath::from_relative(prefix).to_string();
    let is_below = |path: &str| {
        prefix.is_empty()
            || path
                .strip_prefix(&prefix)
                .is_some_and(|rest| rest.starts_with('/'))
    };
    paths.filter(|path| is_below(path)).cloned().collect()
}

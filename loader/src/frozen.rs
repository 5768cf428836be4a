//! A file server as it was at one moment.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;

use crate::memory::below;
use crate::{Fetched, FileServer, LoadError, SaltPath};

/// Every file that another file server has, read once: what happens to the files later is not seen.
///
/// ```
/// use mapstack_loader::{FileServer, Frozen, MemoryFiles, SaltPath};
/// let frozen = Frozen::of(&MemoryFiles::new().file("base", "a/x.yaml", "a: 1")).unwrap();
/// assert_eq!(frozen.list("base", "a").unwrap(), ["a/x.yaml"]);
/// assert_eq!(frozen.find_all(&SaltPath::from_relative("a/x.yaml"), "base").unwrap().len(), 1);
/// ```
#[derive(Debug, Default)]
pub struct Frozen {
    envs: BTreeMap<String, Files>,
}

#[derive(Debug, Default)]
struct Files {
    /// In the order of the server's list.
    listed: Vec<String>,
    fetched: HashMap<String, (Fetched, Vec<PathBuf>)>,
}

impl Frozen {
    /// Read everything.
    ///
    /// # Errors
    /// A directory or a file cannot be read.
    pub fn of(files: &dyn FileServer) -> Result<Self, LoadError> {
        let mut frozen = Frozen::default();
        for env in files.envs() {
            let listed = files.list(&env, "")?;
            let mut fetched = HashMap::with_capacity(listed.len());
            for path in &listed {
                let asked = SaltPath::from_relative(path);
                fetched.insert(
                    path.clone(),
                    (files.fetch(&asked, &env)?, files.find_all(&asked, &env)?),
                );
            }
            frozen.envs.insert(env, Files { listed, fetched });
        }
        Ok(frozen)
    }

    fn at(&self, path: &SaltPath, saltenv: &str) -> Option<&(Fetched, Vec<PathBuf>)> {
        self.envs
            .get(path.saltenv().unwrap_or(saltenv))?
            .fetched
            .get(&path.to_string())
    }
}

impl FileServer for Frozen {
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError> {
        if let Some(reason) = path.refusal() {
            return Ok(Fetched::Refused { reason });
        }
        Ok(self
            .at(path, saltenv)
            .map_or(Fetched::Missing, |(fetched, _)| fetched.clone()))
    }

    fn find_all(&self, path: &SaltPath, saltenv: &str) -> Result<Vec<PathBuf>, LoadError> {
        Ok(self
            .at(path, saltenv)
            .map(|(_, all)| all.clone())
            .unwrap_or_default())
    }

    fn list(&self, saltenv: &str, prefix: &str) -> Result<Vec<String>, LoadError> {
        Ok(below(
            prefix,
            self.envs
                .get(saltenv)
                .into_iter()
                .flat_map(|files| &files.listed),
        ))
    }

    fn envs(&self) -> Vec<String> {
        self.envs.keys().cloned().collect()
    }
}

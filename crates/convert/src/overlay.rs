//! A file server on which some files are others.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use mapstack::loader::{Fetched, FileServer, LoadError, SaltPath};

use crate::{Formula, Proposal};

/// A file server on which a formula is as a proposal has it.
///
/// ```
/// use std::collections::BTreeMap;
/// use mapstack::loader::{Fetched, FileServer, MemoryFiles, SaltPath};
/// use mapstack_convert::{Formula, Overlay, Proposal};
/// let files = MemoryFiles::new().file("base", "ntp/map.jinja", "old");
/// let proposal = Proposal::default().writing("map.jinja", "new");
/// let files = Overlay::new(files, &Formula::new("ntp", BTreeMap::new()), &proposal);
/// let found = files.fetch(&SaltPath::from_relative("ntp/map.jinja"), "base").unwrap();
/// assert!(matches!(found, Fetched::Found { bytes, .. } if &*bytes == b"new"));
/// ```
pub struct Overlay<F> {
    files: F,
    /// The files that are others, by path below the root; `None` for those that are gone.
    others: BTreeMap<String, Option<Arc<[u8]>>>,
}

impl<F: FileServer> Overlay<F> {
    /// A file server with a proposal in place of some files of a formula.
    #[must_use]
    pub fn new(files: F, formula: &Formula, proposal: &Proposal) -> Self {
        let path = |below: &String| format!("{}/{below}", formula.name());
        let gone = proposal.remove.iter().map(|below| (path(below), None));
        let written = proposal.write.iter();
        let written = written.map(|(below, text)| (path(below), Some(text.as_bytes().into())));
        Overlay {
            files,
            others: gone.chain(written).collect(),
        }
    }
}

impl<F: FileServer> FileServer for Overlay<F> {
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError> {
        match self.others.get(path.as_str()) {
            Some(Some(bytes)) => Ok(Fetched::Found {
                on_disk: PathBuf::from(path.as_str()),
                bytes: bytes.clone(),
            }),
            Some(None) => Ok(Fetched::Missing),
            None => self.files.fetch(path, saltenv),
        }
    }

    fn find_all(&self, path: &SaltPath, saltenv: &str) -> Result<Vec<PathBuf>, LoadError> {
        match self.others.get(path.as_str()) {
            Some(Some(_)) => Ok(vec![PathBuf::from(path.as_str())]),
            Some(None) => Ok(Vec::new()),
            None => self.files.find_all(path, saltenv),
        }
    }

    fn list(&self, saltenv: &str, prefix: &str) -> Result<Vec<String>, LoadError> {
        let listed = self.files.list(saltenv, prefix)?;
        let mut listed: std::collections::BTreeSet<String> = listed.into_iter().collect();
        for (path, other) in &self.others {
            match other {
                Some(_) if path.starts_with(prefix) => drop(listed.insert(path.clone())),
                Some(_) => {}
                None => drop(listed.remove(path)),
            }
        }
        Ok(listed.into_iter().collect())
    }

    fn envs(&self) -> Vec<String> {
        self.files.envs()
    }

    fn mode(&self, path: &SaltPath, saltenv: &str) -> Result<Option<u32>, LoadError> {
        match self.others.contains_key(path.as_str()) {
            true => Ok(None),
            false => self.files.mode(path, saltenv),
        }
    }
}

//! A record of the files that a run saw, for comparison with those that others saw.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use mapstack::loader::{Fetched, FileServer, Link, LoadError, SaltPath, Unserved};
use sha2::{Digest, Sha256};

/// A record of a file server's answers: a digest of each.
///
/// Two runs that agree on all that both have seen can have had the same files: then one state of the files gives the
/// results of both.
#[derive(Debug, Default)]
pub struct AnswerRecord(Mutex<BTreeMap<String, String>>);

/// The most paths without a file that are noted, as the names of minions are among them.
const MAX_MISSING: usize = 100_000;

/// The digest of an answer that was not the same each time.
pub const CHANGED: &str = "changed meanwhile";

impl AnswerRecord {
    /// A digest of each answer, by what was asked.
    #[must_use]
    pub fn digests(&self) -> BTreeMap<String, String> {
        self.locked(|seen| seen.clone())
    }

    fn locked<T>(&self, work: impl FnOnce(&mut BTreeMap<String, String>) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn note(&self, question: String, answer: String) {
        self.locked(|seen| {
            let is_full = answer == MISSING && seen.len() >= MAX_MISSING;
            match seen.get_mut(&question) {
                Some(before) if *before != answer => *before = CHANGED.into(),
                Some(_) => {}
                None if is_full => {}
                None => {
                    seen.insert(question, answer);
                }
            }
        });
    }
}

/// The digest of a file that does not exist.
const MISSING: &str = "missing";

/// A file server that can record every access to it.
///
/// ```
/// use std::sync::Arc;
/// use mapstack::loader::{FileServer, MemoryFiles, SaltPath};
/// use mapstack_fleet::{AnswerRecord, RecordingFileServer};
/// let seen = Arc::new(AnswerRecord::default());
/// let files = RecordingFileServer::new(MemoryFiles::new().file("base", "a.yaml", "a: 1"), "files", Some(seen.clone()));
/// files.fetch(&SaltPath::from_relative("b.yaml"), "base").unwrap();
/// assert_eq!(seen.digests()["files base b.yaml"], "missing");
/// ```
#[derive(Debug)]
pub struct RecordingFileServer<F> {
    files: F,
    name: &'static str,
    seen: Option<Arc<AnswerRecord>>,
}

impl<F> RecordingFileServer<F> {
    /// A file server of a name that no other one has. Without `seen`, nothing is noted.
    pub fn new(files: F, name: &'static str, seen: Option<Arc<AnswerRecord>>) -> Self {
        RecordingFileServer { files, name, seen }
    }

    fn note(&self, what: &str, saltenv: &str, path: &str, answer: impl FnOnce() -> String) {
        let name = self.name;
        if let Some(seen) = &self.seen {
            seen.note(format!("{name}{what} {saltenv} {path}"), answer());
        }
    }
}

fn digest(bytes: &[u8]) -> String {
    // Half of it is enough to distinguish files.
    let mut digits = hex::encode(Sha256::digest(bytes));
    digits.truncate(32);
    digits
}

/// The order in which names are listed is the file system's.
fn digest_of_names(names: &[String]) -> String {
    let mut names: Vec<&str> = names.iter().map(String::as_str).collect();
    names.sort_unstable();
    digest(names.join("\0").as_bytes())
}

impl<F: FileServer> FileServer for RecordingFileServer<F> {
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError> {
        let fetched = self.files.fetch(path, saltenv);
        let answer = || match &fetched {
            Ok(Fetched::Found { bytes, .. }) => digest(bytes),
            Ok(Fetched::Missing) => MISSING.into(),
            Ok(Fetched::Refused { .. } | Fetched::Unusable { .. }) | Err(_) => "not read".into(),
        };
        self.note("", saltenv, path.as_str(), answer);
        fetched
    }

    fn find_all(&self, path: &SaltPath, saltenv: &str) -> Result<Vec<PathBuf>, LoadError> {
        let found = self.files.find_all(path, saltenv)?;
        // The paths of files on disk can differ between machines.
        self.note(" with all of", saltenv, path.as_str(), || {
            found.len().to_string()
        });
        Ok(found)
    }

    fn list(&self, saltenv: &str, prefix: &str) -> Result<Vec<String>, LoadError> {
        let names = self.files.list(saltenv, prefix)?;
        self.note(" listed in", saltenv, prefix, || digest_of_names(&names));
        Ok(names)
    }

    fn envs(&self) -> Vec<String> {
        let envs = self.files.envs();
        self.note(" of all environments", "", "", || digest_of_names(&envs));
        envs
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
        let names = self.files.names_in(directory, saltenv)?;
        self.note(" named in", saltenv, directory.as_str(), || {
            digest_of_names(&names)
        });
        Some(names)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_change_are_marked() {
        let seen = AnswerRecord::default();
        for answer in ["1", "1", "2", "2"] {
            seen.note("a".into(), answer.into());
        }
        seen.note("b".into(), "1".into());
        let digests = seen.digests();
        assert_eq!([&*digests["a"], &*digests["b"]], [CHANGED, "1"]);
    }
}

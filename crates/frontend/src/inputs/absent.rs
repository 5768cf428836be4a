//! Files that a checkout lacks on purpose.

use std::path::PathBuf;
use std::sync::Arc;

use mapstack::loader::{Fetched, FileServer, Link, LoadError, SaltPath, Unserved};
use mapstack::value::pytext::Fnmatch;

/// A file server on which files of some names are there and empty, if it does not have them: private ones, say, which
/// lie in another repository.
///
/// A pattern is one of paths (`vault/*`) or of names of sls (`secrets.*`).
pub(crate) struct Absent<F> {
    files: F,
    patterns: Vec<Fnmatch>,
}

impl<F: FileServer> Absent<F> {
    /// A file server without the files of some patterns.
    #[must_use]
    pub fn new(files: F, patterns: &[String]) -> Self {
        let patterns = patterns.iter().map(|pattern| Fnmatch::new(pattern));
        Absent {
            files,
            patterns: patterns.collect(),
        }
    }

    /// True if a file is one that lies elsewhere. An sls can be `a/b.sls` or `a/b/init.sls`: where the one is there,
    /// the other is not missing.
    fn is_absent(&self, path: &SaltPath, saltenv: &str) -> Result<bool, LoadError> {
        let path = path.as_str();
        let stem = path.strip_suffix(".sls");
        let name = stem.map(|stem| stem.strip_suffix("/init").unwrap_or(stem).replace('/', "."));
        let is_named = |pattern: &Fnmatch| {
            pattern.matches(path) || name.as_ref().is_some_and(|name| pattern.matches(name))
        };
        if !self.patterns.iter().any(is_named) {
            return Ok(false);
        }
        let Some(stem) = stem.filter(|stem| !stem.ends_with("/init")) else {
            return Ok(true);
        };
        let other = SaltPath::from_relative(&format!("{stem}/init.sls"));
        let other = self.files.fetch(&other, saltenv)?;
        Ok(matches!(other, Fetched::Missing))
    }
}

impl<F: FileServer> FileServer for Absent<F> {
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError> {
        match self.files.fetch(path, saltenv)? {
            Fetched::Missing if self.is_absent(path, saltenv)? => Ok(Fetched::Found {
                on_disk: PathBuf::from(path.as_str()),
                bytes: Arc::default(),
            }),
            found => Ok(found),
        }
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
        // A name that is not listed may be absent.
        match self.patterns.is_empty() {
            true => self.files.names_in(directory, saltenv),
            false => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use mapstack::loader::MemoryFiles;

    use super::*;

    #[test]
    fn what_lies_elsewhere_is_there_and_empty() {
        let own = MemoryFiles::new().file("base", "secrets/own.sls", "a: 1");
        let files = Absent::new(own, &["secrets.*".into()]);
        let size = |path: &str| match files.fetch(&SaltPath::from_relative(path), "base") {
            Ok(Fetched::Found { bytes, .. }) => Some(bytes.len()),
            _ => None,
        };
        assert_eq!(size("secrets/own.sls"), Some(4));
        assert_eq!(size("secrets/web.sls"), Some(0));
        assert_eq!(size("other/web.sls"), None);
    }
}

//! The files of a formula.

use std::collections::BTreeMap;
use std::sync::Arc;

use mapstack::loader::{Fetched, SaltPath};
use mapstack::{Engine, Error, ErrorKind, Result};

/// The templates that formulas carry for their `map.jinja`.
pub(crate) const OF_MAPS: [&str; 3] =
    ["libmapstack.jinja", "libmatchers.jinja", "libsaltcli.jinja"];

/// The template that formulas carry for the sources of files.
pub(crate) const OF_TOFS: &str = "libtofs.jinja";

/// The files of a formula, by their paths below its folder.
#[derive(Debug, Clone)]
pub struct Formula {
    name: String,
    files: BTreeMap<String, Arc<[u8]>>,
}

/// The most files of a formula that are read.
const MAX_FILES: usize = 20_000;

impl Formula {
    /// A formula of given files.
    #[must_use]
    pub fn new(name: &str, files: BTreeMap<String, Arc<[u8]>>) -> Self {
        Formula {
            name: name.into(),
            files,
        }
    }

    /// The formula of a name on an engine's file server.
    ///
    /// # Errors
    /// A file cannot be listed or read, or there are too many.
    pub fn read(engine: &Engine, name: &str, saltenv: &str) -> Result<Self> {
        let prefix = format!("{name}/");
        let listed = engine.list(saltenv, &prefix)?;
        if listed.len() > MAX_FILES {
            let message = format!(
                "salt://{prefix} has {} files, more than the {MAX_FILES} of a formula that are read",
                listed.len()
            );
            return Err(Error::new(ErrorKind::File, message));
        }
        let mut files = BTreeMap::new();
        for path in &listed {
            let fetched = engine.fetch(&SaltPath::from_relative(path), saltenv)?;
            let below = path.strip_prefix(&prefix);
            if let (Fetched::Found { bytes, .. }, Some(below)) = (fetched, below) {
                files.insert(below.to_owned(), bytes);
            }
        }
        Ok(Formula::new(name, files))
    }

    /// The folder of the formula below its root.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The paths of all files.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// True if there is a file.
    #[must_use]
    pub fn has(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// The bytes of a file.
    #[must_use]
    pub fn bytes(&self, path: &str) -> Option<&Arc<[u8]>> {
        self.files.get(path)
    }

    /// The text of a file, if it is one.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<&str> {
        std::str::from_utf8(self.files.get(path)?).ok()
    }
}

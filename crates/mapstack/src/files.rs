//! Asking the file server.

use std::path::Path;

use mapstack_loader::{Fetched, LoadError, SaltPath};

use crate::engine::Run;
use crate::file::File;
use crate::trace::{Asked, Outcome};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result};

impl Run<'_> {
    /// Fetch a file by its path from the file server's root; `None` if there is none to be had.
    pub(crate) fn fetch_file(&self, path: &str) -> Result<Option<File>> {
        self.fetch_candidate(path, false)
    }

    /// The same; that a file is missing is not recorded where hooks know it.
    pub(crate) fn fetch_candidate(&self, path: &str, known_missing: bool) -> Result<Option<File>> {
        let asked = SaltPath::from_relative(path);
        let fetched = self.engine.files.fetch(&asked, &self.saltenv);
        if !known_missing || !matches!(fetched, Ok(Fetched::Missing)) {
            self.note_fetched(&self.saltenv, &asked, &fetched);
        }
        let found = unreadable(&asked, fetched).inspect_err(|e| {
            self.record(Asked::File {
                path: path.into(),
                outcome: Outcome::Refused(e.to_string()),
            });
        })?;
        let (outcome, file) = match found {
            Fetched::Found { on_disk, bytes } => {
                self.on_disk
                    .borrow_mut()
                    .insert(path.into(), on_disk.clone());
                let file = File {
                    path: path.into(),
                    shown: shown(&on_disk),
                    bytes,
                };
                (Outcome::Hit(on_disk), Some(file))
            }
            Fetched::Missing => (Outcome::Miss, None),
            Fetched::Refused { reason } | Fetched::Unusable { reason } => {
                let message = format!("salt://{path} is not served: {reason}");
                self.warn(Diagnostic::warning(ErrorKind::File, message));
                (Outcome::Refused(reason), None)
            }
        };
        self.record(Asked::File {
            path: path.into(),
            outcome,
        });
        Ok(file)
    }

    /// The file of a `salt://` path as a person would open it.
    pub(crate) fn shown(&self, salt_path: &str) -> String {
        let on_disk = self.on_disk.borrow();
        match on_disk.get(salt_path) {
            Some(path) => path.display().to_string(),
            // What came out of a nested run names its file already.
            None if on_disk.values().any(|path| *path.as_os_str() == *salt_path) => {
                salt_path.to_string()
            }
            None => format!("salt://{salt_path}"),
        }
    }
}

/// A path as a person would write it.
pub(crate) fn shown(path: &Path) -> String {
    // By far the most are text, which needs no look at each character.
    path.to_str()
        .map_or_else(|| path.display().to_string(), Into::into)
}

/// What is said of a file that cannot be read.
pub(crate) fn unreadable(
    path: &SaltPath,
    fetched: std::result::Result<Fetched, LoadError>,
) -> Result<Fetched> {
    fetched.map_err(|e| Error::new(ErrorKind::File, format!("cannot read salt://{path}: {e}")))
}

//! Requests to the file server.

use std::path::Path;

use mapstack_loader::{Fetched, SaltPath};
use mapstack_salt_jinja::SpentResource;

use crate::file::{File, unreadable};
use crate::run::Run;
use crate::trace::{RequestOutcome, TracedRequest};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result};

impl Run<'_> {
    /// Fetch a file by its path relative to the file server's root. `None` if no file is served.
    pub(crate) fn fetch_file(&self, path: &str) -> Result<Option<File>> {
        self.fetch_candidate(path, false)
    }

    /// Like [`fetch_file`](Run::fetch_file). If `known_missing` is set, hooks have recorded the missing files, so
    /// the run does not.
    pub(crate) fn fetch_candidate(&self, path: &str, known_missing: bool) -> Result<Option<File>> {
        self.may_go_on(path)?;
        let asked = SaltPath::from_relative(path);
        let fetched = self.engine.files.fetch(&asked, &self.saltenv);
        if !known_missing || !matches!(fetched, Ok(Fetched::Missing)) {
            self.note_fetched(&self.saltenv, &asked, &fetched);
        }
        let found = unreadable(&asked, fetched).inspect_err(|e| {
            self.journal.record(TracedRequest::File {
                path: path.into(),
                outcome: RequestOutcome::Refused(e.to_string()),
            });
        })?;
        let (outcome, file) = match found {
            Fetched::Found { on_disk, bytes } => {
                if let Some(busy) = &self.allowance.busy {
                    busy.at(path);
                }
                self.journal
                    .on_disk
                    .borrow_mut()
                    .insert(path.into(), on_disk.clone());
                let file = File {
                    path: path.into(),
                    shown: shown(&on_disk),
                    bytes,
                };
                (RequestOutcome::Hit(on_disk), Some(file))
            }
            Fetched::Missing => (RequestOutcome::Miss, None),
            Fetched::Refused { reason } | Fetched::Unusable { reason } => {
                let message = format!("salt://{path} is not served: {reason}");
                self.warn(Diagnostic::warning(ErrorKind::File, message));
                (RequestOutcome::Refused(reason), None)
            }
        };
        self.journal.record(TracedRequest::File {
            path: path.into(),
            outcome,
        });
        Ok(file)
    }

    /// Check that the budget of the whole command allows one file more.
    fn may_go_on(&self, path: &str) -> Result<()> {
        match self.engine.spent() {
            None => Ok(()),
            Some(spent) => Err(out_of_budget(spent, &format!("salt://{path}"))),
        }
    }

    /// The file of a path on the file server, as a user would open it, if the run has read it.
    pub fn shown(&self, salt_path: &str) -> String {
        let on_disk = self.journal.on_disk.borrow();
        match on_disk.get(salt_path) {
            Some(path) => path.display().to_string(),
            // A path from a nested run is already a path on disk.
            None if on_disk.values().any(|path| *path.as_os_str() == *salt_path) => {
                salt_path.to_string()
            }
            None => format!("salt://{salt_path}"),
        }
    }
}

/// The error of a command whose budget is used up, with the place where that was noticed.
#[must_use]
pub fn out_of_budget(spent: SpentResource, before: &str) -> Error {
    Error::new(ErrorKind::Limit, spent.to_string())
        .note(format!("it got as far as {before}"))
        .help(spent.help())
}

/// A path as a user would write it.
pub(crate) fn shown(path: &Path) -> String {
    // Most paths are UTF-8, and `display` would check each character again.
    path.to_str()
        .map_or_else(|| path.display().to_string(), Into::into)
}

//! Listing the files below a root.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::open::is_inside;
use crate::path::MAX_COMPONENTS;
use crate::roots::is_missing;
use crate::{LoadError, SaltPath};

/// More entries than this are an error: links can repeat a small tree without end.
pub(crate) const MAX_ENTRIES: usize = 1_000_000;

/// A walk through one root.
pub(crate) struct Walk<'r> {
    /// The root's path without links.
    pub(crate) real: &'r Path,
    pub(crate) follow_outside_links: bool,
    /// Links to files are not listed.
    pub(crate) hide_links: bool,
    /// How many entries were seen.
    pub(crate) entries: usize,
    /// The directories that lead here, none of which is entered again.
    pub(crate) above: Vec<PathBuf>,
}

impl Walk<'_> {
    /// Adds the paths of all files below `prefix`, relative to the root.
    pub(crate) fn below(
        &mut self,
        prefix: &SaltPath,
        all: &mut Vec<String>,
    ) -> Result<(), LoadError> {
        let prefix = prefix.to_string();
        let start = self.real.join(&prefix);
        match self.served(&start) {
            Ok(true) => self.directory(&start, &prefix, all),
            Ok(false) => Ok(()),
            Err(e) if is_missing(&e) => Ok(()),
            Err(source) => Err(LoadError::Io {
                path: start,
                source,
            }),
        }
    }

    /// Adds the files of a directory that is served.
    fn directory(
        &mut self,
        at: &Path,
        relative: &str,
        all: &mut Vec<String>,
    ) -> Result<(), LoadError> {
        // Files further down have paths that are refused.
        if self.above.len() >= MAX_COMPONENTS {
            return Ok(());
        }
        let failed = |source| LoadError::Io {
            path: at.into(),
            source,
        };
        let entries = match identity(at).and_then(|identity| Ok((identity, fs::read_dir(at)?))) {
            Ok((identity, _)) if self.above.contains(&identity) => return Ok(()),
            Ok((identity, entries)) => {
                self.above.push(identity);
                entries
            }
            Err(e) if is_missing(&e) => return Ok(()),
            Err(source) => return Err(failed(source)),
        };
        for entry in entries {
            let entry = entry.map_err(failed)?;
            self.count()?;
            // Names that are not Unicode cannot be asked for.
            let Ok(name) = entry.file_name().into_string() else {
                continue;
            };
            let inner = if relative.is_empty() {
                name
            } else {
                format!("{relative}/{name}")
            };
            let path = entry.path();
            match self.look(&path, &entry) {
                Some(found) if found.is_dir() => self.directory(&path, &inner, all)?,
                Some(found) if found.is_file() && !self.is_hidden(&entry) => all.push(inner),
                _ => {}
            }
        }
        self.above.pop();
        Ok(())
    }

    /// What an entry is, if it is there and is served; only a link can lead elsewhere.
    fn look(&self, path: &Path, entry: &fs::DirEntry) -> Option<Metadata> {
        if !entry.file_type().ok()?.is_symlink() {
            return entry.metadata().ok();
        }
        let found = fs::metadata(path).ok()?;
        self.served(path).ok()?.then_some(found)
    }

    fn is_hidden(&self, entry: &fs::DirEntry) -> bool {
        self.hide_links && entry.file_type().is_ok_and(|found| found.is_symlink())
    }

    fn served(&self, path: &Path) -> io::Result<bool> {
        if self.follow_outside_links {
            Ok(true)
        } else {
            is_inside(self.real, path)
        }
    }

    fn count(&mut self) -> Result<(), LoadError> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES {
            return Err(LoadError::TooMany {
                path: self.real.into(),
                limit: MAX_ENTRIES,
            });
        }
        Ok(())
    }
}

/// What makes a directory the same under any name.
fn identity(directory: &Path) -> io::Result<PathBuf> {
    fs::canonicalize(directory)
}

//! Paths of files of a revision, and of the files as they are now.

use std::path::{Path, PathBuf};

use mapstack::value::posixpath::normpath;

use crate::inputs::InputError;
#[cfg(feature = "git")]
use crate::inputs::compared_files::unreadable;
use crate::inputs::compared_files::{or_here, roots_of_pillar};
use crate::inputs::flags::FileFlags;
use crate::inputs::pillars::compiling;
use crate::inputs::{configuration, served};

/// Brings texts with paths of two states into one form: paths from the top of the repository.
pub struct RevisionPaths {
    revision: String,
    /// The roots as they are named, and their paths from the top.
    roots: Vec<(String, String)>,
    /// The tops of the repositories.
    tops: Vec<PathBuf>,
}

impl RevisionPaths {
    /// The roots of flags, and those of the pillar.
    ///
    /// # Errors
    /// A root is not in a repository that has the revision.
    pub fn of(revision: &str, files: &FileFlags) -> Result<Self, InputError> {
        let config = configuration::read(files, None, None, &crate::inputs::pillars::NoWarnings)?;
        let mut all = or_here(&served::roots(files, config.as_ref())?).to_vec();
        if let Some(config) = compiling(config.as_ref(), files)? {
            all.extend(roots_of_pillar(&config)?);
        }
        let mut paths = RevisionPaths {
            revision: revision.into(),
            roots: Vec::new(),
            tops: Vec::new(),
        };
        for (_, root) in all {
            paths.add(&root)?;
        }
        // Of two that begin alike, the longer one is meant.
        paths
            .roots
            .sort_by_key(|(given, _)| std::cmp::Reverse(given.len()));
        Ok(paths)
    }

    #[cfg(feature = "git")]
    fn add(&mut self, root: &Path) -> Result<(), InputError> {
        use mapstack::loader::git::Revision;

        let found = Revision::of(root, &self.revision);
        let found = found.map_err(|e| unreadable("--since", &self.revision, &e))?;
        let given = root.display().to_string();
        self.roots.push((given, found.root));
        if !self.tops.contains(&found.top) {
            self.tops.push(found.top);
        }
        Ok(())
    }

    #[cfg(not(feature = "git"))]
    fn add(&mut self, _: &Path) -> Result<(), InputError> {
        Ok(())
    }

    /// The revision as it was named.
    #[must_use]
    pub fn revision(&self) -> &str {
        &self.revision
    }

    /// A text, or the path of a file, of the files as they are now.
    #[must_use]
    pub fn of_now(&self, text: &str) -> String {
        if let Some(path) = self.inside_top(text) {
            return path;
        }
        let roots = self.roots.iter().filter(|(given, _)| given != ".");
        roots.fold(text.to_owned(), |text, (given, inside)| {
            let inside = match inside.as_str() {
                "" => String::new(),
                inside => format!("{inside}/"),
            };
            text.replace(&format!("{given}/"), &inside)
        })
    }

    /// A text, or the path of a file, of the revision: its files are named `REV@COMMIT:PATH`.
    #[must_use]
    pub fn of_then(&self, text: &str) -> String {
        let start = format!("{}@", self.revision);
        let mut parts = text.split(&*start);
        let mut all = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            match part.split_once(':') {
                Some((commit, rest)) if commit.chars().all(|c| c.is_ascii_hexdigit()) => {
                    all.push_str(rest);
                }
                _ => all.push_str(&format!("{start}{part}")),
            }
        }
        match all == text {
            true => self.of_now(text),
            false => all,
        }
    }

    /// The path of a file from the top of its repository.
    fn inside_top(&self, file: &str) -> Option<String> {
        let real = Path::new(file).canonicalize().ok()?;
        let inside = self
            .tops
            .iter()
            .find_map(|top| real.strip_prefix(top).ok())?;
        Some(normpath(inside.to_str()?))
    }
}

//! The results that a change of files can reach.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mapstack::loader::{Fetched, FileServer, LoadError, SaltPath};
use mapstack::trace::{FileRead, FileReadKind};

/// A file that was read or looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FileAccess<'r> {
    /// The saltenv.
    pub saltenv: &'r str,
    /// The path relative to the file server's root.
    pub path: &'r str,
    /// The kind of access, and whether the file exists.
    pub kind: FileReadKind,
}

impl<'r> From<&'r FileRead> for FileAccess<'r> {
    fn from(read: &'r FileRead) -> Self {
        FileAccess {
            saltenv: &read.saltenv,
            path: &read.path,
            kind: read.kind,
        }
    }
}

/// A file that changed: its saltenv and path.
pub(crate) type ChangedFile<'c> = (&'c String, &'c String);

/// The files that are not the same in two states.
///
/// ```
/// use mapstack::loader::MemoryFiles;
/// use mapstack_fleet::ChangedFiles;
/// let before = MemoryFiles::new().file("base", "a/x.yaml", "1").file("base", "a/y.yaml", "2");
/// let after = MemoryFiles::new().file("base", "a/x.yaml", "1").file("base", "a/y.yaml", "3").file("base", "b/z.yaml", "");
/// let changed = ChangedFiles::between(&before, &after).unwrap();
/// assert_eq!(changed.paths().collect::<Vec<_>>(), ["a/y.yaml", "b/z.yaml"]);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ChangedFiles {
    /// By saltenv: the path, and whether it was there before.
    files: BTreeMap<String, BTreeMap<String, bool>>,
}

impl ChangedFiles {
    /// Compare every file of two file servers.
    ///
    /// # Errors
    /// A directory or file cannot be read.
    pub fn between(before: &dyn FileServer, after: &dyn FileServer) -> Result<Self, LoadError> {
        let mut changed = ChangedFiles::default();
        let envs: BTreeSet<String> = before.envs().into_iter().chain(after.envs()).collect();
        for env in envs {
            let (old, new) = (before.list(&env, "")?, after.list(&env, "")?);
            let paths: BTreeSet<String> = old.into_iter().chain(new).collect();
            changed.compare(before, after, &env, paths)?;
        }
        Ok(changed)
    }

    /// Compare some files of one saltenv.
    ///
    /// # Errors
    /// A file cannot be read.
    ///
    /// ```
    /// use mapstack::loader::MemoryFiles;
    /// use mapstack_fleet::ChangedFiles;
    /// let before = MemoryFiles::new().file("base", "x", "1").file("base", "y", "1");
    /// let after = MemoryFiles::new().file("base", "x", "2").file("base", "y", "2");
    /// let changed = ChangedFiles::among_paths(&before, &after, "base", ["x".into()]).unwrap();
    /// assert_eq!(changed.paths().collect::<Vec<_>>(), ["x"]);
    /// ```
    pub fn among_paths(
        before: &dyn FileServer,
        after: &dyn FileServer,
        env: &str,
        paths: impl IntoIterator<Item = String>,
    ) -> Result<Self, LoadError> {
        let mut changed = ChangedFiles::default();
        changed.compare(before, after, env, paths)?;
        Ok(changed)
    }

    fn compare(
        &mut self,
        before: &dyn FileServer,
        after: &dyn FileServer,
        env: &str,
        paths: impl IntoIterator<Item = String>,
    ) -> Result<(), LoadError> {
        for path in paths {
            let asked = SaltPath::from_relative(&path);
            let (old, new) = (content(before, &asked, env)?, content(after, &asked, env)?);
            if old != new {
                let files = self.files.entry(env.into()).or_default();
                files.insert(path, old.is_some());
            }
        }
        Ok(())
    }

    /// The paths, by saltenv and name.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files
            .values()
            .flat_map(BTreeMap::keys)
            .map(String::as_str)
    }

    /// Those of the project: what git keeps in its own folder is not.
    pub fn project_paths(&self) -> impl Iterator<Item = &str> {
        self.of_project().map(|(_, path)| path.as_str())
    }

    /// True if a file of a saltenv is different.
    #[must_use]
    pub fn has_path(&self, env: &str, path: &str) -> bool {
        self.files
            .get(env)
            .is_some_and(|files| files.contains_key(path))
    }

    /// True if nothing is different.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// True if a result that looked at some files can be another one now.
    ///
    /// A result does not name the missing files that its sources look for, so a new file may be one of them,
    /// unless it is in the folder of another formula.
    pub(crate) fn reaches(&self, formula: &str, formulas: &[&str], reads: &[FileRead]) -> bool {
        let folder = |path: &str| path.split('/').next().unwrap_or_default().to_owned();
        let is_new_layer = |path: &String| {
            let folder = folder(path);
            folder == formula || !formulas.contains(&&*folder)
        };
        let new = || {
            self.files
                .values()
                .flatten()
                .filter(|(_, was_there)| !**was_there)
                .map(|(path, _)| path)
        };
        new().any(is_new_layer) || reads.iter().any(|read| self.has(read))
    }

    /// True if states that looked at some files can be other ones now. A file that is new, and one of a module, may be
    /// something that they look for.
    pub(crate) fn reaches_states<'r>(
        &self,
        reads: impl IntoIterator<Item = &'r FileRead>,
        has_one_saltenv: bool,
    ) -> bool {
        let mut changed = self.files.values().flatten();
        let may_reach = |(path, was_there): (&String, &bool)| {
            !was_there || path.starts_with('_') || (!has_one_saltenv && path.ends_with(".sls"))
        };
        changed.any(may_reach) || reads.into_iter().any(|read| self.has(read))
    }

    /// The files among the reads of a result: the files that it uses, and missing files that it looked for.
    pub(crate) fn among<'c, 'r>(
        &'c self,
        reads: impl IntoIterator<Item = impl Into<FileAccess<'r>>>,
    ) -> impl Iterator<Item = ChangedFile<'c>> {
        reads.into_iter().filter_map(|read| {
            let read: FileAccess<'r> = read.into();
            let (env, files) = self.files.get_key_value(read.saltenv)?;
            let (path, _) = files.get_key_value(read.path)?;
            matches!(read.kind, FileReadKind::Found | FileReadKind::Absent).then_some((env, path))
        })
    }

    /// Those of the project, with their saltenvs: a root may contain the folder in which git keeps the repository.
    pub(crate) fn of_project(&self) -> impl Iterator<Item = ChangedFile<'_>> {
        let all = self
            .files
            .iter()
            .flat_map(|(env, files)| files.keys().map(move |path| (env, path)));
        all.filter(|(_, path)| path.split('/').all(|folder| folder != ".git"))
    }

    /// True if what was read is different.
    pub(crate) fn has<'r>(&self, read: impl Into<FileAccess<'r>>) -> bool {
        let read: FileAccess<'r> = read.into();
        // No file server knows the former content of such a file.
        if read.saltenv == FileRead::OF_NO_SALTENV {
            return true;
        }
        let Some(files) = self.files.get(read.saltenv) else {
            return false;
        };
        match read.kind {
            FileReadKind::Found | FileReadKind::Absent => files.contains_key(read.path),
            FileReadKind::List => files.keys().any(|path| path.starts_with(read.path)),
        }
    }
}

/// The content under a path, as text where it is refused.
fn content(
    files: &dyn FileServer,
    path: &SaltPath,
    env: &str,
) -> Result<Option<Arc<[u8]>>, LoadError> {
    Ok(match files.fetch(path, env)? {
        Fetched::Found { bytes, .. } => Some(bytes),
        Fetched::Missing => None,
        Fetched::Refused { reason } | Fetched::Unusable { reason } => {
            Some(reason.into_bytes().into())
        }
    })
}

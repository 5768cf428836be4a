//! Paths that a repository names stay in it.
//!
//! People run the tests of repositories whose files they have not read. None of them may make the command print a file
//! of the machine, nor write one: not by a path that leads up or is absolute, and not through a link.

use std::io;
use std::path::{Path, PathBuf};

use mapstack::{Error, ErrorKind};

/// A directory that paths have to stay in, links followed.
///
/// ```
/// use mapstack_expect::Repository;
/// let home = tempfile::tempdir().unwrap();
/// std::fs::write(home.path().join("web1.yaml"), "id: web1").unwrap();
/// let repository = Repository::around(home.path()).unwrap();
/// repository.check(&home.path().join("web1.yaml")).unwrap();
/// repository.check(&home.path().join("new/web2.yaml")).unwrap();
/// let error = repository.check("/etc/passwd".as_ref()).unwrap_err();
/// assert!(error.to_string().contains("leads out of the repository"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repository {
    /// Without links.
    real: PathBuf,
}

impl Repository {
    /// The work tree of git that a directory lies in; outside of a work tree, the directory itself.
    ///
    /// # Errors
    /// The directory cannot be looked at.
    pub fn around(directory: &Path) -> Result<Self, Error> {
        let real = resolved(directory).map_err(|e| failed(directory, &e))?;
        let tree = real
            .ancestors()
            .find(|above| above.join(".git").exists())
            .map(Path::to_path_buf);
        Ok(Repository {
            real: tree.unwrap_or(real),
        })
    }

    /// The directory, without links.
    #[must_use]
    pub fn directory(&self) -> &Path {
        &self.real
    }

    /// That a path leads to something in the repository, which need not be there yet.
    ///
    /// # Errors
    /// It leads out of the repository, to a place that may not be read, or to a broken link.
    pub fn check(&self, path: &Path) -> Result<(), Error> {
        let real = resolved(path).map_err(|e| failed(path, &e))?;
        if real.starts_with(&self.real) {
            return Ok(());
        }
        let (shown, home) = (path.display(), self.real.display());
        let error = Error::new(
            ErrorKind::File,
            format!("{shown} leads out of the repository {home}"),
        );
        Err(error.note(
            "paths named in a repository must be inside it, links followed: commands may run on repositories that are not trusted",
        ))
    }
}

/// The target of a path, links followed. The missing part of a path keeps its name.
///
/// ```
/// let home = tempfile::tempdir().unwrap();
/// let real = home.path().canonicalize().unwrap();
/// assert_eq!(mapstack_expect::resolved(&home.path().join("new/file")).unwrap(), real.join("new/file"));
/// ```
///
/// # Errors
/// The path cannot be read, or a link is broken.
pub fn resolved(path: &Path) -> io::Result<PathBuf> {
    let mut new = Vec::new();
    let mut there = if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    };
    loop {
        match there.canonicalize() {
            Ok(real) => return Ok(new.iter().rev().fold(real, |real, name| real.join(name))),
            Err(e) if e.kind() == io::ErrorKind::NotFound && !there.is_symlink() => {
                // A path that ends in `..` has no name, and nothing is made behind what does not exist.
                let (Some(parent), Some(name)) = (there.parent(), there.file_name()) else {
                    return Err(e);
                };
                new.push(name.to_owned());
                there = if parent.as_os_str().is_empty() {
                    Path::new(".")
                } else {
                    parent
                };
            }
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                let message = format!("{} is a broken link", there.display());
                return Err(io::Error::new(io::ErrorKind::NotFound, message));
            }
            Err(e) => return Err(e),
        }
    }
}

fn failed(path: &Path, e: &io::Error) -> Error {
    Error::new(
        ErrorKind::File,
        format!("cannot look at {}: {e}", path.display()),
    )
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_work_tree_is_the_repository() {
        let home = tempfile::tempdir().unwrap();
        let real = home.path().canonicalize().unwrap();
        fs::create_dir_all(home.path().join("repo/salt/f")).unwrap();
        let around = |path: &str| Repository::around(&home.path().join(path)).unwrap().real;
        assert_eq!(around("repo/salt/f"), real.join("repo/salt/f"));
        // A work tree of `git worktree` and a submodule have a file there.
        fs::write(home.path().join("repo/.git"), "gitdir: x").unwrap();
        assert_eq!(around("repo/salt/f"), real.join("repo"));
        assert_eq!(around("repo/new/folder"), real.join("repo"));
    }

    #[cfg(unix)]
    #[test]
    fn paths_stay_inside_whatever_they_lead_through() {
        use std::os::unix::fs::symlink;

        let home = tempfile::tempdir().unwrap();
        let at = |path: &str| home.path().join(path);
        fs::create_dir_all(at("repo/tests")).unwrap();
        fs::create_dir_all(at("other")).unwrap();
        fs::write(at("repo/minion.yaml"), "").unwrap();
        fs::write(at("other/secret"), "").unwrap();
        symlink("../minion.yaml", at("repo/tests/inside")).unwrap();
        symlink("../../other/secret", at("repo/tests/outside")).unwrap();
        symlink("../../other", at("repo/tests/folder")).unwrap();
        symlink("../../other/new", at("repo/tests/dangling")).unwrap();
        symlink("round", at("repo/tests/round")).unwrap();
        let repository = Repository::around(&at("repo")).unwrap();
        for (path, expected) in [
            ("repo/minion.yaml", ""),
            ("repo/tests/../minion.yaml", ""),
            ("repo/tests/inside", ""),
            ("repo/tests/new/file.yaml", ""),
            ("repo", ""),
            ("repository", "leads out of the repository"),
            ("other/secret", "leads out of the repository"),
            (
                "repo/tests/../../other/secret",
                "leads out of the repository",
            ),
            ("repo/tests/outside", "leads out of the repository"),
            ("repo/tests/folder/secret", "leads out of the repository"),
            (
                "repo/tests/folder/new/file.yaml",
                "leads out of the repository",
            ),
            ("repo/tests/folder/../repo/minion.yaml", ""),
            (
                "repo/tests/dangling",
                "repo/tests/dangling is a broken link",
            ),
            (
                "repo/tests/dangling/file.yaml",
                "repo/tests/dangling is a broken link",
            ),
            ("repo/tests/round", "cannot look at"),
            ("repo/new/../../other/x", "cannot look at"),
        ] {
            let reported = repository
                .check(&at(path))
                .err()
                .map(|e| e.to_string())
                .unwrap_or_default();
            assert!(
                reported.contains(expected) && reported.is_empty() == expected.is_empty(),
                "{path}: {reported}"
            );
        }
    }
}

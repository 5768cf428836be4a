//! A directory of a repository as it was at some revision.

use std::path::{Path, PathBuf};

use super::{GitFs, Remote, Saltenv, trusted};
use crate::{LoadError, NamePatterns};

/// A directory of a git repository at a revision, to be served without a checkout.
///
/// ```no_run
/// use mapstack_loader::git::Revision;
/// let before = Revision::of("/srv/repository/salt", "HEAD~1").unwrap();
/// let files = before.serve("base").unwrap();
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revision {
    /// The repository.
    pub repository: PathBuf,
    /// The revision as it was named.
    pub name: String,
    /// The commit it leads to.
    pub commit: String,
    /// The directory, from the top of the repository's work tree.
    pub root: String,
    /// The top of the work tree.
    pub top: PathBuf,
}

impl Revision {
    /// A directory in a work tree, which need not be there now, at a revision as `git rev-parse` reads
    /// it: a branch, a tag, a commit, `HEAD~1`.
    ///
    /// # Errors
    /// [`LoadError::Git`] if the directory is in no work tree, or nothing has that name.
    pub fn of(directory: impl AsRef<Path>, name: &str) -> Result<Self, LoadError> {
        let directory = directory.as_ref();
        let shown = directory.display().to_string();
        let failed = |message: String| LoadError::Git {
            repository: shown.clone(),
            message,
        };
        let (there, rest) = existing(directory);
        let real = std::fs::canonicalize(&there).map_err(|e| failed(e.to_string()))?;
        let options = gix::open::Options::isolated()
            .bail_if_untrusted(false)
            .lossy_config(true);
        trusted::check_dot_git(&real).map_err(failed)?;
        let (found, _) = gix::discover::upwards(&real)
            .map_err(|_| failed("this is in no git repository".into()))?;
        let (git, _) = found.into_repository_and_work_tree_directories();
        trusted::check(&git)
            .map_err(|why| failed(format!("its git repository is not read: {why}")))?;
        let repository = options
            .open(&git)
            .map_err(|e| failed(format!("it is not a readable git repository: {e}")))?;
        let repository = repository.to_thread_local();
        let top = repository
            .workdir()
            .ok_or_else(|| failed("its git repository has no work tree".into()))?;
        let top = std::fs::canonicalize(top).map_err(|e| failed(e.to_string()))?;
        let inside = real
            .strip_prefix(&top)
            .map_err(|_| failed("this is in no work tree".into()))?
            .join(rest);
        let root = inside
            .to_str()
            .ok_or_else(|| failed("its name is not text".into()))?
            .replace('\\', "/");
        let unknown = || {
            let shallow = match repository.is_shallow() {
                Ok(true) => "; the clone is shallow, so its history is not here",
                _ => "",
            };
            failed(format!(
                "the repository has no revision '{}'{shallow}",
                name.chars().take(80).collect::<String>()
            ))
        };
        let id = repository.rev_parse_single(name).map_err(|_| unknown())?;
        let object = id.object().map_err(|e| failed(e.to_string()))?;
        let commit = object
            .peel_to_commit()
            .map_err(|_| failed(format!("'{name}' leads to no commit")))?;
        Ok(Revision {
            repository: git,
            name: name.into(),
            commit: commit.id.to_string(),
            root: root.trim_matches('/').into(),
            top,
        })
    }

    /// The whole repository at this revision.
    #[must_use]
    pub fn whole(mut self) -> Self {
        self.root.clear();
        self
    }

    /// The directory as a file server, in one saltenv.
    ///
    /// # Errors
    /// [`LoadError::Git`] if the repository cannot be read.
    pub fn serve(&self, saltenv: &str) -> Result<GitFs, LoadError> {
        let only = saltenv.to_owned();
        let mut remote = Remote {
            base: self.commit.clone(),
            root: self.root.clone(),
            disable_saltenv_mapping: true,
            // A remote would have a `base` as well.
            exposed: NamePatterns::new(move |name| name == only),
            ..Remote::new(&self.name, &self.repository)
        };
        if saltenv != "base" {
            let own = Saltenv {
                reference: Some(self.commit.clone()),
                ..Saltenv::default()
            };
            remote.saltenvs.insert(saltenv.into(), own);
        }
        GitFs::open(vec![remote])
    }
}

/// The nearest directory above that is there, and the way down from it.
fn existing(directory: &Path) -> (PathBuf, PathBuf) {
    let (mut there, mut rest) = (directory.to_path_buf(), PathBuf::new());
    while !there.as_os_str().is_empty() && !there.is_dir() {
        let name = there.file_name().map(PathBuf::from).unwrap_or_default();
        rest = if rest.as_os_str().is_empty() {
            name
        } else {
            name.join(rest)
        };
        if !there.pop() {
            break;
        }
    }
    if there.as_os_str().is_empty() {
        there = PathBuf::from(".");
    }
    (there, rest)
}

//! A directory of a repository as it was at some revision.

use std::path::{Path, PathBuf};

use mapstack_loader::LoadError;

use super::{GitFs, NamePatterns, Remote, Saltenv, trusted};

/// A directory of a git repository at a revision, to be served without a checkout.
///
/// ```no_run
/// use mapstack_salt_config::gitfs::Revision;
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
    /// [`LoadError::NotServed`] if the directory is in no work tree, or nothing has that name.
    pub fn of(directory: impl AsRef<Path>, name: &str) -> Result<Self, LoadError> {
        let directory = directory.as_ref();
        let shown = directory.display().to_string();
        let failed = |reason: String| LoadError::NotServed {
            place: shown.clone(),
            reason,
        };
        let (there, rest) = existing(directory);
        let real = std::fs::canonicalize(&there).map_err(|e| failed(e.to_string()))?;
        let options = gix::open::Options::isolated()
            .bail_if_untrusted(false)
            .lossy_config(true);
        trusted::check_dot_git(&real).map_err(failed)?;
        let (found, _) = gix::discover::upwards(&real)
            .map_err(|_| failed("this is in no git repository".into()))?;
        let (git, around) = found.into_repository_and_work_tree_directories();
        trusted::check(&git)
            .map_err(|why| failed(format!("its git repository is not read: {why}")))?;
        let repository = options
            .open(&git)
            .map_err(|e| failed(format!("it is not a readable git repository: {e}")))?;
        let repository = repository.to_thread_local();
        let top = work_tree(&repository, around)
            .ok_or_else(|| failed("its git repository has no work tree".into()))?;
        let top = std::fs::canonicalize(top).map_err(|e| failed(e.to_string()))?;
        let inside = real
            .strip_prefix(&top)
            .map_err(|_| {
                let top = top.display();
                failed(format!("the work tree of its git repository is {top}"))
            })?
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
    /// [`LoadError::NotServed`] if the repository cannot be read.
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

/// The work tree of a repository that was found through the `.git` of a directory, as git has it: that directory, unless
/// the repository's settings name another or say that there is none. A `.git` that is a file can name any repository.
fn work_tree(repository: &gix::Repository, around: Option<PathBuf>) -> Option<PathBuf> {
    let settings = repository.config_snapshot();
    // The settings are those of the main work tree.
    let is_linked = repository.git_dir() != repository.common_dir();
    let is_set = settings.string("core.worktree").is_some()
        || settings.boolean("core.bare").unwrap_or(false);
    let own = repository.workdir().map(Path::to_path_buf);
    match is_set && !is_linked {
        true => own,
        false => around.or(own),
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

#[cfg(test)]
mod tests {
    use std::fs;

    use gix::objs::Kind;
    use gix::prelude::Write as _;

    use super::*;

    /// A repository with a commit.
    fn committed(at: &Path) {
        let repository = gix::init(at).unwrap();
        let write = |kind, bytes: &[u8]| repository.objects.write_buf(kind, bytes).unwrap();
        let tree = write(Kind::Tree, b"");
        let who = "A <a@example.org> 1700000000 +0000";
        let commit = format!("tree {tree}\nauthor {who}\ncommitter {who}\n\nx\n");
        let commit = write(Kind::Commit, commit.as_bytes());
        fs::write(at.join(".git/HEAD"), format!("{commit}\n")).unwrap();
    }

    #[test]
    fn a_dot_git_that_is_a_file_makes_a_work_tree_of_its_directory() {
        let home = tempfile::tempdir().unwrap();
        let home = fs::canonicalize(home.path()).unwrap();
        let (main, other) = (home.join("main"), home.join("other"));
        let (git, apart) = (main.join(".git"), home.join("apart.data"));
        committed(&main);
        fs::create_dir_all(other.join("salt")).unwrap();
        let found = |named: &str| {
            fs::write(other.join(".git"), format!("gitdir: {named}\n")).unwrap();
            let found = Revision::of(other.join("salt"), "HEAD");
            found
                .map(|found| (found.top, found.root))
                .map_err(|e| e.to_string())
        };
        let as_work_tree = Ok((other.clone(), "salt".to_owned()));
        assert_eq!(found("../main/.git"), as_work_tree);
        // A linked work tree that was moved: the repository still has the path it had.
        let linked = git.join("worktrees/w");
        fs::create_dir_all(&linked).unwrap();
        fs::copy(git.join("HEAD"), linked.join("HEAD")).unwrap();
        fs::write(linked.join("commondir"), "../..\n").unwrap();
        fs::write(linked.join("gitdir"), "/nonexistent/.git\n").unwrap();
        assert_eq!(found("../main/.git/worktrees/w"), as_work_tree);
        // A repository apart from its work tree.
        fs::rename(&git, &apart).unwrap();
        assert_eq!(found("../apart.data"), as_work_tree);
        // Settings of the repository.
        let config = fs::read_to_string(apart.join("config")).unwrap();
        let set = |more: &str| fs::write(apart.join("config"), format!("{config}[core]\n{more}\n"));
        set("worktree = ../main").unwrap();
        let refused = found("../apart.data").unwrap_err();
        let shown = format!("the work tree of its git repository is {}", main.display());
        assert!(refused.ends_with(&shown), "{refused}");
        set("bare = true").unwrap();
        let refused = found("../apart.data").unwrap_err();
        assert!(refused.ends_with("has no work tree"), "{refused}");
    }
}

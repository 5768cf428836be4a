//! The directory that compared directories are copies of.
//!
//! A state that is a directory has the roots at the same paths below it as they have below the origin. Roots that are
//! relative have the current directory for that. Those of a master's configuration are absolute.

use std::path::{Path, PathBuf};

use mapstack::value::posixpath::normpath;

use crate::inputs::InputError;

/// A directory with the roots below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CommonRoot(PathBuf);

impl CommonRoot {
    /// The origin of the roots for the directories that are compared: the first of these that has all roots below it,
    /// and something of them in each of the other directories.
    ///
    /// - one of the compared directories, whose other is a copy of it,
    /// - the work tree of the roots' repository, if another checkout is compared with it,
    /// - the directory that the roots have in common, which is the root itself if there is one alone.
    ///
    /// Relative roots have the current directory, as [`of_relative`](Self::of_relative) says.
    ///
    /// # Errors
    /// There is none.
    pub fn of(roots: &[(String, PathBuf)], directories: &[&Path]) -> Result<Self, InputError> {
        if directories.is_empty() {
            return Ok(CommonRoot(".".into()));
        }
        if roots.iter().all(|(_, root)| root.is_relative()) {
            return Ok(CommonRoot::of_relative(roots, directories));
        }
        let absolute: Vec<PathBuf> = roots.iter().map(|(_, root)| absolute(root)).collect();
        let mut tried = Vec::new();
        for origin in candidates(&absolute, directories) {
            if origin.parent().is_none() || !absolute.iter().all(|root| root.starts_with(&origin)) {
                continue;
            }
            let origin = CommonRoot(origin);
            let missing = directories.iter().find_map(|directory| {
                let copies: Vec<PathBuf> = absolute
                    .iter()
                    .map(|root| origin.copy_in(directory, root))
                    .collect();
                copies.iter().all(|copy| !copy.is_dir()).then_some(copies)
            });
            match missing {
                None => return Ok(origin),
                Some(copies) => tried.extend(copies),
            }
        }
        tried.sort();
        tried.dedup();
        let tried: Vec<String> = tried
            .iter()
            .map(|copy| copy.display().to_string())
            .collect();
        let why = match tried.is_empty() {
            true => "they have no directory in common".to_owned(),
            false => format!("there is no {}", tried.join(", ")),
        };
        let named: Vec<String> = directories
            .iter()
            .map(|d| d.display().to_string())
            .collect();
        Err(InputError::Usage(format!(
            "{} has none of the roots, which are absolute: {why}; name roots below the directories by --root",
            named.join(" or ")
        )))
    }

    /// The origin of relative roots: the current directory. If no compared directory has a root at the same
    /// path below it, it is the compared directory that contains all roots, if one does.
    fn of_relative(roots: &[(String, PathBuf)], directories: &[&Path]) -> Self {
        let here = CommonRoot(".".into());
        let has_root = |directory: &&Path| {
            let mut copies = roots.iter().map(|(_, root)| here.copy_in(directory, root));
            copies.any(|copy| copy.is_dir())
        };
        if directories.iter().any(has_root) {
            return here;
        }
        let is_around = |origin: &PathBuf| {
            roots
                .iter()
                .all(|(_, root)| absolute(root).starts_with(origin))
        };
        let mut compared = directories.iter().map(|directory| absolute(directory));
        compared.find(is_around).map_or(here, CommonRoot)
    }

    /// The directory itself.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A root below it.
    fn relative(&self, root: &Path) -> PathBuf {
        if self.is_here() {
            return root.to_owned();
        }
        let root = absolute(root);
        match root.strip_prefix(&self.0) {
            Ok(below) if below.as_os_str().is_empty() => ".".into(),
            Ok(below) => below.to_owned(),
            Err(_) => root,
        }
    }

    /// The roots below it.
    pub fn below(&self, roots: &[(String, PathBuf)]) -> Vec<(String, PathBuf)> {
        let all = roots.iter();
        all.map(|(env, root)| (env.clone(), self.relative(root)))
            .collect()
    }

    /// A root in a directory that is a copy.
    pub fn copy_in(&self, directory: &Path, root: &Path) -> PathBuf {
        // The components leave the `.` out that is a root as a rule.
        directory.join(self.relative(root)).components().collect()
    }

    fn is_here(&self) -> bool {
        self.0 == Path::new(".")
    }
}

/// Directories that may be the origin.
fn candidates(roots: &[PathBuf], directories: &[&Path]) -> Vec<PathBuf> {
    let compared = directories.iter().map(|directory| absolute(directory));
    compared
        .chain(work_tree(roots))
        .chain(common(roots))
        .collect()
}

/// The directory that all paths have in common.
fn common(paths: &[PathBuf]) -> Option<PathBuf> {
    let (first, others) = paths.split_first()?;
    let mut shared = first.ancestors();
    shared
        .find(|above| others.iter().all(|path| path.starts_with(above)))
        .map(Path::to_owned)
}

#[cfg(feature = "git")]
fn work_tree(roots: &[PathBuf]) -> Option<PathBuf> {
    let first = roots.first()?;
    mapstack::loader::git::Revision::of(first, "HEAD")
        .ok()
        .map(|it| it.top)
}

#[cfg(not(feature = "git"))]
fn work_tree(_: &[PathBuf]) -> Option<PathBuf> {
    None
}

/// A path from the top, without `..`. What does not exist has one as well.
fn absolute(path: &Path) -> PathBuf {
    let whole = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    normpath(&whole.to_string_lossy()).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(path: &Path) -> (String, PathBuf) {
        ("base".into(), path.into())
    }

    /// The copies of roots in an old directory.
    fn copies(
        made: &[&str],
        roots: &[&str],
        old: &str,
        to: Option<&str>,
    ) -> Result<Vec<String>, String> {
        let top = tempfile::tempdir().unwrap();
        let path = absolute(top.path());
        for name in made {
            std::fs::create_dir_all(path.join(name)).unwrap();
        }
        let roots: Vec<_> = roots.iter().map(|name| root(&path.join(name))).collect();
        let old = path.join(old);
        let compared: Vec<PathBuf> = to.map(|to| path.join(to)).into_iter().collect();
        let compared = compared.iter().map(PathBuf::as_path);
        let directories: Vec<&Path> = std::iter::once(&*old).chain(compared).collect();
        let cut = |text: String| text.replace(&*path.to_string_lossy(), "");
        let origin = CommonRoot::of(&roots, &directories);
        let origin = origin.map_err(|error| cut(error.to_string()))?;
        let copies = roots.iter().map(|(_, root)| origin.copy_in(&old, root));
        Ok(copies.map(|copy| cut(copy.display().to_string())).collect())
    }

    #[test]
    fn a_root_lies_in_a_copy_as_in_the_origin() {
        let now = None;
        for (made, roots, old, to, expected) in [
            (
                &["srv/salt", "old"][..],
                &["srv/salt"][..],
                "old",
                now,
                &["/old"][..],
            ),
            (
                &["old/salt"],
                &["srv/salt", "srv/pillar"],
                "old",
                now,
                &["/old/salt", "/old/pillar"],
            ),
            (
                &["old/salt", "srv/salt"],
                &["srv/salt"],
                "old",
                Some("srv"),
                &["/old/salt"],
            ),
            (
                &["old", "old/salt"],
                &["srv/salt"],
                "old/salt",
                now,
                &["/old/salt"],
            ),
            (&["a/b"], &["a/b"], "a", now, &["/a/b"]),
        ] {
            assert_eq!(copies(made, roots, old, to).unwrap(), expected);
        }
    }

    #[test]
    fn a_directory_without_any_root_is_refused() {
        let error = copies(&["old"], &["srv/salt", "srv/pillar"], "old", None).unwrap_err();
        assert!(
            error.contains("there is no /old/pillar, /old/salt"),
            "{error}"
        );
    }

    #[test]
    fn relative_roots_are_those_of_the_directory_at_hand() {
        let roots = [root(Path::new("salt"))];
        let origin = CommonRoot::of(&roots, &[Path::new("old")]).unwrap();
        assert_eq!(origin, CommonRoot(".".into()));
        assert_eq!(
            origin.copy_in(Path::new("old"), &roots[0].1),
            Path::new("old/salt")
        );
    }

    #[test]
    fn relative_roots_in_a_compared_directory_have_it_as_origin() {
        let roots = [root(Path::new("new/salt"))];
        let states = [Path::new("old"), Path::new("new")];
        let origin = CommonRoot::of(&roots, &states).unwrap();
        assert_eq!(
            states.map(|state| origin.copy_in(state, &roots[0].1)),
            ["old/salt", "new/salt"].map(PathBuf::from)
        );
    }
}

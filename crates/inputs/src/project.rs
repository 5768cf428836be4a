//! The project around the directory at hand: which roots there are when no flag and no configuration says.

use std::path::{Path, PathBuf};

use mapstack::minion::SaltVersion;

use crate::{InputError, Setting};

/// What a checkout says about itself: its roots, the minions it is for, and what answers calls.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Project {
    /// Where it was found.
    pub directory: PathBuf,
    /// The file server's roots, by saltenv.
    pub roots: Vec<(String, PathBuf)>,
    /// The pillar's roots, by saltenv.
    pub pillar_roots: Vec<(String, PathBuf)>,
    /// Minions for verbs about many.
    pub minions: Option<PathBuf>,
    /// Answers to calls of functions that are not built in.
    pub stubs: Vec<PathBuf>,
    /// The version of Salt that is followed.
    pub salt_version: Option<SaltVersion>,
    /// How much rules of the linter matter.
    pub levels: Vec<Setting>,
}

/// The file in which a checkout says this.
pub const FILE: &str = ".mapstack.yaml";

impl Project {
    /// The project that the current directory is in: it, or the nearest directory above it in the same git work tree,
    /// that has a `.mapstack.yaml`, a `FORMULA` file, or a folder with `parameters/` or a `map.jinja`, or that is named
    /// `X-formula` and has a folder `X` with states.
    ///
    /// # Errors
    /// A `.mapstack.yaml` cannot be read, or names what is not in its directory.
    pub fn find() -> Result<Option<Self>, InputError> {
        Self::around(Path::new("."))
    }

    fn around(directory: &Path) -> Result<Option<Self>, InputError> {
        let Ok(real) = directory.canonicalize() else {
            return Ok(None);
        };
        // Outside a work tree, what lies above is not the user's project.
        let has_git = |above: &Path| above.join(".git").exists();
        let levels = real.ancestors().position(has_git).unwrap_or(0);
        let mut shown = directory.to_path_buf();
        for _ in 0..=levels {
            if let Some(found) = Self::at(&shown)? {
                return Ok(Some(found));
            }
            shown = match shown == Path::new(".") {
                true => "..".into(),
                false => shown.join(".."),
            };
        }
        Ok(None)
    }

    /// The project of a directory, if it is one.
    ///
    /// # Errors
    /// Its `.mapstack.yaml` cannot be read, or names what is not in the directory.
    fn at(directory: &Path) -> Result<Option<Self>, InputError> {
        let plain = || Project {
            directory: directory.into(),
            roots: vec![("base".into(), directory.into())],
            ..Project::default()
        };
        let file = directory.join(FILE);
        if file.is_file() {
            return plain().with_file(&file).map(Some);
        }
        let is_one = directory.join("FORMULA").is_file() || has_formula(directory);
        Ok(is_one.then(plain))
    }

    /// A path of the file, if it stays in the project's directory, links followed: people run checkouts that they have not
    /// read.
    pub(crate) fn inside(&self, text: &str) -> Option<PathBuf> {
        let path = self.directory.join(text);
        let (real, home) = (path.canonicalize(), self.directory.canonicalize());
        match (real, home) {
            (Ok(real), Ok(home)) => real.starts_with(home).then(|| match text {
                "." => self.directory.clone(),
                _ => path,
            }),
            _ => None,
        }
    }
}

/// Whether a folder of a directory is a formula with a configuration, or has states and is what the directory is
/// named after, as in `ssh-formula/ssh`.
fn has_formula(directory: &Path) -> bool {
    let name = || {
        let name = directory.canonicalize().ok()?;
        let name = name.file_name()?.to_str()?.strip_suffix("-formula")?;
        Some(directory.join(name).join("init.sls").is_file())
    };
    if name().unwrap_or_default() {
        return true;
    }
    let Ok(entries) = directory.read_dir() else {
        return false;
    };
    let is_formula = |folder: PathBuf| {
        let is_hidden = || {
            let name = folder.file_name().unwrap_or_default();
            name.to_string_lossy().starts_with('.')
        };
        !is_hidden() && (folder.join("parameters").is_dir() || folder.join("map.jinja").is_file())
    };
    entries.flatten().any(|entry| is_formula(entry.path()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let home = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = home.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        home
    }

    #[test]
    fn a_directory_with_a_formula_is_a_root() {
        for files in [
            &[("FORMULA", "")][..],
            &[("ssh/map.jinja", "")],
            &[("ssh/parameters/defaults.yaml", "")],
        ] {
            let home = tree(files);
            let project = Project::at(home.path()).unwrap().unwrap();
            assert_eq!(project.roots, [("base".into(), home.path().to_path_buf())]);
        }
        let home = tree(&[
            ("ssh-formula/ssh/init.sls", ""),
            ("web-formula/ssh/init.sls", ""),
        ]);
        let found = |name: &str| Project::at(&home.path().join(name)).unwrap();
        assert!(found("ssh-formula").is_some());
        assert_eq!(found("web-formula"), None);
        for files in [&[("ssh/init.sls", "")][..], &[(".git/map.jinja", "")]] {
            assert_eq!(Project::at(tree(files).path()).unwrap(), None);
        }
    }

    #[test]
    fn a_file_says_otherwise() {
        let home = tree(&[
            (
                FILE,
                "roots: {base: [states, more], dev: dev}\nminions: minions\nstubs: [stubs.yaml]\nlevels: {a: off, b: note}\n",
            ),
            ("states/x", ""),
            ("more/x", ""),
            ("dev/x", ""),
            ("minions/x", ""),
            ("stubs.yaml", ""),
        ]);
        let project = Project::at(home.path()).unwrap().unwrap();
        let at = |name: &str| home.path().join(name);
        assert_eq!(
            project.roots,
            [
                ("base".into(), at("states")),
                ("base".into(), at("more")),
                ("dev".into(), at("dev"))
            ]
        );
        assert_eq!(
            (project.minions, project.stubs),
            (Some(at("minions")), vec![at("stubs.yaml")])
        );
        let levels = project.levels.iter().map(|set| (&*set.name, &*set.value));
        assert_eq!(levels.collect::<Vec<_>>(), [("a", "off"), ("b", "note")]);
    }

    #[test]
    fn what_a_file_must_not_say_is_refused() {
        for (text, expected) in [
            (
                "root: .",
                ":1:1: 'root' means nothing; did you mean 'roots'?",
            ),
            (
                "roots: ..",
                "'..' is not there, or not below the directory of the file",
            ),
            (
                "stubs: /etc/passwd",
                "'/etc/passwd' is not there, or not below the directory of the file",
            ),
            (
                "minions: nowhere",
                "'nowhere' is not there, or not below the directory of the file",
            ),
            ("minions: 3", ":1:10: this is an integer, not a path"),
            ("stubs:\n- 1\n", ":2:3: this is an integer, not a path"),
            (
                "levels: [dead-file]",
                ":1:9: the levels are a list, not a mapping",
            ),
            (
                "levels:\n  x: 3\n",
                ":2:6: a level is text, and this is an integer",
            ),
            ("[]", "the document is a list, not a mapping"),
            ("a: [", ":1:"),
        ] {
            let error = Project::at(tree(&[(FILE, text)]).path())
                .unwrap_err()
                .to_string();
            assert!(error.contains(expected), "{text}: {error}");
        }
    }

    #[test]
    fn directories_above_count_within_a_work_tree() {
        let home = tree(&[("ssh/map.jinja", ""), ("ssh/config/x", "")]);
        let inside = home.path().join("ssh/config");
        assert_eq!(Project::around(&inside).unwrap(), None);
        fs::create_dir(home.path().join(".git")).unwrap();
        let found = Project::around(&inside).unwrap().unwrap();
        assert_eq!(found.directory, inside.join("../.."));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_does_not_lead_out() {
        let home = tree(&[(FILE, "stubs: link")]);
        std::os::unix::fs::symlink("/etc/passwd", home.path().join("link")).unwrap();
        assert!(Project::at(home.path()).is_err());
    }
}

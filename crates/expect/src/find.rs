//! Finds expectations.

use std::collections::HashSet;
use std::fmt;
use std::path::{Path, PathBuf};

use mapstack::{Error, ErrorKind};

use crate::files::{entries, name};
use crate::recorded::ExpectationForm;
use crate::{Kitchen, Repository};

/// A file with the expected result of a formula on a minion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expectation {
    /// The formula.
    pub formula: String,
    /// The file.
    pub file: PathBuf,
    /// The form.
    pub form: ExpectationForm,
    /// The platform or the minion: the file's name.
    pub name: String,
    /// The folder of the test suite, and the repository with its `kitchen.yml`.
    pub suite: Option<(String, PathBuf)>,
    /// A directory of the repository that has the file.
    pub home: PathBuf,
}

impl Expectation {
    /// The repository. All paths in the file must be inside it.
    ///
    /// # Errors
    /// As [`Repository::around`].
    pub fn repository(&self) -> Result<Repository, Error> {
        Repository::around(&self.home)
    }
}

/// The places to search for expectations, and their formulas.
#[derive(Debug, Clone)]
pub struct ExpectationPlaces<'p> {
    /// The directories that the file server serves.
    pub roots: &'p [PathBuf],
    /// Directories that were named, in place of the usual ones.
    pub named: &'p [PathBuf],
    /// The formulas to look for.
    pub formulas: &'p [String],
    /// True if these are all formulas, so that expectations of another one belong to a removed formula.
    pub every: bool,
    /// Those with a state `_mapdata`, which writes such files.
    pub with_state: &'p [String],
}

/// The folder of the plain form, below a root or beside it.
const PLAIN: &str = "tests/mapstack";
/// The end of the names of files with states, before their extension.
const STATES: &str = ".states";
/// The folder of the form that formulas' own tests have.
const MAPDATA: &str = "_mapdata";

impl fmt::Display for ExpectationPlaces<'_> {
    /// The formulas, and the directories: `users in /srv/salt`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.every {
            true => f.write_str("any formula")?,
            false => f.write_str(&self.formulas.join(", "))?,
        }
        let among = match self.named.is_empty() {
            true => self.roots,
            false => self.named,
        };
        let among: Vec<String> = among
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        write!(f, " in {}", among.join(", "))
    }
}

impl ExpectationPlaces<'_> {
    /// The files, sorted by formula, suite and name.
    ///
    /// For a root `R` these are `R/test/integration/SUITE/files/_mapdata/PLATFORM.yaml` and
    /// `R/tests/mapstack/FORMULA/NAME.yaml`, and the same beside the root: below `R/..`.
    ///
    /// # Errors
    /// A directory cannot be read, a named one does not exist or has no file of its form, or the formula of
    /// platforms' files is unknown.
    pub fn find(&self) -> Result<Vec<Expectation>, Error> {
        let mut found = Vec::new();
        for directory in self.named {
            self.in_named(directory, &self.home_of(directory), &mut found)?;
        }
        if self.named.is_empty() {
            for base in self
                .roots
                .iter()
                .flat_map(|root| [root.clone(), beside(root)])
            {
                for suite in inner(&below(&base, "test/integration"), &base)? {
                    self.mapdata(&suite.join("files").join(MAPDATA), &base, &mut found)?;
                }
                self.plain(&below(&base, PLAIN), &base, &mut found)?;
            }
        }
        let mut seen = HashSet::new();
        found.retain(|one: &Expectation| {
            seen.insert(one.file.canonicalize().unwrap_or_else(|_| one.file.clone()))
        });
        let key = |one: &Expectation| {
            (
                one.formula.clone(),
                one.suite.as_ref().map(|(suite, _)| suite.clone()),
                one.name.clone(),
                one.form == ExpectationForm::States,
            )
        };
        found.sort_by_key(key);
        Ok(found)
    }

    /// The file for a minion that has none yet.
    #[must_use]
    pub fn new_file(&self, formula: &str, minion: &str, is_of_states: bool) -> Option<Expectation> {
        let (name, form) = match is_of_states {
            true => (format!("{minion}{STATES}.yaml"), ExpectationForm::States),
            false => (format!("{minion}.yaml"), ExpectationForm::Plain),
        };
        let expectation = |file, form, suite, home| Expectation {
            formula: formula.into(),
            file,
            form,
            name: minion.into(),
            suite,
            home,
        };
        if let Some(directory) = self.named.first() {
            let home = self.home_of(directory);
            if is_mapdata(directory) && !is_of_states {
                return Some(expectation(
                    directory.join(name),
                    ExpectationForm::Mapdata,
                    suite(directory),
                    home,
                ));
            }
            return Some(expectation(
                directory.join(formula).join(name),
                form,
                None,
                home,
            ));
        }
        let mut usual = self
            .roots
            .iter()
            .flat_map(|root| [root.clone(), beside(root)]);
        let own = || {
            self.roots
                .iter()
                .find(|root| root.join(formula).is_dir())
                .cloned()
        };
        let home = usual
            .find(|base| below(base, PLAIN).is_dir())
            .or_else(own)?;
        Some(expectation(
            below(&home, PLAIN).join(formula).join(name),
            form,
            None,
            home,
        ))
    }

    /// The directory of the repository that a named directory belongs to: the lowest that also contains a root. If
    /// that is the root of the machine, the named directory itself.
    fn home_of(&self, directory: &Path) -> PathBuf {
        let Ok(own) = std::path::absolute(directory) else {
            return directory.into();
        };
        let roots = self
            .roots
            .iter()
            .filter_map(|root| root.canonicalize().ok());
        let real = own.canonicalize().unwrap_or(own);
        let homes = roots.filter_map(|root| {
            real.ancestors()
                .find(|above| root.starts_with(above))
                .map(Path::to_path_buf)
        });
        homes
            .filter(|home| home.parent().is_some())
            .min_by_key(|home| home.components().count())
            .unwrap_or(real)
    }

    fn in_named(
        &self,
        directory: &Path,
        home: &Path,
        found: &mut Vec<Expectation>,
    ) -> Result<(), Error> {
        if is_mapdata(directory) {
            return self.mapdata(directory, home, found);
        }
        let before = found.len();
        self.plain(directory, home, found)?;
        let own = yaml_files(directory, home)?;
        let formula = match (self.formulas, &*own) {
            (_, []) => return Ok(()),
            ([only], _) => only,
            _ => {
                let message = format!(
                    "the formula of the expectations in {} is unknown",
                    directory.display()
                );
                return Err(Error::new(ErrorKind::File, message)
                    .note("name one formula, or keep them in FORMULA/"));
            }
        };
        if found.len() == before {
            found.extend(
                own.into_iter()
                    .map(|file| expectation(formula, file, ExpectationForm::Plain, None, home)),
            );
        }
        Ok(())
    }

    fn plain(
        &self,
        directory: &Path,
        home: &Path,
        found: &mut Vec<Expectation>,
    ) -> Result<(), Error> {
        let folders: Vec<String> = match self.every {
            true => inner(directory, home)?
                .iter()
                .filter(|path| path.is_dir())
                .map(|path| name(path))
                .collect(),
            false => self.formulas.into(),
        };
        for formula in folders.iter().filter(|name| !name.starts_with('.')) {
            let files = yaml_files(&directory.join(formula), home)?;
            found.extend(
                files
                    .into_iter()
                    .map(|file| expectation(formula, file, ExpectationForm::Plain, None, home)),
            );
        }
        Ok(())
    }

    fn mapdata(
        &self,
        directory: &Path,
        home: &Path,
        found: &mut Vec<Expectation>,
    ) -> Result<(), Error> {
        let files = yaml_files(directory, home)?;
        if files.is_empty() {
            return Ok(());
        }
        let suite = suite(directory);
        let Some(formula) = self.formula_of(directory, suite.as_ref())? else {
            return Ok(());
        };
        found.extend(files.into_iter().map(|file| {
            expectation(
                &formula,
                file,
                ExpectationForm::Mapdata,
                suite.clone(),
                home,
            )
        }));
        Ok(())
    }

    /// The formula of the platforms' files; `None` if it is not among [`Self::formulas`].
    fn formula_of(
        &self,
        directory: &Path,
        suite: Option<&(String, PathBuf)>,
    ) -> Result<Option<String>, Error> {
        // A kitchen.yml that cannot be read is reported when its suites are needed.
        let kitchen = suite.and_then(|(_, base)| Kitchen::of(base).ok().flatten());
        if let Some(name) = kitchen.as_ref().and_then(Kitchen::formula) {
            if self.formulas.iter().any(|formula| formula == name) {
                return Ok(Some(name.to_owned()));
            }
            if suite.is_some_and(|(_, base)| {
                self.roots
                    .iter()
                    .any(|root| root.join(name).is_dir() && same(root, base))
            }) {
                return Ok(None);
            }
        }
        match (self.with_state, self.formulas) {
            ([only], _) | ([], [only]) => Ok(Some(only.clone())),
            _ => {
                let message = format!(
                    "the formula of the files in {} is unknown",
                    directory.display()
                );
                Err(Error::new(ErrorKind::File, message).note(
                    "name the formula, or let kitchen.yml say it: provisioner: {formula: NAME}",
                ))
            }
        }
    }
}

/// A path below a directory, as a person would write it.
pub(crate) fn below(directory: &Path, path: &str) -> PathBuf {
    if directory == Path::new(".") {
        path.into()
    } else {
        directory.join(path)
    }
}

fn same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

fn expectation(
    formula: &str,
    file: PathBuf,
    form: ExpectationForm,
    suite: Option<(String, PathBuf)>,
    home: &Path,
) -> Expectation {
    let name = file
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned())
        .unwrap_or_default();
    let of_states = name.strip_suffix(STATES).map(str::to_owned);
    let (name, form) = match of_states.filter(|_| form == ExpectationForm::Plain) {
        Some(name) => (name, ExpectationForm::States),
        None => (name, form),
    };
    Expectation {
        formula: formula.into(),
        file,
        form,
        name,
        suite,
        home: home.into(),
    }
}

fn is_mapdata(directory: &Path) -> bool {
    name(directory) == MAPDATA
}

/// The suite of `BASE/test/integration/SUITE/files/_mapdata`, and the base.
fn suite(directory: &Path) -> Option<(String, PathBuf)> {
    let suite = directory
        .parent()
        .filter(|files| name(files) == "files")?
        .parent()?;
    let integration = suite
        .parent()
        .filter(|folder| name(folder) == "integration")?;
    let test = integration
        .parent()
        .filter(|folder| name(folder) == "test")?;
    let base = test
        .parent()
        .filter(|base| !base.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    Some((name(suite), base.to_path_buf()))
}

/// The parent of a directory.
fn beside(directory: &Path) -> PathBuf {
    match directory.parent() {
        Some(parent) if directory.file_name().is_some() && parent.as_os_str().is_empty() => {
            ".".into()
        }
        Some(parent) if directory.file_name().is_some() => parent.into(),
        _ => directory.join(".."),
    }
}

/// The paths of a directory in the repository of another.
fn inner(directory: &Path, home: &Path) -> Result<Vec<PathBuf>, Error> {
    if directory.is_dir() {
        Repository::around(home)?.check(directory)?;
    }
    entries(directory)
}

fn yaml_files(directory: &Path, home: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = inner(directory, home)?;
    let is_yaml = |file: &PathBuf| {
        file.extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml")
    };
    files.retain(|file| is_yaml(file) && !name(file).starts_with('.') && file.is_file());
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_recognized_by_its_path() {
        for (path, found) in [
            (
                "test/integration/default/files/_mapdata",
                Some(("default", ".")),
            ),
            (
                "/a/b/test/integration/x/files/_mapdata",
                Some(("x", "/a/b")),
            ),
            ("../test/integration/x/files/_mapdata", Some(("x", ".."))),
            ("_mapdata", None),
            ("test/x/files/_mapdata", None),
            ("tests/integration/x/files/_mapdata", None),
        ] {
            let found = found.map(|(suite, base)| (suite.to_owned(), PathBuf::from(base)));
            assert_eq!(suite(Path::new(path)), found, "{path}");
        }
    }

    #[test]
    fn a_directory_lies_in_another() {
        for (directory, found) in [
            ("a/b", "a"),
            ("a", "."),
            (".", "./.."),
            ("..", "../.."),
            ("/", "/.."),
            ("/a", "/"),
        ] {
            assert_eq!(
                beside(Path::new(directory)),
                Path::new(found),
                "{directory}"
            );
        }
        assert_eq!(below(Path::new("."), "a/b"), Path::new("a/b"));
        assert_eq!(below(Path::new("x"), "a"), Path::new("x/a"));
    }

    #[test]
    fn one_file_is_found_once_and_folders_of_no_formula_too() {
        let home = tempfile::tempdir().unwrap();
        let write = |path: &str| {
            let file = home.path().join(path);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "a: 1\n").unwrap();
        };
        for path in [
            "f/x.yaml",
            "f/a.yml",
            "f/.hidden.yaml",
            "f/notes.txt",
            "gone/x.yaml",
            ".git/x.yaml",
        ] {
            write(&format!("tests/mapstack/{path}"));
        }
        std::fs::create_dir(home.path().join("salt")).unwrap();
        let roots = [home.path().to_path_buf(), home.path().join("salt")];
        let found = |every: bool| {
            let formulas = ["f".to_owned()];
            let places = ExpectationPlaces {
                roots: &roots,
                named: &[],
                formulas: &formulas,
                every,
                with_state: &[],
            };
            let found = places.find().unwrap();
            found
                .iter()
                .map(|one| format!("{} {}", one.formula, one.name))
                .collect::<Vec<_>>()
        };
        assert_eq!(found(false), ["f a", "f x"]);
        assert_eq!(found(true), ["f a", "f x", "gone x"]);
    }
}

//! The formula that `mapstack convert` changes, and what its repository says of pillars.

use std::fs;
use std::path::{Path, PathBuf};

use mapstack::loader::{MemoryFiles, Snapshot};
use mapstack::minion::{Minion, Part, platforms};
use mapstack::value::{Map, Value};
use mapstack::{Engine, Error, ErrorKind};
use mapstack_convert::{Assumed, Formula, GivenPillar, Overlay, Proposal};
use mapstack_expect::{ExpectationForm, RecordedExpectation};

use crate::inputs::flags::{EngineFlags, Functions};
use crate::inputs::functions::{MemoryOf, engine};
use crate::inputs::served::Served;
use crate::inputs::{InputError, NoWarnings, WarningSink, configuration, formulas};

/// A formula, its files and its folder.
pub struct Converted {
    /// The engine that serves it as it is.
    pub engine: Engine,
    /// Its files.
    pub formula: Formula,
    /// Its saltenv.
    pub saltenv: String,
    /// The answers to calls that need a machine.
    pub assumed: Assumed,
    /// The directory that has it.
    pub directory: PathBuf,
    root: PathBuf,
}

/// The pillars in a formula's repository.
#[derive(Debug, Default)]
pub struct FoundPillars {
    /// Those that render.
    pub pillars: Vec<GivenPillar>,
    /// The files of others, with the reason.
    pub broken: Vec<(String, Error)>,
}

/// The state of a formula's files beside the last commit.
#[derive(Debug, PartialEq, Eq)]
pub enum WorkTree {
    /// They are as they were committed.
    Clean,
    /// Some are not.
    Changed(Vec<String>),
    /// No commit exists to compare with.
    NoGit,
}

/// Files of pillars that are read at most, and the size of each.
const MAX_PILLARS: usize = 24;
const MAX_BYTES: u64 = 1 << 20;
/// The depth of folders of tests.
const MAX_DEPTH: usize = 8;

impl Converted {
    /// The formula that is named, or the only one.
    ///
    /// # Errors
    /// The formula does not exist, or lies outside of every directory.
    pub fn of(
        given: Option<&String>,
        EngineFlags { files, functions }: EngineFlags<'_>,
        memory: MemoryOf,
        warn: &dyn WarningSink,
    ) -> Result<Self, InputError> {
        let config = configuration::read(files, None, None, warn)?;
        let served = Served::new(files, config.as_ref(), None, warn)?;
        let saltenv = files.saltenv.clone().unwrap_or_else(|| "base".into());
        let directories = served.directories(&saltenv);
        let assumed = Assumed::default();
        let engine = engine(Snapshot::new(served.files), functions, memory)?;
        let engine = engine.with_functions(assumed.clone());
        let given = given.map(|name| name.trim_end_matches('/').to_owned());
        let name = formulas::one(&engine, &saltenv, given.as_ref())?;
        formulas::existing(&engine, &saltenv, std::slice::from_ref(&name))?;
        let formula = Formula::read(&engine, &name, &saltenv)?;
        let roots = directories.iter().map(PathBuf::from);
        let mut having = roots.filter(|root| root.join(&name).is_dir());
        let root = having.next().ok_or_else(|| {
            Error::new(
                ErrorKind::File,
                format!("no directory has the formula '{name}', so its files cannot be written"),
            )
        })?;
        Ok(Converted {
            engine,
            formula,
            saltenv,
            assumed,
            directory: root.join(&name),
            root,
        })
    }

    /// An engine that serves the formula as a proposal has it.
    ///
    /// # Errors
    /// The errors of [`of`](Self::of).
    pub fn after(
        &self,
        proposal: &Proposal,
        EngineFlags { files, functions }: EngineFlags<'_>,
        memory: MemoryOf,
    ) -> Result<Engine, InputError> {
        let config = configuration::read(files, None, None, &NoWarnings)?;
        let served = Served::new(files, config.as_ref(), None, &NoWarnings)?;
        let overlay = Overlay::new(served.files, &self.formula, proposal);
        let engine = engine(Snapshot::new(overlay), functions, memory)?;
        Ok(engine.with_functions(self.assumed.clone()))
    }

    /// The pillars in the repository: `pillar.example` and its like, and those of tests.
    #[must_use]
    pub fn pillars(&self, functions: &Functions, memory: MemoryOf) -> FoundPillars {
        let mut files = Vec::new();
        for directory in [&self.root, &self.directory] {
            examples(directory, &mut files);
        }
        for tests in ["test", "tests"] {
            of_tests(&self.root.join(tests), 0, &mut files);
        }
        files.truncate(MAX_PILLARS);
        let mut found = FoundPillars::default();
        for file in files {
            let name = file.strip_prefix(&self.root).unwrap_or(&file);
            let name = name.display().to_string();
            let Some(text) = self.text(&file) else {
                continue;
            };
            match rendered(&text, functions, memory) {
                Ok(Value::Map(data)) => found.pillars.push(GivenPillar { name, data }),
                Ok(_) => {}
                Err(error) => found.broken.push((name, error)),
            }
        }
        self.recorded(&mut found);
        found
    }

    /// Add the pillars of recorded tests, which say theirs in their first document.
    fn recorded(&self, found: &mut FoundPillars) {
        let tests = self.root.join("tests/mapstack").join(self.formula.name());
        let is_test = |file: &PathBuf| file.extension().is_some_and(|end| end == "yaml");
        for file in entries(&tests).into_iter().filter(is_test) {
            let Some(text) = self.text(&file) else {
                continue;
            };
            let name = file.strip_prefix(&self.root).unwrap_or(&file);
            let name = name.display().to_string();
            match self.recorded_pillar(&tests, &text, &name) {
                Ok(data) if data.is_empty() => {}
                Ok(data) => {
                    let mut known = found.pillars.iter();
                    if known.all(|known| known.data != data) {
                        found.pillars.push(GivenPillar { name, data });
                    }
                }
                Err(error) => found.broken.push((name, error)),
            }
        }
    }

    /// The pillar of a recorded test in a directory.
    fn recorded_pillar(&self, tests: &Path, text: &str, name: &str) -> Result<Map, Error> {
        let header = RecordedExpectation::parse(ExpectationForm::Plain, text, name)?.header;
        let near = |path: &str| {
            let missing = || {
                let message = format!("{path} cannot be read from the repository");
                Error::new(ErrorKind::File, message)
            };
            self.text(&tests.join(path)).ok_or_else(missing)
        };
        let mut minion = match &header.minion {
            Some(path) => Minion::parse(near(path)?.as_bytes(), path).map_err(Error::from)?,
            None => Minion::new("minion"),
        };
        if let Some(path) = &header.pillar {
            let text = near(path)?;
            let loaded = minion.load_part(Part::Pillar, text.as_bytes(), path);
            loaded.map_err(Error::from)?;
        }
        for (path, value) in header.set {
            let refused = |e| Error::new(ErrorKind::Facts, format!("set: {path}: {e}"));
            minion.set(&path, value).map_err(refused)?;
        }
        Ok(minion.pillar)
    }

    /// The text of a file that lies below the root, links followed.
    fn text(&self, file: &Path) -> Option<String> {
        let real = fs::canonicalize(file).ok()?;
        let root = fs::canonicalize(&self.root).ok()?;
        let is_small = fs::metadata(&real).is_ok_and(|is| is.is_file() && is.len() <= MAX_BYTES);
        (is_small && real.starts_with(root)).then(|| fs::read_to_string(real).ok())?
    }

    /// The state of the formula's files beside the last commit.
    ///
    /// # Errors
    /// The commit cannot be read.
    #[cfg(feature = "git")]
    pub fn work_tree(&self) -> Result<WorkTree, Error> {
        use mapstack::loader::FileServer as _;
        use mapstack::loader::git::Revision;

        let Ok(revision) = Revision::of(&self.root, "HEAD") else {
            return Ok(WorkTree::NoGit);
        };
        let unreadable =
            |e: mapstack::loader::LoadError| Error::new(ErrorKind::File, e.to_string());
        let committed = revision.serve("base").map_err(unreadable)?;
        let prefix = format!("{}/", self.formula.name());
        let listed = committed.list("base", &prefix).map_err(unreadable)?;
        let mut changed: Vec<String> = Vec::new();
        let own = self.formula.paths().filter(|path| !self.is_linked(path));
        let now = own.map(|path| format!("{prefix}{path}"));
        let all: std::collections::BTreeSet<String> = listed.into_iter().chain(now).collect();
        for path in all {
            let salt = mapstack::loader::SaltPath::from_relative(&path);
            let then = match committed.fetch(&salt, "base").map_err(unreadable)? {
                mapstack::loader::Fetched::Found { bytes, .. } => Some(bytes),
                _ => None,
            };
            let now = path
                .strip_prefix(&prefix)
                .and_then(|path| self.formula.bytes(path));
            if then.as_ref() != now {
                changed.push(path);
            }
        }
        Ok(match changed.is_empty() {
            true => WorkTree::Clean,
            false => WorkTree::Changed(changed),
        })
    }

    /// True if a file is in a folder that is a link: a commit has it where the link leads.
    #[cfg(feature = "git")]
    fn is_linked(&self, path: &str) -> bool {
        let folders = Path::new(path).ancestors().skip(1);
        folders
            .filter(|folder| !folder.as_os_str().is_empty())
            .any(|folder| self.directory.join(folder).is_symlink())
    }

    /// The same without git, which has no commit.
    ///
    /// # Errors
    /// None.
    #[cfg(not(feature = "git"))]
    pub fn work_tree(&self) -> Result<WorkTree, Error> {
        Ok(WorkTree::NoGit)
    }
}

/// The data of a pillar's file, as it renders on one platform.
fn rendered(text: &str, functions: &Functions, memory: MemoryOf) -> Result<Value, Error> {
    let files = MemoryFiles::new().file("base", "pillar.sls", text);
    let engine = engine(files, functions, memory).map_err(|e| e.or_kind(ErrorKind::Facts))?;
    let platform =
        platforms::find("debian-12").map_err(|e| Error::new(ErrorKind::Facts, e.to_string()))?;
    engine.run(&platform.minion().complete()).sls("pillar.sls")
}

/// The examples of pillars in a directory, sorted.
fn examples(directory: &Path, found: &mut Vec<PathBuf>) {
    let is_example = |name: &str| {
        name.starts_with("pillar")
            && (name.contains("example") || name.ends_with(".sls") || name.ends_with(".yml"))
    };
    for path in entries(directory) {
        let name = path.file_name().and_then(|name| name.to_str());
        if path.is_file() && name.is_some_and(is_example) && !found.contains(&path) {
            found.push(path);
        }
    }
}

/// The files of pillars below a directory of tests, sorted.
fn of_tests(directory: &Path, depth: usize, found: &mut Vec<PathBuf>) {
    if depth > MAX_DEPTH || found.len() > MAX_PILLARS {
        return;
    }
    for path in entries(directory) {
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        let is_link = path.is_symlink();
        if path.is_dir() && !is_link {
            of_tests(&path, depth + 1, found);
        } else if is_of_pillar(&path)
            && [".sls", ".yaml", ".yml"]
                .iter()
                .any(|end| name.ends_with(end))
            && name != "top.sls"
        {
            found.push(path);
        }
    }
}

/// True for a file of a folder such as `pillar`, and for one such as `pillar.sls`.
fn is_of_pillar(path: &Path) -> bool {
    let mut parts = path.iter().rev().filter_map(|part| part.to_str());
    let is_file = parts.next().is_some_and(|name| name.starts_with("pillar"));
    is_file
        || parts
            .take(MAX_DEPTH)
            .any(|part| matches!(part, "pillar" | "pillars"))
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let read = fs::read_dir(directory).into_iter().flatten();
    let mut paths: Vec<PathBuf> = read.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

//! The test suites of a formula's `kitchen.yml`: their pillars, grains and hosts.

use std::path::{Component, Path, PathBuf};

use mapstack::loader::MemoryFiles;
use mapstack::minion::Minion;
use mapstack::value::{Map, Value};
use mapstack::yaml::{DumpOptions, dump, load};
use mapstack::{Engine, Error, ErrorKind, Means};

use crate::find::below;
use crate::{Repository, files, top};

/// The test suites of a repository.
#[derive(Debug, Clone)]
pub struct Kitchen {
    shown: String,
    base: PathBuf,
    repository: Repository,
    formula: Option<String>,
    provisioner: Map,
    suites: Vec<Map>,
}

/// The facts that one suite gives a minion.
#[derive(Debug, Clone)]
pub struct Suite {
    /// Its name.
    pub name: String,
    host: Option<Value>,
    grains: Map,
    files: MemoryFiles,
    has_top: bool,
}

/// The file names of platforms that kitchen.yml calls something else.
const IN_KITCHEN: [(&str, &str); 6] = [
    ("centos-8", "centos-stream8"),
    ("centos-9", "centos-stream9"),
    ("gentoo-2-sysd", "gentoo"),
    ("gentoo-2-sysv", "gentoo"),
    ("opensuse-15", "opensuse-leap-15"),
    ("opensuse-tumbleweed", "opensuse-tmbl"),
];

/// The grains that are a machine's name.
const NAMES: [&str; 4] = ["fqdn", "host", "localhost", "nodename"];
/// The most files of one suite's pillar.
const MAX_FILES: usize = 1000;

impl Kitchen {
    /// Read the `kitchen.yml` (or `.kitchen.yml`) of a repository; `None` if it has none.
    ///
    /// # Errors
    /// It cannot be read, or is not YAML, such as one with templates of Ruby in it.
    pub fn of(base: &Path) -> Result<Option<Self>, Error> {
        let named = ["kitchen.yml", ".kitchen.yml", "kitchen.yaml"].map(|name| below(base, name));
        let Some(file) = named.into_iter().find(|file| file.is_file()) else {
            return Ok(None);
        };
        let repository = Repository::around(base)?;
        repository.check(&file)?;
        let shown = file.display().to_string();
        let value = load(&files::text(&file)?).map_err(|e| {
            let at = e.mark().map_or(String::new(), |mark| format!(":{}:{}", mark.line, mark.column));
            Error::new(ErrorKind::Yaml, format!("{shown}{at}: {}", e.kind())).note(format!(
                "the pillars of the formula's test suites are there; {} gives one that counts instead",
                Means::Pillar
            ))
        })?;
        let map = value.as_map().cloned().unwrap_or_default();
        let provisioner = map
            .get("provisioner")
            .and_then(Value::as_map)
            .cloned()
            .unwrap_or_default();
        let suites = map
            .get("suites")
            .and_then(Value::as_list)
            .unwrap_or_default();
        Ok(Some(Kitchen {
            shown,
            base: base.into(),
            repository,
            formula: provisioner
                .get("formula")
                .and_then(Value::as_str)
                .map(str::to_owned),
            suites: suites.iter().filter_map(Value::as_map).cloned().collect(),
            provisioner,
        }))
    }

    /// The file.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The formula that is tested.
    #[must_use]
    pub fn formula(&self) -> Option<&str> {
        self.formula.as_deref()
    }

    /// The suite that checks the files of a folder below `test/integration` for a platform.
    #[must_use]
    pub fn suite_of(&self, folder: &str, platform: &str) -> Option<usize> {
        let wanted = format!("test/integration/{folder}");
        let platform = IN_KITCHEN
            .iter()
            .find(|(name, _)| *name == platform)
            .map_or(platform, |(_, kitchen)| kitchen);
        let is_listed = |list: &[Value]| {
            list.iter()
                .filter_map(Value::as_str)
                .any(|name| name.starts_with(platform))
        };
        self.suites.iter().position(|suite| {
            let list = |key: &str| suite.get(key).and_then(Value::as_list);
            let verifier = suite.get("verifier").and_then(Value::as_map);
            let tests = verifier
                .and_then(|verifier| verifier.get("inspec_tests"))
                .and_then(Value::as_list);
            let mut paths = tests
                .unwrap_or_default()
                .iter()
                .filter_map(|test| match test {
                    Value::Map(test) => test.get("path")?.as_str(),
                    other => other.as_str(),
                });
            paths.any(|path| path.trim_start_matches("./").trim_end_matches('/') == wanted)
                && list("includes").is_none_or(is_listed)
                && !list("excludes").is_some_and(is_listed)
        })
    }

    /// The facts that a suite gives to minions.
    ///
    /// # Errors
    /// A file of its pillar cannot be read, or lies outside the repository.
    pub fn suite(&self, index: usize) -> Result<Suite, Error> {
        let suite = self.suites.get(index).cloned().unwrap_or_default();
        let own = suite
            .get("provisioner")
            .and_then(Value::as_map)
            .cloned()
            .unwrap_or_default();
        let given = |key: &str| own.get(key).or_else(|| self.provisioner.get(key));
        let mut files: Vec<(String, String)> = Vec::new();
        for directory in given("pillars_from_directories")
            .and_then(Value::as_list)
            .unwrap_or_default()
        {
            let directory = directory.as_str().unwrap_or_default();
            self.read_all(&self.inside(directory)?, "", &mut files)?;
        }
        for (name, text) in given("pillars")
            .and_then(Value::as_map)
            .into_iter()
            .flat_map(Map::iter)
        {
            files.push((name.to_string(), dump(text, &DumpOptions::output())));
        }
        for (name, source) in given("pillars_from_files")
            .and_then(Value::as_map)
            .into_iter()
            .flat_map(Map::iter)
        {
            files.push((
                name.to_string(),
                files::text(&self.inside(&source.to_string())?)?,
            ));
        }
        let driver = suite.get("driver").and_then(Value::as_map);
        Ok(Suite {
            name: suite
                .get("name")
                .map(ToString::to_string)
                .unwrap_or_default(),
            host: driver
                .and_then(|driver| driver.get("hostname"))
                .filter(|host| host.truthy())
                .cloned(),
            grains: given("grains")
                .and_then(Value::as_map)
                .cloned()
                .unwrap_or_default(),
            has_top: files.iter().any(|(name, _)| name == top::FILE),
            files: files
                .iter()
                .fold(MemoryFiles::new(), |files, (name, text)| {
                    files.file(top::ENV, name, text)
                }),
        })
    }

    /// A path below the repository.
    fn inside(&self, path: &str) -> Result<PathBuf, Error> {
        let leaves = Path::new(path)
            .components()
            .any(|part| !matches!(part, Component::Normal(_) | Component::CurDir));
        match leaves || path.is_empty() {
            true => Err(self.refused(&format!("'{path}' is not a path below the repository"))),
            false => {
                let path = below(&self.base, path);
                self.repository.check(&path)?;
                Ok(path)
            }
        }
    }

    fn read_all(
        &self,
        directory: &Path,
        below: &str,
        found: &mut Vec<(String, String)>,
    ) -> Result<(), Error> {
        if !directory.is_dir() {
            return Err(self.refused(&format!(
                "the directory {} does not exist",
                directory.display()
            )));
        }
        for path in files::entries(directory)? {
            self.repository.check(&path)?;
            let name = format!("{below}{}", files::name(&path));
            // A link can lead round in a circle.
            if path.is_dir() && !path.is_symlink() {
                self.read_all(&path, &format!("{name}/"), found)?;
            } else if path.is_file() {
                found.push((name, files::text(&path)?));
            }
            if found.len() > MAX_FILES {
                return Err(self.refused(&format!("a pillar has more than {MAX_FILES} files")));
            }
        }
        Ok(())
    }

    fn refused(&self, message: &str) -> Error {
        Error::new(ErrorKind::File, format!("{}: {message}", self.shown))
    }
}

impl Suite {
    /// The files of its pillar, for an engine that renders them.
    #[must_use]
    pub fn files(&self) -> MemoryFiles {
        self.files.clone()
    }

    /// A minion with what the suite gives it. The engine serves the [files](Suite::files).
    ///
    /// # Errors
    /// The pillar does not compile.
    pub fn apply(&self, engine: &Engine, mut minion: Minion) -> Result<Minion, Error> {
        if let Some(host) = &self.host {
            minion.set_id(host.clone());
            for name in NAMES {
                minion.grains.insert(name, host.clone());
            }
        }
        for (name, value) in &self.grains {
            minion.grains.insert(name.clone(), value.clone());
        }
        let minion = minion.complete();
        if !self.has_top {
            return Ok(minion);
        }
        let pillar = top::pillar(engine, &minion)
            .map_err(|e| e.note(format!("in the pillar of the test suite {}", self.name)))?;
        Ok(minion.with(mapstack::minion::Part::Pillar, pillar))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_checks_the_platforms_that_it_runs_on() {
        let home = tempfile::tempdir().unwrap();
        let suites = "suites:\n\
            - {name: a, includes: [debian-12-x, centos-stream9-x], verifier: {inspec_tests: [{path: test/integration/d}]}}\n\
            - {name: b, excludes: [gentoo-stage3], verifier: {inspec_tests: [./test/integration/d/]}}\n\
            - {name: c}\n- 3\n";
        std::fs::write(home.path().join(".kitchen.yml"), suites).unwrap();
        let kitchen = Kitchen::of(home.path()).unwrap().unwrap();
        for (folder, platform, suite) in [
            ("d", "debian-12", Some(0)),
            ("d", "centos-9", Some(0)),
            ("d", "debian-11", Some(1)),
            ("d", "gentoo-2-sysd", None),
            ("e", "debian-12", None),
        ] {
            assert_eq!(
                kitchen.suite_of(folder, platform),
                suite,
                "{folder} {platform}"
            );
        }
        assert_eq!(
            (kitchen.formula(), kitchen.suite(0).unwrap().name),
            (None, "a".into())
        );
        std::fs::write(home.path().join(".kitchen.yml"), "- no mapping\n").unwrap();
        assert_eq!(
            Kitchen::of(home.path())
                .unwrap()
                .unwrap()
                .suite_of("d", "debian-12"),
            None
        );
    }
}

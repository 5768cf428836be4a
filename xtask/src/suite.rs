//! The templates of an engine's own tests, as they print here and in the engine itself.
//!
//! The tests come from the engine's source distribution, in the version that the reference has, and are run by the
//! real engine under a recorder. What they render and plain data can describe is rendered again on both sides; the
//! two have to agree. The suites are not part of the repository.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Parser;
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::reference::{directory, each_answer, python, verdict};
use crate::{Result, project_root};

#[derive(Parser)]
pub struct Args {
    /// Print every template that cannot be compared, too
    #[arg(long)]
    verbose: bool,
    /// Compare so many made-up templates instead of those of the tests
    #[arg(long, value_name = "COUNT")]
    random: Option<u32>,
    /// Seed of the made-up templates; the same seed gives the same ones
    #[arg(long, default_value_t = 1, requires = "random")]
    seed: u64,
}

/// A suite, and how its templates are rendered here.
pub struct Suite {
    /// The package's name in Python.
    pub package: &'static str,
    /// The directory to run its tests from.
    pub tests: &'static str,
    /// The tools that the tests need besides the reference.
    pub tools: &'static [&'static str],
    /// The example of `mapstack-render` that answers, with the features it needs.
    pub example: &'static [&'static str],
    /// The comparison of an answer of ours with one of theirs.
    pub compare: fn(&Value, &Value) -> Agreement,
    /// Differences that are meant: what shows one, and the reason.
    pub reasons: &'static [(ShowsSuiteDifference, &'static str)],
}

/// The agreement of two answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agreement {
    SameText,
    SameError,
    Different,
}

/// True if a source, our answer and theirs show a difference.
pub type ShowsSuiteDifference = fn(&str, &Value, &Value) -> bool;

impl Suite {
    /// Run the suite, render what it renders on both sides, and print what differs.
    pub fn run(&self, sh: &Shell, args: &Args) -> Result {
        if let Some(count) = args.random {
            return self.made_up(sh, count, args.seed);
        }
        let suite = self.fetch(sh)?;
        let records = tempfile::NamedTempFile::new()?;
        self.record(sh, &suite, records.path())?;
        let records = std::fs::read_to_string(records.path())?;
        let (counts, records) = records
            .split_once('\n')
            .ok_or("the tests recorded nothing")?;
        let counts: Value = serde_json::from_str(counts)?;
        let (comparable, other): (Vec<&str>, Vec<&str>) =
            records.lines().partition(|line| is_comparable(line));
        let tally = self.compared(sh, &comparable.join("\n"))?;
        println!(
            "{} tests, {} templates recorded, {} comparable",
            counts["tests"],
            counts["records"],
            comparable.len()
        );
        for (reason, templates) in reasons(&other)? {
            println!("{} not comparable: {reason}", templates.len());
            if args.verbose {
                templates
                    .iter()
                    .for_each(|template| println!("  {template}"));
            }
        }
        verdict(&tally, tally.unexplained.len())
    }

    /// Compare made-up templates.
    fn made_up(&self, sh: &Shell, count: u32, seed: u64) -> Result {
        let (python, name) = (python(sh)?, self.package.trim_end_matches('2'));
        let script = project_root().join(format!("xtask/reference/{name}_random.py"));
        if !sh.path_exists(&script) {
            return Err(format!("no templates of {} are made up", self.package).into());
        }
        let (seed, count) = (seed.to_string(), count.to_string());
        let questions = cmd!(sh, "{python} {script} {seed} {count}")
            .quiet()
            .read()?;
        let tally = self.compared(sh, &questions)?;
        verdict(&tally, tally.unexplained.len())
    }

    /// Both sides' answers side by side.
    fn compared(&self, sh: &Shell, questions: &str) -> Result<Tally> {
        let (python, script, example) = (python(sh)?, self.script(), self.example);
        cmd!(sh, "cargo build --quiet --package mapstack-python").run()?;
        let run = cmd!(
            sh,
            "cargo run --quiet --package mapstack-render --example {example...}"
        );
        let ours = run.quiet().stdin(questions).read()?;
        let theirs = cmd!(sh, "{python} {script} expect")
            .quiet()
            .ignore_stderr()
            .stdin(questions)
            .read()?;
        self.tally(questions, &ours, &theirs)
    }

    fn script(&self) -> PathBuf {
        project_root().join(format!(
            "xtask/reference/{}_suite.py",
            self.package.trim_end_matches('2')
        ))
    }

    fn home(&self) -> PathBuf {
        directory().join(format!("{}-suite", self.package.trim_end_matches('2')))
    }

    /// The unpacked source distribution, fetched if it does not exist yet.
    fn fetch(&self, sh: &Shell) -> Result<PathBuf> {
        let (python, home, package) = (python(sh)?, self.home(), self.package);
        let code =
            format!("import importlib.metadata; print(importlib.metadata.version('{package}'))");
        let version = cmd!(sh, "{python} -c {code}").quiet().read()?;
        let (name, tools) = (format!("{package}-{version}"), home.join("tools"));
        let suite = home.join(&name);
        if !sh.path_exists(&tools) {
            let needed = self.tools;
            cmd!(
                sh,
                "{python} -m pip install --quiet --target {tools} {needed...}"
            )
            .ignore_stderr()
            .run()?;
        }
        if !sh.path_exists(&suite) {
            let package = format!("{package}=={version}");
            cmd!(sh, "{python} -m pip download --quiet --no-binary :all: --no-deps --dest {home} {package}").run()?;
            let archive = home.join(format!("{name}.tar.gz"));
            cmd!(sh, "{python} -m tarfile -e {archive} {home}").run()?;
        }
        Ok(suite)
    }

    /// Run the tests and have them recorded.
    fn record(&self, sh: &Shell, suite: &Path, records: &Path) -> Result {
        let (python, script, package) = (python(sh)?, self.script(), self.package);
        let (tests, tools) = (suite.join(self.tests), self.home().join("tools"));
        let recorded = cmd!(sh, "{python} {script} record {tests} {records}")
            .env("PYTHONPATH", tools)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .quiet()
            .ignore_status()
            .output()?;
        if recorded.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&recorded.stdout);
        Err(format!("the tests of {package} do not pass under the recorder:\n{said}").into())
    }

    fn tally(&self, questions: &str, ours: &str, theirs: &str) -> Result<Tally> {
        let mut tally = Tally::default();
        each_answer(
            "templates",
            [questions, ours, theirs],
            |question, ours, theirs| {
                let source = question["source"].as_str().unwrap_or_default();
                match (self.compare)(ours, theirs) {
                    Agreement::SameText => tally.texts += 1,
                    Agreement::SameError => tally.errors += 1,
                    Agreement::Different => match self
                        .reasons
                        .iter()
                        .find(|(shows, _)| shows(source, ours, theirs))
                    {
                        Some((_, reason)) => *tally.explained.entry(reason).or_default() += 1,
                        None => tally
                            .unexplained
                            .push(format!("{question}\n  ours   {ours}\n  theirs {theirs}")),
                    },
                }
            },
        )?;
        Ok(tally)
    }
}

fn is_comparable(line: &str) -> bool {
    serde_json::from_str::<Value>(line).is_ok_and(|record| record.get("reason").is_none())
}

/// The records that cannot be compared, by reason.
fn reasons(records: &[&str]) -> Result<BTreeMap<String, Vec<String>>> {
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in records {
        let record: Value = serde_json::from_str(line)?;
        let reason = record["reason"].as_str().unwrap_or_default().to_owned();
        reasons
            .entry(reason)
            .or_default()
            .push(format!("{}: {}", record["test"], record["source"]));
    }
    Ok(reasons)
}

/// The outcome of a comparison.
#[derive(Debug, Default)]
struct Tally {
    texts: usize,
    errors: usize,
    explained: BTreeMap<&'static str, usize>,
    unexplained: Vec<String>,
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for difference in &self.unexplained {
            writeln!(f, "{difference}")?;
        }
        let equal = self.texts + self.errors;
        writeln!(
            f,
            "{equal} equal: {} texts, {} errors",
            self.texts, self.errors
        )?;
        for (reason, count) in &self.explained {
            writeln!(f, "{count} differ on purpose: {reason}")?;
        }
        writeln!(f, "{} differ without a reason", self.unexplained.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: Suite = Suite {
        package: "engine",
        tests: "tests",
        tools: &[],
        example: &[],
        compare: |ours, theirs| {
            if ours == theirs {
                Agreement::SameText
            } else {
                Agreement::Different
            }
        },
        reasons: &[(|source, _, _| source.contains("random"), "chance")],
    };

    #[test]
    fn what_differs_is_explained_or_listed() {
        let questions = "{\"source\": \"a\"}\n{\"source\": \"random\"}\n{\"source\": \"b\"}";
        let tally = SUITE.tally(questions, "1\n2\n3", "1\n1\n1").unwrap();
        assert_eq!(
            (
                tally.texts,
                tally.explained["chance"],
                tally.unexplained.len()
            ),
            (1, 1, 1)
        );
        assert!(tally.to_string().contains("theirs 1"), "{tally}");
    }

    #[test]
    fn reasons_are_counted() {
        let lines = [r#"{"test": "t", "source": "s", "reason": "async"}"#; 2];
        assert!(!is_comparable(lines[0]));
        assert_eq!(reasons(&lines).unwrap()["async"].len(), 2);
    }
}

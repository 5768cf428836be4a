//! `cargo xtask jinja-suite`: what the templates of Jinja's own tests print here and in Salt.
//!
//! The tests come from Jinja's source distribution, in the version that the reference has, and are run by the real
//! Jinja under a recorder. What they render and plain data can describe is rendered again by Salt's own environment,
//! and by this project; the two have to agree. The suite is not part of the repository.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Parser;
use serde_json::Value;
use xshell::{Shell, cmd};

use crate::reference::{directory, each_answer, python};
use crate::{Result, project_root};

#[derive(Parser)]
pub struct Args {
    /// Print every template that cannot be compared, too
    #[arg(long)]
    verbose: bool,
}

/// Differences that are meant: what the source holds, and the reason.
const REASONS: &[(&str, &str)] = &[("|random", "random choices are the same every time here")];

/// Run the suite, render what it renders on both sides, and print what differs.
pub fn run(sh: &Shell, args: &Args) -> Result {
    let python = python(sh)?;
    let suite = suite(sh)?;
    let records = tempfile::NamedTempFile::new()?;
    record(sh, &suite, records.path())?;
    let records = std::fs::read_to_string(records.path())?;
    let (counts, records) = records.split_once('\n').ok_or("the tests recorded nothing")?;
    let counts: Value = serde_json::from_str(counts)?;
    let (comparable, other): (Vec<&str>, Vec<&str>) = records.lines().partition(|line| is_comparable(line));
    let questions = comparable.join("\n");
    let run = cmd!(sh, "cargo run --quiet --package mapstack-render --example suite");
    let ours = run.quiet().stdin(&questions).read()?;
    let script = project_root().join("xtask/reference/jinja_suite.py");
    let theirs = cmd!(sh, "{python} {script} expect").quiet().ignore_stderr().stdin(&questions).read()?;
    let tally = Tally::of(&questions, &ours, &theirs)?;
    println!("{} tests, {} templates recorded, {} comparable", counts["tests"], counts["records"], comparable.len());
    for (reason, templates) in reasons(&other)? {
        println!("{} not comparable: {reason}", templates.len());
        if args.verbose {
            templates.iter().for_each(|template| println!("  {template}"));
        }
    }
    print!("{tally}");
    if tally.unexplained.is_empty() {
        return Ok(());
    }
    Err(format!("{} differences from the reference that nothing explains", tally.unexplained.len()).into())
}

/// The unpacked source distribution, fetched if it is not there yet.
fn suite(sh: &Shell) -> Result<PathBuf> {
    let (python, home) = (python(sh)?, directory().join("jinja-suite"));
    let version = cmd!(sh, "{python} -c 'import jinja2; print(jinja2.__version__)'").quiet().read()?;
    let (name, tools) = (format!("jinja2-{version}"), home.join("tools"));
    let suite = home.join(&name);
    if !sh.path_exists(&tools) {
        cmd!(sh, "{python} -m pip install --quiet --target {tools} pytest trio").ignore_stderr().run()?;
    }
    if !sh.path_exists(&suite) {
        let package = format!("jinja2=={version}");
        cmd!(sh, "{python} -m pip download --quiet --no-binary :all: --no-deps --dest {home} {package}").run()?;
        let archive = home.join(format!("{name}.tar.gz"));
        cmd!(sh, "{python} -m tarfile -e {archive} {home}").run()?;
    }
    Ok(suite)
}

/// Run the tests and have them recorded.
fn record(sh: &Shell, suite: &std::path::Path, records: &std::path::Path) -> Result {
    let (python, script) = (python(sh)?, project_root().join("xtask/reference/jinja_suite.py"));
    let (tests, tools) = (suite.join("tests"), directory().join("jinja-suite/tools"));
    let recorded = cmd!(sh, "{python} {script} record {tests} {records}")
        .env("PYTHONPATH", tools)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .quiet()
        .ignore_status()
        .output()?;
    if recorded.status.success() {
        return Ok(());
    }
    Err(format!("Jinja's tests do not pass under the recorder:\n{}", String::from_utf8_lossy(&recorded.stdout)).into())
}

fn is_comparable(line: &str) -> bool {
    serde_json::from_str::<Value>(line).is_ok_and(|record| record.get("reason").is_none())
}

/// What cannot be compared, by reason.
fn reasons(records: &[&str]) -> Result<BTreeMap<String, Vec<String>>> {
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in records {
        let record: Value = serde_json::from_str(line)?;
        let reason = record["reason"].as_str().unwrap_or_default().to_owned();
        reasons.entry(reason).or_default().push(format!("{}: {}", record["test"], record["source"]));
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

impl Tally {
    fn of(questions: &str, ours: &str, theirs: &str) -> Result<Self> {
        let mut tally = Tally::default();
        let lines = [questions, ours, theirs];
        each_answer("templates", lines, |question, ours, theirs| tally.add(question, ours, theirs))?;
        Ok(tally)
    }

    fn add(&mut self, question: &Value, ours: &Value, theirs: &Value) {
        let text = |answer: &Value, name: &str| answer.get(name).and_then(Value::as_str).map(str::to_owned);
        if let (Some(ours), Some(theirs)) = (text(ours, "text"), text(theirs, "text"))
            && ours == theirs
        {
            self.texts += 1;
            return;
        }
        // Salt appends the excerpt, or Python's trace of calls, to the same message.
        if let (Some(ours), Some(theirs)) = (text(ours, "error"), text(theirs, "error"))
            && theirs.strip_prefix(&ours).is_some_and(|rest| rest.is_empty() || rest.starts_with('\n'))
        {
            self.errors += 1;
            return;
        }
        let source = question["source"].as_str().unwrap_or_default().replace(' ', "");
        match REASONS.iter().find(|(sign, _)| source.contains(sign)) {
            Some((_, reason)) => *self.explained.entry(reason).or_default() += 1,
            None => self.unexplained.push(format!("{question}\n  ours   {ours}\n  theirs {theirs}")),
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for difference in &self.unexplained {
            writeln!(f, "{difference}")?;
        }
        let equal = self.texts + self.errors;
        writeln!(f, "{equal} equal: {} texts, {} errors with the same message", self.texts, self.errors)?;
        for (reason, count) in &self.explained {
            writeln!(f, "{count} differ on purpose: {reason}")?;
        }
        writeln!(f, "{} differ without a reason", self.unexplained.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_equal_by_text_and_by_message() {
        let questions = "{\"source\": \"{{ x }}\"}\n".repeat(5) + "{\"source\": \"{{ x | random }}\"}";
        let ours = "{\"text\": \"1\"}\n{\"text\": \"1\"}\n{\"error\": \"a\"}\n{\"error\": \"a\"}\n{\"error\": \"a\"}\n{\"text\": \"1\"}";
        let theirs = "{\"text\": \"1\"}\n{\"text\": \"2\"}\n{\"error\": \"a\\nTrace\"}\n{\"error\": \"ab\"}\n{\"text\": \"1\"}\n{\"text\": \"2\"}";
        let tally = Tally::of(&questions, ours, theirs).unwrap();
        assert_eq!((tally.texts, tally.errors, tally.unexplained.len()), (1, 1, 3));
        assert_eq!(tally.explained.values().sum::<usize>(), 1);
    }

    #[test]
    fn reasons_are_counted() {
        let lines = [r#"{"test": "t", "source": "s", "reason": "async"}"#; 2];
        assert!(!is_comparable(lines[0]));
        assert_eq!(reasons(&lines).unwrap()["async"].len(), 2);
    }
}

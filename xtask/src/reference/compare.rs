//! Both sides' answers to the same made-up questions.

use std::collections::BTreeMap;

use serde_json::Value;
use xshell::{Shell, cmd};

use super::{Args, each_answer, explain, python, verdict};
use crate::Result;

/// Names the file of MakoStack's module, which newer versions of Salt do not have.
const MAKOSTACK: &str = "MAPSTACK_MAKOSTACK";

/// Names the file of saltclass's module, which Salt 3008 does not have.
const SALTCLASS: &str = "MAPSTACK_SALTCLASS";

/// The kinds of questions that need nothing but the reference.
const KINDS: &[&str] = &[
    "yaml",
    "yamlex",
    "toml",
    "version",
    "joined",
    "merge",
    "syntax",
    "parse",
    "data",
    "pillar",
    "external",
    "git",
    "reclass",
    "stateconf",
    "stack",
];

/// Make up questions, ask both sides, and print what differs.
pub fn run(sh: &Shell, args: &Args) -> Result {
    let python = python(sh)?;
    let (count, seed, only) = (args.count.to_string(), args.seed.to_string(), &args.kind);
    let mut kinds = KINDS.to_vec();
    for (kind, module) in [("makostack", MAKOSTACK), ("saltclass", SALTCLASS)] {
        match std::env::var_os(module) {
            Some(_) => kinds.push(kind),
            None => println!("no {kind}: {module} does not name its module"),
        }
    }
    let kinds: Vec<&str> = kinds
        .into_iter()
        .filter(|kind| only.is_empty() || only.iter().any(|o| o == kind))
        .collect();
    if args.python.is_some() && kinds != ["pillar"] {
        return Err("with --python, the kind has to be pillar".into());
    }
    let other = args.python.as_ref().unwrap_or(&python);
    let version = "import salt.version; print(salt.version.__version__)";
    let version = cmd!(sh, "{other} -c {version}").quiet().read()?;
    // Trees with Python ask the worker, which cargo does not build as a part of the example.
    cmd!(sh, "cargo build --quiet --package mapstack-python").run()?;
    cmd!(
        sh,
        "cargo build --quiet --package mapstack-pillar --example answer --features git"
    )
    .run()?;
    let questions = cmd!(
        sh,
        "{python} xtask/reference/generate.py {seed} {count} {kinds...}"
    )
    .quiet()
    .read()?;
    // Both sides write to one place in turn, so that a template that prints it prints the same.
    let place = tempfile::tempdir()?;
    let place = place.path();
    let answer = cmd!(
        sh,
        "cargo run --quiet --package mapstack-pillar --example answer --features git -- {place} {version}"
    );
    let ours = answer.quiet().stdin(&questions).read()?;
    let theirs = cmd!(sh, "{other} xtask/reference/answer.py {place}")
        .quiet()
        .ignore_stderr()
        .stdin(&questions)
        .read()?;
    let tally = Tally::of(&questions, &ours, &theirs)?;
    verdict(&tally, tally.unexplained.len())
}

/// Equal answers of one kind of question.
#[derive(Debug, Default, PartialEq)]
struct Equal {
    results: usize,
    refusals: usize,
}

/// The outcome of a comparison.
#[derive(Debug, Default)]
struct Tally {
    equal: BTreeMap<String, Equal>,
    explained: BTreeMap<&'static str, usize>,
    unexplained: Vec<String>,
}

impl Tally {
    fn of(questions: &str, ours: &str, theirs: &str) -> Result<Self> {
        let mut tally = Tally::default();
        let lines = [questions, ours, theirs];
        each_answer("questions", lines, |question, ours, theirs| {
            tally.add(question, ours, theirs);
        })?;
        Ok(tally)
    }

    fn add(&mut self, question: &Value, ours: &Value, theirs: &Value) {
        let equal = self
            .equal
            .entry(question["op"].as_str().unwrap_or_default().to_owned())
            .or_default();
        match (ours.get("ok"), theirs.get("ok")) {
            (None, None) => equal.refusals += 1,
            (Some(ours), Some(theirs)) if ours == theirs => equal.results += 1,
            _ => match explain::reason(ours, theirs) {
                Some(reason) => *self.explained.entry(reason).or_default() += 1,
                None => self
                    .unexplained
                    .push(format!("{question}\n  ours   {ours}\n  theirs {theirs}")),
            },
        }
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for difference in &self.unexplained {
            writeln!(f, "{difference}")?;
        }
        for (op, equal) in &self.equal {
            writeln!(
                f,
                "{op}: {} equal results, {} refused by both",
                equal.results, equal.refusals
            )?;
        }
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
    fn answers_are_compared_line_by_line() {
        let questions = "{\"op\": \"yaml\", \"text\": \"1\"}\n".repeat(4);
        let ours = "{\"ok\": \"1\"}\n{\"ok\": \"1\"}\n{\"error\": \"a\"}\n{\"error\": \"a\"}\n";
        let theirs = "{\"ok\": \"1\"}\n{\"ok\": \"1.0\"}\n{\"error\": \"b\"}\n{\"ok\": \"1\"}\n";
        let tally = Tally::of(&questions, ours, theirs).unwrap();
        assert_eq!(
            tally.equal["yaml"],
            Equal {
                results: 1,
                refusals: 1
            }
        );
        assert_eq!(tally.unexplained.len(), 2);
        assert!(
            tally.to_string().contains("theirs {\"ok\":\"1.0\"}"),
            "{tally}"
        );
    }

    #[test]
    fn a_missing_answer_is_a_difference() {
        let error = Tally::of("{}\n{}\n", "{}\n", "{}\n{}\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "2 questions, 1 answers of ours, 2 of theirs"
        );
    }
}

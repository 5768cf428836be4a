//! Trees with mistakes and what is found in them: the cases of the linters of formulas and of pillars.

use std::path::{Path, PathBuf};

use mapstack_lint::{Finding, Rule};
use serde::de::DeserializeOwned;

/// A tree, and the findings about it.
pub trait Case: DeserializeOwned {
    /// The directory of the cases, in the crate.
    const DIRECTORY: &str;

    /// `LEVEL RULE FILE`, or `LEVEL RULE FILE:LINE:COLUMN`.
    fn findings(&self) -> &[String];

    /// Parts of the messages.
    fn says(&self) -> &[String];
}

/// The cases of a kind, each with its file.
fn cases<C: Case>() -> Vec<(PathBuf, C)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(C::DIRECTORY);
    let mut found = Vec::new();
    for rule in std::fs::read_dir(directory).unwrap() {
        for file in std::fs::read_dir(rule.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            let case = serde_yaml::from_str(&std::fs::read_to_string(&path).unwrap());
            found.push((
                path.clone(),
                case.unwrap_or_else(|e| panic!("{}: {e}", path.display())),
            ));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

fn summary(finding: &Finding) -> String {
    let (level, rule) = (finding.level.name(), finding.rule);
    format!("{level} {rule} {}", finding.position())
}

fn is_said(finding: &Finding, text: &str) -> bool {
    let mut lines = finding.notes.iter().chain(&finding.help);
    finding.message.contains(text) || lines.any(|line| line.contains(text))
}

/// Every case has the findings that it names and no others, and says what it names. `look` gives the findings, and
/// whether something besides them says a text.
pub fn assert_found<C: Case, S: Fn(&str) -> bool>(look: impl Fn(&C) -> (Vec<Finding>, S)) {
    let mut wrong = Vec::new();
    let cases = cases::<C>();
    for (path, case) in &cases {
        let mut expected = case.findings().to_vec();
        let (findings, says_besides) = look(case);
        let mut found: Vec<String> = findings.iter().map(summary).collect();
        expected.sort();
        found.sort();
        if found != expected {
            let findings: Vec<String> = findings.iter().map(ToString::to_string).collect();
            wrong.push(format!(
                "{}\n  expected {expected:#?}\n  found    {findings:#?}",
                path.display()
            ));
        }
        let is_unsaid = |text: &&String| {
            !says_besides(text) && !findings.iter().any(|finding| is_said(finding, text))
        };
        let unsaid = case.says().iter().filter(is_unsaid);
        wrong.extend(unsaid.map(|text| format!("{}: nothing says {text}", path.display())));
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
}

/// Each of some rules has a case that fails it, and one that passes it.
pub fn assert_rules_have_cases<C: Case>(is_one: impl Fn(&Rule) -> bool) {
    let cases = cases::<C>();
    for rule in Rule::ALL.iter().filter(|rule| is_one(rule)) {
        let of_rule = || {
            cases
                .iter()
                .filter(|(path, _)| path.parent().unwrap().ends_with(rule.name()))
        };
        let finds = |case: &C| {
            let mut findings = case.findings().iter();
            findings.any(|finding| finding.split(' ').nth(1) == Some(rule.name()))
        };
        assert!(
            of_rule().any(|(_, case)| finds(case)),
            "no case fails {rule}"
        );
        assert!(
            of_rule().any(|(_, case)| !finds(case)),
            "no case passes {rule}"
        );
    }
}

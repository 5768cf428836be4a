//! Mistakes that people made, each as a small tree, and trees that look like them and are right.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use mapstack::minion::platforms;
use mapstack::{Engine, loader::MemoryFiles};
use mapstack_lint::{Finding, Linter, Rule, SchemaFrom};
use serde::Deserialize;

/// A tree, and what there is to say about it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What the mistake is and what it did.
    #[allow(dead_code)]
    about: String,
    /// Where the mistake was found.
    #[allow(dead_code)]
    source: Option<String>,
    formula: String,
    files: BTreeMap<String, String>,
    #[serde(default)]
    platforms: Vec<String>,
    /// Whether values are checked against the formula's schema.
    #[serde(default)]
    schema: bool,
    /// `LEVEL RULE FILE`, or `LEVEL RULE FILE:LINE:COLUMN`.
    findings: Vec<String>,
    /// What the messages, notes and help of the findings say, among other things.
    #[serde(default)]
    says: Vec<String>,
}

fn cases() -> Vec<(PathBuf, Case)> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
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

fn findings(case: &Case) -> Vec<Finding> {
    let files = case
        .files
        .iter()
        .fold(MemoryFiles::new(), |files, (path, text)| {
            files.file("base", path, text)
        });
    let engine = Engine::new(files);
    let mut linter = Linter::new(&engine);
    if !case.platforms.is_empty() {
        let minion = |name: &String| platforms::find(name).unwrap().minion().complete();
        linter = linter.minions(case.platforms.iter().map(minion).collect());
    }
    if case.schema {
        linter = linter.schema(SchemaFrom::Own);
    }
    linter.lint(&case.formula).unwrap().findings
}

fn summary(finding: &Finding) -> String {
    let (level, rule) = (finding.level.name(), finding.rule);
    format!("{level} {rule} {}", finding.position())
}

/// Whether some finding says a text.
fn is_said(findings: &[Finding], text: &str) -> bool {
    findings.iter().any(|finding| {
        let mut lines = finding.notes.iter().chain(&finding.help);
        finding.message.contains(text) || lines.any(|line| line.contains(text))
    })
}

#[test]
fn every_mistake_is_found_and_nothing_else() {
    let mut wrong = Vec::new();
    let cases = cases();
    for (path, case) in &cases {
        let mut expected = case.findings.clone();
        let all = findings(case);
        let mut found: Vec<String> = all.iter().map(summary).collect();
        expected.sort();
        found.sort();
        if found != expected {
            wrong.push(format!(
                "{}\n  expected {expected:#?}\n  found    {found:#?}",
                path.display()
            ));
        }
        let unsaid = case.says.iter().filter(|text| !is_said(&all, text));
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

#[test]
fn every_rule_has_a_case_that_fails_and_one_that_passes() {
    let cases = cases();
    for rule in Rule::ALL.iter().filter(|rule| !rule.is_about_pillars()) {
        let of_rule = || {
            cases
                .iter()
                .filter(|(path, _)| path.parent().unwrap().ends_with(rule.name()))
        };
        let finds = |case: &Case| {
            case.findings
                .iter()
                .any(|finding| finding.split(' ').nth(1) == Some(rule.name()))
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

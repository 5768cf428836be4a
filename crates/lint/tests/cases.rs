//! Mistakes that people made, each as a small tree, and trees that look like them and are right.

use std::collections::BTreeMap;

use crate::common;
use mapstack::minion::platforms;
use mapstack::{Engine, loader::MemoryFiles};
use mapstack_lint::{Finding, Linter, SchemaFrom};
use serde::Deserialize;

/// A tree, and the findings about it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// The mistake and its effect.
    #[allow(dead_code)]
    about: String,
    /// The origin of the mistake.
    #[allow(dead_code)]
    source: Option<String>,
    formula: String,
    files: BTreeMap<String, String>,
    #[serde(default)]
    platforms: Vec<String>,
    /// True if values are checked against the formula's schema.
    #[serde(default)]
    schema: bool,
    /// `LEVEL RULE FILE`, or `LEVEL RULE FILE:LINE:COLUMN`.
    findings: Vec<String>,
    /// Parts of the messages, notes and help of the findings.
    #[serde(default)]
    says: Vec<String>,
}

impl common::Case for Case {
    const DIRECTORY: &str = "tests/cases";

    fn findings(&self) -> &[String] {
        &self.findings
    }

    fn says(&self) -> &[String] {
        &self.says
    }
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

#[test]
fn every_mistake_is_found_and_nothing_else() {
    common::assert_found(|case: &Case| (findings(case), |_: &str| false));
}

#[test]
fn every_rule_has_a_case_that_fails_and_one_that_passes() {
    common::assert_rules_have_cases::<Case>(|rule| !rule.is_about_pillars());
}

#[test]
fn data_that_aliases_make_large_is_named_and_other_files_are_looked_at() {
    let mut layer = "values:\n  a: &a [1, 1, 1]\n".to_owned();
    for (of, name) in ('a'..='j').zip('b'..='k') {
        layer += &format!("  {name}: &{name} [*{of}, *{of}, *{of}]\n");
    }
    let files = MemoryFiles::new()
        .file("base", "f/parameters/defaults.yaml", layer)
        .file(
            "base",
            "f/parameters/os_family/Debian.yaml",
            "values: {a: 0644}\n",
        );
    let engine = Engine::new(files);
    let report = Linter::new(&engine).lint("f").unwrap();
    let rules: Vec<&str> = report
        .findings
        .iter()
        .map(|finding| finding.rule.name())
        .collect();
    assert_eq!(rules, ["yaml-octal"], "{:?}", report.findings);
    for what in ["f/parameters/defaults.yaml", "what its layers come to"] {
        let reason = report.ignored.get(what).unwrap();
        assert!(reason.starts_with("it expands to "), "{what}: {reason}");
    }
}

//! Mistakes that people made in pillars, each as a small tree, and trees that look like them and are right.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mapstack::minion::{Minion, platforms};
use mapstack::{Engine, loader::MemoryFiles};
use mapstack_lint::{Finding, Report, Rule, SchemaFrom};
use mapstack_lint_pillar::{Minions, PillarLinter};
use mapstack_pillar::Master;
use mapstack_salt_config::{Config, Kind};
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
    /// More options of the master.
    #[serde(default)]
    options: String,
    /// By saltenv.
    files: BTreeMap<String, BTreeMap<String, String>>,
    /// The minions that there are, with their grains.
    #[serde(default)]
    minions: BTreeMap<String, BTreeMap<String, String>>,
    /// The platforms that are examples of minions; without minions these are all.
    #[serde(default)]
    platforms: Vec<String>,
    /// Whether values are checked against the pillar's schema.
    #[serde(default)]
    schema: bool,
    /// `LEVEL RULE FILE`, or `LEVEL RULE FILE:LINE:COLUMN`.
    findings: Vec<String>,
    /// What the messages, notes and help of the findings and the remarks say, and functions without an answer, among other things.
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

fn minions(case: &Case) -> Minions {
    if !case.minions.is_empty() {
        let minion = |(id, grains): (&String, &BTreeMap<String, String>)| {
            let mut minion = Minion::new(id.as_str());
            for (name, value) in grains {
                minion.grains.insert(name.as_str(), value.as_str());
            }
            minion.complete()
        };
        return Minions::Known(case.minions.iter().map(minion).collect());
    }
    let is_wanted = |name: &str| {
        case.platforms.is_empty() || case.platforms.iter().any(|wanted| wanted == name)
    };
    let all = platforms::all().iter();
    Minions::Examples(
        all.filter(|platform| is_wanted(platform.name))
            .map(|platform| platform.minion().complete())
            .collect(),
    )
}

fn report(case: &Case) -> Report {
    let mut files = MemoryFiles::new();
    let mut roots = String::from("pillar_roots:\n");
    for (env, texts) in &case.files {
        roots.push_str(&format!("  {env}: [/srv/{env}]\n"));
        for (path, text) in texts {
            files = files.file(env, path, text);
        }
    }
    let options = format!("{roots}{}", case.options);
    let config = Config::parse(options.as_bytes(), "master", Kind::Master).unwrap();
    let master = Master::new(config, Arc::new(files));
    let engine = Engine::new(MemoryFiles::new());
    let schema = match case.schema {
        true => SchemaFrom::Own,
        false => SchemaFrom::Nowhere,
    };
    let linter = PillarLinter::new(&master, &engine).schema(schema);
    linter.lint(&minions(case)).unwrap().0
}

fn summary(finding: &Finding) -> String {
    let (level, rule) = (finding.level.name(), finding.rule);
    format!("{level} {rule} {}", finding.position())
}

/// Whether some finding or remark says a text.
fn is_said(report: &Report, text: &str) -> bool {
    report.unanswered.contains_key(text)
        || report.remarks.iter().any(|remark| remark.contains(text))
        || report.findings.iter().any(|finding| {
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
        let report = report(case);
        let mut found: Vec<String> = report.findings.iter().map(summary).collect();
        expected.sort();
        found.sort();
        if found != expected {
            wrong.push(format!(
                "{}\n  expected {expected:#?}\n  found    {:#?}",
                path.display(),
                report
                    .findings
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
            ));
        }
        let unsaid = case.says.iter().filter(|text| !is_said(&report, text));
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
fn every_rule_about_pillars_has_a_case_that_fails_and_one_that_passes() {
    let cases = cases();
    for rule in Rule::ALL.iter().filter(|rule| rule.is_about_pillars()) {
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

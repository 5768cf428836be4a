//! Mistakes that people made in pillars, each as a small tree, and trees that look like them and are right.

use crate::common;

use std::collections::BTreeMap;
use std::sync::Arc;

use mapstack::minion::{Minion, platforms};
use mapstack::{Engine, loader::MemoryFiles};
use mapstack_lint::pillar::{Minions, PillarLinter};
use mapstack_lint::{LintReport, SchemaFrom};
use mapstack_pillar::Master;
use mapstack_salt_config::{Config, Kind};
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
    /// More options of the master.
    #[serde(default)]
    options: String,
    /// By saltenv.
    files: BTreeMap<String, BTreeMap<String, String>>,
    /// The real minions, with their grains.
    #[serde(default)]
    minions: BTreeMap<String, BTreeMap<String, String>>,
    /// The platforms that are examples of minions; without minions these are all.
    #[serde(default)]
    platforms: Vec<String>,
    /// True if values are checked against the pillar's schema.
    #[serde(default)]
    schema: bool,
    /// `LEVEL RULE FILE`, or `LEVEL RULE FILE:LINE:COLUMN`.
    findings: Vec<String>,
    /// Parts of the messages, notes and help of the findings and the remarks, and functions without an answer.
    #[serde(default)]
    says: Vec<String>,
}

impl common::Case for Case {
    const DIRECTORY: &str = "tests/pillar_cases";

    fn findings(&self) -> &[String] {
        &self.findings
    }

    fn says(&self) -> &[String] {
        &self.says
    }
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

fn report(case: &Case) -> LintReport {
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

#[test]
fn every_mistake_is_found_and_nothing_else() {
    common::assert_found(|case: &Case| {
        let report = report(case);
        let (unanswered, remarks) = (report.unanswered, report.remarks);
        let says_besides = move |text: &str| {
            unanswered.contains_key(text) || remarks.iter().any(|remark| remark.contains(text))
        };
        (report.findings, says_besides)
    });
}

#[test]
fn every_rule_about_pillars_has_a_case_that_fails_and_one_that_passes() {
    common::assert_rules_have_cases::<Case>(|rule| rule.is_about_pillars());
}

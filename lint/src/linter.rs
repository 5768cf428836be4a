//! The entry point.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mapstack::minion::{Minion, platforms};
use mapstack::secrets::Secrets;
use mapstack::{DataOptions, Diagnostic, Engine, Error};

use crate::Rule;
use crate::finding::{Finding, Level};
use crate::mask;
use crate::rules;
use crate::subject::Subject;
use crate::suppress::Suppressions;

/// Checks formulas.
///
/// Without minions it looks at one of each built-in platform.
pub struct Linter<'e> {
    engine: &'e Engine,
    minions: Vec<Minion>,
    saltenv: String,
    options: DataOptions,
    levels: BTreeMap<Rule, Option<Level>>,
    secrets: Secrets,
}

/// What came of checking a formula.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// What was found, by file and line.
    pub findings: Vec<Finding>,
    /// How many more comments in the files silenced.
    pub suppressed: usize,
    /// How many files were looked at.
    pub files: usize,
    /// How many minions the formula ran for.
    pub minions: usize,
    /// Functions that templates call and nobody answered, with the minions on which the formula could
    /// not be followed further.
    pub unanswered: BTreeMap<String, BTreeSet<String>>,
    /// Files that hold secrets, with stars in their place; every byte stays where it was.
    pub masked: BTreeMap<String, Arc<str>>,
}

impl Report {
    /// Whether something does not work.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(|finding| finding.level == Level::Error)
    }

    /// A finding as a message, whose excerpts have no secrets.
    #[must_use]
    pub fn diagnostic(&self, finding: &Finding) -> Diagnostic {
        let mut diagnostic = finding.diagnostic();
        let places = diagnostic.place.iter_mut().chain(diagnostic.trace.iter_mut().map(|step| &mut step.place));
        for place in places {
            if let Some(masked) = self.masked.get(&place.file).filter(|masked| masked.len() == place.source.len()) {
                place.source = masked.clone();
            }
        }
        diagnostic
    }
}

impl<'e> Linter<'e> {
    /// A linter for formulas of an engine's file server, which runs them on every built-in platform.
    #[must_use]
    pub fn new(engine: &'e Engine) -> Self {
        let minions = platforms::all().iter().map(|platform| platform.minion().complete()).collect();
        let (saltenv, options) = ("base".into(), DataOptions::default());
        Linter { engine, minions, saltenv, options, levels: BTreeMap::new(), secrets: Secrets::new(b"") }
    }

    /// Run formulas for these minions only.
    #[must_use]
    pub fn minions(mut self, minions: Vec<Minion>) -> Self {
        self.minions = minions;
        self
    }

    /// Look in another saltenv than `base`.
    #[must_use]
    pub fn saltenv(mut self, saltenv: impl Into<String>) -> Self {
        self.saltenv = saltenv.into();
        self
    }

    /// The arguments that the formula is used with.
    #[must_use]
    pub fn options(mut self, options: DataOptions) -> Self {
        self.options = options;
        self
    }

    /// How much a rule matters; `None` switches it off.
    #[must_use]
    pub fn level(mut self, rule: Rule, level: Option<Level>) -> Self {
        self.levels.insert(rule, level);
        self
    }

    /// What to keep back in messages and excerpts; by default what stands under the usual keys.
    #[must_use]
    pub fn secrets(mut self, secrets: Secrets) -> Self {
        self.secrets = secrets;
        self
    }

    /// Check a formula.
    ///
    /// # Errors
    /// The formula's files cannot be listed or read, or there are none.
    pub fn lint(&self, formula: &str) -> Result<Report, Error> {
        let subject =
            Subject::examine(self.engine, formula, &self.saltenv, &self.minions, &self.options, &self.secrets)?;
        let suppressions = Suppressions::read(subject.files.values().map(|file| &**file));
        let mut findings = rules::all(&subject);
        findings.extend(suppressions.mistakes());
        let before = findings.len();
        findings.retain(|finding| !suppressions.silence(finding));
        let suppressed = before - findings.len();
        findings.retain_mut(|finding| match self.levels.get(&finding.rule) {
            Some(None) => false,
            Some(Some(level)) => {
                finding.level = *level;
                true
            }
            None => true,
        });
        for finding in &mut findings {
            finding.message = self.secrets.scrubbed(&finding.message);
            finding.notes.iter_mut().for_each(|note| *note = self.secrets.scrubbed(note));
            finding.help = finding.help.as_ref().map(|help| self.secrets.scrubbed(help));
        }
        findings.sort_by(|a, b| order(a).cmp(&order(b)));
        distinct(&mut findings);
        let masked = mask::masked(subject.documents.iter(), &self.secrets);
        let unanswered = rules::unanswered_calls(&subject);
        let (files, minions) = (subject.files.len(), self.minions.len());
        Ok(Report { findings, suppressed, files, minions, unanswered, masked })
    }
}

fn order(finding: &Finding) -> (&str, usize, std::cmp::Reverse<Level>, Rule, &str) {
    let Finding { place, level, rule, message, .. } = finding;
    (&place.file, place.start, std::cmp::Reverse(*level), *rule, message)
}

/// Leave out what says again what another finding says: runs stumble over what files show.
fn distinct(findings: &mut Vec<Finding>) {
    let line = |finding: &Finding| (finding.place.file.clone(), finding.place.line());
    let shown: BTreeSet<(String, usize)> = findings
        .iter()
        .filter(|finding| !finding.rule.is_of_runs() && finding.rule.can_fail_a_run())
        .map(line)
        .collect();
    findings.retain(|finding| !finding.rule.is_of_runs() || !shown.contains(&line(finding)));
    findings.dedup_by(|b, a| {
        a.rule == b.rule && a.place.file == b.place.file && a.place.start == b.place.start && a.message == b.message
    });
}

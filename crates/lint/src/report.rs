//! The findings that are reported.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;

use mapstack::Diagnostic;
use mapstack::secrets::{Redacted, Secrets};

use crate::Rule;
use crate::document::{Document, SourceFile};
use crate::estate::SlsCounts;
use crate::finding::{Finding, Level};
use crate::levels::Levels;
use crate::mask;
use crate::pillar::PillarKeys;
use crate::rules::CallsWithoutAnswer;
use crate::subject::FileCounts;
use crate::suppress::Suppressions;

/// The files that findings are about: their comments silence rules, and what is secret in them is not shown.
#[derive(Debug, Clone, Default)]
pub struct Sources<'s> {
    /// Every file.
    pub files: Vec<&'s SourceFile>,
    /// The documents of those with data.
    pub documents: Vec<&'s Document>,
}

/// The result of checking a formula, or a pillar.
#[derive(Debug, Clone)]
pub struct LintReport {
    /// The findings, by file and line.
    pub findings: Vec<Finding>,
    /// The number of further findings that comments silenced.
    pub suppressed: usize,
    /// True if it is about the pillar, not a formula.
    pub is_pillar: bool,
    /// The number of files.
    pub files: usize,
    /// The number of them that were looked at, by kind.
    pub looked: FileCounts,
    /// The number of minions that the formula ran for.
    pub minions: usize,
    /// The number of them that the formula is for, as its `FORMULA` file says: failures on the others do not count.
    pub supported: usize,
    /// Functions that templates call without an answer, with the minions on which the formula could
    /// not be followed further.
    pub unanswered: BTreeMap<String, CallsWithoutAnswer>,
    /// Files that no rule looked into, by their paths on the file server, with the reason.
    pub ignored: BTreeMap<String, String>,
    /// Files that fail for lack of facts which no minion here has, as a person would open them: what is behind the
    /// failure was not looked at.
    pub lacking: BTreeSet<String>,
    /// The minions whose pillars have errors, if it is about the pillar.
    pub broken: BTreeSet<String>,
    /// External pillars that gave nothing, if it is about the pillar.
    pub left_out: Vec<String>,
    /// The keys that its files can give, if it is about the pillar.
    pub keys: Option<Arc<PillarKeys>>,
    /// The sls of an estate that were reached, if it is about an estate's states.
    pub reached: Option<SlsCounts>,
    /// The number of checks that the budget of the run was too small for.
    pub unfinished: usize,
    /// Remarks on what else was not looked at, a sentence each.
    pub remarks: Vec<String>,
    /// Files that hold secrets, with stars in their place; every byte stays where it was.
    masked: BTreeMap<String, Arc<str>>,
    secrets: Arc<Secrets>,
}

impl LintReport {
    /// The findings that are left: each once, without those that comments silence or levels switch off, and without
    /// secrets, in the order of files and lines.
    #[must_use]
    pub fn of(
        mut findings: Vec<Finding>,
        sources: &Sources<'_>,
        levels: &Levels,
        secrets: Arc<Secrets>,
    ) -> Self {
        let lines = FindingLines::of(sources);
        distinct(&mut findings, &lines);
        let suppressions = Suppressions::read(sources.files.iter().copied());
        findings.extend(suppressions.mistakes());
        let lacking = findings
            .iter()
            .filter(|finding| finding.lacks_facts)
            .map(|finding| finding.place.file.clone())
            .collect();
        let before = findings.len();
        findings.retain(|finding| !suppressions.silence(finding, lines.line(finding)));
        let suppressed = before - findings.len();
        findings.retain_mut(|finding| levels.apply(finding));
        for finding in &mut findings {
            finding.scrub(&secrets);
        }
        findings.sort_by(|a, b| order(a).cmp(&order(b)));
        LintReport {
            findings,
            suppressed,
            files: sources.files.len(),
            lacking,
            masked: mask::masked(sources, &secrets),
            secrets,
            is_pillar: false,
            reached: None,
            broken: BTreeSet::new(),
            left_out: Vec::new(),
            keys: None,
            looked: FileCounts::default(),
            minions: 0,
            supported: 0,
            unanswered: BTreeMap::new(),
            ignored: BTreeMap::new(),
            unfinished: 0,
            remarks: Vec::new(),
        }
    }

    /// True if something does not work.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.findings
            .iter()
            .any(|finding| finding.level == Level::Error)
    }

    /// A text of one of the files with stars for the values under the names of secrets.
    #[must_use]
    pub fn starred(&self, text: &str) -> String {
        self.secrets.starred(text).into_owned()
    }

    /// A finding as a message, whose excerpts have no secrets.
    #[must_use]
    pub fn diagnostic(&self, finding: &Finding) -> Redacted<Diagnostic> {
        let mut diagnostic = finding.diagnostic();
        let places = diagnostic
            .place
            .iter_mut()
            .chain(diagnostic.trace.iter_mut().map(|step| &mut step.place));
        for place in places {
            if let Some(masked) = self
                .masked
                .get(&place.file)
                .filter(|masked| masked.len() == place.source.len())
            {
                place.source = masked.clone();
            }
        }
        self.secrets.redact(&diagnostic)
    }
}

fn order(finding: &Finding) -> (&str, usize, std::cmp::Reverse<Level>, Rule, &str) {
    let Finding {
        place,
        level,
        rule,
        message,
        ..
    } = finding;
    (
        &place.file,
        place.start,
        std::cmp::Reverse(*level),
        *rule,
        message,
    )
}

/// The lines of findings: files know where theirs start.
struct FindingLines<'s>(HashMap<&'s str, &'s SourceFile>);

impl<'s> FindingLines<'s> {
    fn of(sources: &Sources<'s>) -> Self {
        let files = sources.files.iter();
        FindingLines(files.map(|file| (file.shown.as_str(), *file)).collect())
    }

    fn line(&self, finding: &Finding) -> usize {
        let known = self.0.get(finding.place.file.as_str());
        known.map_or_else(
            || finding.place.line(),
            |file| file.line(finding.place.start),
        )
    }
}

/// Leave out findings that repeat another one: runs stumble over what files show.
fn distinct(findings: &mut Vec<Finding>, lines: &FindingLines<'_>) {
    findings.sort_by(|a, b| order(a).cmp(&order(b)));
    let place = |finding: &Finding| (finding.place.file.clone(), lines.line(finding));
    let of_files = || findings.iter().filter(|finding| !finding.of_run);
    let mut shown: HashMap<(String, usize), Level> = HashMap::new();
    for finding in of_files().filter(|finding| finding.rule.can_fail_a_run()) {
        let level = shown.entry(place(finding)).or_insert(finding.level);
        *level = finding.level.max(*level);
    }
    let bad_source = of_files().any(|finding| finding.rule == Rule::BadSource);
    // A file as a whole that is wrong is wrong at whichever line a run stumbled.
    let whole: HashSet<(String, Rule)> = of_files()
        .filter(|finding| finding.whole_file)
        .map(|finding| (finding.place.file.clone(), finding.rule))
        .collect();
    findings.retain(|finding| {
        let is_said = || {
            // A finding of less weight does not replace a failure.
            shown
                .get(&place(finding))
                .is_some_and(|level| *level >= finding.level)
                || whole.contains(&(finding.place.file.clone(), finding.rule))
                || (bad_source && finding.rule == Rule::BadSource)
        };
        !finding.of_run || !is_said()
    });
    findings.dedup_by(|b, a| {
        let same_place = a.place.file == b.place.file && a.place.start == b.place.start;
        a.rule == b.rule && same_place && a.message == b.message
    });
}

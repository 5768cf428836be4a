//! Comments that silence findings.
//!
//! ```yaml
//! # mapstack-lint: ignore-file=unreachable-file
//! values:
//!   mode: 0644  # mapstack-lint: ignore=yaml-octal
//!   # mapstack-lint: ignore=yaml-bool, redundant-override
//!   country: no
//! ```
//!
//! `ignore` counts for its line, or for the next one if it is alone on its line; `ignore-file` for
//! the file. In a template, write it in `{# … #}`. `from-pillar=KEY` says that the pillar sets what no layer does.

use std::collections::{BTreeMap, BTreeSet};

use mapstack::Means;

use crate::Rule;
use crate::document::SourceFile;
use crate::finding::Finding;
use crate::rule::UnknownRule;

/// The mark of these comments.
const MARK: &str = "mapstack-lint:";

/// The word before the keys that the pillar sets.
const FROM_PILLAR: &str = "from-pillar";

/// The keys that comments of a formula's files say the pillar sets: `# mapstack-lint: from-pillar=pkg`.
pub(crate) fn promised<'f>(files: impl Iterator<Item = &'f SourceFile>) -> BTreeSet<String> {
    let comments = files.flat_map(|file| file.text.split(MARK).skip(1));
    let names = comments.filter_map(|comment| {
        let line = comment.lines().next()?.split("#}").next()?;
        line.trim()
            .strip_prefix(FROM_PILLAR)?
            .trim_start()
            .strip_prefix('=')
    });
    let names = names.flat_map(|names| names.split(','));
    let names = names.filter_map(|name| name.split_whitespace().next());
    names
        .map(|name| name.rsplit([':', '.']).next().unwrap_or(name).to_owned())
        .collect()
}

/// The rules that the comments of a formula's files silence.
#[derive(Debug, Default)]
pub(crate) struct Suppressions {
    files: BTreeMap<String, Vec<Rule>>,
    lines: BTreeMap<(String, usize), Vec<Rule>>,
    mistakes: Vec<Finding>,
}

impl Suppressions {
    pub fn read<'f>(files: impl Iterator<Item = &'f SourceFile>) -> Self {
        let mut read = Suppressions::default();
        for file in files.filter(|file| file.text.contains(MARK)) {
            read.file(file);
        }
        read
    }

    fn file(&mut self, file: &SourceFile) {
        let mut start = 0;
        let mut pending: Vec<Rule> = Vec::new();
        for (index, line) in file.text.split_inclusive('\n').enumerate() {
            let number = index + 1;
            let (own, rest) = (line.split_once(MARK), line.trim_start());
            let alone = rest.starts_with('#') || rest.starts_with("{#");
            if !alone && !rest.is_empty() {
                self.lines
                    .entry((file.shown.clone(), number))
                    .or_default()
                    .append(&mut pending);
            }
            let is_comment = |before: &str| before.trim_end_matches([' ', '-', '+']).ends_with('#');
            if let Some((before, comment)) = own.filter(|(before, _)| is_comment(before)) {
                let at = start + before.len() + MARK.len();
                let (for_file, rules) = self.comment(file, comment, at);
                match (for_file, alone) {
                    (true, _) => self
                        .files
                        .entry(file.shown.clone())
                        .or_default()
                        .extend(rules),
                    (false, true) => pending.extend(rules),
                    (false, false) => self
                        .lines
                        .entry((file.shown.clone(), number))
                        .or_default()
                        .extend(rules),
                }
            }
            start += line.len();
        }
    }

    /// True if a comment is for the whole file, and the rules it names.
    fn comment(&mut self, file: &SourceFile, comment: &str, at: usize) -> (bool, Vec<Rule>) {
        let comment = comment
            .split("#}")
            .next()
            .unwrap_or_default()
            .trim_end()
            .trim_end_matches(['-', '+']);
        let (what, names) = comment.split_once('=').unwrap_or((comment, ""));
        let what = what.trim();
        if what == FROM_PILLAR && !names.trim().is_empty() {
            return (false, Vec::new());
        }
        if !matches!(what, "ignore" | "ignore-file") || names.trim().is_empty() {
            let message = "this comment silences nothing";
            let help = "write `mapstack-lint: ignore=RULE, …` for a line or `mapstack-lint: ignore-file=RULE, …` for a file";
            let (start, end) = (
                at + comment.len() - comment.trim_start().len(),
                at + comment.trim_end().len(),
            );
            self.mistakes
                .push(Finding::new(Rule::Suppression, file.place(start, end), message).help(help));
            return (false, Vec::new());
        }
        let mut rules = Vec::new();
        // The words after a name are the reason.
        let first = |item: &str| item.split_whitespace().next().map(str::to_owned);
        for name in names.split(',').filter_map(first) {
            match name.parse() {
                Ok(rule) => rules.push(rule),
                Err(UnknownRule { name: wrong, near }) => {
                    let start = at + comment.find(&name).unwrap_or_default();
                    let place = file.place(start, start + name.len());
                    let finding =
                        Finding::new(Rule::Suppression, place, format!("unknown rule '{wrong}'"));
                    self.mistakes.push(match near {
                        Some(near) => finding.help(format!("did you mean {near}?")),
                        None => finding.help(format!("{} lists them", Means::Rules)),
                    });
                }
            }
        }
        (what == "ignore-file", rules)
    }

    /// True if a comment silences a finding.
    pub fn silence(&self, finding: &Finding, line: usize) -> bool {
        let file = &finding.place.file;
        let has =
            |rules: Option<&Vec<Rule>>| rules.is_some_and(|rules| rules.contains(&finding.rule));
        has(self.files.get(file))
            || (!finding.whole_file && has(self.lines.get(&(file.clone(), line))))
    }

    /// Comments that are wrong themselves.
    pub fn mistakes(&self) -> Vec<Finding> {
        self.mistakes.clone()
    }
}

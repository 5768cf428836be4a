//! Changing texts as findings propose.

use std::collections::{BTreeMap, HashSet};

use crate::finding::{Edit, Finding};

/// A text with changes made.
///
/// ```
/// use mapstack_lint::{Edit, fix::apply};
/// let edits = [Edit { start: 0, end: 2, text: "Y!".into() }, Edit { start: 4, end: 4, text: "x".into() }];
/// assert_eq!(apply("Y:G@os", &edits), "Y!G@xos");
/// ```
#[must_use]
pub fn apply(text: &str, edits: &[Edit]) -> String {
    let mut sorted: Vec<&Edit> = edits.iter().collect();
    sorted.sort_by_key(|edit| (edit.start, edit.end));
    let (mut out, mut done) = (String::with_capacity(text.len()), 0);
    for edit in sorted {
        // Of two changes of the same bytes the first counts.
        let (true, Some(kept)) = (edit.start >= done, text.get(done..edit.start)) else {
            continue;
        };
        out.push_str(kept);
        out.push_str(&edit.text);
        done = edit.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// A file that findings change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FixedFile {
    /// The text before.
    pub before: String,
    /// The text after.
    pub after: String,
    /// The number of findings that it fixes.
    pub findings: usize,
}

/// The files that findings change, by their names.
#[must_use]
pub fn fixed(findings: &[Finding]) -> BTreeMap<String, FixedFile> {
    let mut edits: BTreeMap<&str, (&str, Vec<Edit>, usize)> = BTreeMap::new();
    for finding in findings.iter().filter(|finding| !finding.fix.is_empty()) {
        let (_, of_file, count) = edits
            .entry(&finding.place.file)
            .or_insert_with(|| (&finding.place.source, Vec::new(), 0));
        of_file.extend(finding.fix.iter().cloned());
        *count += 1;
    }
    let change = |(file, (before, edits, findings)): (&str, (&str, Vec<Edit>, usize))| {
        (
            file.to_owned(),
            FixedFile {
                before: before.into(),
                after: apply(before, &edits),
                findings,
            },
        )
    };
    edits.into_iter().map(change).collect()
}

/// Findings that propose a change, each once: a file that two formulas read, or that has two names, is changed
/// once.
pub fn distinct<'f>(findings: impl IntoIterator<Item = &'f Finding>) -> Vec<Finding> {
    let mut seen = HashSet::new();
    let is_new = |finding: &&Finding| {
        let real = std::fs::canonicalize(&finding.place.file)
            .unwrap_or_else(|_| finding.place.file.clone().into());
        seen.insert((real, finding.place.start, finding.rule))
    };
    let fixable = findings
        .into_iter()
        .filter(|finding| !finding.fix.is_empty());
    fixable.filter(is_new).cloned().collect()
}

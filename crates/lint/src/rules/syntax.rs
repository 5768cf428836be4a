//! Data files that are not YAML.

use mapstack::yaml::{self, ErrorKind};

use crate::Rule;
use crate::document::SourceFile;
use crate::finding::{Edit, Finding};
use crate::subject::FormulaSubject;

/// The number of columns that replace a tab.
const TAB: usize = 2;

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    subject
        .broken
        .iter()
        .filter(|(file, error)| !is_conflict(file, error))
        .map(|(file, error)| broken(file, error))
        .collect()
}

/// True if a file is refused for a merge conflict, which another rule reports.
fn is_conflict(file: &SourceFile, error: &yaml::Error) -> bool {
    let at = error.mark().map_or(0, |mark| mark.offset(&file.text));
    file.text
        .get(at..)
        .is_some_and(|rest| rest.starts_with("<<<<<<<"))
}

fn broken(file: &SourceFile, error: &yaml::Error) -> Finding {
    let start = error.mark().map_or(0, |mark| mark.offset(&file.text));
    if matches!(error.kind(), ErrorKind::Syntax { .. })
        && let Some(tab) = indenting_tab(&file.text, start)
    {
        let finding = Finding::new(
            Rule::YamlTab,
            file.place(tab, tab + 1),
            "a tab indents this line",
        )
        .help("YAML is indented by spaces");
        return finding.fix(without_tabs(&file.text));
    }
    let finding = Finding::new(
        rule_of(error.kind()),
        file.place(start, start),
        error.kind().to_string(),
    );
    match error.kind() {
        ErrorKind::DuplicateKey { first, .. } => {
            let first = first.offset(&file.text);
            finding.related("set here first", file.place(first, first))
        }
        _ => finding,
    }
}

/// The rule that a problem of YAML goes against.
pub(crate) fn rule_of(kind: &ErrorKind) -> Rule {
    match kind {
        ErrorKind::DuplicateKey { .. } => Rule::DuplicateKey,
        ErrorKind::TemplateExpression => Rule::UnquotedExpression,
        _ => Rule::YamlSyntax,
    }
}

/// The tab in front of the line of an error, or of the line before: readers notice late.
pub(super) fn indenting_tab(text: &str, at: usize) -> Option<usize> {
    let tab_of = |line: usize| {
        let indented = text.get(line..)?;
        let indent = indented.len() - indented.trim_start_matches([' ', '\t']).len();
        indented[..indent].find('\t').map(|tab| line + tab)
    };
    let start_of = |at: usize| {
        text.get(..at)
            .and_then(|before| before.rfind('\n'))
            .map_or(0, |newline| newline + 1)
    };
    let line = start_of(at);
    tab_of(line).or_else(|| tab_of(start_of(line.checked_sub(1)?)))
}

/// Spaces for the tabs that indent lines, if that makes it YAML, and the same however wide a tab is.
/// Tabs in text that goes over lines are text.
fn without_tabs(text: &str) -> Vec<Edit> {
    let goes_on = |line: &str| {
        let line = line.trim_end();
        line.ends_with(['|', '>', '-', '+'])
            && line.contains([':', '-'])
            && line.contains(['|', '>'])
    };
    if text.lines().any(goes_on) || text.contains(['"', '\'']) {
        return Vec::new();
    }
    let tabs: Vec<usize> = indents(text)
        .flat_map(|(start, indent)| {
            indent
                .match_indices('\t')
                .map(move |(at, _)| start + at)
                .collect::<Vec<_>>()
        })
        .collect();
    let edits = |width: usize| -> Vec<Edit> {
        tabs.iter()
            .map(|at| Edit {
                start: *at,
                end: at + 1,
                text: " ".repeat(width),
            })
            .collect()
    };
    let read = |width: usize| yaml::load(&crate::fix::apply(text, &edits(width))).ok();
    match (read(2), read(4), read(8)) {
        (Some(two), Some(four), Some(eight)) if two.is_same(&four) && two.is_same(&eight) => {
            edits(TAB)
        }
        _ => Vec::new(),
    }
}

/// The indentation of each line, and where the line begins.
fn indents(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n').filter_map(move |line| {
        let at = start;
        start += line.len();
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        Some((at, line.get(..indent)?))
    })
}

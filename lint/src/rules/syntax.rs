//! Data files that are no YAML.

use mapstack::yaml::{self, ErrorKind};

use crate::Rule;
use crate::document::SourceFile;
use crate::finding::{Edit, Finding};
use crate::subject::Subject;

/// How many columns a tab is replaced by.
const TAB: &str = "  ";

pub(crate) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    subject.broken.iter().map(|(file, error)| broken(file, error)).collect()
}

fn broken(file: &SourceFile, error: &yaml::Error) -> Finding {
    let start = error.mark().map_or(0, |mark| mark.offset(&file.text));
    if matches!(error.kind(), ErrorKind::Syntax { .. })
        && let Some(tab) = indenting_tab(&file.text, start)
    {
        let finding = Finding::new(Rule::YamlTab, file.place(tab, tab + 1), "a tab indents this line")
            .help("YAML is indented by spaces");
        return finding.fix(without_tabs(&file.text));
    }
    let finding = Finding::new(rule_of(error.kind()), file.place(start, start), error.kind().to_string());
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
fn indenting_tab(text: &str, at: usize) -> Option<usize> {
    let tab_of = |line: usize| {
        let indented = text.get(line..)?;
        let indent = indented.len() - indented.trim_start_matches([' ', '\t']).len();
        indented[..indent].find('\t').map(|tab| line + tab)
    };
    let start_of = |at: usize| text.get(..at).and_then(|before| before.rfind('\n')).map_or(0, |newline| newline + 1);
    let line = start_of(at);
    tab_of(line).or_else(|| tab_of(start_of(line.checked_sub(1)?)))
}

/// Spaces for the tabs that indent lines, if that makes it YAML.
fn without_tabs(text: &str) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let indent = line.len() - line.trim_start_matches([' ', '\t']).len();
        let tabs = line[..indent].match_indices('\t').map(|(at, _)| start + at);
        edits.extend(tabs.map(|at| Edit { start: at, end: at + 1, text: TAB.into() }));
        start += line.len();
    }
    let mended = crate::fix::apply(text, &edits);
    if yaml::load(&mended).is_ok() { edits } else { Vec::new() }
}

//! Sls of an estate that no minion gets, and that nothing names.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use mapstack::value::pytext::Fnmatch;
use mapstack_states::included;

use crate::Rule;
use crate::document::SourceFile;
use crate::finding::{Finding, Level};
use crate::pillar::{is_part, names};
use crate::states::SlsOfMinions;
use crate::subject::{FormulaSubject, TopFault, read_files};

/// Files of a folder that say that it is a formula: its sls are for others to name.
const OF_FORMULA: [&str; 5] = [
    "map.jinja",
    "libmapstack.jinja",
    "map_jinja.yaml",
    "defaults.yaml",
    "osfamilymap.yaml",
];

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    let has_tops = subject.states.iter().any(|state| !state.is_unnamed);
    let mut problems = subject.problems.iter();
    let fails = problems.any(|problem| matches!(problem.what, TopFault::Failed(_)));
    let Some(estate) = subject.estate.as_ref().filter(|_| has_tops && !fails) else {
        return Vec::new();
    };
    let unnamed = subject.states.iter().filter(|state| state.is_unnamed);
    let unnamed: Vec<&SlsOfMinions> = unnamed
        .filter(|state| !is_of_formula(subject, &state.file.path))
        .collect();
    if unnamed.is_empty() {
        return Vec::new();
    }
    let included: BTreeSet<String> = subject.states.iter().flat_map(included_by).collect();
    let others = of_other_saltenvs(subject);
    let files: Vec<_> = subject.files.values().chain(&others).collect();
    let patterns: Vec<Fnmatch> = files
        .iter()
        .flat_map(|file| patterns(file, &estate.options.state_top))
        .collect();
    let is_named = |state: &SlsOfMinions| {
        let matches = |pattern: &Fnmatch| pattern.matches(&state.name);
        included.contains(&state.name)
            || patterns.iter().any(matches)
            || files.iter().any(|file| says(file, state))
    };
    let unused = unnamed.into_iter().filter(|state| !is_named(state));
    unused.map(finding).collect()
}

/// The files of other saltenvs: their top files and includes can name sls of this one.
fn of_other_saltenvs(subject: &FormulaSubject<'_>) -> Vec<Arc<SourceFile>> {
    let others = subject.engine.files().envs().into_iter();
    let others = others.filter(|saltenv| *saltenv != subject.saltenv);
    let files = others.filter_map(|saltenv| read_files(subject.engine, "", &saltenv).ok());
    files.flat_map(BTreeMap::into_values).collect()
}

fn finding(state: &SlsOfMinions) -> Finding {
    let message = format!("no top file and no sls names the sls '{}'", state.name);
    let found = Finding::of_file(Rule::UnusedSls, state.file.place(0, 0), message);
    Finding {
        level: Level::Note,
        help: Some("delete it, or keep it if it is applied by name".into()),
        ..found
    }
}

/// True if a file is in the folder of a formula.
fn is_of_formula(subject: &FormulaSubject<'_>, path: &str) -> bool {
    let Some((folder, _)) = path.split_once('/') else {
        return false;
    };
    let has = |name: &&str| subject.files.contains_key(&format!("{folder}/{name}"));
    let parameters = format!("{folder}/parameters/");
    OF_FORMULA.iter().any(has)
        || subject
            .files
            .keys()
            .any(|path| path.starts_with(&parameters))
}

/// The sls that an sls includes on any minion.
fn included_by(state: &SlsOfMinions) -> Vec<String> {
    let outcomes = state.outcomes.iter().flatten();
    let made = outcomes.filter_map(|outcome| outcome.as_ref().as_ref().ok());
    let entries = made.flat_map(|made| &made.includes);
    let names = entries.filter_map(|entry| included(state.own(), entry));
    let names = names.map(|(_, name)| name);
    names.filter(|name| *name != state.name).collect()
}

/// True if another file names an sls: by its name, or beside it by the end of its name, as in `.config`.
fn says(file: &SourceFile, state: &SlsOfMinions) -> bool {
    if file.path == state.file.path {
        return false;
    }
    let (package, own) = state.name.rsplit_once('.').unwrap_or(("", &state.name));
    let is_beside = !package.is_empty() && file.path.starts_with(&package.replace('.', "/"));
    let relative = format!(".{own}");
    names(&file.text, &state.name) || (is_beside && ends_a_name(&file.text, &relative))
}

/// True if a text has a relative name, with dots and nothing else before it.
fn ends_a_name(text: &str, relative: &str) -> bool {
    text.match_indices(relative).any(|(at, _)| {
        let before = text[..at].trim_end_matches('.').chars().next_back();
        let after = text[at + relative.len()..].chars().next();
        !before.is_some_and(is_part) && !after.is_some_and(is_part)
    })
}

/// The names that a file makes of expressions, and shell patterns, as in `- role.{{ role }}`. One of nothing but an
/// expression can be any sls in a top file or below an `include`, and is mostly something else elsewhere.
fn patterns(file: &SourceFile, top: &str) -> Vec<Fnmatch> {
    if !file.path.ends_with(".sls") && !file.path.ends_with(".jinja") {
        return Vec::new();
    }
    let (mut patterns, mut is_include) = (Vec::new(), false);
    for line in file.text.lines().map(str::trim) {
        let Some(item) = line.strip_prefix("- ") else {
            let goes_on = line.is_empty() || line.starts_with(['{', '#']);
            is_include = (is_include && goes_on) || line == "include:";
            continue;
        };
        let pattern = without_expressions(item.trim().trim_matches(['"', '\'']));
        let is_name = pattern.chars().all(|c| is_part(c) || c == '*');
        let says_more = pattern.contains(char::is_alphanumeric);
        let can_be = says_more || is_include || file.path == top;
        if pattern.contains('*') && is_name && can_be && !pattern.starts_with('/') {
            patterns.push(Fnmatch::new(&pattern));
        }
    }
    patterns
}

/// A text with `*` in place of each expression.
fn without_expressions(text: &str) -> String {
    let mut made = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("{{") {
        made.push_str(before);
        made.push('*');
        rest = behind.split_once("}}").unwrap_or_default().1;
    }
    made.push_str(rest);
    made
}

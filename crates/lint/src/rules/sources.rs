//! Files that states name as their source.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use mapstack::{Place, nearest};

use super::failures::on;
use crate::Rule;
use crate::finding::{Finding, Level};
use crate::states::SlsOfMinions;
use crate::subject::FormulaSubject;

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    let named = |state: &SlsOfMinions| {
        let mut made = state
            .used()
            .filter_map(|(_, outcome)| outcome.as_ref().ok());
        made.any(|made| !made.sources.is_empty())
    };
    // The file server is asked for all its files only where a state names one.
    if !subject.states.iter().any(named) {
        return Vec::new();
    }
    let listed = subject.engine.files().list(&subject.saltenv, "");
    let served: BTreeSet<String> = listed.unwrap_or_default().into_iter().collect();
    let of = |state| of_state(subject, state, &served);
    subject.states.iter().flat_map(of).collect()
}

/// Sources that the file server lacks, with the runs that name them.
type MissingSources<'s> = BTreeMap<&'s Vec<String>, BTreeSet<usize>>;

fn of_state(
    subject: &FormulaSubject<'_>,
    state: &SlsOfMinions,
    served: &BTreeSet<String>,
) -> Vec<Finding> {
    let mut missing = MissingSources::new();
    let mut all = 0;
    for (run, outcome) in state.used() {
        all += 1;
        let made = outcome.as_ref().ok();
        for sources in made.iter().flat_map(|made| &made.sources) {
            if sources.iter().all(|url| is_missing(url, served)) {
                missing.entry(sources).or_default().insert(run);
            }
        }
    }
    let id = |run: &usize| subject.runs[*run].minion.id.to_string();
    let found = by_template(&state.file.text, missing).into_iter();
    let found = found.filter_map(|group| {
        let ((sources, _), others) = group.split_first()?;
        let runs: BTreeSet<usize> = group.iter().flat_map(|(_, runs)| runs).copied().collect();
        let ids: Vec<String> = runs.iter().map(id).collect();
        let mut finding = finding(state, sources, served)?.note(on(&ids, all));
        if let [(other, _), ..] = others {
            let other = other.first()?;
            let more = match others.len() {
                1 => String::new(),
                number => format!(", and {} more", number - 1),
            };
            finding = finding.note(format!("the same place names {other}{more}"));
        }
        Some(finding)
    });
    found.collect()
}

/// The sources that one URL with templates gives are one group.
fn by_template<'s>(
    text: &str,
    missing: MissingSources<'s>,
) -> Vec<Vec<(&'s Vec<String>, BTreeSet<usize>)>> {
    let mut groups: Vec<Vec<_>> = Vec::new();
    let mut known: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for (sources, runs) in missing {
        let url = sources.first().filter(|url| !text.contains(&***url));
        let at = url.and_then(|url| of_template(text, url));
        let at = at.map(|at| {
            *known
                .entry((at.start, sources.len()))
                .or_insert(groups.len())
        });
        match at.and_then(|at| groups.get_mut(at)) {
            Some(group) => group.push((sources, runs)),
            None => groups.push(vec![(sources, runs)]),
        }
    }
    groups
}

/// The URL with templates in a text that can give this one.
fn of_template(text: &str, url: &str) -> Option<Range<usize>> {
    let starts = text.match_indices("salt://").map(|(at, _)| at);
    let mut written = starts.map(|start| start..start + written_length(&text[start..]));
    written.find(|range| can_give(&text[range.clone()], url))
}

/// The length of a URL at the start of a text: blanks and delimiters end it, but within templates.
fn written_length(text: &str) -> usize {
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest.starts_with("{{") {
            match rest.find("}}") {
                Some(end) => at += end + 2,
                None => break,
            }
        } else if rest.starts_with([' ', '\t', '\r', '\n', '\'', '"', ',', ']', '}']) {
            break;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    at
}

/// True if a URL with templates can give another: the text around its templates is in the other, in this order.
fn can_give(written: &str, url: &str) -> bool {
    let mut parts = written.split("{{");
    let Some(mut rest) = parts.next().and_then(|first| url.strip_prefix(first)) else {
        return false;
    };
    let parts = parts.map(|part| part.split_once("}}").map_or(part, |(_, fixed)| fixed));
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else {
        return false;
    };
    for part in between {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// The path of a URL on the file server of the same saltenv, if it can be one.
fn path_of(url: &str) -> Option<&str> {
    let path = url.strip_prefix("salt://")?.trim_matches('/');
    // A path that lacks a fact is another path when the fact is known.
    let is_whole = !path.is_empty() && !path.contains(['?', '|', '{']) && !path.contains("//");
    let is_none = path.split(['/', '.', '-', '_']).any(|part| part == "None");
    (is_whole && !is_none).then_some(path)
}

fn is_missing(url: &str, served: &BTreeSet<String>) -> bool {
    let Some(path) = path_of(url) else {
        return false;
    };
    let folder = format!("{path}/");
    let mut below = served.range(folder.clone()..);
    !served.contains(path) && !below.next().is_some_and(|next| next.starts_with(&folder))
}

fn finding(state: &SlsOfMinions, sources: &[String], served: &BTreeSet<String>) -> Option<Finding> {
    let url = sources.first()?;
    let path = path_of(url)?;
    let (place, is_literal) = place_of(state, url, path);
    let message = match sources.len() {
        1 => format!("the file server has no {url}"),
        count => format!("the file server has none of {count} sources, such as {url}"),
    };
    let mut finding = Finding::new(Rule::MissingSource, place, message);
    if !is_literal || state.is_unnamed {
        finding.level = Level::Warning;
    }
    let first = path.split('/').next()?;
    let is_served = served
        .iter()
        .any(|path| path.split('/').next() == Some(first));
    if !is_served {
        finding.level = Level::Note;
        return Some(finding.help(format!(
            "no root has '{first}', which may be a formula of another repository"
        )));
    }
    let beside = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let near = nearest(path, served.iter().filter(|one| one.starts_with(beside)));
    Some(match near {
        Some(near) => finding.help(format!("did you mean 'salt://{near}'?")),
        None => finding,
    })
}

/// The place in an sls that names a source, and true if it has the name of the file itself.
fn place_of(state: &SlsOfMinions, url: &str, path: &str) -> (Place, bool) {
    let text = &state.file.text;
    let name = path.rsplit('/').next().unwrap_or(path);
    let found = [url, path, name]
        .into_iter()
        .find_map(|part| Some((text.find(part)?, part.len())));
    match found {
        Some((at, length)) => (state.file.place(at, at + length), true),
        None => {
            let Range { start, end } = of_template(text, url).unwrap_or_default();
            (state.file.place(start, end), false)
        }
    }
}

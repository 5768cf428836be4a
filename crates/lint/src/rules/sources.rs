//! Files that states name as their source.

use std::collections::{BTreeMap, BTreeSet};

use mapstack::{Place, nearest};

use super::failures::on;
use crate::Rule;
use crate::finding::{Finding, Level};
use crate::states::State;
use crate::subject::Subject;

pub(crate) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let named = |state: &State| {
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

fn of_state(subject: &Subject<'_>, state: &State, served: &BTreeSet<String>) -> Vec<Finding> {
    let mut missing: BTreeMap<&Vec<String>, Vec<String>> = BTreeMap::new();
    let mut all = 0;
    for (run, outcome) in state.used() {
        all += 1;
        let made = outcome.as_ref().ok();
        for sources in made.iter().flat_map(|made| &made.sources) {
            if sources.iter().all(|url| is_missing(url, served)) {
                let ids = missing.entry(sources).or_default();
                ids.push(subject.runs[run].minion.id.to_string());
            }
        }
    }
    let found = missing.into_iter().filter_map(|(sources, mut ids)| {
        ids.dedup();
        Some(finding(state, sources, served)?.note(on(&ids, all)))
    });
    found.collect()
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

fn finding(state: &State, sources: &[String], served: &BTreeSet<String>) -> Option<Finding> {
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
fn place_of(state: &State, url: &str, path: &str) -> (Place, bool) {
    let text = &state.file.text;
    let name = path.rsplit('/').next().unwrap_or(path);
    let found = [url, path, name]
        .into_iter()
        .find_map(|part| Some((text.find(part)?, part.len())));
    match found {
        Some((at, length)) => (state.file.place(at, at + length), true),
        None => (state.file.place(0, 0), false),
    }
}

//! The includes and the shape of states.

use std::collections::{BTreeMap, BTreeSet};

use mapstack::value::Value;
use mapstack::{Means, Place, nearest, sls_name};
use mapstack_states::included;

use super::failures::on;
use super::imports::elsewhere;
use crate::Rule;
use crate::finding::{Finding, Level};
use crate::states::{SlsOfMinions, SlsRender};
use crate::subject::FormulaSubject;

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    // The file server is asked for all its files only where something may include one.
    if subject.states.is_empty() {
        return Vec::new();
    }
    let available = Available::of(subject);
    subject
        .states
        .iter()
        .flat_map(|state| of_state(subject, state, &available))
        .collect()
}

fn of_state(
    subject: &FormulaSubject<'_>,
    state: &SlsOfMinions,
    available: &Available,
) -> Vec<Finding> {
    let mut minions: BTreeMap<IncludeProblem, Vec<String>> = BTreeMap::new();
    let mut all = 0;
    for (run, outcome) in state.used() {
        all += 1;
        let Ok(made) = outcome else { continue };
        for problem in problems(state, made, available) {
            minions
                .entry(problem)
                .or_default()
                .push(subject.runs[run].minion.id.to_string());
        }
    }
    minions
        .into_iter()
        .map(|(problem, minions)| {
            let mut finding = match (&problem, subject.estate.is_some()) {
                (IncludeProblem::Outside { written, name }, true)
                    if nearest(folder_of(name), available.folders.iter()).is_none() =>
                {
                    let place = place_of(state, written);
                    elsewhere(place, name, format!("for the sls '{name}'"))
                }
                _ => problem.finding(state, available).note(on(&minions, all)),
            };
            let estate = subject.estate.as_ref();
            if is_made(state, &problem) && estate.is_some_and(|estate| estate.assumes(&minions)) {
                finding.level = Level::Warning;
                let note = "a template makes its name, of facts that are assumed";
                finding = finding.note(note);
            }
            if state.is_unnamed && finding.level == Level::Error {
                finding.level = Level::Warning;
                finding = finding.note("no minion gets the sls by a top file");
            }
            finding
        })
        .collect()
}

/// True if the sls does not contain the missing name.
fn is_made(state: &SlsOfMinions, problem: &IncludeProblem) -> bool {
    match problem {
        IncludeProblem::Missing { written, .. } | IncludeProblem::Outside { written, .. } => {
            !state.file.text.contains(written.as_str())
        }
        _ => false,
    }
}

/// The problem with the data of an sls.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum IncludeProblem {
    /// It is this value, not a mapping.
    Shape(String),
    /// Its include is this value, not a list.
    Include(String),
    /// An id has this value, not states.
    Body { id: String, instead: String },
    /// An entry of its include is this value, which is not a name.
    Entry(String),
    /// An entry leads above the root.
    TooHigh(String),
    /// An entry leads to an sls that does not exist.
    Missing { written: String, name: String },
    /// An entry leads to a folder that no root has.
    Outside { written: String, name: String },
}

fn problems(state: &SlsOfMinions, made: &SlsRender, available: &Available) -> Vec<IncludeProblem> {
    if let Some(instead) = &made.instead {
        return vec![IncludeProblem::Shape(instead.clone())];
    }
    if let Some(instead) = &made.include_instead {
        return vec![IncludeProblem::Include(instead.clone())];
    }
    let bodies = made
        .bodies
        .iter()
        .map(|(id, instead)| IncludeProblem::Body {
            id: id.clone(),
            instead: instead.clone(),
        });
    let includes = made.includes.iter();
    includes
        .filter_map(|entry| of_entry(state, entry, available))
        .chain(bodies)
        .collect()
}

fn of_entry(state: &SlsOfMinions, entry: &Value, available: &Available) -> Option<IncludeProblem> {
    let written = match entry {
        Value::Map(map) => map
            .iter()
            .last()
            .map(|(_, name)| name.to_string())
            .unwrap_or_default(),
        other => other.to_string(),
    };
    let is_name = |entry: &Value| match entry {
        Value::Map(map) => map
            .iter()
            .last()
            .is_some_and(|(_, name)| name.as_str().is_some()),
        other => other.as_str().is_some(),
    };
    if !is_name(entry) {
        return Some(IncludeProblem::Entry(entry.kind().described().to_owned()));
    }
    let Some((saltenv, name)) = included(state.own(), entry) else {
        return Some(IncludeProblem::TooHigh(written));
    };
    // Another saltenv may be elsewhere.
    if saltenv.is_some_and(|saltenv| saltenv != available.saltenv) || available.has(&name) {
        return None;
    }
    Some(match available.folders.contains(folder_of(&name)) {
        true => IncludeProblem::Missing { written, name },
        false => IncludeProblem::Outside { written, name },
    })
}

impl IncludeProblem {
    fn finding(&self, state: &SlsOfMinions, available: &Available) -> Finding {
        let whole = state.file.place(0, 0);
        match self {
            IncludeProblem::Shape(instead) => Finding::of_file(
                Rule::StatesShape,
                whole,
                format!("the sls renders to {instead}, not a mapping of states"),
            )
            .help("states are a mapping from id to state; a state run refuses anything else"),
            IncludeProblem::Include(instead) => Finding::new(
                Rule::StatesShape,
                place_of(state, "include:"),
                format!("`include` is {instead}, not a list"),
            )
            .help("write one sls a line, each behind a dash"),
            IncludeProblem::Body { id, instead } => Finding::new(
                Rule::StatesShape,
                place_of_id(state, id),
                format!("the id '{id}' has {instead}, not a mapping of states"),
            )
            .help("write each function below the id, such as `pkg.installed: []`"),
            IncludeProblem::Entry(instead) => Finding::new(
                Rule::StatesShape,
                place_of(state, "include:"),
                format!("`include` lists {instead}, not an sls"),
            )
            .help("write the name of an sls, such as f.config or .config"),
            IncludeProblem::TooHigh(written) => Finding::new(
                Rule::MissingInclude,
                place_of(state, written),
                format!("'{written}' leads above the root"),
            )
            .help("each dot but the first goes up by one folder"),
            IncludeProblem::Missing { written, name } => {
                missing(place_of(state, written), name, available)
            }
            IncludeProblem::Outside { written, name } => {
                outside(place_of(state, written), name, available)
            }
        }
    }
}

/// The folder below the root in which an sls lies.
fn folder_of(sls: &str) -> &str {
    sls.split('.').next().unwrap_or_default()
}

/// The folder of the formula has no such sls.
fn missing(place: Place, name: &str, available: &Available) -> Finding {
    let message = format!("the sls '{name}' does not exist");
    let finding = Finding::new(Rule::MissingInclude, place, message);
    match available.nearest(name) {
        Some(near) => finding.help(format!("did you mean '{near}'?")),
        None => {
            let path = name.replace('.', "/");
            finding.help(format!(
                "neither salt://{path}.sls nor salt://{path}/init.sls exists"
            ))
        }
    }
}

/// No root has the folder of the sls.
fn outside(place: Place, name: &str, available: &Available) -> Finding {
    let folder = name.split('.').next().unwrap_or_default();
    let message = match folder == name {
        true => format!("no root has the sls '{name}'"),
        false => format!("no root has '{folder}', which the sls '{name}' belongs to"),
    };
    let mut finding = Finding::new(Rule::MissingInclude, place, message);
    finding.level = Level::Note;
    match nearest(folder, available.folders.iter()) {
        Some(near) => {
            finding.level = Level::Warning;
            finding.help(format!("did you mean '{near}'?"))
        }
        None => finding.help(format!(
            "if it belongs to another formula, add its root: {}",
            Means::Root(None)
        )),
    }
}

/// The place of a text in an sls, or of its `include` if a template made it.
fn place_of(state: &SlsOfMinions, written: &str) -> Place {
    let text = &state.file.text;
    let from = text.find("include:").unwrap_or_default();
    let is_word = |at: usize| {
        let before = text[..at].chars().next_back();
        let after = text[at + written.len()..].chars().next();
        let is_part = |c: Option<char>| {
            c.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '-' | '/'))
        };
        !is_part(before) && !is_part(after)
    };
    let found = text[from..]
        .match_indices(written)
        .map(|(at, _)| from + at)
        .find(|at| is_word(*at));
    match found {
        Some(at) => state.file.place(at, at + written.len()),
        None if text[from..].starts_with("include:") => {
            state.file.place(from, from + "include".len())
        }
        None => state.file.place(0, 0),
    }
}

/// The place of an id in an sls; the whole file if a template made it.
fn place_of_id(state: &SlsOfMinions, id: &str) -> Place {
    let text = &state.file.text;
    let is_key = |at: &usize| {
        let behind = text[at + id.len()..].trim_start_matches(['"', '\'']);
        (*at == 0 || text[..*at].ends_with(['\n', '"', '\''])) && behind.starts_with(':')
    };
    let found = text.match_indices(id).map(|(at, _)| at).find(is_key);
    found.map_or_else(
        || state.file.place(0, 0),
        |at| state.file.place(at, at + id.len()),
    )
}

/// The states that the file server has.
struct Available {
    saltenv: String,
    names: BTreeSet<String>,
    /// The first parts of the paths of all files.
    folders: BTreeSet<String>,
}

impl Available {
    fn of(subject: &FormulaSubject<'_>) -> Self {
        let listed = subject
            .engine
            .files()
            .list(&subject.saltenv, "")
            .unwrap_or_default();
        let names = listed.iter().filter_map(|path| sls_name(path)).collect();
        let folders = listed
            .iter()
            .filter_map(|path| path.split(['/', '.']).next())
            .map(str::to_owned)
            .collect();
        Available {
            saltenv: subject.saltenv.clone(),
            names,
            folders,
        }
    }

    /// The name that is meant: a correct part of a name proves nothing about the rest.
    fn nearest(&self, name: &str) -> Option<&String> {
        let (folder, own) = name.rsplit_once('.').unwrap_or(("", name));
        let beside = self.names.iter().filter_map(|known| {
            let (at, last) = known.rsplit_once('.').unwrap_or(("", known));
            (at == folder).then_some((known, last))
        });
        let beside: Vec<(&String, &str)> = beside.collect();
        let near = nearest(own, beside.iter().map(|(_, last)| *last));
        let of_beside = near.and_then(|near| beside.iter().find(|(_, last)| *last == near));
        of_beside.map(|(known, _)| *known).or_else(|| {
            nearest(
                name,
                self.names.iter().filter(|known| !is_beside(known, folder)),
            )
        })
    }

    /// True if a name, or a glob's beginning, leads to one.
    fn has(&self, name: &str) -> bool {
        match name.find(['*', '?', '[']) {
            // However it is written, it leads to a path: `a.` and `a.init` are `a`, and `a/b` and `a..b` are `a.b`.
            None => {
                let parts = name.split(['/', '.']).filter(|part| !part.is_empty());
                let plain = parts.collect::<Vec<_>>().join(".");
                let of_init = plain.strip_suffix(".init");
                let is_there = |name: &str| self.names.contains(name);
                is_there(&plain) || of_init.is_some_and(is_there)
            }
            Some(at) => self
                .names
                .iter()
                .any(|known| known.starts_with(&name[..at])),
        }
    }
}

/// True if an sls lies in a folder.
fn is_beside(name: &str, folder: &str) -> bool {
    name.rsplit_once('.').map_or("", |(at, _)| at) == folder
}

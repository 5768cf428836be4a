//! `--minions` and `--platform`: the minions there are, and those that are meant.

use std::path::Path;
use std::time::SystemTime;

use mapstack::loader::Fnmatch;
use mapstack::minion::minions::{CacheOptions, Minions};
use mapstack::minion::{Minion, platforms};
use mapstack::{Diagnostic, Error, ErrorKind, nearest};

use crate::inputs::{read, shown};
use crate::report::{Failure, Reporter};

/// What makes an id a pattern.
const SPECIAL: [char; 3] = ['*', '?', '['];

/// Whether an id is a pattern for several.
pub fn is_pattern(id: &str) -> bool {
    id.contains(SPECIAL)
}

/// That an id can be one at all: no look-up can then be meant as a path.
pub fn check(id: &str) -> Result<(), Failure> {
    match id.is_empty() || id.starts_with('.') || id.contains(['/', '\\', '\0']) {
        true => {
            Err(Failure::Usage(format!("--id {}: no minion has such a name", id.chars().take(80).collect::<String>())))
        }
        false => Ok(()),
    }
}

/// How many ids a message lists.
const LISTED: usize = 5;

/// The minions of a path.
pub struct Source {
    name: String,
    minions: Minions,
}

/// Minions that were asked for, and what is wrong with others of them.
#[derive(Default)]
pub struct Chosen {
    pub minions: Vec<Minion>,
    pub broken: Vec<Error>,
    /// Whether several were meant, even if there is one.
    pub many: bool,
}

impl Source {
    /// Read what there is, and warn of minions that did not answer. `pillarenv` is what a master's
    /// cache is read for.
    pub fn open(path: &Path, pillarenv: Option<&str>, reporter: &Reporter) -> Result<Self, Failure> {
        let minions = match path == Path::new("-") {
            true => Minions::from_text(&read(path)?, &shown(path)),
            false => {
                let pillarenv = pillarenv.map(str::to_owned);
                Minions::open(path, &CacheOptions { now: Some(SystemTime::now()), pillarenv })
            }
        };
        let source = Source { name: shown(path), minions: minions.map_err(Error::from)? };
        let silent: Vec<Diagnostic> = source
            .minions
            .silent()
            .iter()
            .map(|one| Diagnostic::warning(ErrorKind::Facts, format!("{one}; the minion is left out")))
            .collect();
        reporter.warn(&silent)?;
        Ok(source)
    }

    /// The minion of an id; the only one there is, if none is named.
    pub fn one(&self, id: Option<&str>) -> Result<Minion, Failure> {
        let id = match id {
            Some(id) => {
                check(id)?;
                id.to_owned()
            }
            None => match self.ids()?.as_mut_slice() {
                [only] => std::mem::take(only),
                ids => {
                    let there = if ids.is_empty() { String::new() } else { format!("; {}", listed(ids)) };
                    let message = format!("--minions {}: say which minion is meant with --id NAME{there}", self.name);
                    return Err(Failure::Usage(message));
                }
            },
        };
        if let Some(minion) = self.minions.minion(&id).map_err(Error::from)? {
            return Ok(minion);
        }
        let mut matching = if id.contains(SPECIAL) { self.ids()? } else { Vec::new() };
        matching.retain(|known| Fnmatch::new(&id).matches(known));
        match matching.as_slice() {
            [] => Err(self.missing(&id, &[])),
            ids => Err(Failure::Usage(format!("--id {id}: one minion is looked at here, so name it; {}", listed(ids)))),
        }
    }

    /// The minions whose ids match a pattern, as Salt's targets do; all, if there is none.
    pub fn matching(&self, pattern: Option<&str>) -> Result<Chosen, Failure> {
        pattern.map_or(Ok(()), check)?;
        let ids = self.ids()?;
        // An id that looks like a pattern is first of all an id.
        if let Some(id) = pattern.filter(|pattern| !pattern.contains(SPECIAL) || ids.iter().any(|id| id == pattern)) {
            return Ok(Chosen { minions: vec![self.one(Some(id))?], ..Chosen::default() });
        }
        let mut chosen = Chosen { many: true, ..Chosen::default() };
        for id in self.matching_of(ids, pattern)? {
            match self.read(&id) {
                Ok(minion) => chosen.minions.push(minion),
                Err(error) if self.minions.is_cache() => chosen.broken.push(error),
                Err(error) => chosen.broken.push(error.note(format!("for the minion {id}"))),
            }
        }
        Ok(chosen)
    }

    /// The ids that match a pattern; all, if there is none. There is at least one for a pattern.
    pub fn matching_ids(&self, pattern: Option<&str>) -> Result<Vec<String>, Failure> {
        pattern.map_or(Ok(()), check)?;
        self.matching_of(self.ids()?, pattern)
    }

    fn matching_of(&self, ids: Vec<String>, pattern: Option<&str>) -> Result<Vec<String>, Failure> {
        let Some(pattern) = pattern else { return Ok(ids) };
        let glob = Fnmatch::new(pattern);
        let matching: Vec<String> = ids.iter().filter(|id| *id == pattern || glob.matches(id)).cloned().collect();
        if matching.is_empty() { Err(self.missing(pattern, &ids)) } else { Ok(matching) }
    }

    /// One of the minions that were listed.
    pub fn read(&self, id: &str) -> Result<Minion, Error> {
        // One that vanishes while others are read is one with nothing.
        Ok(self.minions.minion(id)?.unwrap_or_else(|| Minion::new(id)))
    }

    fn ids(&self) -> Result<Vec<String>, Failure> {
        Ok(self.minions.ids().map_err(Error::from)?)
    }

    fn missing(&self, id: &str, of: &[String]) -> Failure {
        if let Some(silent) = self.minions.silent().iter().find(|one| one.id == id) {
            return facts_error(format!("no facts of '{id}': {silent}"));
        }
        let known = self.minions.ids().unwrap_or_default();
        let shown: String = id.chars().take(80).collect();
        // What is that long is no mistyped id, and comparing it takes long.
        let near = (shown.len() == id.len()).then(|| nearest(id, &known)).flatten();
        let advice = match near {
            Some(near) => format!("; did you mean '{near}'?"),
            None if !of.is_empty() => format!("; {}", listed(of)),
            None => String::new(),
        };
        let kind = if self.minions.is_cache() { "the cache " } else { "" };
        let none = if id.contains(SPECIAL) { "no minion matches" } else { "no facts of" };
        facts_error(format!("{none} '{shown}' in {kind}{}{advice}", self.name))
    }
}

/// The minions of built-in platforms. With an id, the only one has it.
pub fn of_platforms(names: &[String], id: Option<&str>) -> Result<Chosen, Failure> {
    let found = names.iter().map(|name| {
        platforms::find(name).map(platforms::Platform::minion).map_err(|error| {
            let end = if error.near.is_empty() { ";" } else { "" };
            Failure::Usage(format!("--platform: {error}{end} `mapstack platforms` lists all"))
        })
    });
    let minions = found.collect::<Result<Vec<_>, Failure>>()?;
    let many = minions.len() > 1;
    if let Some(id) = id.filter(|_| many) {
        return Err(Failure::Usage(format!("--id {id} names one minion, and there are {} platforms", minions.len())));
    }
    let ids: Vec<String> = minions.iter().map(|minion| minion.id.to_string()).collect();
    if let Some(twice) = ids.iter().enumerate().find_map(|(at, id)| ids[..at].contains(id).then_some(id)) {
        return Err(Failure::Usage(format!("--platform {twice} is given twice")));
    }
    Ok(Chosen { minions, broken: Vec::new(), many })
}

/// The first few ids there are.
fn listed(ids: &[String]) -> String {
    let first: Vec<&str> = ids.iter().take(LISTED).map(String::as_str).collect();
    let more = if ids.len() > LISTED { format!(", … ({} in all)", ids.len()) } else { String::new() };
    format!("there are {}{more}", first.join(", "))
}

fn facts_error(message: String) -> Failure {
    Failure::Data(Error::new(ErrorKind::Facts, message))
}

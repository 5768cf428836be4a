//! Files of minions, and states, that something reaches.

use std::collections::HashMap;

use mapstack::value::{Map, Value};
use mapstack_files::{ManagedFile, SourceLookup};

/// A file that a state manages, or a state that names a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileOfState {
    /// The path on the minion, or the name that the function gets.
    pub path: String,
    /// The function, such as `file.managed`.
    pub function: String,
    /// The ID of the state.
    pub id: String,
    /// The sls of the state.
    pub sls: String,
    /// The way in which it is reached.
    pub how: FileReach,
}

/// The way in which a file of a state is reached.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum FileReach {
    /// The file in question is its source.
    Source,
    /// Its template or its state reads the file or the fact in question.
    Read,
    /// Its template or its state reads the pillar that the file in question is part of.
    Pillar,
    /// The reads of its template are unknown, because of its language.
    MayRead,
    /// A line of it has the value in question.
    Printed,
    /// This argument of the state has the value in question.
    Argument(String),
    /// The state names the file in question, or a folder that has it.
    Named,
    /// The file is one of its sources, and this source is chosen; `None` if no source is known to be chosen.
    Candidate(Option<String>),
    /// The file in question lies in the folder of a source, and the state leaves it out.
    LeftOut,
}

impl FileReach {
    /// True if a change of the file in question can be seen.
    #[must_use]
    pub fn is_reach(&self) -> bool {
        !matches!(self, FileReach::Candidate(_) | FileReach::LeftOut)
    }
}

impl FileOfState {
    pub(crate) fn of(file: &ManagedFile, how: FileReach) -> Self {
        FileOfState {
            path: file.path.clone(),
            function: file.function.clone(),
            id: file.state.id.clone(),
            sls: file.state.sls.clone(),
            how,
        }
    }

    /// The state of a chunk of low data.
    fn of_chunk(chunk: &Map, how: FileReach) -> Self {
        let text = |name: &str| chunk.get(name).map(ToString::to_string).unwrap_or_default();
        FileOfState {
            path: text("name"),
            function: format!("{}.{}", text("state"), text("fun")),
            id: text("__id__"),
            sls: text("__sls__"),
            how,
        }
    }
}

/// Functions of the state module `file` whose sources are followed.
const FOLLOWED: [&str; 5] = ["managed", "append", "prepend", "blockreplace", "serialize"];

/// The states of low data that name a file by a URL, other than those whose files are followed.
pub(crate) fn naming(low: &[Value], path: &str) -> Vec<FileOfState> {
    let chunks = low.iter().filter_map(Value::as_map);
    let named = chunks.filter_map(|chunk| {
        let text = |name: &str| chunk.get(name).and_then(Value::as_str).unwrap_or_default();
        let is_of_file = text("state") == "file";
        let how = match text("fun") {
            function if is_of_file && FOLLOWED.contains(&function) => return None,
            "recurse" if is_of_file => FileReach::LeftOut,
            _ => FileReach::Named,
        };
        let mut values = chunk.values();
        let is_named = values.any(|value| names(value, path));
        is_named.then(|| FileOfState::of_chunk(chunk, how))
    });
    named.collect()
}

/// True if a value has a URL of a file, or of a folder that has the file.
fn names(value: &Value, path: &str) -> bool {
    match value {
        Value::Str(text) => is_url_of(text, path),
        Value::List(items) => items.iter().any(|item| names(item, path)),
        Value::Tuple(items) => items.iter().any(|item| names(item, path)),
        Value::Map(map) => {
            let mut keys = map.keys().filter_map(|key| key.as_str());
            keys.any(|key| is_url_of(key, path)) || map.values().any(|value| names(value, path))
        }
        _ => false,
    }
}

fn is_url_of(text: &str, path: &str) -> bool {
    let mut urls = text.match_indices("salt://").map(|(at, _)| &text[at..]);
    urls.any(|url| {
        // A URL can stand in a command, or in quotes.
        let end = url.find(|c: char| c.is_whitespace() || matches!(c, '?' | '\'' | '"' | ','));
        let url = &url[..end.unwrap_or(url.len())];
        let named = url["salt://".len()..].trim_matches('/');
        let below = path.strip_prefix(named);
        !named.is_empty() && below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// The way in which a file that lists a source has it; nothing if it does not.
pub(crate) fn candidate(file: &ManagedFile, path: &str) -> Option<FileReach> {
    let source = file.source.as_ref()?;
    let mut listed = source.candidates.iter();
    let own = listed.find(|one| is_url_of(&one.url, path))?;
    (own.found != SourceLookup::Chosen).then(|| FileReach::Candidate(source.url.clone()))
}

/// Files and states with the minions that have them.
#[derive(Debug, Default)]
pub(crate) struct ReachedFiles {
    numbers: HashMap<FileOfState, usize>,
    all: Vec<ReachedFile>,
}

/// A file of states, and the minions that have it.
#[derive(Debug, Clone)]
pub struct ReachedFile {
    /// The file.
    pub file: FileOfState,
    /// The minions.
    pub minions: Vec<String>,
}

impl ReachedFiles {
    pub fn add(&mut self, file: FileOfState, id: &str) {
        let next = self.all.len();
        let at = *self.numbers.entry(file.clone()).or_insert(next);
        match self.all.get_mut(at) {
            Some(known) if known.minions.last().is_some_and(|last| last == id) => {}
            Some(known) => known.minions.push(id.to_owned()),
            None => self.all.push(ReachedFile {
                file,
                minions: vec![id.to_owned()],
            }),
        }
    }

    pub fn into_all(self) -> Vec<ReachedFile> {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_names_a_file_and_what_lies_below() {
        for (text, path, is_named) in [
            ("salt://a/b.conf", "a/b.conf", true),
            ("salt://a/b.conf?saltenv=dev", "a/b.conf", true),
            ("salt://a", "a/b.conf", true),
            ("salt://a/", "a/b.conf", true),
            ("cp.get_file salt://a/b.conf /tmp/b", "a/b.conf", true),
            ("x: 'salt://a/b.conf'", "a/b.conf", true),
            ("salt://a/b", "a/b.conf", false),
            ("salt://a/b.conf.old", "a/b.conf", false),
            ("salt://", "a/b.conf", false),
            ("a/b.conf", "a/b.conf", false),
        ] {
            assert_eq!(is_url_of(text, path), is_named, "{text}");
        }
    }
}

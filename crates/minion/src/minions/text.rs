//! Minions in one text, in JSON or YAML.
//!
//! | form | as printed by |
//! |---|---|
//! | `id`, `grains`, `pillar` and `opts` of one minion; in YAML any number of documents | |
//! | a mapping from ids to such, or to grains | `salt --static --out=json '*' grains.items`, `salt-run cache.grains` |
//! | several such mappings one behind the other | `salt --out=json '*' grains.items`, and `--out=yaml` |
//! | the grains of one minion, alone or below `local` | `salt-call --local --out=json grains.items` |
//!
//! The form follows from the shape alone: grains are a mapping with text for one of `os`,
//! `os_family`, `osfinger`, `kernel`, `cpuarch`, `host`, `fqdn` and `saltversion`, as all grains
//! have. A text of another shape is an error, and so is a minion in it.

use std::cell::OnceCell;

use mapstack_value::json::{self, JsonError};
use mapstack_value::{Key, Map, Value};
use mapstack_yaml::{Limits, Mark, Marks, decode, load_all};

use super::SilentMinion;
use super::shape::{MinionPart, Shape, found, of_grains};
use crate::Minion;
use crate::error::{DocumentPlace, ReadError, ReadErrorKind, cut};
use crate::read::{MAX_BYTES, Positions, at_file, minion_of, syntax};
use crate::sources::kept;

/// The minions of one text.
#[derive(Debug)]
pub struct MinionsText {
    /// Sorted by the ids.
    minions: Vec<(String, Result<Minion, ReadError>)>,
    silent: Vec<SilentMinion>,
}

impl MinionsText {
    /// The minions of a text in any of its [forms](self). `name` is what errors call it.
    ///
    /// # Errors
    /// [`ReadError`], with line and column: the bytes are not UTF-8, YAML or JSON, or nothing in
    /// them has the form of a minion. Single minions that are broken are errors where they are
    /// asked for.
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, ReadError> {
        let (file, kept) = (name.into(), kept(bytes, name));
        let (mut minions, mut silent) = (
            Vec::<(String, Result<Minion, ReadError>)>::new(),
            Vec::new(),
        );
        let mut places = std::collections::HashMap::<String, DocumentPlace>::new();
        let entries = entries(bytes, name)?;
        let is_alone = entries.len() == 1;
        for (at, MinionEntry { id, place, found }) in entries.into_iter().enumerate() {
            let no_id = || ReadError {
                place: place.clone(),
                kind: ReadErrorKind::NoId,
            };
            let (id, found) = match (id, is_alone) {
                (Some(id), _) => (id, found),
                (None, true) => return Err(found.err().unwrap_or_else(no_id)),
                (None, false) => (
                    format!("document {}", at + 1),
                    Err(found.err().unwrap_or_else(no_id)),
                ),
            };
            if let Some(first) = places.insert(id.clone(), place.clone()) {
                // Neither is better than the other, so neither counts.
                minions.retain(|(known, _)| *known != id);
                silent.retain(|known: &SilentMinion| known.id != id);
                minions.push((
                    id,
                    Err(ReadError {
                        place,
                        kind: ReadErrorKind::Twice { first },
                    }),
                ));
                continue;
            }
            match found {
                Ok(MinionPart::Minion(mut minion)) => {
                    minion.set_id(id.as_str());
                    minion.sources.share(&file, kept.as_ref());
                    minions.push((id, Ok(minion)));
                }
                Ok(MinionPart::Silent(said)) => silent.push(SilentMinion { id, place, said }),
                Err(error) => minions.push((id, Err(error))),
            }
        }
        minions.sort_by(|(one, _), (other, _)| one.cmp(other));
        silent.sort_by(|one, other| one.id.cmp(&other.id));
        Ok(MinionsText { minions, silent })
    }

    /// The ids, sorted.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.minions.iter().map(|(id, _)| id.as_str())
    }

    /// The minion of an id; `None` if the id is unknown.
    ///
    /// # Errors
    /// Its mistake.
    pub fn minion(&self, id: &str) -> Result<Option<Minion>, ReadError> {
        let at = self
            .minions
            .binary_search_by(|(known, _)| known.as_str().cmp(id))
            .ok();
        match at.and_then(|at| self.minions.get(at)) {
            None => Ok(None),
            Some((_, Ok(minion))) => Ok(Some(minion.clone())),
            Some((_, Err(error))) => Err(error.clone()),
        }
    }

    /// The minions that did not answer, sorted by their ids.
    #[must_use]
    pub fn silent(&self) -> &[SilentMinion] {
        &self.silent
    }
}

/// The entry of a text for one minion.
pub(super) struct MinionEntry {
    /// The minion, if it has a name.
    pub id: Option<String>,
    pub place: DocumentPlace,
    pub found: Result<MinionPart, ReadError>,
}

/// Everything a text says, in its order. There is at least one.
pub(super) fn entries(bytes: &[u8], name: &str) -> Result<Vec<MinionEntry>, ReadError> {
    let mut entries = Vec::new();
    let tops = tops(bytes, name)?;
    let of_several = tops.len() > 1;
    for top in &tops {
        match top {
            Ok(top) => top.entries(name, of_several, &mut entries),
            Err(broken) => entries.push(broken.entry()),
        }
    }
    // Nothing says that a text of broken documents alone has minions at all.
    if let (Some(first), true) = (
        tops.iter().find_map(|top| top.as_ref().err()),
        tops.iter().all(Result::is_err),
    ) {
        return Err(first.error.clone());
    }
    let tops: Vec<&Top<'_>> = tops.iter().flatten().collect();
    // A text that fits no form is reported as a whole, rather than as wrong minions.
    if entries
        .iter()
        .all(|entry| matches!(&entry.found, Err(error) if error.kind.is_foreign()))
    {
        let first = tops.first();
        let seen = first.map_or_else(|| "nothing".to_owned(), |top| described(&top.map));
        let place = DocumentPlace {
            file: name.to_owned(),
            mark: first.and_then(|top| top.mark),
        };
        return Err(ReadError {
            place,
            kind: ReadErrorKind::NoForm { seen },
        });
    }
    Ok(entries)
}

/// Documents of a text that are read one by one, where it is not YAML as a whole.
const MAX_PARTS: usize = 1000;

/// A document of several that has no minion.
struct Broken {
    /// The id that it seems to have.
    id: Option<String>,
    error: ReadError,
}

impl Broken {
    fn entry(&self) -> MinionEntry {
        MinionEntry {
            id: self.id.clone(),
            place: self.error.place.clone(),
            found: Err(self.error.clone()),
        }
    }
}

/// A mapping at the top of a text, with the places of it and its entries.
struct Top<'t> {
    map: Map,
    mark: Option<Mark>,
    marks: IdPlace<'t>,
}

enum IdPlace<'t> {
    Keys(Keys<'t>),
    Tree(Marks),
}

impl Top<'_> {
    fn entries(&self, name: &str, of_several: bool, entries: &mut Vec<MinionEntry>) {
        let here = self.positions(name);
        let place = || DocumentPlace {
            file: name.to_owned(),
            mark: self.mark,
        };
        let single = |minion: Result<Minion, ReadError>| MinionEntry {
            id: match &minion {
                Ok(minion) => own_id(minion),
                Err(_) => self.map.get("id").and_then(Value::as_str).map(Into::into),
            },
            place: place(),
            found: minion.map(MinionPart::Minion),
        };
        match Shape::of(&self.map) {
            Shape::Document => entries.push(named(single(minion_of(&self.map, &here)), of_several)),
            Shape::Grains => {
                entries.push(named(single(Ok(of_grains(&self.map, &here))), of_several));
            }
            Shape::Local => {
                entries.extend(self.map.values().next().map(|value| {
                    let found = found(value, &self.entry(name, 0));
                    let id = match &found {
                        Ok(MinionPart::Minion(minion)) => own_id(minion),
                        _ => None,
                    };
                    let place = place();
                    named(MinionEntry { id, place, found }, of_several)
                }));
            }
            Shape::ByIds if matches!(&self.marks, IdPlace::Keys(keys) if keys.marks().len() != self.map.len()) =>
            {
                entries.push(single(Err(here.error(ReadErrorKind::EqualKeys))));
            }
            Shape::ByIds => {
                let by_id = self.map.iter().enumerate();
                entries.extend(by_id.map(|(index, (key, value))| {
                    let mark = self.key(index).or(self.mark);
                    let place = DocumentPlace { mark, ..place() };
                    let found = found(value, &self.entry(name, index));
                    let (id, found) = match checked(key, found.as_ref().ok()) {
                        Ok(id) => (id, found),
                        Err((id, kind)) => {
                            let place = place.clone();
                            (id, Err(ReadError { place, kind }))
                        }
                    };
                    let id = Some(id);
                    MinionEntry { id, place, found }
                }));
            }
        }
    }

    fn positions<'t>(&'t self, name: &'t str) -> Positions<'t> {
        match &self.marks {
            IdPlace::Tree(marks) => Positions {
                name,
                marks: Some(marks),
                otherwise: self.mark,
            },
            IdPlace::Keys(_) => Positions {
                name,
                marks: None,
                otherwise: self.mark,
            },
        }
    }

    /// Positions in the value of an entry.
    fn entry<'t>(&'t self, name: &'t str, index: usize) -> Positions<'t> {
        let marks = match &self.marks {
            IdPlace::Tree(marks) => marks.child(index),
            IdPlace::Keys(_) => None,
        };
        Positions {
            name,
            marks,
            otherwise: self.key(index),
        }
    }

    fn key(&self, index: usize) -> Option<Mark> {
        match &self.marks {
            IdPlace::Tree(marks) => marks.key(index),
            IdPlace::Keys(keys) => keys.marks().get(index).copied(),
        }
    }
}

/// A minion that says its id itself, which has to, where there are several.
fn named(mut entry: MinionEntry, of_several: bool) -> MinionEntry {
    if let Some(id) = entry.id.as_deref().filter(|id| !is_id(id)) {
        entry.found = Err(ReadError {
            place: entry.place.clone(),
            kind: ReadErrorKind::NoName { id: cut(id) },
        });
    } else if of_several && entry.id.is_none() && entry.found.is_ok() {
        entry.found = Err(ReadError {
            place: entry.place.clone(),
            kind: ReadErrorKind::NoId,
        });
    }
    entry
}

fn own_id(minion: &Minion) -> Option<String> {
    let grain = || minion.grains.get("id").filter(|id| id.truthy());
    Some(&minion.id)
        .filter(|id| id.truthy())
        .or_else(grain)
        .map(ToString::to_string)
}

/// The key as an id, if it is a valid one and the minion has no other id.
fn checked(key: &Key, found: Option<&MinionPart>) -> Result<String, (String, ReadErrorKind)> {
    let id = key.to_string();
    if !is_id(&id) {
        let kind = ReadErrorKind::NoName { id: cut(&id) };
        return Err((id, kind));
    }
    match found {
        Some(MinionPart::Minion(minion)) if minion.id.truthy() && minion.id.to_string() != id => {
            let kind = ReadErrorKind::OtherId {
                id: cut(&id),
                own: cut(&minion.id.to_string()),
            };
            Err((id, kind))
        }
        _ => Ok(id),
    }
}

/// True if Salt takes it for an id: it makes names of files of them.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id != "." && id != ".." && !id.contains(['/', '\\', '\0'])
}

/// A mapping in a few words.
fn described(map: &Map) -> String {
    let keys: Vec<String> = map
        .keys()
        .take(3)
        .map(|key| format!("`{}`", cut(&key.to_string())))
        .collect();
    match keys.as_slice() {
        [] => "an empty mapping".to_owned(),
        keys => format!(
            "a mapping with {}{}",
            keys.join(", "),
            if map.len() > 3 { ", …" } else { "" }
        ),
    }
}

/// The mappings of a text: JSON objects one behind the other, or YAML documents.
fn tops<'t>(bytes: &'t [u8], name: &str) -> Result<Vec<Result<Top<'t>, Broken>>, ReadError> {
    if bytes.len() as u64 > MAX_BYTES {
        return Err(at_file(name, ReadErrorKind::TooLarge { limit: MAX_BYTES }));
    }
    let text = decode(bytes).map_err(|error| syntax(name, error))?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let is_json = text.trim_start().starts_with('{');
    let no_json = match is_json.then(|| objects(text)) {
        Some(Ok(tops)) => return Ok(tops.into_iter().map(Ok).collect()),
        Some(Err(error)) => Some(error),
        None => None,
    };
    match documents(text, name) {
        Ok(tops) => Ok(tops),
        // Report the error of the language that reads further.
        Err(error) => Err(match no_json {
            Some(no_json) => {
                let mark = mark_of(&no_json);
                match error.place.mark > mark {
                    true => error,
                    false => ReadError {
                        place: DocumentPlace {
                            file: name.to_owned(),
                            mark,
                        },
                        kind: ReadErrorKind::Json(no_json),
                    },
                }
            }
            None => error,
        }),
    }
}

fn mark_of(error: &JsonError) -> Option<Mark> {
    let JsonError::Syntax { line, column, .. } = error else {
        return None;
    };
    Some(Mark {
        line: u32::try_from(*line).ok()?,
        column: u32::try_from(*column).ok()?,
    })
}

fn documents(text: &str, name: &str) -> Result<Vec<Result<Top<'static>, Broken>>, ReadError> {
    let mut tops = Vec::new();
    match load_all(text, &Limits::default()) {
        Ok(loaded) => tops.extend(loaded.into_iter().filter_map(|loaded| top(loaded, name))),
        Err(error) => {
            let parts = match text.matches("\n---").count() < MAX_PARTS {
                true => parts(text),
                false => Vec::new(),
            };
            if parts.len() < 2 {
                return Err(syntax(name, error));
            }
            for part in parts {
                tops.extend(tops_of_part(&part, name));
            }
        }
    }
    match tops.pop() {
        None => Err(at_file(name, ReadErrorKind::Empty)),
        Some(Err(only)) if tops.is_empty() => Err(only.error),
        Some(last) => {
            tops.push(last);
            Ok(tops)
        }
    }
}

/// A document of a text; `None` for an empty one.
fn top((value, marks): (Value, Marks), name: &str) -> Option<Result<Top<'static>, Broken>> {
    let mark = Some(marks.mark());
    let other = match value {
        Value::Map(map) => {
            let marks = IdPlace::Tree(marks);
            return Some(Ok(Top { map, mark, marks }));
        }
        Value::None => return None,
        other => other,
    };
    let error = ReadError {
        place: DocumentPlace {
            file: name.to_owned(),
            mark,
        },
        kind: ReadErrorKind::NoForm {
            seen: other.kind().described().to_owned(),
        },
    };
    Some(Err(Broken { id: None, error }))
}

/// The documents of a text of which one is not YAML, each with the blank lines in front that keep its places.
fn parts(text: &str) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let is_start = line
            .strip_prefix("---")
            .is_some_and(|rest| rest.chars().next().is_none_or(char::is_whitespace));
        match parts.last_mut() {
            Some(last) if !is_start => last.push_str(line),
            _ => parts.push(format!("{}{line}", "\n".repeat(number))),
        }
    }
    parts.retain(|part| !part.trim().is_empty());
    parts
}

fn tops_of_part(part: &str, name: &str) -> Vec<Result<Top<'static>, Broken>> {
    match load_all(part, &Limits::default()) {
        Ok(loaded) => loaded
            .into_iter()
            .filter_map(|loaded| top(loaded, name))
            .collect(),
        Err(error) => {
            let id = part.lines().find_map(|line| line.strip_prefix("id:"));
            let id = id.map(|id| id.trim().trim_matches(['\'', '"']));
            vec![Err(Broken {
                id: id.filter(|id| is_id(id)).map(Into::into),
                error: syntax(name, error),
            })]
        }
    }
}

/// JSON objects, one behind the other.
fn objects(text: &str) -> Result<Vec<Top<'_>>, JsonError> {
    let mut cursor = Cursor {
        text,
        at: 0,
        mark: Mark::default(),
    };
    let (mut tops, mut at) = (Vec::new(), skip_blanks(text, 0));
    while at < text.len() {
        let (value, end) = json::raw_decode(text, at)?;
        let mark = cursor.to(at);
        let Value::Map(map) = value else {
            let (line, column) = (mark.line as usize, mark.column as usize);
            return Err(JsonError::Syntax {
                message: "Expecting an object",
                line,
                column,
            });
        };
        let keys = Keys {
            text: text.get(..end).unwrap_or_default(),
            start: at,
            mark,
            marks: OnceCell::new(),
        };
        tops.push(Top {
            map,
            mark: Some(mark),
            marks: IdPlace::Keys(keys),
        });
        at = skip_blanks(text, end);
    }
    Ok(tops)
}

/// The places of an object's keys; most of these are never needed.
struct Keys<'t> {
    /// The text until the end of the object.
    text: &'t str,
    /// The offset of the object, and its place.
    start: usize,
    mark: Mark,
    marks: OnceCell<Vec<Mark>>,
}

impl Keys<'_> {
    fn marks(&self) -> &[Mark] {
        self.marks.get_or_init(|| {
            let mut cursor = Cursor {
                text: self.text,
                at: self.start,
                mark: self.mark,
            };
            keys(self.text, self.start)
                .map(|at| cursor.to(at))
                .collect()
        })
    }
}

/// Offsets of the keys of an object that is known to be one, and with which the text ends: of texts
/// directly in it behind its brace or a comma.
fn keys(text: &str, start: usize) -> impl Iterator<Item = usize> {
    let bytes = text.as_bytes();
    let (mut at, mut depth, mut key_next) = (start, 0_usize, false);
    std::iter::from_fn(move || {
        while let Some(&byte) = bytes.get(at) {
            let here = at;
            at += 1;
            match byte {
                b'{' | b'[' => {
                    depth += 1;
                    key_next = depth == 1;
                }
                b'}' | b']' => depth = depth.saturating_sub(1),
                b',' => key_next = depth == 1,
                b'"' => {
                    while let Some(&inside) = bytes.get(at) {
                        at += if inside == b'\\' { 2 } else { 1 };
                        if inside == b'"' {
                            break;
                        }
                    }
                    if std::mem::take(&mut key_next) {
                        return Some(here);
                    }
                }
                _ => {}
            }
        }
        None
    })
}

fn skip_blanks(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    text.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len()
}

/// Offsets to positions; they ascend, so that the text is gone through once.
struct Cursor<'t> {
    text: &'t str,
    at: usize,
    mark: Mark,
}

impl Cursor<'_> {
    fn to(&mut self, at: usize) -> Mark {
        let between = self.text.get(self.at..at).unwrap_or_default();
        let count = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        match between.rfind('\n') {
            None => {
                self.mark.column = self
                    .mark
                    .column
                    .saturating_add(count(between.chars().count()));
            }
            Some(last) => {
                let lines = between.bytes().filter(|byte| *byte == b'\n').count();
                self.mark.line = self.mark.line.saturating_add(count(lines));
                self.mark.column = count(between[last + 1..].chars().count()).saturating_add(1);
            }
        }
        self.at = at.max(self.at);
        self.mark
    }
}

//! The places that facts were read from, down to line and column.
//!
//! A minion remembers only the names of its files, so that a hundred thousand minions keep no
//! texts. To find the place of a fact, the file is read again, and a place is only reported if the
//! file still has that value. A name in angle brackets, such as `<stdin>`, does not belong to a
//! file; its text is kept, once for all minions in it.

use std::collections::HashMap;
use std::fmt;
use std::path::Path as FilePath;
use std::sync::{Arc, Mutex, PoisonError};

use mapstack_diagnostic::line_and_column;
use mapstack_value::{Key, Path, Str, Value, integer_step, json};
use mapstack_yaml::{Limits, Mark, Marks, decode, load_all, load_marked, traverse};

use crate::error::DocumentPlace;
use crate::read::read_file;
use crate::{Minion, Part, builtin};

/// The files that a minion's facts were read from, in the order of reading.
///
/// All are equal: where a fact was read says nothing about what it is.
#[derive(Clone, Default)]
pub struct Sources(Option<Arc<Vec<Load>>>);

impl PartialEq for Sources {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Sources {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list()
            .entries(self.loads().iter().map(|load| &load.from))
            .finish()
    }
}

/// Something that was read.
#[derive(Clone)]
struct Load {
    /// The part of the facts that it has; all, below their names, for `None`.
    part: Option<Part>,
    /// The key above them.
    under: Option<&'static str>,
    over: EarlierFacts,
    from: From,
}

/// The treatment of the facts that were there.
#[derive(Clone, Copy, PartialEq)]
enum EarlierFacts {
    /// They are gone.
    All,
    /// One fact is another.
    One,
    /// They stay, and these are below them.
    None,
}

#[derive(Clone)]
enum From {
    /// A text that can be read again.
    Text(FactsText),
    /// A file that is not text.
    File(Arc<str>),
    Platform(&'static str),
    /// A fact was set by its path.
    Set(Arc<[Key]>),
    /// Modules of the tree computed these grains: their names, and the files.
    Tree(Arc<[(Key, Str)]>),
}

impl fmt::Debug for From {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            From::Text(FactsText { file, .. }) | From::File(file) => f.write_str(file),
            From::Platform(name) => f.write_str(name),
            From::Set(_) => f.write_str("set"),
            From::Tree(_) => f.write_str("the tree"),
        }
    }
}

/// A text by its name, and where in it the facts begin, if that is not where it does.
#[derive(Clone, PartialEq, Eq, Hash)]
struct FactsText {
    file: Arc<str>,
    start: Option<Mark>,
    /// The text of what is not a file.
    kept: Option<Arc<str>>,
}

/// The place that a fact was read from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FactPlace {
    /// In a file; the position is known where that is a text which still holds the fact.
    File(DocumentPlace),
    /// A built-in [platform](crate::platforms) has it.
    Platform(&'static str),
    /// It was [set](Minion::set) by its path.
    Set,
    /// It is the minion's name, or follows from it.
    Id,
    /// Salt has it [built in](builtin).
    BuiltIn,
}

impl fmt::Display for FactPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FactPlace::File(place) => place.fmt(f),
            FactPlace::Platform(name) => write!(f, "the platform {name}"),
            FactPlace::Set => f.write_str("set by its path"),
            FactPlace::Id => f.write_str("the minion's id"),
            FactPlace::BuiltIn => f.write_str("built into Salt"),
        }
    }
}

impl Sources {
    fn loads(&self) -> &[Load] {
        self.0.as_deref().map_or(&[], Vec::as_slice)
    }

    fn push(&mut self, load: Load) {
        Arc::make_mut(self.0.get_or_insert_default()).push(load);
    }

    /// A mapping of a text was read.
    pub(crate) fn of_text(
        &mut self,
        bytes: &[u8],
        file: &str,
        part: Option<Part>,
        under: Option<&'static str>,
    ) {
        let text = FactsText {
            file: file.into(),
            start: None,
            kept: kept(bytes, file),
        };
        self.push(Load {
            part,
            under,
            over: EarlierFacts::All,
            from: From::Text(text),
        });
    }

    /// A mapping somewhere in a text was read.
    pub(crate) fn inside(&mut self, file: &str, start: Option<Mark>, part: Option<Part>) {
        let from = From::Text(FactsText {
            file: file.into(),
            start,
            kept: None,
        });
        self.push(Load {
            part,
            under: None,
            over: EarlierFacts::All,
            from,
        });
    }

    /// Minions of one text share what they know of it.
    pub(crate) fn share(&mut self, file: &Arc<str>, kept: Option<&Arc<str>>) {
        let Some(loads) = &mut self.0 else { return };
        for load in Arc::make_mut(loads) {
            if let From::Text(text) = &mut load.from {
                text.file = file.clone();
                text.kept = kept.cloned();
            }
        }
    }

    pub(crate) fn of_file(&mut self, file: &FilePath, part: Part) {
        let from = From::File(file.display().to_string().into());
        self.push(Load {
            part: Some(part),
            under: None,
            over: EarlierFacts::All,
            from,
        });
    }

    pub(crate) fn of_platform(&mut self, name: &'static str) {
        self.push(Load {
            part: Some(Part::Grains),
            under: None,
            over: EarlierFacts::All,
            from: From::Platform(name),
        });
    }

    /// Modules of the tree were asked for grains, and computed these.
    pub(crate) fn of_tree(&mut self, computed: Vec<(Key, Str)>) {
        self.push(Load {
            part: Some(Part::Grains),
            under: None,
            over: EarlierFacts::One,
            from: From::Tree(computed.into()),
        });
    }

    /// The platform that the grains are of, if nothing replaced all of them.
    pub(crate) fn platform(&self) -> Option<&'static str> {
        let mut loads = self.loads().iter().rev();
        let last = loads.find(|load| {
            let is_of_grains = load.part.is_none_or(|part| part == Part::Grains);
            is_of_grains && load.over == EarlierFacts::All
        });
        match last?.from {
            From::Platform(name) => Some(name),
            _ => None,
        }
    }

    /// True if modules of the tree were asked for grains.
    pub(crate) fn has_asked_tree(&self) -> bool {
        let is_tree = |load: &Load| matches!(load.from, From::Tree(_));
        self.loads().iter().any(is_tree)
    }

    /// A fact was set; the path begins with its part, or is `id`.
    pub(crate) fn set(&mut self, part: Option<Part>, steps: Vec<Key>) {
        self.push(Load {
            part,
            under: None,
            over: EarlierFacts::One,
            from: From::Set(steps.into()),
        });
    }

    /// A part has been put below what there was: `file` has it, below a key for `under`.
    ///
    /// ```
    /// use mapstack_minion::{Minion, Part};
    /// let mut minion = Minion::new("web1");
    /// minion.opts.insert("saltenv", "prod");
    /// minion.sources.put_below(Part::Opts, "/etc/salt/minion", None);
    /// ```
    pub fn put_below(&mut self, part: Part, file: &str, under: Option<&'static str>) {
        let load = Load {
            part: Some(part),
            under,
            over: EarlierFacts::None,
            from: From::Text(FactsText {
                file: file.into(),
                start: None,
                kept: None,
            }),
        };
        Arc::make_mut(self.0.get_or_insert_default()).insert(0, load);
    }
}

/// The text of what is not a file.
pub(crate) fn kept(bytes: &[u8], name: &str) -> Option<Arc<str>> {
    let is_no_file = name.starts_with('<') && name.ends_with('>');
    is_no_file
        .then(|| decode(bytes).ok().map(Arc::from))
        .flatten()
}

/// Finds where the facts of a minion were read; each text is read once.
///
/// ```
/// use mapstack_minion::{FactPlaces, Minion, Part};
/// let minion = Minion::parse(b"grains: {}\npillar:\n  users: {tom: {uid: 7}}\n", "<stdin>").unwrap().complete();
/// let places = FactPlaces::new(&minion);
/// let place = places.find(Some(Part::Pillar), &["users".into(), "tom".into(), "uid".into()]);
/// assert_eq!(place.unwrap().to_string(), "<stdin>:3:22");
/// ```
#[derive(Debug)]
pub struct FactPlaces {
    minion: Minion,
    documents: Mutex<HashMap<FactsText, Option<Arc<Document>>>>,
}

impl fmt::Debug for FactsText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)
    }
}

/// The content of a text that was read again, with its places.
#[derive(Debug)]
struct Document {
    value: Value,
    marks: Marks,
    /// The mark that the positions count from.
    from: Mark,
}

/// The place of a value, and its key; line 0 if unknown.
struct Position {
    value: Mark,
    key: Mark,
}

/// The degree to which a place fits.
enum Fit {
    /// The place of the very value.
    Exact(FactPlace),
    /// The place of a part of the value, or of a different one.
    Loose(FactPlace),
}

impl FactPlaces {
    /// Of a minion as it is now.
    #[must_use]
    pub fn new(minion: &Minion) -> Self {
        FactPlaces {
            minion: minion.clone(),
            documents: Mutex::default(),
        }
    }

    /// The place that the fact under a path was read from. `None` as the part searches all of them as
    /// `config.get` combines them. `None` if unknown.
    #[must_use]
    pub fn find(&self, part: Option<Part>, path: &[Key]) -> Option<FactPlace> {
        self.look(part, path, false)
    }

    /// The place of the last key of a path, found as [`find`](FactPlaces::find) does it for the fact.
    #[must_use]
    pub fn find_key(&self, part: Option<Part>, path: &[Key]) -> Option<FactPlace> {
        self.look(part, path, true)
    }

    fn look(&self, part: Option<Part>, path: &[Key], key: bool) -> Option<FactPlace> {
        let parts = match part {
            Some(part) => vec![part],
            None => vec![Part::Opts, Part::Grains, Part::Pillar],
        };
        let mut loose = None;
        for part in parts {
            match self.find_in(part, path, key) {
                Some(Fit::Exact(place)) => return Some(place),
                Some(Fit::Loose(place)) => loose = loose.or(Some(place)),
                None => {}
            }
        }
        let default = || {
            value_at(&Value::from(builtin::defaults().clone()), path).map(|_| FactPlace::BuiltIn)
        };
        loose.or_else(|| default().filter(|_| part.is_none()))
    }

    fn find_in(&self, part: Part, path: &[Key], key: bool) -> Option<Fit> {
        if let (Part::Opts, Some((first, inside))) = (part, path.split_first()) {
            match first.as_str() {
                Some("id") => return Some(Fit::Exact(self.of_id())),
                Some("grains") => return self.find_in(Part::Grains, inside, key),
                Some("pillar") => return self.find_in(Part::Pillar, inside, key),
                _ => {}
            }
        }
        let facts = Value::from(self.minion.part(part).clone());
        let Some(value) = value_at(&facts, path) else {
            let first = path.first().filter(|_| part == Part::Opts)?;
            return builtin::options()
                .contains_key(first)
                .then_some(Fit::Exact(FactPlace::BuiltIn));
        };
        let (mut loose, mut replaced) = (None, false);
        for load in self.minion.sources.loads().iter().rev() {
            if load.part.is_some_and(|own| own != part)
                || (replaced && load.over != EarlierFacts::None)
            {
                continue;
            }
            match self.in_load(load, part, path, key, &value) {
                Some(Fit::Exact(place)) => return Some(Fit::Exact(place)),
                Some(Fit::Loose(place)) => loose = loose.or(Some(place)),
                None => {}
            }
            replaced |= load.over == EarlierFacts::All;
        }
        let is_id =
            || part == Part::Grains && matches!(path, [only] if only.as_str() == Some("id"));
        loose
            .map(Fit::Loose)
            .or_else(|| is_id().then(|| Fit::Exact(self.of_id())))
    }

    /// The place that the minion's name was read from.
    fn of_id(&self) -> FactPlace {
        let id = Key::from("id");
        for load in self.minion.sources.loads().iter().rev() {
            match &load.from {
                From::Set(steps) if load.part.is_none() && steps.is_empty() => {
                    return FactPlace::Set;
                }
                From::Text(text) if load.part.is_none() => {
                    let document = self.document(text);
                    let found = document
                        .as_ref()
                        .and_then(|document| document.find(std::slice::from_ref(&id)));
                    if let Some((_, at)) = found.filter(|(value, _)| value.is_same(&self.minion.id))
                    {
                        let mark = Some(at.value).filter(|mark| mark.line > 0);
                        return FactPlace::File(DocumentPlace {
                            file: text.file.to_string(),
                            mark,
                        });
                    }
                }
                _ => {}
            }
        }
        FactPlace::Id
    }

    fn in_load(
        &self,
        load: &Load,
        part: Part,
        path: &[Key],
        key: bool,
        value: &Value,
    ) -> Option<Fit> {
        match &load.from {
            From::Set(steps) => {
                load.part?;
                // Steps are texts, and keys need not be.
                let same = path
                    .iter()
                    .zip(steps.iter())
                    .all(|(own, set)| own.to_string() == set.to_string());
                let fit = if steps.len() <= path.len() {
                    Fit::Exact
                } else {
                    Fit::Loose
                };
                same.then(|| fit(FactPlace::Set))
            }
            From::Tree(computed) => {
                let name = path.first()?;
                let (_, file) = computed.iter().find(|(known, _)| known == name)?;
                Some(Fit::Exact(FactPlace::File(DocumentPlace {
                    file: format!("salt://{file}"),
                    mark: None,
                })))
            }
            From::Platform(name) => Some(Fit::Exact(FactPlace::Platform(name))),
            From::File(file) => Some(Fit::Exact(FactPlace::File(DocumentPlace {
                file: file.to_string(),
                mark: None,
            }))),
            From::Text(text) => {
                let under = load
                    .under
                    .or_else(|| load.part.is_none().then(|| part.name()));
                let path: Vec<Key> = under
                    .map(Key::from)
                    .into_iter()
                    .chain(path.iter().cloned())
                    .collect();
                let place = |mark| {
                    FactPlace::File(DocumentPlace {
                        file: text.file.to_string(),
                        mark,
                    })
                };
                let Some(document) = self.document(text) else {
                    // All that is known is that nothing else was read.
                    return (load.over == EarlierFacts::All).then(|| Fit::Loose(place(None)));
                };
                let (found, marks) = document.find(&path)?;
                let mark =
                    Some(if key { marks.key } else { marks.value }).filter(|mark| mark.line > 0);
                Some(if found.is_same(value) {
                    Fit::Exact(place(mark))
                } else {
                    Fit::Loose(place(mark))
                })
            }
        }
    }

    fn document(&self, text: &FactsText) -> Option<Arc<Document>> {
        let mut documents = self
            .documents
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        documents
            .entry(text.clone())
            .or_insert_with(|| Document::read(text).map(Arc::new))
            .clone()
    }
}

impl Document {
    fn read(text: &FactsText) -> Option<Self> {
        let bytes = match &text.kept {
            Some(kept) => kept.as_bytes().to_vec(),
            None => {
                let file = FilePath::new(&*text.file);
                // Anything but a plain file can be read only once, or blocks.
                std::fs::metadata(file)
                    .ok()
                    .filter(std::fs::Metadata::is_file)?;
                read_file(file).ok()?
            }
        };
        let content = decode(&bytes).ok()?;
        let top = Mark { line: 1, column: 1 };
        let Some(start) = text.start else {
            return match load_marked(content, &Limits::default()) {
                Ok((value, marks)) => Some(Document {
                    value,
                    marks,
                    from: top,
                }),
                // JSON that is not YAML has no positions.
                Err(_) => Some(Document {
                    value: json::loads(content).ok()?,
                    marks: Marks::default(),
                    from: Mark { line: 0, column: 0 },
                }),
            };
        };
        let content = content.strip_prefix('\u{feff}').unwrap_or(content);
        if content.trim_start().starts_with('{')
            && let Some(document) = Document::object(content, start)
        {
            return Some(document);
        }
        let documents = load_all(content, &Limits::default()).ok()?;
        let (value, marks) = documents
            .iter()
            .find_map(|(value, marks)| starting(value, marks, start, 2))?;
        Some(Document {
            value,
            marks,
            from: top,
        })
    }

    /// The JSON object that begins at a position, or behind the key there.
    fn object(text: &str, start: Mark) -> Option<Self> {
        let mut at = offset(text, start)?;
        let blanks = |at: usize| {
            let rest = text.get(at..).unwrap_or_default();
            at + rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len()
        };
        if text.get(at..)?.starts_with('"') {
            at = blanks(json::raw_decode(text, at).ok()?.1);
            at = blanks(at + text.get(at..)?.strip_prefix(':').map(|_| 1)?);
        }
        let (value, end) = json::raw_decode(text, at).ok()?;
        let (line, column) = line_and_column(text, at);
        let from = Mark {
            line: u32::try_from(line).ok()?,
            column: u32::try_from(column).ok()?,
        };
        let Ok((_, marks)) = load_marked(text.get(at..end)?, &Limits::default()) else {
            return Some(Document {
                value,
                marks: Marks::default(),
                from: Mark { line: 0, column: 0 },
            });
        };
        Some(Document { value, marks, from })
    }

    /// The value under a path, and its place.
    fn find(&self, path: &[Key]) -> Option<(Value, Position)> {
        let (mut value, mut marks, mut key) = (&self.value, Some(&self.marks), None);
        for step in path {
            let (index, inside) = entry(value, step)?;
            value = inside;
            key = marks.and_then(|marks| marks.key(index));
            marks = marks.and_then(|marks| marks.child(index));
        }
        let at = marks.map_or(Mark { line: 0, column: 0 }, |marks| {
            self.counted(marks.mark())
        });
        Some((
            value.clone(),
            Position {
                value: at,
                key: key.map_or(at, |key| self.counted(key)),
            },
        ))
    }

    fn counted(&self, mark: Mark) -> Mark {
        let Mark { line, column } = self.from;
        match (line, mark.line) {
            (0, _) => self.from,
            (_, 1) => Mark {
                line,
                column: mark.column.saturating_add(column).saturating_sub(1),
            },
            (_, own) => Mark {
                line: own.saturating_add(line).saturating_sub(1),
                column: mark.column,
            },
        }
    }
}

/// The mapping that begins at a position, not far down.
fn starting(value: &Value, marks: &Marks, start: Mark, depth: usize) -> Option<(Value, Marks)> {
    let Value::Map(map) = value else { return None };
    if marks.mark() == start {
        return Some((value.clone(), marks.clone()));
    }
    let depth = depth.checked_sub(1)?;
    map.values()
        .enumerate()
        .find_map(|(at, inside)| starting(inside, marks.child(at)?, start, depth))
}

/// The byte at a position.
fn offset(text: &str, mark: Mark) -> Option<usize> {
    let line = usize::try_from(mark.line.checked_sub(1)?).ok()?;
    let start = match line {
        0 => 0,
        line => text.match_indices('\n').nth(line - 1)?.0 + 1,
    };
    let column = usize::try_from(mark.column.checked_sub(1)?).ok()?;
    text.get(start..)?
        .char_indices()
        .nth(column)
        .map(|(at, _)| start + at)
}

/// The entry or item that a step leads to, as keys are written.
fn entry<'v>(value: &'v Value, step: &Key) -> Option<(usize, &'v Value)> {
    let item = |items: &'v [Value]| {
        let index = usize::try_from(integer_step(step)?.to_i64()?).ok()?;
        Some((index, items.get(index)?))
    };
    match value {
        Value::Map(map) => {
            let loose = || {
                map.keys()
                    .position(|key| key.to_string() == step.to_string())
            };
            let index = map.index_of(step).or_else(loose)?;
            Some((index, map.entry_at(index)?.1))
        }
        Value::List(items) => item(items),
        Value::Tuple(items) => item(items),
        _ => None,
    }
}

fn value_at(facts: &Value, path: &[Key]) -> Option<Value> {
    let exact = path
        .iter()
        .try_fold(facts, |here, step| Some(entry(here, step)?.1))
        .cloned();
    exact.or_else(|| traverse(facts, &path.iter().cloned().collect::<Path>()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::minions::Minions;
    use crate::platforms;

    fn place(minion: &Minion, part: &str, path: &[&str]) -> String {
        let path: Vec<Key> = path
            .iter()
            .map(|step| step.parse::<i64>().map_or((*step).into(), Key::from))
            .collect();
        let found = FactPlaces::new(minion).find(Part::parse(part), &path);
        found.map_or_else(|| "unknown".into(), |place| place.to_string())
    }

    #[test]
    fn the_last_source_of_a_fact_is_reported() {
        let text = "id: m\ngrains: {os: Debian, ids: [1, {a: 2}]}\npillar:\n  a: {b: 1}\n";
        let mut minion = Minion::parse(text.as_bytes(), "<m>").unwrap();
        minion
            .load_part(Part::Opts, br#"{"local": {"saltenv": "prod"}}"#, "<o>")
            .unwrap();
        minion.set("pillar.a.c", 5).unwrap();
        minion.set("grains.ids.1.a", 2).unwrap();
        let minion = minion.complete();
        for (part, path, expected) in [
            ("grains", &["os"][..], "<m>:2:14"),
            ("grains", &["ids"], "<m>:2:27"),
            ("grains", &["ids", "0"], "<m>:2:28"),
            ("grains", &["ids", "1", "a"], "set by its path"),
            ("grains", &["id"], "<m>:1:5"),
            ("grains", &["absent"], "unknown"),
            ("pillar", &["a", "b"], "<m>:4:10"),
            ("pillar", &["a", "c"], "set by its path"),
            ("pillar", &["a"], "set by its path"),
            ("opts", &["saltenv"], "<o>:1:23"),
            ("opts", &["id"], "<m>:1:5"),
            ("opts", &["grains", "os"], "<m>:2:14"),
            ("opts", &["state_top"], "built into Salt"),
            ("any", &["a", "b"], "<m>:4:10"),
            ("any", &["redis.port"], "built into Salt"),
        ] {
            assert_eq!(place(&minion, part, path), expected, "{part} {path:?}");
        }
    }

    #[test]
    fn a_part_that_is_replaced_is_not_looked_into() {
        let mut minion = Minion::parse(b"pillar: {a: 1}", "<m>").unwrap();
        minion.load_part(Part::Pillar, b"b: 1", "<p>").unwrap();
        minion.pillar.insert("a", 1);
        assert_eq!(place(&minion, "pillar", &["a"]), "unknown");
        assert_eq!(place(&minion, "pillar", &["b"]), "<p>:1:4");
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("minion").display().to_string();
        std::fs::write(&file, "c: 1\npillar: {d: 2}\n").unwrap();
        [("c", 1), ("d", 2)]
            .into_iter()
            .for_each(|(key, value)| drop(minion.pillar.insert(key, value)));
        minion
            .sources
            .put_below(Part::Pillar, &file, Some("pillar"));
        minion.sources.put_below(Part::Pillar, &file, None);
        assert_eq!(place(&minion, "pillar", &["c"]), format!("{file}:1:4"));
        assert_eq!(place(&minion, "pillar", &["d"]), format!("{file}:2:13"));
    }

    #[test]
    fn minions_of_one_text_stand_where_they_are_in_it() {
        let grains = r#"{"a": {"os": "Debian",
 "kernel": "Linux"}} {"b": {"os": "Debian", "kernel": "x"}}"#;
        let documents = "id: a\ngrains: {os: Debian}\n---\nid: b\ngrains: {os: Debian, l: [1]}\n";
        let by_id = "a: {os: Debian}\nb:\n  grains:\n    os: Debian\n  pillar: {k: v}\n";
        for (text, id, part, path, expected) in [
            (grains, "a", "grains", &["os"][..], "<t>:1:14"),
            (grains, "a", "grains", &["kernel"], "<t>:2:12"),
            (grains, "b", "grains", &["os"], "<t>:2:35"),
            (documents, "b", "grains", &["os"], "<t>:5:14"),
            (documents, "b", "grains", &["l", "0"], "<t>:5:26"),
            (documents, "b", "grains", &["id"], "<t>:4:5"),
            (by_id, "a", "grains", &["os"], "<t>:1:9"),
            (by_id, "b", "grains", &["os"], "<t>:4:9"),
            (by_id, "b", "pillar", &["k"], "<t>:5:15"),
            (by_id, "b", "grains", &["id"], "the minion's id"),
        ] {
            let minion = Minions::from_text(text.as_bytes(), "<t>")
                .unwrap()
                .minion(id)
                .unwrap()
                .unwrap()
                .complete();
            assert_eq!(place(&minion, part, path), expected, "{id} {path:?}");
        }
    }

    #[test]
    fn files_are_read_again_and_believed_where_they_still_say_it() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("web1.yaml");
        std::fs::write(&file, "# facts\ngrains: {os: Debian}\n").unwrap();
        let minion = Minions::open(directory.path(), &Default::default())
            .unwrap()
            .minion("web1")
            .unwrap()
            .unwrap();
        let shown = file.display();
        assert_eq!(place(&minion, "grains", &["os"]), format!("{shown}:2:14"));
        std::fs::write(&file, "{").unwrap();
        assert_eq!(place(&minion, "grains", &["os"]), shown.to_string());
        std::fs::remove_file(&file).unwrap();
        assert_eq!(place(&minion, "grains", &["os"]), shown.to_string());
    }

    #[test]
    fn platforms_are_named() {
        let minion = platforms::find("debian-12").unwrap().minion().complete();
        assert_eq!(
            place(&minion, "grains", &["osrelease_info", "0"]),
            "the platform debian-12"
        );
        assert_eq!(place(&minion, "grains", &["id"]), "the platform debian-12");
    }
}

//! Reading facts from files.

use std::cell::Cell;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use mapstack_value::{Map, Value, ValueKind, json};
use mapstack_yaml::{Limits, Mark, Marks, decode, load_marked};

use crate::error::{DocumentPlace, ReadError, ReadErrorKind, nearest};
use crate::sources::Sources;
use crate::{Minion, Part};

/// The largest file of facts that is read.
pub const MAX_BYTES: u64 = 64 << 20;

/// The keys of a minion's document.
pub(crate) const KEYS: [&str; 4] = ["id", "grains", "pillar", "opts"];

/// The key `salt-call` wraps its answers in.
pub(crate) const LOCAL: &str = "local";

impl Minion {
    /// The [complete](Minion::complete) minion that a file describes.
    ///
    /// # Errors
    /// As [`parse`](Minion::parse), or the file cannot be read.
    pub fn from_path(file: impl AsRef<Path>) -> Result<Self, ReadError> {
        let file = file.as_ref();
        Ok(Minion::parse(&read_file(file)?, &file.display().to_string())?.complete())
    }

    /// The minion that a document describes, as it is written: a mapping of `id`, `grains`,
    /// `pillar` and `opts`, each of which may be missing, in YAML or JSON. `name` is what errors
    /// call the file.
    ///
    /// # Errors
    /// [`ReadError`], with line and column: the bytes are not UTF-8, YAML or JSON, the document or a
    /// part of it is not a mapping, or a key is unknown.
    ///
    /// ```
    /// use mapstack_minion::Minion;
    /// let error = Minion::parse(b"id: web1\ngrain: {}\n", "web1.yaml").unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "web1.yaml:2:1: unknown key 'grain': a minion has `id`, `grains`, `pillar` and `opts`; \
    ///      did you mean `grains`?"
    /// );
    /// ```
    pub fn parse(bytes: &[u8], name: &str) -> Result<Self, ReadError> {
        let document = Document::read(bytes, name)?;
        let at = Positions {
            name,
            marks: Some(&document.marks),
            otherwise: None,
        };
        let mut minion = minion_of(document.mapping("a minion")?, &at)?;
        minion.sources = Sources::default();
        minion.sources.of_text(bytes, name, None, None);
        Ok(minion)
    }

    /// Replace a part by what a file holds, a mapping in YAML or JSON. If its only key is `local`
    /// with a mapping, as `salt-call --out=json grains.items` prints it, that mapping is taken.
    ///
    /// ```
    /// use mapstack_minion::{Minion, Part};
    /// let mut minion = Minion::new("web1");
    /// minion.load_part(Part::Grains, br#"{"local": {"os": "Debian"}}"#, "<stdin>").unwrap();
    /// assert_eq!(minion.grains.get("os").unwrap().as_str(), Some("Debian"));
    /// ```
    ///
    /// # Errors
    /// As [`parse`](Minion::parse).
    pub fn load_part(&mut self, part: Part, bytes: &[u8], name: &str) -> Result<(), ReadError> {
        let document = Document::read(bytes, name)?;
        let whole = document.mapping(part.name())?;
        let wrapped = whole
            .get(LOCAL)
            .and_then(Value::as_map)
            .filter(|_| whole.len() == 1);
        *self.part_mut(part) = wrapped.unwrap_or(whole).clone();
        self.sources
            .of_text(bytes, name, Some(part), wrapped.map(|_| LOCAL));
        Ok(())
    }
}

/// A loaded file, and the places of everything in it.
struct Document<'n> {
    name: &'n str,
    value: Value,
    marks: Marks,
}

impl<'n> Document<'n> {
    fn read(bytes: &[u8], name: &'n str) -> Result<Self, ReadError> {
        if bytes.len() as u64 > MAX_BYTES {
            return Err(at_file(name, ReadErrorKind::TooLarge { limit: MAX_BYTES }));
        }
        let text = decode(bytes).map_err(|error| syntax(name, error))?;
        let (value, marks) = load_marked(text, &Limits::default()).or_else(|error| {
            // Nearly all JSON is YAML; what is not, such as escaped slashes, is read as JSON.
            let json = json::loads(text).map_err(|_| syntax(name, error))?;
            Ok((json, Marks::default()))
        })?;
        if value.is_none() {
            return Err(at_file(name, ReadErrorKind::Empty));
        }
        Ok(Document { name, value, marks })
    }

    fn mapping(&self, what: &'static str) -> Result<&Map, ReadError> {
        let found = self.value.kind();
        self.value.as_map().ok_or_else(|| ReadError {
            place: DocumentPlace {
                file: self.name.to_owned(),
                mark: Some(self.marks.mark()),
            },
            kind: ReadErrorKind::NotAMapping { what, found },
        })
    }
}

/// The places of a minion's mapping and its entries.
pub(crate) struct Positions<'m> {
    pub name: &'m str,
    pub marks: Option<&'m Marks>,
    /// The mark of the nearest place without marks.
    pub otherwise: Option<Mark>,
}

impl Positions<'_> {
    /// The start of the mapping.
    pub fn start(&self) -> Option<Mark> {
        self.marks.map(Marks::mark).or(self.otherwise)
    }

    /// An error about the whole mapping.
    pub fn error(&self, kind: ReadErrorKind) -> ReadError {
        self.error_at(self.start(), kind)
    }

    fn error_at(&self, mark: Option<Mark>, kind: ReadErrorKind) -> ReadError {
        ReadError {
            place: DocumentPlace {
                file: self.name.to_owned(),
                mark: mark.or(self.otherwise),
            },
            kind,
        }
    }

    /// An error about the value of an entry.
    fn error_in(&self, index: usize, kind: ReadErrorKind) -> ReadError {
        self.error_at(
            self.marks
                .and_then(|marks| marks.child(index))
                .map(Marks::mark),
            kind,
        )
    }
}

/// The minion of a mapping with `id`, `grains`, `pillar` and `opts`.
pub(crate) fn minion_of(map: &Map, at: &Positions<'_>) -> Result<Minion, ReadError> {
    let mut minion = Minion::default();
    minion.sources.inside(at.name, at.start(), None);
    for (index, (key, value)) in map.iter().enumerate() {
        match (key.as_str().and_then(Part::parse), key.as_str()) {
            (Some(part), _) => *minion.part_mut(part) = part_of(part, value, index, at)?,
            (None, Some("id")) => minion.id = id_of(value, index, at)?,
            (None, text) => {
                let nearest = text.and_then(|text| nearest(text, &KEYS));
                let kind = ReadErrorKind::UnknownKey {
                    key: key.to_value(),
                    nearest,
                };
                return Err(at.error_at(at.marks.and_then(|marks| marks.key(index)), kind));
            }
        }
    }
    Ok(minion)
}

/// A part of a minion; what is false, such as nothing behind `grains:`, is an empty one.
fn part_of(part: Part, value: &Value, index: usize, at: &Positions<'_>) -> Result<Map, ReadError> {
    match value {
        Value::Map(map) => Ok(map.clone()),
        empty if !empty.truthy() => Ok(Map::new()),
        other => Err(at.error_in(
            index,
            ReadErrorKind::NotAMapping {
                what: part.name(),
                found: other.kind(),
            },
        )),
    }
}

fn id_of(value: &Value, index: usize, at: &Positions<'_>) -> Result<Value, ReadError> {
    match value.kind() {
        found @ (ValueKind::List
        | ValueKind::Map
        | ValueKind::Set
        | ValueKind::Tuple
        | ValueKind::Bytes) => Err(at.error_in(index, ReadErrorKind::BadId { found })),
        _ => Ok(value.clone()),
    }
}

/// The bytes of a file, and of one that is too large a few more than are read.
pub(crate) fn read_file(file: &Path) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    read_into(file, &mut bytes)?;
    Ok(bytes)
}

fn read_into(file: &Path, bytes: &mut Vec<u8>) -> Result<(), ReadError> {
    let read = File::open(file).and_then(|file| file.take(MAX_BYTES + 1).read_to_end(bytes));
    read.map_err(|error| {
        at_file(
            &file.display().to_string(),
            ReadErrorKind::Unreadable(error.into()),
        )
    })?;
    Ok(())
}

/// The usual size of facts, so that they are read at once.
const USUAL_BYTES: usize = 16 << 10;

thread_local! {
    /// Room for the next file of many.
    static ROOM: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Do something with the bytes of a file that is one of many, as they come from [`read_file`].
pub(crate) fn with_file<T>(
    file: &Path,
    work: impl FnOnce(&[u8]) -> Result<T, ReadError>,
) -> Result<T, ReadError> {
    let mut bytes = ROOM.take();
    bytes.reserve(USUAL_BYTES);
    let result = read_into(file, &mut bytes).and_then(|()| work(&bytes));
    bytes.clear();
    bytes.shrink_to(USUAL_BYTES);
    ROOM.set(bytes);
    result
}

pub(crate) fn at_file(name: &str, kind: ReadErrorKind) -> ReadError {
    ReadError {
        place: DocumentPlace {
            file: name.to_owned(),
            mark: None,
        },
        kind,
    }
}

pub(crate) fn syntax(name: &str, error: mapstack_yaml::Error) -> ReadError {
    ReadError {
        place: DocumentPlace {
            file: name.to_owned(),
            mark: error.mark(),
        },
        kind: ReadErrorKind::Syntax(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_nothing_of_the_one_before() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("facts");
        for text in [
            "x".repeat(3 * USUAL_BYTES),
            "short".to_owned(),
            String::new(),
        ] {
            std::fs::write(&file, &text).unwrap();
            with_file(&file, |bytes| {
                assert_eq!(bytes, text.as_bytes());
                Ok(())
            })
            .unwrap();
            let missing = with_file(&directory.path().join("none"), |_| Ok(())).unwrap_err();
            assert!(matches!(missing.kind, ReadErrorKind::Unreadable(_)));
            let kept = ROOM.take();
            assert!(kept.is_empty() && kept.capacity() <= USUAL_BYTES);
            ROOM.set(kept);
        }
    }
}

//! Errors and warnings about facts.

use std::fmt;
use std::io;
use std::sync::Arc;

use mapstack_merge::MergeError;
use mapstack_value::json::JsonError;
use mapstack_value::{EmptyDelimiter, Value, ValueKind};
use mapstack_yaml::Mark;

use crate::cache::UnpackError;

/// A place in a file of facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentPlace {
    /// The file, as the caller named it.
    pub file: String,
    /// Line and column, where known.
    pub mark: Option<Mark>,
}

impl fmt::Display for DocumentPlace {
    /// `file:line:column`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        self.mark
            .map_or(Ok(()), |mark| write!(f, ":{}:{}", mark.line, mark.column))
    }
}

/// A file of facts cannot be used.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{place}: {kind}")]
pub struct ReadError {
    /// The place.
    pub place: DocumentPlace,
    /// The problem.
    pub kind: ReadErrorKind,
}

/// The problem with a file of facts. Its text is the message without the place.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ReadErrorKind {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Unreadable(#[source] Arc<io::Error>),
    /// The file of a directory is a pipe, a device or the like.
    #[error("is not a regular file: reading it could block, or have no end")]
    NotRegular,
    /// The file is larger than any facts are.
    #[error("has more than {} MiB; facts are small, so this is probably another file", limit >> 20)]
    TooLarge {
        /// The limit in bytes.
        limit: u64,
    },
    /// The bytes are not text, or the text is neither YAML nor JSON.
    #[error("{}", .0.kind())]
    Syntax(mapstack_yaml::Error),
    /// The file is empty.
    #[error("holds nothing; write `{{}}` for no facts")]
    Empty,
    /// The file holds something else than a mapping.
    #[error("{what} must be a mapping, not {}", found.described())]
    NotAMapping {
        /// The expected thing ("a minion", "grains", …).
        what: &'static str,
        /// The type found.
        found: ValueKind,
    },
    /// A file of a master's cache holds something else than Salt packs.
    #[error(
        "is not data packed by Salt: {0}; the master writes the file again when the minion next asks for its pillar"
    )]
    Packed(#[source] UnpackError),
    /// Something in a master's cache is not a number.
    #[error("{what} must be a number, not {}", found.described())]
    NotANumber {
        /// The name of the number.
        what: &'static str,
        /// The type found.
        found: ValueKind,
    },
    /// A master's cache has pillars of a minion in several environments.
    #[error("{id} has a pillar for each of the environments {}; say which with the option `pillarenv`", environments.join(", "))]
    ManyPillars {
        /// The minion.
        id: String,
        /// The environments.
        environments: Vec<String>,
    },
    /// The text begins as JSON and is not valid JSON.
    #[error("is not JSON: {0}")]
    Json(JsonError),
    /// A directory is neither one of minions' files nor a master's cache.
    #[error(
        "has no file of a minion, ID.yaml or ID.json, and is not a master's cache, with grains/ID.p or minions/ID/data.p"
    )]
    NoMinions,
    /// A text holds minions in an unknown form.
    #[error(
        "holds no minions, but {seen}; a text with minions is one of: documents with `id`, `grains`, `pillar`, `opts`; \
         a mapping from ids to such documents or to grains, as `salt --static --out=json '*' grains.items` prints it; \
         several such mappings, as without `--static`; the grains of one minion, as `salt-call --out=json grains.items` \
         prints them"
    )]
    NoForm {
        /// The content.
        seen: String,
    },
    /// A value in a minion's place has no facts of a minion.
    #[error(
        "holds neither a minion's parts, `grains`, `pillar` or `opts`, nor grains, which have `os` or `kernel` with a text"
    )]
    NoFacts,
    /// One of several minions has no id.
    #[error("has no id; write `id: NAME` beside its `grains`")]
    NoId,
    /// An id that no minion can have.
    #[error(
        "'{id}' is not a valid id: Salt refuses ids that are empty, `.` or `..`, or have `/` or `\\` in them"
    )]
    NoName {
        /// The id.
        id: String,
    },
    /// Two minions of the same id in one text.
    #[error("the minion was there already at {first}; keep one of the two")]
    Twice {
        /// The first of them.
        first: DocumentPlace,
    },
    /// A key is twice in one JSON object.
    #[error("the object has an id twice; JSON keeps only one of them: remove the other")]
    EqualKeys,
    /// Two files of a directory are for the same minion.
    #[error("is for the same minion as {other}; keep one of the two")]
    SameMinion {
        /// The other file.
        other: String,
    },
    /// The file is named after one minion and has the id of another.
    #[error("is named after '{id}' and has the id '{own}'")]
    OtherId {
        /// The minion it is named after.
        id: String,
        /// The id in the file.
        own: String,
    },
    /// A file for one minion has more.
    #[error("is named after one minion and has {count}; pass the file itself, or give each a file")]
    SeveralMinions {
        /// The number of minions.
        count: usize,
    },
    /// The minion answered with a text, or not at all.
    #[error("the minion gave no grains, but said: {said}")]
    NoAnswer {
        /// The first line of its message.
        said: String,
    },
    /// The id is a collection.
    #[error("the id must be a name, not {}", found.described())]
    BadId {
        /// The type found.
        found: ValueKind,
    },
    /// A minion's document has an unknown key.
    #[error("unknown key {}: a minion has `id`, `grains`, `pillar` and `opts`{}", key.repr(), suggestion(*nearest))]
    UnknownKey {
        /// The key.
        key: Value,
        /// The known key that was probably meant.
        nearest: Option<&'static str>,
    },
}

impl ReadErrorKind {
    /// True if it says that a mapping is not a minion at all, so that it may well be something else.
    pub(crate) fn is_foreign(&self) -> bool {
        matches!(
            self,
            ReadErrorKind::NoFacts
                | ReadErrorKind::NotAMapping {
                    what: "a minion",
                    ..
                }
                | ReadErrorKind::NoAnswer { .. }
        )
    }
}

/// A text of data as far as a message can show it.
pub(crate) fn cut(text: &str) -> String {
    const LONGEST: usize = 80;
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

fn suggestion(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |nearest| {
        format!("; did you mean `{nearest}`?")
    })
}

/// A fact cannot be set at a path.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SetError {
    /// The path does not begin with a part of a minion.
    #[error("unknown `{name}`: a path begins with `grains.`, `pillar.` or `opts.`, or is `id`{}", suggestion(*nearest))]
    UnknownPart {
        /// The first step of the path.
        name: String,
        /// The part that was probably meant.
        nearest: Option<&'static str>,
    },
    /// Two separators in a row, or one at the end.
    #[error("a step of the path is empty; remove the extra `{separator}`")]
    EmptyStep {
        /// The separator.
        separator: char,
    },
    /// Something on the way holds no entries.
    #[error("`{path}` is {}, which has no `{step}`; set `{path}` itself", found.described())]
    NotAContainer {
        /// The path up to it.
        path: String,
        /// The next step.
        step: String,
        /// The type found.
        found: ValueKind,
    },
    /// A step into a list that is not a valid index.
    #[error(
        "`{path}` is a list of {len}, and `{step}` is not an index of it; give a number, or set the whole list"
    )]
    NoSuchItem {
        /// The path of the list.
        path: String,
        /// The step.
        step: String,
        /// The number of its items.
        len: usize,
    },
    /// A whole part, or the id, set to something of the wrong kind.
    #[error("`{path}` must be {expected}, not {}", found.described())]
    WrongKind {
        /// The path.
        path: String,
        /// The expected type.
        expected: &'static str,
        /// The kind of the given value.
        found: ValueKind,
    },
}

/// A look-up cannot be made.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LookupError {
    /// The delimiter is empty.
    #[error(transparent)]
    EmptyDelimiter(#[from] EmptyDelimiter),
    /// The key is not a path.
    #[error("a key is text or a list of steps, not {}", kind.described())]
    BadKey {
        /// The kind of the key.
        kind: ValueKind,
    },
    /// `pillar_raise_on_missing` is set, and the key leads nowhere.
    #[error("Pillar key not found: {key}")]
    NotInPillar {
        /// The key.
        key: Value,
    },
    /// The places `config.get` looks into do not merge.
    #[error("`master` in the pillar cannot be merged: {0}")]
    Merge(#[from] MergeError),
}

impl LookupError {
    /// The Python exception that Salt raises here.
    #[must_use]
    pub fn reference_class(&self) -> &'static str {
        match self {
            LookupError::EmptyDelimiter(_) => "ValueError",
            LookupError::BadKey { .. } => "TypeError",
            LookupError::NotInPillar { .. } => "KeyError",
            LookupError::Merge(error) => error.reference_class(),
        }
    }
}

/// The answer is Salt's, and perhaps not what was meant.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Warning {
    /// `config.get` does not know the strategy.
    #[error("config.get cannot merge by {}, so it merged by 'recurse'; write 'recurse' or 'overwrite'", given.repr())]
    UnsupportedMerge {
        /// The given value.
        given: Value,
    },
    /// `pillar.get` had nothing to merge.
    #[error(
        "pillar.get({}) did not merge: the default is {}{}; give a default of the pillar's kind, a mapping or a list",
        key.repr(),
        default.map_or("not given", ValueKind::described),
        found.map_or_else(String::new, |kind| format!(" and the pillar has {}", kind.described()))
    )]
    NotMerged {
        /// The key.
        key: Value,
        /// The type of the default, if there is one.
        default: Option<ValueKind>,
        /// The type of the pillar's value, if any.
        found: Option<ValueKind>,
    },
    /// Salt would ask a database.
    #[error(
        "'{uri}' stays as it is: databases are not asked here; set the value itself to go on with it"
    )]
    Sdb {
        /// The text.
        uri: String,
    },
}

/// Other words for the parts of a minion.
const SYNONYMS: [(&str, &str); 6] = [
    ("option", "opts"),
    ("options", "opts"),
    ("config", "opts"),
    ("name", "id"),
    ("minion", "id"),
    ("minion_id", "id"),
];

/// The known name that a mistaken one was probably meant to be.
pub(crate) fn nearest(name: &str, known: &[&'static str]) -> Option<&'static str> {
    let name = name.to_lowercase();
    let synonym = SYNONYMS
        .iter()
        .find(|(word, _)| *word == name)
        .map(|(_, meant)| *meant);
    synonym.or_else(|| mapstack_diagnostic::nearest(&name, known.iter().copied()))
}

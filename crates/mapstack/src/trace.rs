//! The record of what a run requested, in order.

use std::path::PathBuf;

use mapstack_value::Str;

/// A request of a run, with its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The part of the work.
    pub stage: DataStage,
    /// The source definition as written, for layers.
    pub definition: Option<Str>,
    /// The request and its outcome.
    pub asked: Asked,
}

/// The parts of `map.data`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DataStage {
    /// Loading `map_jinja.yaml`.
    Meta,
    /// The formula's layers.
    Layers,
    /// The post-map template.
    PostMap,
}

/// A request.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// A file of the file server.
    File {
        /// The path relative to the file server's root.
        path: String,
        /// The outcome.
        outcome: RequestOutcome,
    },
    /// A value of the minion, the merged data or the caller, to be merged as a layer.
    Value {
        /// Whether the value exists.
        found: bool,
    },
    /// A definition that led to no path, because a matcher found nothing or an empty list.
    NoPaths {
        /// The query of the matcher that found nothing.
        query: Option<String>,
    },
}

/// An access to the file server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileRead {
    /// The saltenv.
    pub saltenv: Str,
    /// The path relative to the file server's root.
    pub path: Str,
    /// The kind of access, and whether the file exists.
    pub kind: FileReadKind,
}

impl FileRead {
    /// The saltenv of files that were named by an absolute path and lie below no root; their paths are local ones.
    pub const OF_NO_SALTENV: &'static str = "";

    /// Whether the file lies below no root.
    #[must_use]
    pub fn is_of_no_saltenv(&self) -> bool {
        *self.saltenv == *Self::OF_NO_SALTENV
    }
}

/// The kind of an access to the file server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileReadKind {
    /// The content of an existing file.
    Found,
    /// The content of a file that is missing or cannot be read.
    Absent,
    /// The names of the files below the path.
    List,
}

/// The outcome of requesting a file.
#[derive(Debug, Clone, PartialEq)]
pub enum RequestOutcome {
    /// Found at this path on disk.
    Hit(PathBuf),
    /// In no root of the file server.
    Miss,
    /// Exists, but is not served, for this reason.
    Refused(String),
}

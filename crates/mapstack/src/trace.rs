//! What a run looked at, in order.

use std::path::PathBuf;

use mapstack_value::Str;

/// One thing a run asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// Which part of the work asked.
    pub stage: Stage,
    /// The source definition as written, for layers.
    pub definition: Option<Str>,
    /// What was asked for and what came of it.
    pub asked: Asked,
}

/// The parts of `map.data`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Loading `map_jinja.yaml`.
    Meta,
    /// The formula's layers.
    Layers,
    /// The post-map template.
    PostMap,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Asked {
    /// A file of the file server.
    File {
        /// Its path from the file server's root.
        path: String,
        /// What came of it.
        outcome: Outcome,
    },
    /// A value of the minion, the stack or the caller, merged as a layer.
    Value {
        /// Whether there was one.
        found: bool,
    },
    /// A definition that led to no path: a matcher found nothing, or an empty list.
    NoPaths {
        /// The matcher whose query found nothing, if that is why.
        query: Option<String>,
    },
}

/// A look at the file server.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileRead {
    /// The saltenv it was asked in.
    pub saltenv: Str,
    /// The path from the file server's root.
    pub path: Str,
    /// What was asked for and whether it is there.
    pub kind: FileReadKind,
}

/// What was asked of the file server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FileReadKind {
    /// The content of a file, which is there.
    Found,
    /// A file that cannot be had.
    Absent,
    /// The names of the files below the path.
    List,
}

/// What came of asking for a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Found here.
    Hit(PathBuf),
    /// In no root.
    Miss,
    /// There, and not served.
    Refused(String),
}

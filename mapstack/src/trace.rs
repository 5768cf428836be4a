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

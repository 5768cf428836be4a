//! The record of what a run requested, in order.

use std::path::PathBuf;

pub use mapstack_salt_config::disk::{FileRead, FileReadKind};
use mapstack_value::Str;

/// A request of a run, with its outcome.
#[derive(Debug, Clone, PartialEq)]
pub struct Event {
    /// The part of the work.
    pub stage: DataStage,
    /// The source definition as written, for layers.
    pub definition: Option<Str>,
    /// The request and its outcome.
    pub asked: TracedRequest,
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
pub enum TracedRequest {
    /// A file of the file server.
    File {
        /// The path relative to the file server's root.
        path: String,
        /// The outcome.
        outcome: RequestOutcome,
    },
    /// A value of the minion, the merged data or the caller, to be merged as a layer.
    Value {
        /// True if the value exists.
        found: bool,
    },
    /// A definition that led to no path, because a matcher found nothing or an empty list.
    NoPaths {
        /// The query of the matcher that found nothing.
        query: Option<String>,
    },
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

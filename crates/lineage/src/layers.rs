//! The layers that made the data, as people ask about them.

use mapstack::hooks::{Chosen, Moment};
use mapstack::trace::Stage;
use mapstack_merge::Options;
use mapstack_value::{Str, Value};

/// One contribution to the data, in the order of merging.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// Which part of the work merged it.
    pub stage: Stage,
    /// The source definition as written, if one led to it.
    pub definition: Option<Str>,
    /// What it is.
    pub kind: LayerKind,
    /// What the definition's matchers found on this minion: why it is a layer at all.
    pub because: Vec<Because>,
    /// How it was merged; `None` for what was there first and for changes in place.
    pub merged: Option<Merged>,
}

impl Layer {
    /// A layer that was there first, or that changed the data in place.
    pub(crate) fn unmerged(moment: Moment, kind: LayerKind) -> Self {
        Layer {
            stage: moment.stage,
            definition: moment.definition,
            kind,
            because: Vec::new(),
            merged: None,
        }
    }
}

/// What a layer is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LayerKind {
    /// A parameter file.
    File {
        /// Its path from the file server's root.
        path: String,
        /// Where it lies, as a person would open it.
        shown: String,
    },
    /// A value of the minion, the data so far or the caller.
    Value,
    /// A template that changed the data in place.
    Edits {
        /// Where the template lies.
        shown: String,
    },
    /// What the function was called with, and its defaults.
    Arguments,
}

/// A matcher and what it found.
#[derive(Debug, Clone, PartialEq)]
pub struct Because {
    /// Type and query, such as `G@os_family`.
    pub matcher: String,
    /// What is there on this minion.
    pub found: Value,
}

/// How a layer was merged.
#[derive(Debug, Clone, PartialEq)]
pub struct Merged {
    /// The strategy, by Salt's name.
    pub strategy: String,
    /// Whether lists are appended.
    pub merge_lists: bool,
    /// Who chose the strategy.
    pub chosen: Chosen,
}

impl Merged {
    pub(crate) fn new(options: &Options, chosen: Chosen) -> Self {
        Merged {
            strategy: options.strategy.to_string(),
            merge_lists: options.merge_lists,
            chosen,
        }
    }
}

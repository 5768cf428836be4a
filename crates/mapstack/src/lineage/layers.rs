//! The layers that made the data, as people ask about them.

use mapstack_merge::Options;
use mapstack_value::{Str, Value};

use crate::trace::Stage;
use mapstack_diagnostic::Place;

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
    /// As options say that nobody but the defaults decided on.
    #[cfg_attr(not(feature = "tera"), allow(dead_code))]
    pub(crate) fn by_default(options: &Options) -> Self {
        Merged {
            strategy: options.strategy.to_string(),
            merge_lists: options.merge_lists,
            chosen: Chosen::Default,
        }
    }
}

/// Who chose a strategy.
#[derive(Debug, Clone, PartialEq)]
pub enum Chosen {
    /// The layer itself, here if it is a file.
    Layer(Option<Place>),
    /// The formula's meta configuration, or the caller's arguments.
    Default,
    /// Nobody: it is what holds where nothing is said.
    BuiltIn,
}

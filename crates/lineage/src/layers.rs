//! The layers of the data, described for users.

use mapstack::hooks::{Moment, StrategyOrigin};
use mapstack::trace::DataStage;
use mapstack_diagnostic::Place;
use mapstack_merge::Options;
use mapstack_value::{Str, Value};

/// One contribution to the data. A lineage lists them in the order of merging.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    /// The part of `map.data` that merged the layer.
    pub stage: DataStage,
    /// The source definition as written, if the layer comes from one.
    pub definition: Option<Str>,
    /// The kind of layer.
    pub kind: LayerKind,
    /// The values that the definition's matchers found for this minion, which are the reason why it has this layer.
    pub because: Vec<MatchedValue>,
    /// The merge of the layer; `None` for initial data and for changes in place.
    pub merged: Option<LayerMerge>,
}

impl Layer {
    /// A layer that is initial data, or that changed the data in place.
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

/// The kind of a layer.
#[derive(Debug, Clone, PartialEq)]
pub enum LayerKind {
    /// A parameter file.
    File {
        /// The path relative to the file server's root.
        path: String,
        /// The path on disk, as a user would open it.
        shown: String,
    },
    /// A value from the minion's facts, from the data merged so far, or from the caller.
    Value,
    /// A template that changed the data in place.
    Edits {
        /// The path of the template on disk.
        shown: String,
    },
    /// An sls of a pillar or of states, without what it includes.
    Sls {
        /// Its name.
        sls: String,
        /// The environment.
        saltenv: String,
        /// The path on disk, as a user would open it.
        shown: String,
        /// Why the minion gets it: the sls that includes it, the one that includes that, …, the entries of top files.
        reasons: Vec<Reason>,
    },
    /// The data of an external pillar.
    External {
        /// Its name.
        name: String,
        /// The place in the configuration that names it.
        place: Option<Place>,
        /// The class or node that the values come from, if it has any.
        class: Option<String>,
        /// The path on disk of the file of the class, as a user would open it.
        shown: Option<String>,
    },
    /// The arguments of the function, and their defaults.
    Arguments,
    /// Values of the command line that win over the compiled pillar.
    PillarOverride,
    /// Values of unknown origin.
    Unknown,
}

/// The reason for which a minion gets an sls.
#[derive(Debug, Clone, PartialEq)]
pub enum Reason {
    /// Another sls includes it.
    Include {
        /// The name of that sls.
        sls: String,
        /// The place where it does, if that is known.
        place: Option<Place>,
    },
    /// An entry of a top file matches the minion.
    Target {
        /// The target.
        target: String,
        /// The matcher that reads it.
        matcher: String,
        /// The environment.
        saltenv: String,
        /// The place of the value.
        place: Option<Place>,
    },
}

/// A matcher and the value it found.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchedValue {
    /// Type and query, such as `G@os_family`.
    pub matcher: String,
    /// The value for this minion.
    pub found: Value,
}

/// The merge of a layer.
#[derive(Debug, Clone, PartialEq)]
pub struct LayerMerge {
    /// The strategy, by its name in Salt.
    pub strategy: String,
    /// True if lists are appended instead of replaced.
    pub merge_lists: bool,
    /// The place that chose the strategy.
    pub chosen: StrategyOrigin,
}

impl LayerMerge {
    pub(crate) fn new(options: &Options, chosen: StrategyOrigin) -> Self {
        LayerMerge {
            strategy: options.strategy.to_string(),
            merge_lists: options.merge_lists,
            chosen,
        }
    }
}

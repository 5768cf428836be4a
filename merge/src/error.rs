//! Why two values do not merge.

use mapstack_value::{Value, ValueKind};

use crate::{KeyPath, Strategy};

/// Two values cannot be merged with the strategy.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("cannot merge {} over {} at {path} with strategy {strategy}: {cause}", overlay.described(), base.described())]
pub struct MergeError {
    /// The kind of the base.
    pub base: ValueKind,
    /// The kind of the overlay.
    pub overlay: ValueKind,
    /// The path at which the two met.
    pub path: KeyPath,
    /// The strategy in force.
    pub strategy: Box<Strategy>,
    /// The problem.
    pub(crate) cause: MergeErrorCause,
    /// The reference's exception.
    pub(crate) class: Exception,
}

impl MergeError {
    pub(crate) fn new(
        base: &Value,
        overlay: &Value,
        strategy: &Strategy,
        cause: MergeErrorCause,
        class: Exception,
    ) -> Self {
        MergeError {
            base: base.kind(),
            overlay: overlay.kind(),
            path: KeyPath::default(),
            strategy: Box::new(strategy.clone()),
            cause,
            class,
        }
    }

    /// The Python exception that Salt raises here (`TypeError`, …).
    #[must_use]
    pub fn reference_class(&self) -> &'static str {
        self.class.name()
    }
}

/// The cause of a failed merge, and the advice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MergeErrorCause {
    /// The base is not a mapping.
    #[error("the data merged so far is not a mapping; let the earlier layers yield mappings")]
    BaseNotMapping,
    /// The overlay is not a mapping.
    #[error("a layer must be a mapping; write its data as `key: value`")]
    OverlayIsNoMapping,
    /// Strategy `list` looks for the base's keys in the overlay, which cannot be searched for keys.
    #[error("the overlay cannot be asked for this key; write it as a mapping")]
    NoSuchLookUp,
}

/// The Python exceptions that merging runs into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exception {
    Attribute,
    Index,
    Type,
    Value,
}

impl Exception {
    fn name(self) -> &'static str {
        match self {
            Exception::Attribute => "AttributeError",
            Exception::Index => "IndexError",
            Exception::Type => "TypeError",
            Exception::Value => "ValueError",
        }
    }
}

//! What goes wrong on the way to a pillar.

use mapstack_diagnostic::Error;

/// An error that a pillar keeps: the compile goes on, and the minion applies no states.
#[derive(Debug, Clone)]
pub struct PillarError {
    /// What the reference puts in the list `_errors`.
    pub text: String,
    /// What is wrong, where, and what to do.
    pub error: Error,
}

impl PillarError {
    pub(crate) fn new(text: impl Into<String>, error: Error) -> Self {
        PillarError {
            text: text.into(),
            error,
        }
    }
}

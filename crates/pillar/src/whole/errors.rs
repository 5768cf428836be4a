//! Errors on the way to a pillar.

use mapstack_diagnostic::Error;

/// An error that a pillar keeps: the compile continues, and the minion applies no states.
#[derive(Debug, Clone)]
pub struct PillarError {
    /// The text that the reference puts in the list `_errors`.
    pub text: String,
    /// The error, with its place and advice.
    pub error: Error,
    /// The subject.
    pub fault: Fault,
}

/// The subject of an error of a pillar.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// An external pillar, or the options of the master.
    #[default]
    External,
    /// A top file, or a saltenv that it names.
    Top,
    /// An sls that does not exist.
    Missing {
        /// Its name.
        sls: String,
        /// The environment.
        saltenv: String,
        /// The sls that includes it; otherwise a top file names it.
        included_by: Option<String>,
    },
    /// An sls that does not render.
    Failed {
        /// Its name.
        sls: String,
    },
    /// An sls that renders to something else than a mapping, or whose include is not a list.
    Shape {
        /// Its name.
        sls: String,
    },
}

impl PillarError {
    pub(crate) fn new(text: impl Into<String>, error: Error) -> Self {
        PillarError {
            text: text.into(),
            error,
            fault: Fault::default(),
        }
    }

    pub(crate) fn about(self, fault: Fault) -> Self {
        PillarError { fault, ..self }
    }
}

//! The parts of a file that the machine alone decides.

use mapstack_diagnostic::Error;

/// The reason for which something is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The source is fetched from elsewhere, by HTTP say.
    RemoteSource,
    /// The source, or one that comes before others, is a path of the machine.
    LocalSource,
    /// The data is merged into the file that is there.
    Existing,
    /// A template calls a function that nothing answers.
    Unanswered,
    /// An argument is the answer of a function when the state runs (Salt: slots).
    Slot,
    /// The way to make the bytes is not built in.
    NotBuiltIn,
    /// The limits of templates were reached.
    Limit,
}

impl Reason {
    /// The reason in few words.
    ///
    /// ```
    /// assert_eq!(mapstack_files::Reason::Slot.described(), "a slot");
    /// ```
    #[must_use]
    pub fn described(self) -> &'static str {
        match self {
            Reason::RemoteSource => "a source that is fetched from elsewhere",
            Reason::LocalSource => "a source on the machine",
            Reason::Existing => "a file that exists already",
            Reason::Unanswered => "a function without an answer",
            Reason::Slot => "a slot",
            Reason::NotBuiltIn => "something that is not built in",
            Reason::Limit => "the limits of templates",
        }
    }
}

/// Something that does not follow from the files and facts.
#[derive(Debug, Clone, PartialEq)]
pub struct Unknown {
    /// The kind of reason.
    pub reason: Reason,
    /// The reason in words, with names.
    pub why: String,
    /// The error with its place, if a template has one.
    pub error: Option<Box<Error>>,
}

impl Unknown {
    pub(crate) fn new(reason: Reason, why: impl Into<String>) -> Self {
        Unknown {
            reason,
            why: why.into(),
            error: None,
        }
    }
}

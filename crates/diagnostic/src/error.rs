//! Why something failed.

use std::fmt;
use std::sync::Arc;

use crate::redact::{Redact, Secrets};

use crate::message::Cause;
use crate::{Diagnostic, ErrorKind, Place, Severity, Step};

/// The result of an operation whose errors are for people.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why something failed.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Error(Box<Diagnostic>);

impl Error {
    /// An error of some kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Diagnostic {
            severity: Severity::Error,
            ..Diagnostic::warning(kind, message)
        }))
    }

    /// The error that a message is about, its kind kept.
    #[must_use]
    pub fn of(diagnostic: Diagnostic) -> Self {
        Error(Box::new(diagnostic))
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// All of the message.
    #[must_use]
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.0
    }

    /// Say where, unless that is known already.
    #[must_use]
    pub fn at(mut self, place: Option<Place>) -> Self {
        if self.0.place.is_none() {
            self.0.place = place;
        }
        self
    }

    /// Add advice, unless code closer to the mistake already added some.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        if self.0.help.is_none() {
            self.0.help = Some(help.into());
        }
        self
    }

    /// Keep the error of a lower layer that this one reports: it is the [`source`](std::error::Error::source).
    #[must_use]
    pub fn caused_by(mut self, cause: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.0.cause = Some(Cause(Arc::new(cause)));
        self
    }

    /// Add a circumstance.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.0.notes.push(note.into());
        self
    }

    /// Name files in another way, where there is one.
    #[must_use]
    pub fn with_files(mut self, name: impl Fn(&str) -> Option<String>) -> Self {
        for place in self
            .0
            .place
            .iter_mut()
            .chain(self.0.trace.iter_mut().map(|step| &mut step.place))
        {
            if let Some(file) = name(&place.file) {
                place.file = file;
            }
        }
        self
    }

    /// Change the places.
    #[must_use]
    pub fn with_places(mut self, change: impl Fn(&mut Place)) -> Self {
        self.0
            .place
            .iter_mut()
            .chain(self.0.trace.iter_mut().map(|step| &mut step.place))
            .for_each(change);
        self
    }

    /// Add steps on the way, outside those there are.
    #[must_use]
    pub fn trace(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
        self.0.trace.extend(steps);
        self
    }
}

impl From<Diagnostic> for Error {
    /// Make an error of a warning.
    fn from(warning: Diagnostic) -> Self {
        Error(Box::new(Diagnostic {
            severity: Severity::Error,
            kind: ErrorKind::Strict,
            ..warning
        }))
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        let cause = self.0.cause.as_ref()?;
        Some(&*cause.0)
    }
}

impl Redact for Error {
    fn redacted(&self, secrets: &Secrets) -> Self {
        Error::of(self.diagnostic().redacted(secrets))
    }

    fn all_redacted<'g>(given: impl IntoIterator<Item = &'g Self>, secrets: &Secrets) -> Vec<Self> {
        let diagnostics = given.into_iter().map(Error::diagnostic);
        let redacted = Diagnostic::all_redacted(diagnostics, secrets).into_iter();
        redacted.map(Error::of).collect()
    }
}

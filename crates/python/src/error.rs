//! Errors of a job, and their places.

use std::borrow::Cow;
use std::sync::Arc;

use mapstack_sandbox::protocol::{RefusalKind, Span};
use mapstack_value::Str;

pub(crate) type Result<T, E = Box<Error>> = std::result::Result<T, E>;

/// An error with the innermost place where it happened, and the way there.
#[derive(Debug, Clone)]
pub(crate) struct Error {
    pub(crate) kind: ErrorKind,
    /// The message, one sentence without place.
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    pub(crate) place: Option<SourceSpan>,
    /// The steps on the way there with their places, innermost first.
    pub(crate) trace: Vec<(String, SourceSpan)>,
}

/// Classes of failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ErrorKind {
    /// A Python exception of this class; the message names it.
    Raised(Cow<'static, str>),
    /// A refusal of the command's, by its number, and how templates see it.
    Refused(u32, RefusalKind),
    /// Something that templates cannot have.
    Forbidden,
    /// A template that was requested does not exist.
    NotFound,
    /// A limit was reached.
    Limit,
    /// Code needs something that does not exist, so nothing is known about what it would do.
    Unavailable,
    /// The interpreter itself failed.
    Broken,
}

/// A place in a source.
#[derive(Debug, Clone)]
pub(crate) struct SourceSpan {
    pub(crate) template: Option<Str>,
    pub(crate) source: Arc<str>,
    pub(crate) span: Span,
}

impl SourceSpan {
    fn is(&self, other: &Self) -> bool {
        self.template == other.template
            && self.span == other.span
            && Arc::ptr_eq(&self.source, &other.source)
    }
}

/// Deep recursion need not be shown frame by frame.
const MAX_TRACE: usize = 16;

impl Error {
    pub(crate) fn new(kind: ErrorKind, message: impl Into<String>) -> Box<Self> {
        Box::new(Error {
            kind,
            message: message.into(),
            help: None,
            place: None,
            trace: Vec::new(),
        })
    }

    /// A Python exception; the message names its class.
    pub(crate) fn raised(class: &'static str, message: impl Into<String>) -> Box<Self> {
        Self::new(ErrorKind::Raised(class.into()), message)
    }

    pub(crate) fn limit(message: impl Into<String>) -> Box<Self> {
        Self::new(ErrorKind::Limit, message)
    }

    pub(crate) fn with_help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = Some(help.into());
        self
    }

    /// Record where it happened, unless an inner place is known already.
    pub(crate) fn at(mut self: Box<Self>, place: impl FnOnce() -> SourceSpan) -> Box<Self> {
        if self.place.is_none() {
            self.place = Some(place());
        }
        self
    }

    /// Record a step of the way. Recursion passes the same places again and again.
    pub(crate) fn through(
        mut self: Box<Self>,
        what: impl Into<String>,
        place: SourceSpan,
    ) -> Box<Self> {
        let what = what.into();
        if self.trace.len() < MAX_TRACE
            && !self
                .trace
                .iter()
                .any(|(known, at)| *known == what && at.is(&place))
        {
            self.trace.push((what, place));
        }
        self
    }
}

/// The line of a byte of a text, counted from 1.
pub(crate) fn line_of(text: &str, byte: usize) -> usize {
    text.get(..byte).unwrap_or(text).matches('\n').count() + 1
}

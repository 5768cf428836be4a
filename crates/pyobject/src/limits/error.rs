//! Errors of templates, and their places.

use std::fmt;
use std::sync::Arc;

use mapstack_value::Str;

/// A byte range of the template's source (after newline normalisation).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The range that covers both.
    #[must_use]
    pub fn to(self, other: Span) -> Span {
        Span {
            start: self.start,
            end: other.end.max(self.end),
        }
    }
}

/// The result of anything a template does.
pub type Result<T, E = Box<Error>> = std::result::Result<T, E>;

/// An error raised while a template was loaded, parsed or run.
///
/// It carries the innermost place where it happened and the way there (includes, imports and
/// macro calls), so that a report can show the line of the file a person has to edit.
#[derive(Debug, Clone, PartialEq)]
pub struct Error {
    /// The class of the failure.
    pub kind: ErrorKind,
    /// The message, one sentence without place.
    pub message: String,
    /// The advice, if there is any.
    pub help: Option<String>,
    /// The function of Salt that was called and does not exist, if this is what happened.
    pub missing_function: Option<Str>,
    /// The place of the failure.
    pub place: Option<TemplatePlace>,
    /// The way to the place, innermost first.
    pub trace: Vec<Frame>,
}

/// Classes of failure, after the way Salt's renderer sorts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// Something undefined was used.
    Undefined,
    /// The template's syntax is wrong, or names an unknown filter, test or tag.
    Syntax,
    /// The template asked for something the sandbox forbids.
    Security,
    /// A Python exception of this class.
    Python(&'static str),
    /// An exception of this class in a Mako template or a Python module; the message names the class.
    Code(&'static str),
    /// A `salt[...]` function refused its call.
    Salt,
    /// A template that was requested does not exist.
    TemplateNotFound,
    /// `raise(...)` in the template.
    Raised,
    /// A resource limit was reached.
    Limit,
    /// A message that is complete as it is, from work that a template started.
    Nested,
    /// A program that the template needs is not installed; the message is complete as it is.
    Absent,
}

/// A place in a template's source.
#[derive(Clone)]
pub struct TemplatePlace {
    /// The template's name; `None` for a template given as text.
    pub template: Option<Str>,
    /// The source the span points into.
    pub source: Arc<str>,
    /// The bytes concerned.
    pub span: Span,
}

/// One step of the way to an error.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The step that was being done there ("in macro 'x'", "included from here").
    pub what: String,
    /// The place.
    pub place: TemplatePlace,
}

impl TemplatePlace {
    /// The line, counted from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        mapstack_diagnostic::line_and_column(&self.source, self.span.start as usize).0
    }

    /// The column in characters, counted from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        mapstack_diagnostic::line_and_column(&self.source, self.span.start as usize).1
    }
}

impl PartialEq for TemplatePlace {
    fn eq(&self, other: &Self) -> bool {
        self.template == other.template && self.span == other.span
    }
}

impl fmt::Debug for TemplatePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}",
            self.template.as_deref().unwrap_or("<template>"),
            self.line(),
            self.column()
        )
    }
}

impl Error {
    /// An error of some kind, without a place yet.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Box<Self> {
        Box::new(Error {
            kind,
            message: message.into(),
            help: None,
            missing_function: None,
            place: None,
            trace: Vec::new(),
        })
    }

    /// A Python `TypeError`.
    #[must_use]
    pub fn type_error(message: impl Into<String>) -> Box<Self> {
        Self::new(ErrorKind::Python("TypeError"), message)
    }

    /// A Python `ValueError`.
    #[must_use]
    pub fn value_error(message: impl Into<String>) -> Box<Self> {
        Self::new(ErrorKind::Python("ValueError"), message)
    }

    /// A Python exception of another class.
    #[must_use]
    pub fn python(class: &'static str, message: impl Into<String>) -> Box<Self> {
        Self::new(ErrorKind::Python(class), message)
    }

    /// A resource limit.
    #[must_use]
    pub fn limit(message: impl Into<String>) -> Box<Self> {
        Self::new(ErrorKind::Limit, message)
    }

    /// Add advice.
    #[must_use]
    pub fn with_help(mut self: Box<Self>, help: impl Into<String>) -> Box<Self> {
        self.help = Some(help.into());
        self
    }

    /// Say which function of Salt does not exist.
    ///
    /// ```
    /// use mapstack_pyobject::limits::{Error, ErrorKind};
    /// let error = Error::new(ErrorKind::Undefined, "nothing answers it").of_missing("user.info");
    /// assert_eq!(error.missing_function.as_deref(), Some("user.info"));
    /// ```
    #[must_use]
    pub fn of_missing(mut self: Box<Self>, function: impl Into<Str>) -> Box<Self> {
        self.missing_function = Some(function.into());
        self
    }

    /// Record where it happened, unless an inner place is known already.
    #[must_use]
    pub fn at(mut self: Box<Self>, place: impl FnOnce() -> TemplatePlace) -> Box<Self> {
        if self.place.is_none() {
            self.place = Some(place());
        }
        self
    }

    /// Record a step of the way.
    #[must_use]
    pub fn through(
        mut self: Box<Self>,
        what: impl Into<String>,
        place: TemplatePlace,
    ) -> Box<Self> {
        let frame = Frame {
            what: what.into(),
            place,
        };
        // Recursion passes the same places again and again.
        if self.trace.len() < MAX_TRACE && !self.trace.contains(&frame) {
            self.trace.push(frame);
        }
        self
    }
}

/// Deep recursion need not be shown frame by frame.
const MAX_TRACE: usize = 16;

impl fmt::Display for Error {
    /// The message in the words of Salt's renderer, without place.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            ErrorKind::Undefined => write!(f, "Jinja variable {}", self.message),
            ErrorKind::Syntax | ErrorKind::Security => {
                write!(f, "Jinja syntax error: {}", self.message)
            }
            ErrorKind::Salt => write!(
                f,
                "Problem running salt function in Jinja template: {}",
                self.message
            ),
            ErrorKind::Nested | ErrorKind::Absent | ErrorKind::Code(_) => {
                f.write_str(&self.message)
            }
            ErrorKind::Python(_)
            | ErrorKind::TemplateNotFound
            | ErrorKind::Raised
            | ErrorKind::Limit => {
                write!(f, "Jinja error: {}", self.message)
            }
        }
    }
}

impl std::error::Error for Error {}

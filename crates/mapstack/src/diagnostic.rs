//! Errors and warnings: what happened, where, why, and what to do.

use std::fmt;
use std::sync::Arc;

use mapstack_render::line_and_column;

/// The result of anything this crate does.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// How much a [`Diagnostic`] matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// Nothing can be returned.
    Error,
    /// The answer is the reference's, and probably not what was meant.
    Warning,
}

/// What an error is about, for programs that decide on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A data-source definition that cannot be read.
    Definition,
    /// A template that failed.
    Template,
    /// A template that uses something undefined.
    Undefined,
    /// Text that is no YAML.
    Yaml,
    /// Text that is no JSON.
    Json,
    /// A data source without the shape of one.
    DataSource,
    /// Data that cannot be merged.
    Merge,
    /// Meta configuration or arguments of a wrong type.
    Options,
    /// A look-up that cannot be made.
    Lookup,
    /// A minion document that is none.
    Facts,
    /// A stub file that is none.
    Stub,
    /// A file that cannot be read.
    File,
    /// A resource limit.
    Limit,
    /// Something that is not built in.
    Unsupported,
    /// A warning where warnings count as errors.
    Strict,
    /// What a linter found.
    Lint,
}

/// A place in a text.
#[derive(Clone, PartialEq)]
pub struct Place {
    /// The file, as a person would open it.
    pub file: String,
    /// Its text.
    pub source: Arc<str>,
    /// First byte concerned.
    pub start: usize,
    /// One past the last byte concerned.
    pub end: usize,
}

impl Place {
    /// The line, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        line_and_column(&self.source, self.start).0
    }

    /// The column in characters, from 1.
    #[must_use]
    pub fn column(&self) -> usize {
        line_and_column(&self.source, self.start).1
    }
}

impl fmt::Debug for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line(), self.column())
    }
}

/// A step on the way to an error.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// What was being done ("included from here").
    pub what: String,
    /// Where.
    pub place: Place,
}

/// One message to a person.
#[derive(Debug, Clone, PartialEq)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// What it is about.
    pub kind: ErrorKind,
    /// What happened.
    pub message: String,
    /// Where.
    pub place: Option<Place>,
    /// The way there, innermost first.
    pub trace: Vec<Step>,
    /// Circumstances.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Option<String>,
    /// What YAML has against the text, if that is what is wrong.
    pub yaml: Option<mapstack_yaml::ErrorKind>,
}

impl Diagnostic {
    /// A warning about what was looked for and where.
    pub fn warning(kind: ErrorKind, message: impl Into<String>) -> Self {
        Diagnostic {
            severity: Severity::Warning,
            kind,
            message: message.into(),
            place: None,
            trace: Vec::new(),
            notes: Vec::new(),
            help: None,
            yaml: None,
        }
    }

    /// Add advice.
    #[must_use]
    pub fn with_help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// The message and its place on one line.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = &self.place {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)?;
        if let Some(help) = &self.help {
            write!(f, " ({help})")?;
        }
        Ok(())
    }
}

/// Why there is no answer.
#[derive(Clone, PartialEq)]
pub struct Error(Box<Diagnostic>);

impl Error {
    /// An error of some kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Error(Box::new(Diagnostic {
            severity: Severity::Error,
            ..Diagnostic::warning(kind, message)
        }))
    }

    pub(crate) fn of(diagnostic: Diagnostic) -> Self {
        Error(Box::new(diagnostic))
    }

    /// What it is about.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Everything there is to tell.
    #[must_use]
    pub fn diagnostic(&self) -> &Diagnostic {
        &self.0
    }

    pub(crate) fn at(mut self, place: Option<Place>) -> Self {
        if self.0.place.is_none() {
            self.0.place = place;
        }
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        if self.0.help.is_none() {
            self.0.help = Some(help.into());
        }
        self
    }

    pub(crate) fn of_yaml(mut self, kind: &mapstack_yaml::ErrorKind) -> Self {
        self.0.yaml = Some(kind.clone());
        self
    }

    /// Add a circumstance.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.0.notes.push(note.into());
        self
    }

    /// Name files in another way, where there is one.
    pub(crate) fn with_files(mut self, name: impl Fn(&str) -> Option<String>) -> Self {
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
    pub(crate) fn with_places(mut self, change: impl Fn(&mut Place)) -> Self {
        self.0
            .place
            .iter_mut()
            .chain(self.0.trace.iter_mut().map(|step| &mut step.place))
            .for_each(change);
        self
    }

    pub(crate) fn trace(mut self, steps: impl IntoIterator<Item = Step>) -> Self {
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

impl std::error::Error for Error {}

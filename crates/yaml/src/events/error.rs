//! Why a text has no further events.

use std::fmt;

use crate::events::Mark;

/// Why a text was refused, and where, in libyaml's words.
///
/// ```
/// use mapstack_yaml::events::{Events, Phase};
/// let error = Events::of("[1, 2").unwrap().find_map(Result::err).unwrap();
/// assert_eq!(
///     error.to_string(),
///     "while parsing a flow sequence: did not find expected ',' or ']' at line 2, column 1"
/// );
/// assert_eq!(error.phase, Phase::Parser);
/// assert_eq!(Events::of("\u{7}").err().unwrap().phase, Phase::Reader);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Error {
    /// The part of the grammar that refused it.
    pub phase: Phase,
    /// The construct that was being read, if that says more.
    pub context: Option<Context>,
    /// The problem.
    pub problem: &'static str,
    /// The place of the error.
    pub mark: Mark,
}

/// The construct that was being read when an [`Error`] came up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Context {
    /// The thing that was read.
    pub what: &'static str,
    /// Its start.
    pub start: Mark,
}

/// The parts of YAML's grammar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// The check of the characters.
    Reader,
    /// Characters to tokens.
    Scanner,
    /// Tokens to structure.
    Parser,
}

impl Error {
    pub(crate) fn scanner(
        what: &'static str,
        start: Mark,
        problem: &'static str,
        mark: Mark,
    ) -> Self {
        Error::inside(Phase::Scanner, Context { what, start }, problem, mark)
    }

    pub(crate) fn parser(
        what: &'static str,
        start: Mark,
        problem: &'static str,
        mark: Mark,
    ) -> Self {
        Error::inside(Phase::Parser, Context { what, start }, problem, mark)
    }

    fn inside(phase: Phase, context: Context, problem: &'static str, mark: Mark) -> Self {
        Error {
            phase,
            context: Some(context),
            problem,
            mark,
        }
    }

    pub(crate) fn alone(phase: Phase, problem: &'static str, mark: Mark) -> Self {
        Error {
            phase,
            context: None,
            problem,
            mark,
        }
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(context) = self.context {
            write!(f, "{}: ", context.what)?;
        }
        let (line, column) = (self.mark.line + 1, self.mark.column + 1);
        write!(f, "{} at line {line}, column {column}", self.problem)
    }
}

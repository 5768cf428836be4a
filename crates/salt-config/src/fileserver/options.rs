//! Reading options as Salt does.

use mapstack_value::{Map, Value};

use mapstack_diagnostic::{Diagnostic, Distinct, Error, ErrorKind, Result};

/// Options, and messages about them.
pub(super) struct Options<'o> {
    all: &'o Map,
    pub(super) warnings: Distinct,
}

impl<'o> Options<'o> {
    pub(super) fn new(all: &'o Map) -> Self {
        Options {
            all,
            warnings: Distinct::default(),
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&'o Value> {
        self.all.get(name)
    }

    /// All options.
    #[cfg(feature = "git")]
    pub(super) fn all(&self) -> &'o Map {
        self.all
    }

    pub(super) fn warn(&mut self, warning: Diagnostic) {
        self.warnings.insert(warning);
    }

    pub(super) fn warn_of(&mut self, message: String, help: impl Into<String>) {
        self.warn(Diagnostic::warning(ErrorKind::Options, message).with_help(help));
    }

    /// The names of all options.
    #[cfg(feature = "git")]
    pub(super) fn names(&self) -> impl Iterator<Item = String> + use<'o> {
        self.all.keys().map(ToString::to_string)
    }

    /// True if a switch is on.
    pub(super) fn switch(&self, name: &str, default: bool) -> Result<bool> {
        match self.get(name) {
            None => Ok(default),
            Some(Value::Bool(on)) => Ok(*on),
            Some(other) => Err(error(format!(
                "`{name}` must be true or false, not {}",
                other.kind().described()
            ))),
        }
    }

    /// A text, or several.
    pub(super) fn texts(&self, name: &str) -> Result<Vec<String>> {
        match self.get(name) {
            None => Ok(Vec::new()),
            Some(Value::Str(one)) => Ok(Some(one.to_string())
                .filter(|one| !one.is_empty())
                .into_iter()
                .collect()),
            Some(Value::List(several)) => Ok(several.iter().map(ToString::to_string).collect()),
            Some(other) => Err(error(format!(
                "`{name}` must be a text or a list of texts, not {}",
                other.kind().described()
            ))),
        }
    }
}

pub(super) fn error(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Options, message.into())
}

//! Mistakes in a schema, and in a value.

use std::fmt;

use mapstack_value::Key;

/// A document that is not a valid schema.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}{message}", if at.is_empty() { String::new() } else { format!("{}: ", at.join("/")) })]
pub struct SchemaError {
    /// The keys to what is wrong in it.
    pub at: Vec<String>,
    /// The message.
    pub message: String,
}

/// A violation of a schema by a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// The keys and indices to the part that is wrong.
    pub path: Vec<Key>,
    /// The message.
    pub message: String,
    /// The same without the value.
    pub masked: String,
    /// True if only the whole data can show it: something is missing, or what is wrong depends on other keys. A
    /// layer by itself is incomplete.
    pub needs_whole: bool,
    /// The key of the mapping at the path that should not be there.
    pub unexpected: Option<String>,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path
            .iter()
            .enumerate()
            .try_for_each(|(at, key)| write!(f, "{}{key}", if at == 0 { "" } else { ":" }))?;
        let colon = if self.path.is_empty() { "" } else { ": " };
        write!(f, "{colon}{}", self.message)
    }
}

//! The way to the bytes of a file.

use std::sync::Arc;

use mapstack_value::Map;

use crate::unknown::Unknown;

/// The way to the bytes of a file.
#[derive(Debug, Clone)]
pub(crate) enum ContentPlan {
    Nothing,
    Bytes(Arc<[u8]>),
    /// A file of the file server as it is.
    Served(String),
    /// A template of the file server, or in a state.
    Template(Box<Template>),
    /// Texts that follow each other.
    Texts(Vec<ContentPlan>, FragmentOrder),
    Unknown(Unknown),
    /// Salt refuses the state.
    Failed(String),
}

/// The way in which the texts of a fragment follow each other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum FragmentOrder {
    /// Each line ends.
    Lines,
    /// Between two lines that mark them.
    Between(Marks),
}

/// The lines around a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Marks {
    pub start: String,
    pub end: String,
    /// True for a line break after the text. By default, the text ends with one.
    pub newline: Option<bool>,
}

#[derive(Debug, Clone)]
pub(crate) struct Template {
    pub engine: String,
    pub from: From,
    /// The name of the text in messages.
    pub shown: String,
    pub variables: Map,
    pub context: Map,
    /// The encoding of the result and what happens to characters that it lacks.
    pub encoding: Option<(String, String)>,
}

#[derive(Debug, Clone)]
pub(crate) enum From {
    /// A URL of the file server.
    Url(String),
    /// The text of an argument.
    Text(String),
}

impl ContentPlan {
    pub fn bytes(text: impl AsRef<[u8]>) -> Self {
        ContentPlan::Bytes(text.as_ref().into())
    }

    pub fn failed(why: impl Into<String>) -> Self {
        ContentPlan::Failed(why.into())
    }
}

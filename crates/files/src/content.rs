//! The content that a state gives a file.

use std::sync::Arc;

use mapstack::{NOT_FETCHED, unanswered_by};
use mapstack_diagnostic::{Error, ErrorKind};

use crate::unknown::{Reason, Unknown};

/// The content that a state gives a file.
#[derive(Debug, Clone, PartialEq)]
pub enum Content {
    /// The bytes of a file, or of a fragment of one.
    Bytes(Arc<[u8]>),
    /// Without bytes: a directory, a link, or a file whose content is not managed.
    Nothing,
    /// The bytes do not follow from the files and facts.
    Unknown(Unknown),
    /// Salt refuses the state.
    Failed(Box<Error>),
}

/// The content that an error leaves: unknown if only an answer is missing.
pub(crate) fn of_error(error: Error) -> Content {
    let diagnostic = error.diagnostic();
    let says = |words: &str| diagnostic.message.contains(words);
    let is_slip = diagnostic
        .help
        .as_deref()
        .is_some_and(|help| help.starts_with("did you mean"));
    let is_unanswered =
        unanswered_by(&error).is_some() || says(NOT_FETCHED) || says("] has no answer: ");
    let reason = match error.kind() {
        ErrorKind::Limit => Reason::Limit,
        _ if is_unanswered => Reason::Unanswered,
        ErrorKind::Unsupported if !is_slip => Reason::NotBuiltIn,
        _ => return Content::Failed(Box::new(error)),
    };
    Content::Unknown(Unknown {
        reason,
        why: diagnostic.message.clone(),
        error: Some(Box::new(error)),
    })
}

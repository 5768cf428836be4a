//! Errors of files.

use mapstack_diagnostic::{Error, ErrorKind};
use mapstack_loader::LoadError;

/// A file or directory that cannot be read.
pub fn unreadable(error: &LoadError) -> Error {
    let kind = match error {
        LoadError::Limit { .. } => ErrorKind::Limit,
        _ => ErrorKind::File,
    };
    Error::new(kind, error.to_string())
}

//! The crate's errors as messages for people.

use std::sync::Arc;

use mapstack_diagnostic::{Error, ErrorKind, Place};

use crate::{LookupError, ReadError};

impl From<LookupError> for Error {
    fn from(e: LookupError) -> Self {
        Error::new(ErrorKind::Lookup, e.to_string())
    }
}

impl From<ReadError> for Error {
    fn from(e: ReadError) -> Self {
        let message = e.kind.to_string();
        // The error names the file; its text is read again for the excerpt.
        let place = e.place.mark.and_then(|mark| {
            let source: Arc<str> = std::fs::read_to_string(&e.place.file).ok()?.into();
            let start = mark.offset(&source);
            Some(Place {
                file: e.place.file.clone(),
                source,
                start,
                end: start,
            })
        });
        match place {
            Some(place) => Error::new(ErrorKind::Facts, message).at(Some(place)),
            None => Error::new(ErrorKind::Facts, e.to_string()),
        }
    }
}

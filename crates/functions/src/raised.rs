//! Errors that functions raise.

use mapstack_pyobject::{Error, ErrorKind, Frame, TemplatePlace};
use mapstack_salt_jinja::ast::Span;

/// An error for people as one that a function raises inside a template.
#[must_use]
pub fn failed(e: &mapstack_diagnostic::Error) -> Box<Error> {
    let diagnostic = e.diagnostic();
    let place = |place: &mapstack_diagnostic::Place| TemplatePlace {
        template: Some(place.file.as_str().into()),
        source: place.source.clone(),
        span: Span {
            start: offset(place.start),
            end: offset(place.end),
        },
    };
    let mut error = Error::new(ErrorKind::Nested, &*diagnostic.message);
    error.help.clone_from(&diagnostic.help);
    error.place = diagnostic.place.as_ref().map(place);
    error.trace = diagnostic
        .trace
        .iter()
        .map(|s| Frame {
            what: s.what.clone(),
            place: place(&s.place),
        })
        .collect();
    error
}

/// Sources are smaller than 4 GiB.
fn offset(byte: usize) -> u32 {
    u32::try_from(byte).unwrap_or(u32::MAX)
}

/// An error that Salt itself raises about how a function is used.
pub(crate) fn refused(message: impl Into<String>) -> Box<Error> {
    Error::new(ErrorKind::Salt, message)
}

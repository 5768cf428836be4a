//! Errors and warnings for people: what happened, where, why, and what to do.
//!
//! A [`Diagnostic`] is one message. An [`Error`] is one that ended an operation; the error of a lower layer that it
//! reports is its [`source`](std::error::Error::source), and keeps its type. `Display` is the short form,
//! on one line; longer forms are up to the caller.
//!
//! ```
//! use mapstack_diagnostic::{Error, ErrorKind, Place, nearest};
//! let place = Place { file: "web1.yaml".into(), source: "id: web1\ngrians: {}\n".into(), start: 9, end: 15 };
//! let error = Error::new(ErrorKind::Facts, "a minion has no 'grians'").at(Some(place));
//! let error = error.help(format!("did you mean '{}'?", nearest("grians", ["grains", "pillar"]).unwrap()));
//! assert_eq!(error.to_string(), "web1.yaml:2:1: a minion has no 'grians' (did you mean 'grains'?)");
//! ```
//!
//! The crate does not know about templates, YAML, files or terminals.

mod error;
mod message;
mod place;
mod suggest;

pub use error::{Error, Result};
pub use message::{Cause, Diagnostic, ErrorKind, Severity, Step};
pub use place::{Place, line_and_column};
pub use suggest::nearest;

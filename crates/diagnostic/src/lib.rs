//! Errors and warnings for people: what happened, where, why, and what to do.
//!
//! The crate does not know about templates, YAML, files or terminals.
//!
#![doc = include_str!("../README.md")]

mod address;
mod error;
mod means;
mod message;
mod place;
pub mod redact;
mod sanitize;
mod suggest;
mod words;

pub use address::without_login;
pub use error::{Error, Result};
pub use means::Means;
pub use message::{Cause, Diagnostic, Distinct, ErrorKind, Severity, Step, message_text};
pub use place::{KeyedText, Place, line_and_column};
pub use sanitize::{is_acting, named, sanitize};
pub use suggest::nearest;

//! The limits of rendering a template, and the errors of templates.
//!
//! The crate does not know about objects, the languages of templates, files, minions or functions of Salt.
//!
#![doc = include_str!("../README.md")]

pub mod depth;
mod error;
pub mod ledger;
mod limits;

pub use error::{Error, ErrorKind, Frame, Result, Span, TemplatePlace};
pub use limits::{Deadline, Limits, MemoryLimit};

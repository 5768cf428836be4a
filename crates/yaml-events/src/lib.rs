//! The events of a YAML 1.1 text by libyaml's grammar, with positions.
//!
//! The crate does not know about types of scalars, values, files or templates.
//!
#![doc = include_str!("../README.md")]

mod bytes;
mod cursor;
mod error;
mod event;
mod parser;
mod scanner;
mod token;

pub use error::{Context, Error, Phase};
pub use event::{Event, EventKind, Mark, Node, Scalar, Style};
pub use parser::Events;

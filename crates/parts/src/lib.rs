//! Parts of a fleet that are computed apart, and the whole that they make.
//!
//! The crate does not know about command lines, files of minions, templates, terminals or exit codes.
//!
#![doc = include_str!("../README.md")]
//!
//! A file of a part is text: JSON on lines, which [`line`](self) describes by its types, and the SHA-256 of all of them
//! on the last line. Whoever reads one takes any bytes without a panic and within bounded memory.

mod error;
mod line;
mod merge;
mod message;
mod reader;
mod writer;

pub use error::PartError;
pub use line::{End, Run};
pub use merge::Parts;
pub use writer::PartWriter;

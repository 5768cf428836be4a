//! The data that nodes get from the classes they inherit from, as [`saltclass`] and [`reclass`] compute it.
//!
//! The crate does not know about templates, masters, pillars of other kinds or command lines.
//!
#![doc = include_str!("../README.md")]

mod files;
mod host;
mod origins;
pub mod reclass;
pub mod saltclass;

pub use host::Host;
pub use origins::{ClassFile, FilePlace, Origin, Origins, Turn};

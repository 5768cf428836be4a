//! Text as Python's standard library works on it.
//!
//! The crate does not know about values, YAML, files or templates.
//!
#![doc = include_str!("../README.md")]

pub mod base64;
pub mod case;
pub mod classes;
pub mod codec;
pub mod float;
mod fnmatch;
pub mod markup;
pub mod number;
pub mod posixpath;
mod repr;
pub mod shlex;
pub mod spec;
pub mod split;

pub use fnmatch::{Fnmatch, fnmatch, has_magic};
pub use repr::{float_repr, is_printable, quote_bytes, quote_str};

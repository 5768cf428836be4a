//! Where answers are written.
//!
//! The crate does not know about command lines, terminals or exit codes.
//!
#![doc = include_str!("../README.md")]

mod all;
mod file;
mod sink;

pub use all::{Done, Output, Written, write_fleet, write_minions};
pub use file::{Replacement, replace, replace_unchanged};
pub use sink::Sink;

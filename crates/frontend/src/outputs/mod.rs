//! Writes answers.
//!
//! `mapstack-report` makes texts; this crate puts them somewhere: `replace` writes a file whole or not at all,
//! `Sink` takes the minions of a fleet as they are done, and `write_fleet` works them out and hands them to one.

mod all;
mod file;
mod sink;

pub use all::{Done, Output, Unwritten, Written, write_fleet, write_minions};
pub(crate) use file::of_file;
pub use file::{Replacement, replace, replace_unchanged};
pub use sink::Sink;

//! Writes answers.
//!
//! `mapstack-report` makes texts; this crate puts them somewhere: `replace` writes a file whole or not at all,
//! `write_proposal` does so with all files of a converted formula, `Sink` takes the minions of a fleet as they are done, and `write_fleet` works them out and hands them to one.

mod all;
mod converted;
mod file;
mod sink;

pub use all::{MinionResult, Output, OutputError, WrittenResults, write_fleet, write_minions};
pub use converted::write_proposal;
pub(crate) use file::of_file;
pub use file::{Replacement, replace, replace_unchanged};
pub use sink::Sink;

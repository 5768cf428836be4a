//! Where answers are written.
//!
//! `mapstack-report` makes texts; this crate puts them somewhere: [`replace`] writes a file whole or not at all,
//! [`Sink`] takes the minions of a fleet as they are done, and [`write_fleet`] works them out and hands them to one.
//!
//! The crate does not know about command lines, terminals or exit codes.

mod all;
mod file;
mod sink;

pub use all::{Written, write_fleet};
pub use file::replace;
pub use sink::Sink;

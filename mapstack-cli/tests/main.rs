//! The tests of the crate, in one program: each one more would link everything once more.

mod common;

#[cfg(unix)]
mod cases;
#[cfg(unix)]
mod console;
mod convert;
mod definitions;
mod diff_pillars;
mod estate;
mod explain;
mod fetch;
mod fleet;
mod gitfs;
mod hostile;
mod impact;
mod limits;
mod lint;
mod minions;
mod pillar;
mod pipelines;
mod project;
mod readme;
mod sandbox;
mod schemas;
mod secrets;
mod test;
mod usage;
mod watch;

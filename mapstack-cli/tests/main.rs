//! The tests of the crate, in one program: each one more would link everything once more.

mod common;

#[cfg(unix)]
mod cases;
mod config;
#[cfg(unix)]
mod console;
mod convert;
mod definitions;
mod diff_pillars;
mod estate;
mod explain;
mod explain_pillar;
mod fetch;
mod fleet;
mod functions;
mod gitfs;
mod hostile;
mod impact;
mod limits;
mod lint;
mod messages;
mod minions;
mod pillar;
mod pipelines;
mod project;
mod readme;
mod render;
mod sandbox;
mod schemas;
mod secrets;
mod sources_pillar;
mod test;
mod tree_python;
mod usage;
mod watch;

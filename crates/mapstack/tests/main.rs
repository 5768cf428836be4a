//! The tests of the crate, in one program: each one more would link everything once more.

mod collect;
mod common;
mod deployed;
#[path = "common/messages.rs"]
mod messages;
mod serving;
#[path = "common/tables.rs"]
mod tables;

// The file server for tests, `serving`, finds the crate's types here.
use mapstack::loader;

mod differences;
mod documented;
mod errors;
mod fold;
mod functions;
mod hooks;
mod pipes;
mod printing;
mod python_library;
mod recorded_calls;
mod rendered;
mod scenarios;
mod secrets;
mod sharing;
mod skeletons;
mod snapshot;
mod tree_grains;
mod tree_modules;
mod tree_renderers;
mod tree_runners;

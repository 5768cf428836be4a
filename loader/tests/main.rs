//! The tests of the crate, in one program: each one more would link everything once more.

mod common;
mod fetch;
#[cfg(feature = "fetch")]
mod git_server;
mod mount;
mod roots;
mod snapshot;
mod tree;

use mapstack_loader as loader;

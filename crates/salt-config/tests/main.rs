//! The tests of the crate, in one program: each one more would link everything once more.

mod config;
mod gitfs;
#[path = "../../mapstack/tests/common/messages.rs"]
mod messages;
mod mount;
mod tree;

//! The tests of the crate, in one program: each one more would link everything once more.

mod config;
mod gitfs;
mod mount;
mod tree;

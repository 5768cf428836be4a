//! The tests of the crate, in one program: each one more would link everything once more.

mod common;

mod aliases;
mod edges;
mod goldens;
mod laws;

//! The tests of the crate, in one program: each one more would link everything once more.

mod json;
mod json_reader;
mod kinds;
mod laws;
mod posixpath;
mod serde;

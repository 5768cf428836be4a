//! The tests of the crate, in one program: each one more would link everything once more.

mod mine;
mod parts;
mod recorded;
mod refused;

//! The tests of the crate, in one program.

mod libmapstack;
mod shared;
mod tables;
mod tofs;

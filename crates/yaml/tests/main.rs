//! The tests of the crate, in one program: each one more would link everything once more.

#[path = "common/marked.rs"]
mod marked;

mod errors;
mod events;
mod goldens;
mod judge;
mod laws;
mod loading;
mod skeleton;
mod yamlex;

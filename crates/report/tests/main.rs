//! The tests of the crate, in one program: each one more would link everything once more.

mod contrast;
mod forms;
mod page;
mod schemas;

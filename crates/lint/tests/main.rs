//! The tests of the crate, in one program: each one more would link everything once more.

mod common;

mod cases;
mod docs;
mod estates;
mod fixes;
mod levels;
mod pillar_cases;

//! The state compiler beside real Salt's: `cargo xtask reference` records again what that makes.

mod growth;
mod high_data;
mod missing;
mod names;
mod older;
mod shared;
mod trees;
mod words;

//! What a command says on standard error, and how it ends.
//!
//! The crate does not know about verbs, or about what they print on standard output.
//!
#![doc = include_str!("../README.md")]

mod failure;
mod long;
mod minions;
mod reporter;

pub use failure::Failure;
pub use long::{INTERRUPTED, interrupted, progress};
pub use minions::{Whole, report_minions};
pub use reporter::Reporter;

//! Finds the mistakes in Salt pillars that no compile reports.
//!
//! The crate does not know about formulas, command lines, output formats or terminals.
//!
#![doc = include_str!("../README.md")]

mod examined;
mod files;
mod linter;
mod naming;
mod rules;
mod seen;

pub use linter::{Minions, PillarLinter};

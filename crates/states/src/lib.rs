//! Finds the sls that minions get: those of top files, and those that sls include.
//!
//! The crate does not know about pillars, how sls become high and low data, command lines or output formats.
//!
#![doc = include_str!("../README.md")]

mod available;
mod gather;
mod options;
mod top;

pub use gather::{Gathered, Gatherer, GotSls, Problem, ProblemKind, Rendered, included};
pub use options::{Strategy, TopOptions};
pub use top::{Entry, Top};

//! JSON Schema for layered configuration.
//!
//! The crate does not know about files, layers' order, templates or minions.
//!
#![doc = include_str!("../README.md")]

#[cfg(feature = "check")]
mod check;
mod infer;
mod json;
#[cfg(not(feature = "check"))]
mod no_check;
mod violation;

#[cfg(feature = "check")]
pub use check::Schema;
#[cfg(not(feature = "check"))]
pub use no_check::Schema;
pub use violation::{SchemaError, Violation};

/// True if values can be checked, which takes the feature `check`.
pub const CHECKS: bool = cfg!(feature = "check");
pub use infer::infer;

//! JSON Schema for layered configuration.
//!
//! The crate does not know about files, layers' order, templates or minions.
//!
#![doc = include_str!("../README.md")]

mod check;
mod infer;
mod json;

pub use check::{Schema, SchemaError, Violation};
pub use infer::infer;

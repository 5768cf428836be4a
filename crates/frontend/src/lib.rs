//! The parts that all verbs of the command share: flags to inputs, answers to files and terminals.
//!
//! The crate does not know about verbs or which of them is running.
//!
#![doc = include_str!("../README.md")]

pub mod budget;
pub mod console;
pub mod host;
pub mod inputs;
pub mod outputs;
pub mod parts;

//! Printing for commands: messages on standard error, answers on standard output, and the exit status.
//!
//! The crate does not know about verbs or their answers.
//!
#![doc = include_str!("../README.md")]

mod failure;
pub mod keeping;
mod long;
mod minions;
pub mod output;
mod reporter;

pub use failure::Failure;
pub use long::{Counted, INTERRUPTED, interrupted, shown_while};
pub use minions::{
    Whole, not_read, report_minions, report_not_compared, report_reasons, report_unread,
};
pub use reporter::Reporter;

//! Finds the mistakes in Salt formulas that no run reports.
//!
//! The crate does not know about command lines, output formats or terminals.
//!
#![doc = include_str!("../README.md")]
//!
//! | you want | look at |
//! |---|---|
//! | to check a formula | [`Linter`] |
//! | what a rule is about | [`Rule`] |
//! | to silence a finding in a file | [`suppress`] |
//! | to change files | [`fix`] |

mod document;
mod finding;
pub mod fix;
mod linter;
mod mask;
mod names;
mod origins;
mod rule;
mod rules;
mod states;
mod subject;
pub mod suppress;
mod templates;
mod work;

pub use finding::{Edit, Finding, Level};
pub use linter::{Linter, Report, SchemaFrom};
pub use rule::Rule;
pub use rules::Unanswered;
pub use subject::Looked;

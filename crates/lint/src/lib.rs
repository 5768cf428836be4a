//! Finds the mistakes in Salt formulas and pillars that no run reports.
//!
//! The crate does not know about command lines, output formats or terminals.
//!
#![doc = include_str!("../README.md")]
//!
//! | you want | look at |
//! |---|---|
//! | to check a formula | [`Linter`] |
//! | to report findings of other rules alike | [`LintReport::of`] |
//! | what a rule is about | [`Rule`] |
//! | to silence a finding in a file | [`suppress`] |
//! | to change files | [`fix`] |

mod closures;
mod compiled;
mod document;
mod estate;
mod finding;
pub mod fix;
mod grains;
mod levels;
mod linter;
mod lookups;
mod mask;
mod misuse;
mod names;
mod origins;
pub mod pillar;
mod report;
mod rule;
mod rules;
pub mod schema;
pub mod since;
mod states;
mod subject;
pub mod suppress;
mod templates;
mod work;

pub use document::{Content, Document, Scalar, SourceFile};
pub use estate::{Estate, SlsCounts};
pub use finding::{Edit, Finding, Level};
pub use grains::GrainWarnings;
pub use levels::Levels;
pub use linter::{Linter, SchemaFrom};
pub use lookups::pillar_keys;
pub use mapstack_states::TopOptions;
pub use report::{LintReport, Sources};
pub use rule::Rule;
pub use rules::{
    CallsWithoutAnswer, NOT_FETCHED, Violations, accidents, joined, not_checked, of_assumed_grains,
    offline, on, origin, read_schema, rule_of_failure, traps, unanswered_by,
};
pub use subject::FileCounts;

//! Every form in which answers are printed.
//!
//! The crate does not know about command lines, files that are written, exit codes or which minions are selected.
//!
#![doc = include_str!("../README.md")]
//!
//! | you want | look at |
//! |---|---|
//! | messages with excerpts of files | [`message`] |
//! | data as YAML or JSON | [`values`] |
//! | what programs read | [`document`] |
//! | a value on a line, or a change line by line | [`yaml_form`] |
//! | where values come from | [`explain`] |
//! | what a change does to a fleet | [`diff`], and what a file reaches: [`impact`] |
//! | a line, document or row for each minion | [`fleet`] |
//! | findings of the linter | [`lint`] |
//! | results of recorded expectations | [`mod@test`] |
//! | a formula that is converted, and the proof | [`convert`] |
//!
//! # Features
//!
//! - `html` (on by default): pages for a browser
//! - `schemas`: the JSON Schemas of what is printed, for the tests that compare them with `docs/*.schema.json`

pub mod config;
pub mod convert;
pub mod diff;
pub mod document;
pub mod estate;
pub mod explain;
pub mod files;
pub mod fleet;
pub mod fleet_files;
pub mod fleet_states;
pub mod impact;
pub mod left_out;
mod line_diff;
pub mod lint;
mod masked_options;
pub mod message;
pub mod minions;
mod origin;
#[cfg(feature = "html")]
pub mod page;
pub mod parse;
pub mod pillar;
pub mod platforms;
mod room;
pub mod sandbox;
#[cfg(feature = "schemas")]
pub mod schemas;
pub mod sources;
pub mod states;
pub mod terminal;
pub mod test;
pub mod values;
pub mod words;
pub mod yaml_form;

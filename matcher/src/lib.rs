//! The small language in which a Salt formula says where its configuration comes from.
//!
//! The crate does not know about values, files, or where facts live.
//!
#![doc = include_str!("../README.md")]
//!
//! # Syntax
//!
//! ```text
//! definition := ["Y!"] single *("|" single)
//! single     := [head "@"] query *("@" ignored)
//! head       := type [":" options [":" delimiter *(":" ignored)]]
//!             | "Y" [":" type [":" delimiter *(":" ignored)]]
//! options    := option *("," option)
//! type       := "C" | "G" | "I" | "M" | "U" | "P"
//! ```
//!
//! Nothing is trimmed and nothing can be escaped: a query cannot contain `|` or `@`. The pieces
//! marked *ignored* are ignored by the reference, too. A delimiter of `:` is what an empty one
//! means, and what a fourth, empty piece of the head forces (`C:SUB::@x`).
//!
//! A definition leads to YAML files if it begins with `Y!`, if its first head is the old `Y`
//! (`Y:G@os`), or if its first single has no head at all (`roles`, `defaults.yaml`). All others are
//! data themselves. The syntax is that of saltext-formula's `salt['map.data']`.

mod chain;
mod definition;
mod display;
mod error;
mod evaluate;
mod invalid;
mod matcher;
mod mode;
mod parse;
mod path;
mod problem;

pub use definition::Definition;
pub use error::ParseError;
pub use evaluate::{MAX_PATHS, PathRules, Paths, TooManyPaths};
pub use invalid::InvalidDefinition;
pub use matcher::{Matcher, MatcherKind};
pub use mode::{Mode, Spelling};
pub use path::{has_file_suffix, join, variants};
pub use problem::DefinitionProblem;

//! The files that the states of a minion manage (Salt: `salt.states.file`).
//!
//! Content that follows from the file server, templates and data is computed. Content that depends on the machine is unknown,
//! with its reason. The crate does not know about top files, minions' sls, command lines or output formats.
//!
#![doc = include_str!("../README.md")]

mod accumulators;
mod arguments;
mod attributes;
mod content;
mod contents;
mod exhausting;
mod file;
mod files;
mod fragments;
mod making;
mod managed;
mod minion_files;
mod plan;
mod recurse;
mod serialize;
mod shared;
mod simple;
mod source;
mod texts;
mod unknown;

pub use attributes::Attributes;
pub use content::Content;
pub use file::{ManagedFile, ManagedKind, ManagingState};
pub use files::ManagedFiles;
pub use making::{ContentMethod, Rendering};
pub use shared::{FileOfMinion, MadeFile, SharedFiles};
pub use source::{Candidate, FileSource, SourceLookup};
pub use unknown::{Reason, Unknown};

//! Turns the `map.jinja` of a Salt formula into layers of `map.data`, and proves that nothing changes.
//!
//! The crate does not know about directories, command lines, output formats or terminals.
//!
#![doc = include_str!("../README.md")]
//!
//! | you want | look at |
//! |---|---|
//! | the files of a formula | [`Formula`] |
//! | what they would be with `map.data` | [`Proposal::of`] |
//! | a file server with them | [`Overlay`] |
//! | whether maps and states stay the same | [`Proof`] |
//! | the pillars for that | [`Pillars`] |
//! | answers to calls that need a machine | [`Assumed`] |

mod assumed;
mod classic;
mod defaults;
mod edit;
mod formula;
mod leaves;
mod libmapstack;
mod libraries;
mod managed;
mod overlay;
mod pillars;
mod proof;
mod proposal;
mod propose;
mod source;
mod states;
mod table;
mod template;
mod tofs;
mod values;

pub use assumed::Assumed;
pub use defaults::OwnDefault;
pub use formula::Formula;
pub use overlay::Overlay;
pub use pillars::{GivenPillar, Pillars};
pub use proof::{Counts, Difference, Proof, ProofOutcome};
pub use proposal::{FormulaKind, Left, Proposal, SharedValues};
pub use propose::Extent;

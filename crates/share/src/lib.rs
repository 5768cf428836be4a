//! One formula's results for many minions.
//!
//! The crate does not know about command lines, output formats, threads, or where values come from.
//!
#![doc = include_str!("../README.md")]
//!
//! # Why that is right
//!
//! The literature calls such a record a verifying trace (Mokhov, Mitchell and Peyton Jones, "Build systems à la carte"),
//! and the idea is that of adaptive computation (Acar).
//!
//! That is right as long as every look at facts is recorded. The [hooks](mapstack::hooks) of a run see them all: look-ups
//! by [`fact_read`](mapstack::hooks::Hooks::fact_read), and those of templates by dicts that are watched, whose every
//! way in records something: at least "all of it". Questions are answered by a run of the same code that nothing
//! records or changes.
//!
//! | you want | look at |
//! |---|---|
//! | a formula for many minions | [`Recipe`] |
//! | what came of it | [`Outcome`] |
//! | several formulas for one minion | [`Witness`] |
//! | the facts that a result depends on | [`Recipe::facts`], [`FactRead`] |

mod blanks;
mod decisions;
mod exact;
mod layer_files;
mod printed;
mod probe;
mod question;
mod recipe;
mod recorder;

pub use probe::Witness;
pub use question::FactRead;
pub use recipe::{Outcome, Recipe};

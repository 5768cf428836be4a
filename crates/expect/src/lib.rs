//! Recorded expectations of formulas: found, read, compared with what comes out, and recorded.
//!
//! The crate does not know about command lines, output formats or terminals.
//!
#![doc = include_str!("../README.md")]
//!
//! | you want | look at |
//! |---|---|
//! | the files with expectations of formulas | [`ExpectationPlaces::find`] |
//! | what a file says | [`RecordedExpectation`] |
//! | the pillar and grains that a formula's tests have | [`Kitchen`] |
//! | what comes out, and how it differs | [`ExpectationSubject`] |
//! | the results of many of them | [`Runs`] |
//! | the result of each | [`Case`], [`Counts`] |

mod case;
mod edit;
mod files;
mod find;
mod kitchen;
mod recorded;
mod repository;
mod runs;
mod state;
mod states;
mod subject;
mod top;
mod writing;

pub use mapstack_fleet::{Scope, UnknownKey};

pub use case::{Case, CaseOutcome, Counts};
pub use find::{Expectation, ExpectationPlaces};
pub use kitchen::{Kitchen, Suite};
pub use recorded::{ExpectationForm, Header, RecordedExpectation};
pub use repository::{Repository, resolved};
pub use runs::{EngineOf, ExpectationPlan, RunDescription, Runs};
pub use state::with_state;
pub use subject::{Actual, Difference, ExpectationSubject};
pub use writing::{NoFile, missing};

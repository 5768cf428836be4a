//! Results that many minions share: memoization by recorded reads.
//!
//! The literature calls such a record a verifying trace (Mokhov, Mitchell and Peyton Jones, "Build systems à la carte"),
//! and the idea is that of adaptive computation (Acar).
//!
//! What a run answers is a function of the facts it looked at: of few grains and pillar keys, out of
//! hundreds. So each look is recorded as a [`Question`] with its [`Answer`], and a [`Recipe`] keeps the
//! answers of the runs so far as a tree of decisions: a node is the question that comes next, an edge
//! an answer to it, a leaf the result. A minion whose answers lead to a leaf has that result.
//!
//! That is right as long as every look at facts is recorded, which is why a run has its facts behind
//! [`Facts`](crate::facts::Facts) and dicts that are watched, whose every way in records something: at
//! least "all of it". Questions are answered by a run of the same code that nothing records or changes.

mod blanks;
mod decisions;
mod exact;
mod layer_files;
mod printed;
mod probe;
mod question;
mod recipe;
mod recorder;

pub(crate) use blanks::Blanks;
pub(crate) use exact::Exact;
pub(crate) use printed::Printing;
pub use probe::Witness;
pub(crate) use probe::{Posed, Probe, Questions};
pub use question::FactRead;
pub(crate) use question::Question;
pub use recipe::{Outcome, Recipe};
pub(crate) use recorder::Recorder;

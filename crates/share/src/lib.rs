//! Results that many minions share: those of a formula, and of other work such as the render of a file.
//!
//! The crate does not know about command lines, output formats, threads, or where values come from.
//!
#![doc = include_str!("../README.md")]
//!
//! # Why sharing is correct
//!
//! This is *memoization by recorded reads*. The record of a run, its questions with their answers, is what the
//! literature calls a verifying trace: a result is valid wherever its trace holds (Mokhov, Mitchell and Peyton
//! Jones, "Build systems à la carte", ICFP 2018). Recording reads while a program runs, so that one learns which
//! changed inputs matter, is the idea of self-adjusting and adaptive computation (Acar, Blelloch and Harper,
//! "Adaptive functional programming", POPL 2002).
//!
//! Sharing is correct as long as the recorder sees every read of a fact. There are two ways to read one, and the
//! [hooks](mapstack::hooks) of a run report both. Look-ups by matchers and functions call
//! [`fact_read`](mapstack::hooks::Hooks::fact_read). Templates read dicts, and these dicts report every access, if
//! only as "reads everything". To answer a question for another minion, the crate runs the code that the recorded
//! run used, without recording.
//!
//! | you want | look at |
//! |---|---|
//! | one formula for many minions | [`SharedFormula`] |
//! | its result for a minion | [`Outcome`] |
//! | several formulas for one minion | [`Answers`] |
//! | other work for many minions, such as the render of a file | [`SharedWork`] |
//! | the facts that a result depends on | [`SharedFormula::facts`], [`FactRead`] |

mod decisions;
mod exact;
mod layer_files;
mod probe;
mod question;
mod recorder;
mod shared_formula;
mod shared_work;

pub use probe::Answers;
pub use question::FactRead;
pub use shared_formula::{Outcome, SharedFormula};
pub use shared_work::{Done, Found, MinionAnswers, SharedWork, WorkKey};

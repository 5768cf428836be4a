//! Results that many minions share: those of a formula, and of other work such as the render of a file.
//!
//! The module does not know about command lines, output formats, threads, or where values come from.
//!
//! ```rust
//! use std::sync::Arc;
//! use mapstack::{DataOptions, Engine, loader::MemoryFiles, minion::{Minion, Part}};
//! use mapstack::share::SharedFormula;
//!
//! let files = MemoryFiles::new()
//!     .file("base", "users/parameters/defaults.yaml", "values: {shell: /bin/sh}")
//!     .file("base", "users/parameters/os/Debian.yaml", "values: {shell: /bin/bash}");
//! let engine = Engine::new(files);
//! let formula = SharedFormula::new(&engine, "users", DataOptions::default());
//! let minion = |text: &str| Minion::parse(text.as_bytes(), "minion").unwrap().complete();
//!
//! let one = minion("{id: web1, grains: {os: Debian, mem_total: 4000}}");
//! let other = minion("{id: web2, grains: {os: Debian, mem_total: 8000}}");
//! // The formula does not read the memory, so both minions have the same result.
//! assert!(Arc::ptr_eq(&formula.outcome(&one), &formula.outcome(&other)));
//!
//! let facts = formula.facts(&one).unwrap();
//! assert!(facts.iter().any(|read| read.sees(Part::Grains, &["os".into()])));
//! assert!(!facts.iter().any(|read| !read.path.is_empty() && read.sees(Part::Grains, &["mem_total".into()])));
//! ```
//!
//! A run reads few of a minion's hundreds of facts, and its result is a function of these. A
//! `SharedFormula` records the reads of each run through [`hooks`](crate::hooks), and keeps them as a decision tree. A node is the
//! fact that a run reads next, an edge is the value that a minion has there, and a leaf is the result. If a minion's facts
//! lead to a leaf, that is its result; otherwise the minion is run, which adds a path to the tree. Threads can share a
//! `SharedFormula`, and its memory is bounded.
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
//! [hooks](crate::hooks) of a run report both. Look-ups by matchers and functions call
//! [`fact_read`](crate::hooks::Hooks::fact_read). Templates read dicts, and these dicts report every access, if
//! only as "reads everything". To answer a question for another minion, it runs the code that the recorded
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
pub use shared_work::{MinionAnswers, SharedWork, WorkKey, WorkOrigin, WorkResult};

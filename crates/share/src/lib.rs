//! Results of Salt's layered configuration that many minions share: memoization by recorded reads.
//!
//! The literature calls such a record a verifying trace (Mokhov, Mitchell and Peyton Jones, "Build systems à la carte"),
//! and the idea is that of adaptive computation (Acar).
//!
//! ```
//! use mapstack::{DataOptions, Engine, loader::MemoryFiles, minion::Minion};
//! use mapstack_share::Recipe;
//! let files = MemoryFiles::new()
//!     .file("base", "users/parameters/defaults.yaml", "values: {shell: /bin/sh}")
//!     .file("base", "users/parameters/os/Debian.yaml", "values: {shell: /bin/bash}");
//! let engine = Engine::new(files);
//! let recipe = Recipe::new(&engine, "users", DataOptions::default());
//! let minion = |text: &str| Minion::parse(text.as_bytes(), "minion").unwrap().complete();
//! let one = recipe.outcome(&minion("{id: web1, grains: {os: Debian, mem_total: 4000}}"));
//! let two = recipe.outcome(&minion("{id: web2, grains: {os: Debian, mem_total: 8000}}"));
//! assert!(std::sync::Arc::ptr_eq(&one, &two));
//! assert_eq!(one.result.as_ref().unwrap().as_map().unwrap().get("shell").unwrap().as_str(), Some("/bin/bash"));
//! ```
//!
//! What a run answers is a function of the facts it looked at: of few grains and pillar keys, out of
//! hundreds. So each look is recorded as a question with its answer, and a [`Recipe`] keeps the
//! answers of the runs so far as a tree of decisions: a node is the question that comes next, an edge
//! an answer to it, a leaf the result. A minion whose answers lead to a leaf has that result.
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
//!
//! The crate does not know about command lines, output formats, threads, or where values come from.

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

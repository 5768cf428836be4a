//! Salt's layered configuration for thousands of minions at once.
//!
//! A [`Fleet`] says what is computed for every minion; minions come from any iterator, are worked on
//! side by side, and come back in the order they were given. One that fails keeps no other from its
//! results, and only a bounded number of them is in memory.
//!
//! ```
//! use mapstack::{Condition, Engine, loader::MemoryFiles, minion::{Minion, platforms}};
//! use mapstack_fleet::{Fleet, Pace};
//!
//! let files = MemoryFiles::new()
//!     .file("base", "users/parameters/defaults.yaml", "values: {shell: /bin/sh}")
//!     .file("base", "users/parameters/os_family/Debian.yaml", "values: {shell: /bin/bash}");
//! let engine = Engine::new(files);
//! let fleet = Fleet::new(&engine).formula("users").only(Condition::parse("grains.kernel == 'Linux'").unwrap());
//! let minions = platforms::all().iter().map(|platform| Ok(platform.minion().complete()));
//! std::thread::scope(|scope| {
//!     for report in fleet.reports(scope, minions, Pace::default()) {
//!         for outcome in report.outcomes.unwrap() {
//!             let shell = outcome.result.as_ref().unwrap().as_map().unwrap().get("shell").unwrap();
//!             assert_eq!(shell.as_str() == Some("/bin/bash"), report.id.contains("debian") || report.id.contains("ubuntu"));
//!         }
//!     }
//! });
//! ```
//!
//! | you want | look at |
//! |---|---|
//! | results for many minions | [`Fleet::reports`] |
//! | the same for one, in a scheduler of your own | [`Fleet::report`] |
//! | any other work side by side, results in order | [`ordered`] |
//! | only a part of the minions on this machine | [`Shard`] |
//! | what went wrong, each thing once | [`Summary`] |
//! | who has which value | [`Tally`] |
//! | what a file, a key or a fact reaches | [`impact`] |
//! | where a formula's values come from | [`Origins`] |
//! | what some minions have in common | [`Census`] |
//! | what a change of files does to a fleet | [`Comparison`], [`Differences`] |
//!
//! The crate does not know about command lines, files of minions, output formats or terminals.

mod census;
mod change;
mod compare;
mod differences;
mod fleet;
pub mod impact;
mod masked;
mod masking;
mod minions;
mod ordered;
mod origins;
mod pace;
mod reach;
mod shard;
mod standing;
mod summary;
mod tally;

pub use census::{Census, Common, Traits};
pub use change::{Change, Ignored, changes};
pub use compare::{Advanced, Compared, Comparison, Pair};
pub use differences::{Differences, Failing, Group, Turn};
pub use fleet::{Fleet, Report};
pub use impact::Impact;
pub use masked::MaskedFleet;
pub use masking::{Masking, secrets_of};
pub use minions::Minions;
pub use ordered::{Ordered, Panicked, ordered};
pub use origins::{Origins, read_back};
pub use pace::Pace;
pub use reach::ChangedFiles;
pub use shard::{NoShard, Shard};
pub use standing::Standing;
pub use summary::Summary;
pub use tally::{Count, Tally};

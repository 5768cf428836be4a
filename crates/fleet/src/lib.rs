//! Salt's layered configuration for thousands of minions at once.
//!
//! The crate does not know about command lines, files of minions, output formats or terminals.
//!
#![doc = include_str!("../README.md")]
//!
//! | you want | look at |
//! |---|---|
//! | results for many minions | [`Fleet::reports`] |
//! | the same for one, in a scheduler of your own | [`Fleet::report`] |
//! | any other work side by side, results in order | [`ordered`] |
//! | only a part of the minions on this machine | [`Shard`] |
//! | whether parts were computed from the same files | [`RecordingFileServer`] |
//! | what went wrong, each thing once | [`Summary`] |
//! | who has which value | [`Tally`] |
//! | what a file, a key or a fact reaches | [`impact`] |
//! | where a formula's values come from | [`Origins`] |
//! | what some minions have in common | [`Census`] |
//! | the pillars that a state of the files gives | [`Pillars`] |
//! | what a change of files does to a fleet | [`Comparison`], [`Differences`] |

mod assigned;
mod census;
mod change;
mod compare;
mod departed;
mod differences;
mod example;
mod failures;
mod fleet;
mod fleet_state;
pub mod impact;
mod kinds;
mod masked;
mod masking;
mod minion_data;
mod minions;
mod named;
mod ordered;
mod origins;
mod own;
mod pace;
mod pillar_pair;
mod pillars;
mod reach;
mod reached_file;
mod read_by_pillar;
mod read_by_states;
mod scope;
mod seen;
mod shard;
pub mod states;
mod summary;
mod tally;
mod traced_high;
mod unfollowed;
pub mod unrelated;
mod used_by_states;
mod what;

pub use assigned::NotAssigned;
pub use census::{Census, Common, Grouping, Traits};
pub use change::{Change, changes};
pub use compare::{Advanced, Compared, ComparedResult, Comparison, Pair};
pub use departed::{Departed, DepartedPart, modules_leave};
pub use differences::{ChangeGroup, Differences, SharedFailure};
pub use example::Example;
pub use failures::{ErrorTurn, FailingMinions, by_reason};
pub use fleet::{Fleet, Report};
pub use fleet_state::FleetState;
pub use impact::Impact;
pub use masked::MaskedFleet;
pub use masking::{Masking, secrets_of};
pub use minion_data::MinionData;
pub use minions::Minions;
pub use named::NamedGroups;
pub use ordered::{OrderedResults, Panic, ordered};
pub use origins::{Origins, read_back};
pub use own::MinionNames;
pub use pace::Pace;
pub use pillars::{Pillar, Pillars};
pub use reach::ChangedFiles;
pub use reached_file::{FileOfState, FileReach, ReachedFile};
pub use read_by_pillar::{ByPillars, CompilePillar, WithPillar};
pub use read_by_states::{ByStates, NamedSls};
pub use scope::{KeyPattern, Scope, UnknownKey};
pub use seen::{AnswerRecord, CHANGED, RecordingFileServer};
pub use shard::{NoShard, Shard};
pub use summary::Summary;
pub use tally::{Count, Tally};
pub use unfollowed::UnfollowedPlace;

//! Finds the sls that minions get: those of top files, and those that sls include. Compiles them to high and low data.
//!
//! The crate does not know about what state modules do, command lines or output formats.
//!
#![doc = include_str!("../README.md")]

mod available;
pub mod compile;
mod compiled;
mod exhausting;
mod functions;
mod gather;
mod high;
mod options;
mod own_modules;
mod partial;
mod places;
mod render;
mod requisite_place;
mod runs;
mod sections;
mod shared;
mod top;

pub use exhausting::Exhausting;
pub use functions::{StateFunction, functions_of, homes, state_modules, watches};
pub use gather::{GatherProblem, GatheredStates, Gatherer, IncludingSls, ProblemKind, included};
pub use high::{HighData, RequestedStates, SettledStates};
pub use mapstack::Home;
pub use options::{Strategy, TopOptions};
pub use own_modules::OwnModules;
pub use partial::{LeftOut, Partial};
pub use places::Places;
pub use render::{GotSls, SlsData};
pub use runs::{Compiled, LowRun, RunningState};
pub use top::{Entry, Top};

//! The pillar that a master compiles for a minion: top files, sls, and external pillars.
//!
//! The crate does not know about formulas, their layers and strategies, command lines or output.
//!
#![doc = include_str!("../README.md")]

mod cache;
pub mod classes;
mod command;
mod compile;
mod config;
mod external;
mod files;
mod items;
mod mako;
mod master_tops;
mod recipe;
mod select;
mod stack;
mod template;
mod trace;
mod whole;

pub use crate::classes::{FilePlace, PlaceEffect, SetPlaces};
pub use compile::{Compiled, Compiler, PillarRun};
pub use config::{ExtPillars, StackKind};
pub use mapstack_merge::stack::{MARKER as STACK_MARKER, StackStrategy};
pub use master_tops::{MasterTops, TopsGiven};
pub use recipe::{ExternalFile, PartId, PillarLayer, PillarRecipe, RecipeStep, SlsReason};
pub use trace::{FileOutcome, PillarEvent, SlsOutcome, StackEvent, WholeEvent};
pub use whole::{
    Fault, Master, PillarError, PillarReads, PillarRequest, WholePillar, overridden, pillar_roots,
    unknown_order,
};

//! The effect of a change on states: their arguments, files and order, and which services restart.

mod arguments;
mod blocks;
mod causes;
mod compare;
mod explained_side;
mod groups;
mod hunks;
mod keys;
mod known;
mod order;
mod pair;
mod pairing;
mod plan;
mod plans;
mod reactions;
mod unknown;

pub use causes::{Cause, Causes, FileCauses, StateCauses};
pub use compare::{FileChange, PlanChanges, StateChange, compare};
pub use groups::{StateGroups, StatesGroup, UnknownGroup};
pub use known::KnownPlans;
pub(crate) use known::{PlanRoom, RunKey};
pub use order::OrderChange;
pub use pair::{PlanChange, StatePlaces, StatesPair};
pub use plan::{MinionPlan, PlannedFile, PlannedState, PlannedText, ReactionKind, StateName};
pub use plans::{ComparedStates, ShownParts, StatePlans, WantedStates};
pub(crate) use plans::{SharedPlan, SlsPlans};
pub use reactions::Reaction;
pub use unknown::UnknownCause;

//! An estate: a checkout of the states, pillars and minions that someone runs, and what is found in it.

mod deployed;
mod folders;
mod ids;
mod layout;
mod made_up;
mod master;
mod pillar_grains;
mod proposal;
mod tools;
mod top_text;

pub(crate) use layout::is_trial;
pub use layout::{Layout, Root};

pub(crate) use deployed::{DeployedPaths, Deployment};
pub(crate) use folders::Folders;
pub(crate) use ids::{Assumed, GivenGrains, MinionSearch};
pub use ids::{FoundMinion, FoundMinions};
#[cfg(feature = "git")]
pub(crate) use master::with_formulas;
pub(crate) use master::{Checkout, find_config, read as read_config};
pub use pillar_grains::give_grains;
pub(crate) use tools::Tools;

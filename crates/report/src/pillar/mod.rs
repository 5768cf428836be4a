//! Stacked pillars: what came of each file, and what a pillar loses in JSON, and messages in it.

mod json_form;
mod messages;
mod reasons;
mod trace;

pub use json_form::{check, lost};
pub use messages::add_messages;
pub use trace::Traced;

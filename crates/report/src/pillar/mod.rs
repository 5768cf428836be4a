//! Stacked pillars: what came of each file, and what a pillar loses in JSON.

mod json_form;
mod trace;

pub use json_form::{check, lost};
pub use trace::Traced;

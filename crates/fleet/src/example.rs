//! A minion by which those that have a change are described.

use mapstack::minion::Minion;
use mapstack::value::Str;

/// A minion that has a change, with what may not be printed of it. All changes of its data share one, as there can be
/// thousands.
#[derive(Debug, Clone, Default)]
pub struct Example {
    /// The minion, in each state if its pillar is compared.
    pub minions: Vec<Minion>,
    /// Texts that templates made of its secrets, in either state.
    pub secret_texts: Vec<Str>,
}

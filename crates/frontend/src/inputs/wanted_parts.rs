//! The parts of what minions get that a verb compares.

use mapstack_states::TopOptions;

/// The parts of what minions get that are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// The maps of formulas.
    pub maps: bool,
    /// The pillars.
    pub pillar: bool,
    /// The arguments of states, and their order.
    pub states: bool,
    /// The files that states make.
    pub files: bool,
}

impl Parts {
    /// True if states are compiled.
    #[must_use]
    pub fn has_states(self) -> bool {
        self.states || self.files
    }
}

/// The parts that are compared, and how top files are read for them.
#[derive(Debug, Clone)]
pub struct WantedParts {
    /// The parts.
    pub parts: Parts,
    /// The options for top files.
    pub top_options: TopOptions,
}

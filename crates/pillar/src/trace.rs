//! What happened on the way to a pillar.

use mapstack_merge::stack::Strategy;

use super::StackKind;

/// Something that happened to a file, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum PillarEvent {
    /// A config file's turn came.
    Config {
        /// Which external pillar it is for.
        kind: StackKind,
        /// The file.
        path: String,
        /// What selected it, such as `grains:os = Debian`.
        selected_by: Option<String>,
        /// Where its data goes (MakoStack's graft point).
        graft: Option<String>,
        /// Whether it exists.
        found: bool,
    },
    /// A data file's turn came.
    File {
        /// What the config file says.
        item: String,
        /// The file itself, if it was found.
        path: Option<String>,
        /// What came of it.
        outcome: FileOutcome,
    },
}

/// What came of a data file.
#[derive(Debug, Clone, PartialEq)]
pub enum FileOutcome {
    /// It was merged, by the strategy it names at its root.
    Merged(Strategy),
    /// Nothing is there.
    Missing,
    /// It renders to no mapping, which amounts to nothing.
    NoMapping(&'static str),
    /// It failed, and MakoStack goes on without it.
    Dropped(String),
    /// It failed.
    Failed(String),
}

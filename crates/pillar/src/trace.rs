//! The events on the way to a pillar.

use std::cell::RefCell;

use mapstack_diagnostic::Place;
use mapstack_merge::stack::StackStrategy;

use super::StackKind;

/// Something that happened, in order.
#[derive(Debug, Clone, PartialEq)]
pub enum PillarEvent {
    /// To the whole pillar, as a master compiles it.
    Whole(WholeEvent),
    /// To a stacked external pillar.
    Stack(StackEvent),
}

impl From<WholeEvent> for PillarEvent {
    fn from(event: WholeEvent) -> Self {
        PillarEvent::Whole(event)
    }
}

impl From<StackEvent> for PillarEvent {
    fn from(event: StackEvent) -> Self {
        PillarEvent::Stack(event)
    }
}

/// Something that happened to a whole pillar.
#[derive(Debug, Clone, PartialEq)]
pub enum WholeEvent {
    /// A top file was looked for.
    Top {
        /// The environment.
        saltenv: String,
        /// The file, if there is one.
        path: Option<String>,
        /// The name by which another top file includes it.
        included: Option<String>,
    },
    /// A target of a top file was asked whether it matches the minion.
    Target {
        /// The environment.
        saltenv: String,
        /// The target.
        target: String,
        /// The matcher that reads it.
        matcher: String,
        /// The place of the value.
        place: Option<Place>,
        /// The sls that it gives.
        sls: Vec<String>,
        /// True if it matches the minion.
        is_match: bool,
    },
    /// An sls had its turn.
    Sls {
        /// Its name.
        sls: String,
        /// The environment.
        saltenv: String,
        /// The file, if it was read now.
        path: Option<String>,
        /// The sls that includes it; otherwise a top file names it.
        included_by: Option<String>,
        /// The outcome.
        outcome: SlsOutcome,
    },
    /// An external pillar had its turn.
    External {
        /// Its name.
        name: String,
        /// The place in the configuration that names it.
        place: Option<Place>,
        /// Why it gives nothing, if it failed or is left out.
        problem: Option<String>,
    },
}

/// Something that happened to an external pillar of several files.
#[derive(Debug, Clone, PartialEq)]
pub enum StackEvent {
    /// A config file's turn came.
    Config {
        /// The kind of external pillar that reads it.
        kind: StackKind,
        /// The file.
        path: String,
        /// The condition that selected it, such as `grains:os = Debian`.
        selected_by: Option<String>,
        /// The path that its data goes to (MakoStack's graft point).
        graft: Option<String>,
        /// True if it exists.
        found: bool,
    },
    /// A data file's turn came.
    File {
        /// The item as the config file has it.
        item: String,
        /// The file itself, if it was found.
        path: Option<String>,
        /// The outcome.
        outcome: FileOutcome,
    },
    /// A class or a node of an external pillar was merged.
    Class {
        /// The name of the external pillar.
        external: String,
        /// The name of the class, or the id of the node.
        name: String,
        /// Its file.
        path: String,
    },
}

impl StackEvent {
    /// The file that was read, if one was.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        match self {
            StackEvent::Config { path, found, .. } => found.then_some(path),
            StackEvent::File { path, .. } => path.as_deref(),
            StackEvent::Class { path, .. } => Some(path),
        }
    }
}

/// The outcome of an sls.
#[derive(Debug, Clone, PartialEq)]
pub enum SlsOutcome {
    /// It is a mapping of so many keys.
    Read(usize),
    /// It was read before, and counts again.
    Again,
    /// It does not exist, which is an error or means a saltenv without directories.
    Missing,
    /// It does not exist, and the top file says that it may be missing.
    MayMiss,
    /// It renders to something else than a mapping.
    NoMapping(&'static str),
    /// It does not render.
    Failed,
}

/// The events of one compile, if they are wanted.
#[derive(Debug, Default)]
pub(crate) struct Events {
    pub wanted: bool,
    pub all: RefCell<Vec<PillarEvent>>,
}

impl Events {
    /// Note what happened.
    pub fn add<E: Into<PillarEvent>>(&self, event: impl FnOnce() -> E) {
        if self.wanted {
            self.all.borrow_mut().push(event().into());
        }
    }
}

/// The outcome of a data file.
#[derive(Debug, Clone, PartialEq)]
pub enum FileOutcome {
    /// It was merged, by the strategy it names at its root.
    Merged(StackStrategy),
    /// Nothing is there.
    Missing,
    /// It does not render to a mapping, and MakoStack takes it for empty.
    NoMapping(&'static str),
    /// It failed, and MakoStack continues without it.
    Dropped(String),
    /// It failed.
    Failed(String),
}

//! The flags that name files, facts and functions, and what they lead to.
//!
//! Every verb names roots, minions, platforms, pillar files, revisions and functions in the same way. The groups of
//! `flags` say it with `clap`, and the rest of the crate makes of them what libraries take: a file server, an
//! `Engine`, one minion or many. As its subject is the command line, its messages name flags.
//!
//! | you want | look at |
//! |---|---|
//! | one minion, and an engine for it | [`Session`] |
//! | many minions, read one by one | [`MinionStream`] |
//! | the file server | [`Served`] |
//! | a configuration of Salt's | [`configuration`] |
//! | an engine with functions and limits | [`engine`] |
//! | formulas for many minions | [`Plan`], [`formulas`] |
//! | two states of the files | [`ComparedFiles`], [`States`] |
//! | one state after the other | [`WatchedDirectories`], [`FollowedMinions`] |
//! | arguments of Salt's functions | [`Kwargs`] |
//!
//! ```
//! use clap::Parser;
//! use mapstack_frontend::inputs::flags::{FactFlags, TargetFlags};
//! #[derive(Parser)]
//! struct Cli {
//!     #[command(flatten)]
//!     facts: FactFlags,
//!     #[command(flatten)]
//!     target: TargetFlags,
//! }
//! let cli = Cli::parse_from(["x", "--minions", "all/", "--minion-glob", "web*"]);
//! assert!(cli.facts.name_minions());
//! assert_eq!(cli.target.minion_glob.as_deref(), Some("web*"));
//! ```

#[cfg(test)]
#[path = "../../../mapstack/tests/serving.rs"]
mod serving;

// The file server for tests, `serving`, finds the crate's types here.
#[cfg(test)]
use mapstack::loader;

mod absent;
mod asked;
mod brief;
mod compared_directory;
mod compared_files;
pub mod configuration;
mod converted;
mod deployed;
mod deployed_flags;
pub mod estate;
mod explained_file;
mod explained_highstate;
mod explained_pillar;
pub mod flags;
mod fleet_highstate;
mod following;
pub mod formulas;
mod functions;
mod highstate;
mod id;
mod input;
mod kwargs;
mod linted;
mod means;
mod minions;
mod misplaced;
mod options;
mod origin;
mod overview;
mod pillar_job;
mod pillars;
mod plan;
mod project;
mod read;
mod renamed;
mod revision_paths;
mod selected;
mod served;
mod session;
mod settings;
mod source;
mod stacks;
mod state_facts;
mod states;
mod unserved_files;
mod wanted_parts;
mod watched;

pub use asked::{PillarPlaces, question_subject};
pub use brief::brief;
pub use explained_file::ExplainedFile;
pub use explained_highstate::ExplainedHighstate;
pub use explained_pillar::ExplainedPillar;
use mapstack::minion::Minion;
use mapstack::{Diagnostic, Error};
pub use stacks::{Stacks, ext_pillars};

pub use compared_files::{ComparedFiles, ComparedPillarFiles};
pub use converted::{Converted, FoundPillars, WorkTree};
pub use deployed::with_roots;
pub use fleet_highstate::FleetHighstate;
pub use following::{FollowedChange, FollowedMinions, FollowedWork};
pub use functions::{MemoryOf, engine};
pub use highstate::{Highstate, HighstateJob, RowsAndLow, unknown_file};
pub use id::IdParser;
pub use kwargs::Kwargs;
pub use linted::{EstateStates, LintMinions, LintTargets};
pub use means::name_of;
pub use minions::{MinionStream, SelectedMinions, minions, pillar_changes};
pub use options::digest_of_options;
pub use overview::{MinionStates, overview};
pub use pillar_job::{MadePillar, PillarFlags, PillarJob};
pub use pillars::{Configured, ConfiguredPillars, NoWarnings};
pub use plan::Plan;
pub use project::{FILE as PROJECT_FILE, Project};
pub use read::{data_file, read, text_file, variables};
pub use revision_paths::RevisionPaths;
pub use selected::{names_of_grains, none_of, selects_none};
pub use served::{Served, below, flag_options, root_flags};
pub use session::Session;
pub use settings::Setting;
pub use source::{Choice, of_platforms};
pub use state_facts::{Refused, top_options};
pub use states::{ChangedFileCount, FilesState, NotServed, States};
pub use unserved_files::UnservedFiles;
pub use wanted_parts::{Parts, WantedParts};
pub use watched::WatchedDirectories;

/// An error in the input that flags name.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// The flags are wrong.
    #[error("{0}")]
    Usage(String),
    /// An error in what they name.
    #[error(transparent)]
    Data(#[from] Error),
}

impl InputError {
    /// As an error among those of many minions, where wrong flags are of a kind.
    pub fn or_kind(self, kind: mapstack::ErrorKind) -> Error {
        match self {
            InputError::Data(error) => error,
            InputError::Usage(message) => Error::new(kind, message),
        }
    }
}

/// Receives the warnings and notes that come up while inputs are read.
pub trait WarningSink {
    /// Something is worth a warning.
    ///
    /// # Errors
    /// A warning, where warnings are errors.
    fn warn_of(&self, warnings: &[Diagnostic]) -> Result<(), Error>;

    /// A minion was read: no value of its pillar may be printed.
    fn knows(&self, minion: &Minion);

    /// Something was chosen for the user, and how to choose otherwise.
    fn note_of(&self, _message: &str) {}
}

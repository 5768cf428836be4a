//! Salt's layered formula configuration, without Salt.
//!
//! The crate does not know about its users, command lines, the environment, terminals or exit codes.
//!
#![doc = include_str!("../README.md")]
//!
//! | you want | look at |
//! |---|---|
//! | a formula's configuration | [`Engine`], [`Run::data`] |
//! | whether a condition is true for a minion | [`Condition`], [`Engine::holds`] |
//! | layers other than the default ones | [`Run::stack`], [`DataOptions`] |
//! | candidate files for `file.managed` | [`Run::tofs`] |
//! | an sls file's states, a managed file's text | [`Run::sls`], [`Run::template`] |
//! | the text of a template that is not on the file server | [`Run::jinja_text`] |
//! | which files a run looked for | [`Run::events`] |
//! | to observe a run | [`hooks`] |
//! | errors and warnings with places | [`Error`], [`Diagnostic`], [`Run::warnings`] |
//! | answers to calls that are not built in | [`Stubs`], [`Functions`], [`Engine::with_functions`] |
//! | all calls that lack an answer, and a file to write them in | [`Engine::collecting`], [`UnansweredCall`], [`stub_file`] |
//! | the minion's facts | [`minion`] |
//! | where files come from | [`loader`] |
//!
//! [`share`] shares results between minions by way of [`hooks`], and the crate `mapstack-lineage` finds out with them where
//! values come from.

mod aliases;
mod allowance;
mod answerer;
mod built_in;
mod by_text;
mod condition;
mod configuration;
mod data;
mod deployed;
mod engine;
mod facts;
mod file;
mod files;
mod functions;
pub mod hooks;
mod host;
mod jinja_text;
mod journal;
mod layer;
mod layer_file;
mod line_ends;
mod lookups;
mod map_jinja;
mod master_side;
mod observe;
mod options;
mod outside;
mod pillar_sls;
mod pipe;
mod python;
mod render;
mod run;
mod runner;
pub mod sandbox;
pub mod secrets;
pub mod share;
mod skeleton_cache;
mod sls_data;
mod snapshot;
mod source;
mod stack;
pub mod stateconf;
pub mod survey;
mod text;
mod tofs;
mod top_slips;
pub mod trace;
mod tree;

pub use crate::survey::{CallSite, ImportSite, LoadSite, Survey};
pub use aliases::parted_aliases;
pub use answerer::{Answerer, NOT_FETCHED, unanswered_by};
pub use by_text::ByText;
pub use condition::Condition;
pub use configuration::{Configuration, ConfigurationMethod};
pub use engine::Engine;
pub use file::File;
pub use files::out_of_budget;
pub use jinja_text::{Changes, JinjaText, TemplateOutput};
pub use layer_file::LAYER_KEYS;
pub use map_jinja::{Exported, MapForm, MapOptions};
pub use mapstack_diagnostic::{
    Diagnostic, Error, ErrorKind, Means, Place, Result, Severity, Step, is_acting, message_text,
    named, nearest, sanitize, without_login,
};
pub use mapstack_functions::{
    Call, CallError, Functions, PillarCall, PluginAnswer, Stubs, UnansweredCall, stub_file,
};
pub use mapstack_functions::{
    Home, SALT_MODULES, home_of, is_in_salt, normalized_mode, regex_of_name, scheme, types_of_files,
};
pub use mapstack_matcher as matcher;
pub use mapstack_merge::Strategy;
pub use mapstack_minion as minion;
pub use mapstack_salt_jinja::{
    Deadline, Limits, MemoryLimit, Refusal, RunBudget, RunLimits, RunningWork, SpentResource,
    regex_matches,
};
pub use mapstack_value as value;
pub use mapstack_yaml as yaml;
pub use master_side::MasterSide;
pub use options::{DataOptions, StackOptions, TofsOptions};
pub use outside::OtherTemplate;
pub use pillar_sls::{ExternalText, PillarSls, RenderedSls};
pub use pipe::{ManagedTemplate, TemplateOptions, how_to_decrypt, is_sls, sls_name};
pub use run::Run;
pub use stack::{directories, parse as parse_definition};
pub use text::Text;
pub use top_slips::{TopSlip, top_slips};

/// Files for an [`Engine`]: file servers, and files by their paths on disk.
pub mod loader {
    pub use mapstack_loader::{
        Backends, BadPath, Fetched, FileServer, Link, LoadError, MemoryFiles, NotServed, Roots,
        SaltPath, Unserved, processes,
    };
    pub use mapstack_salt_config::disk::{BadDeployed, Deployed, is_file};
    #[cfg(feature = "git")]
    pub use mapstack_salt_config::gitfs as git;

    pub use crate::snapshot::Snapshot;
}

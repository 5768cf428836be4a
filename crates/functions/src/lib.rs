//! Salt's execution functions that answer from a minion's facts and the file server alone.
//!
//! The crate does not know about engines, layers, strategies or where files lie.
//!
#![doc = include_str!("../README.md")]

mod arguments;
mod calls;
mod collected;
mod config;
mod context;
mod defaults;
mod endless;
mod file_find;
mod files;
mod filter_by;
mod flow;
pub mod formats;
mod grains;
mod hashutil;
mod in_pillar;
mod ini;
mod known_minions;
mod log;
mod matching;
mod network;
mod on_machine;
mod paths;
mod pillar;
mod raised;
mod random;
mod roots;
mod salt;
mod saltutil;
mod serialise;
mod slsutil;
mod state;
mod stubs;
mod test;
mod tree;
mod tree_grains;
mod tree_plugins;
mod unanswered;
pub mod versions;

pub use arguments::text;
use arguments::{comparable, data_or, deepcopy, delimiter, if_true, is_true, truth_or};
pub use calls::{Call, CallError, Functions};
pub use collected::UnansweredCalls;
pub use config::{normalized_mode, scheme};
use context::look;
pub use context::{Context, ContextFunction, ModuleTable, OnMachine};
pub use endless::Endless;
pub use file_find::{regex_of_name, types_of_files};
pub use flow::Flow;
pub use in_pillar::{is_given_all, why_not_in_pillar};
pub use known_minions::{KnownMinion, KnownMinions};
pub use matching::{confirm_top, is_in_group};
pub use on_machine::{look_on_machine, looks_on_machine};
pub use pillar::is_for_masters;
pub use raised::failed;
use raised::refused;
pub use roots::{PathBelowRoot, below_roots, named_roots};
pub use salt::{Home, SALT_MODULES, home_of, is_in_salt};
pub use stubs::{Stubs, entry_for};
pub use tree::{
    OPTS_OF_FUNCTIONS, RunnerCall, TreeAnswer, TreeContext, TreeMemo, may_be_in_tree, tree_call,
    tree_has, tree_has_module, tree_has_renderer, tree_has_runners, tree_render, tree_runner,
    why_not_in_tree,
};
pub use tree_grains::{TreeGrains, tree_grains};
pub use tree_plugins::{PillarCall, PluginAnswer, tree_ext_pillar, tree_top};
pub use unanswered::{UnansweredCall, stub_file};

/// Every module.
pub const TABLES: &[ModuleTable] = &[
    config::TABLE,
    defaults::TABLE,
    files::TABLE,
    grains::TABLE,
    hashutil::TABLE,
    log::TABLE,
    matching::TABLE,
    network::TABLE,
    paths::TABLE,
    pillar::TABLE,
    random::TABLE,
    saltutil::TABLE,
    serialise::TABLE,
    slsutil::TABLE,
    state::TABLE,
    test::TABLE,
    versions::TABLE,
];

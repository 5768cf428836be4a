//! Salt's execution functions that answer from a minion's facts and the file server alone.
//!
//! A [`Function`] is called out of a template, with Python's objects as arguments, and asks the [`Context`] for
//! everything else. [`TABLES`] has them all under Salt's names. Those that need a whole engine (`map.data`,
//! `slsutil.renderer`, `jinja.load_map`) belong to the crate that has one.
//!
//! ```
//! let names: Vec<&str> = mapstack_functions::TABLES.iter().copied().flatten().map(|(name, _)| *name).collect();
//! assert!(names.contains(&"grains.filter_by") && names.contains(&"pillar.get"));
//! ```
//!
//! The crate does not know about engines, layers, strategies or where files lie.

mod arguments;
mod config;
mod context;
mod defaults;
mod files;
mod filter_by;
mod grains;
mod hashutil;
mod ini;
mod log;
mod matching;
mod network;
mod paths;
mod pillar;
mod raised;
mod random;
mod serialise;
mod slsutil;
mod state;
mod test;

pub use arguments::text;
use arguments::{comparable, data_or, deepcopy, delimiter, if_true, is_true, truth_or};
use context::look;
pub use context::{Context, Function, Table};
pub use raised::failed;
use raised::refused;

/// Every module.
pub const TABLES: &[Table] = &[
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
    serialise::TABLE,
    slsutil::TABLE,
    state::TABLE,
    test::TABLE,
];

//! Which folders stand for absolute paths.

use std::path::PathBuf;

use mapstack::Engine;
use mapstack::loader::Deployed;
use mapstack_pillar::pillar_roots;
use mapstack_salt_config::Config;

use crate::flags::Files;
use crate::{pillars, sides};

/// Let the roots of the file server and of the pillar be at their own paths, where no others stand for these.
#[must_use]
pub fn with_roots(engine: Engine, files: &Files, config: Option<&Config>) -> Engine {
    let served = sides::roots(files, config).unwrap_or_default();
    let of_pillar = pillars::compiling(config, files).ok().flatten();
    let of_pillar = of_pillar.map(|config| pillar_roots(config.options()));
    let of_pillar = of_pillar.into_iter().flatten();
    let roots = served
        .into_iter()
        .map(|(_, root)| root)
        .chain(of_pillar.map(|(_, root)| PathBuf::from(root)));
    let deployed = roots.fold(engine.deployed().clone(), Deployed::in_place);
    engine.with_deployed(deployed)
}

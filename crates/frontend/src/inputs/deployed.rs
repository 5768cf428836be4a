//! The folders of deployed paths.

use std::path::PathBuf;

use mapstack::Engine;
use mapstack::loader::Deployed;
use mapstack_pillar::pillar_roots;
use mapstack_salt_config::Config;

use crate::inputs::flags::FileFlags;
use crate::inputs::served;

/// Deploy the roots of the file server and of the pillar to their own paths, unless others are deployed there.
#[must_use]
pub fn with_roots(engine: Engine, files: &FileFlags, config: Option<&Config>) -> Engine {
    let served = served::roots(files, config).unwrap_or_default();
    let project = files.project.as_ref();
    let estate = project.and_then(|project| project.estate.as_ref());
    let configs = config
        .into_iter()
        .chain(estate.map(|estate| &estate.config));
    let of_pillar = configs
        .filter(|config| config.is_set("pillar_roots"))
        .flat_map(|config| pillar_roots(config.options()));
    let roots = served
        .into_iter()
        .map(|(_, root)| root)
        .chain(of_pillar.map(|(_, root)| PathBuf::from(root)));
    let deployed = roots.fold(engine.deployed().clone(), Deployed::in_place);
    engine.with_deployed(deployed)
}

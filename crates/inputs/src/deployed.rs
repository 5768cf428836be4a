//! Which folders stand for absolute paths.

use std::path::{Path, PathBuf};

use mapstack::Engine;
use mapstack::loader::Deployed;
use mapstack_pillar::pillar_roots;
use mapstack_salt_config::Config;

use crate::flags::Files;
use crate::{InputError, pillars, sides};

/// The folders of `--deployed`.
///
/// # Errors
/// A flag is not of the form PATH=DIR, or names a path that cannot be deployed to.
pub(crate) fn of_flags(flags: &[String]) -> Result<Deployed, InputError> {
    let usage = |flag: &String, why: String| {
        InputError::Usage(format!(
            "--deployed {flag}: {why}; write PATH=DIR, as in --deployed /srv/pillar=pillar"
        ))
    };
    flags.iter().try_fold(Deployed::new(), |deployed, flag| {
        let Some((at, directory)) = flag.split_once('=') else {
            return Err(usage(flag, "there is no '='".into()));
        };
        if !Path::new(directory).is_dir() {
            return Err(usage(flag, format!("{directory} is not a directory")));
        }
        let more = deployed.folder(at, directory);
        more.map_err(|e| usage(flag, e.to_string()))
    })
}

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

//! The options and pillars with which the states of minions are compiled.

use mapstack::minion::Minion;
use mapstack::value::Value;
use mapstack::{Error, ErrorKind};
use mapstack_salt_config::Config;
use mapstack_states::{RequestedStates, TopOptions};

use crate::inputs::flags::FileFlags;
use crate::inputs::pillars::ConfiguredPillars;

/// The errors that keep a minion from its states.
pub type Refused = Vec<Error>;

/// The options for top files: those of a configuration, with the saltenv of flags.
pub fn top_options(config: Option<&Config>, files: &FileFlags) -> TopOptions {
    let options = config.map(|config| TopOptions::of(config.options()));
    let options = options.unwrap_or_default();
    TopOptions {
        saltenv: files.saltenv.clone().or(options.saltenv.clone()),
        ..options
    }
}

/// The states of some sls, or without any those that top files give.
pub(super) fn wanted<'w>(sls: &'w [String], options: &'w TopOptions) -> RequestedStates<'w> {
    match sls {
        [] => RequestedStates::Highstate,
        names => RequestedStates::Sls {
            saltenv: options.saltenv.as_deref().unwrap_or("base"),
            names,
        },
    }
}

/// Gives a minion without a pillar the one that a configuration compiles, and sets the values of flags.
///
/// # Errors
/// The pillar has errors, or a value cannot be set.
pub(super) fn give_pillar(
    minion: &mut Minion,
    pillars: Option<&ConfiguredPillars>,
    changes: &[(String, Value)],
) -> Result<(), Refused> {
    if let Some(pillars) = pillars.filter(|_| minion.pillar.is_empty()) {
        let pillar = pillars.compile(minion).map_err(|e| vec![e])?;
        let failures = pillar.failures();
        if !failures.is_empty() {
            return Err(failures);
        }
        minion.pillar = pillar.data;
    }
    for (path, value) in changes {
        let set = minion.set(path, value.clone());
        set.map_err(|e| vec![Error::new(ErrorKind::Facts, e.to_string())])?;
    }
    Ok(())
}

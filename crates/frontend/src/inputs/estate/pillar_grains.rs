//! Grains from the pillars of minions: `minions: grains_from: pillar:KEY` in a project's file.

use std::sync::Arc;

use mapstack::minion::Minion;
use mapstack::value::{Key, Map, Value};
use mapstack::{Error, ErrorKind};

use super::ids::{FoundMinions, GivenGrains, extend};
use crate::inputs::flags::{EngineFlags, FactFlags, FileFlags, Functions};
use crate::inputs::functions::MemoryOf;
use crate::inputs::pillars::{ConfiguredPillars, NoWarnings};
use crate::inputs::{InputError, Project};

/// The limit on compiles of one pillar, each with the grains from the one before. A pillar that does not
/// depend on them gives the same grains the second time.
const ROUNDS: usize = 5;

/// Takes grains of minions from a mapping in their pillars.
struct PillarGrains {
    key: String,
    pillars: ConfiguredPillars,
}

/// Give the minions of the current estate the grains in their pillars, if the project's file has
/// `grains_from`.
///
/// # Errors
/// The project has no pillar, or its files cannot be opened.
pub fn give_grains(
    files: &FileFlags,
    facts: &mut FactFlags,
    functions: &Functions,
    memory: MemoryOf,
) -> Result<(), InputError> {
    let project = files.project.as_ref();
    let key = project.and_then(Project::grains_of_pillar);
    if let (Some(key), Some(found)) = (key, &mut facts.found) {
        let pillars = PillarGrains::of(key, EngineFlags { files, functions }, memory)?;
        let given = GivenGrains::new(move |minion| pillars.give(&minion));
        *found = Arc::new(FoundMinions::clone(found).with_given(given));
    }
    Ok(())
}

impl PillarGrains {
    /// Grains below a key of the project's pillar.
    ///
    /// # Errors
    /// The project has no pillar, or its files cannot be opened.
    fn of(key: &str, flags: EngineFlags<'_>, memory: MemoryOf) -> Result<Self, InputError> {
        // The verb itself warns about these files.
        match ConfiguredPillars::of(None, flags, memory, &NoWarnings)? {
            Some(pillars) => Ok(PillarGrains {
                key: key.into(),
                pillars,
            }),
            None => Err(InputError::Usage(format!(
                "`grains_from: pillar:{key}` in .mapstack.yaml takes grains from the pillar, and the project has none: \
                 `pillar_roots` names its folders"
            ))),
        }
    }

    /// The minion with these grains over its own. The pillar may depend on them, so it is compiled until they
    /// stay the same.
    ///
    /// # Errors
    /// The pillar cannot be compiled, its value is not a mapping, or its grains change with each compile.
    fn give(&self, minion: &Minion) -> Result<Minion, Error> {
        let (mut given, mut changed) = (Map::new(), None);
        for _ in 0..ROUNDS {
            let mut with = minion.clone();
            extend(&mut with.grains, &given);
            let next = self.of_pillar(&with)?;
            changed = difference(&given, &next);
            if changed.is_none() {
                return Ok(with);
            }
            given = next;
        }
        let name = changed.unwrap_or_default();
        let message = format!(
            "the grain '{name}' of '{}' does not settle: the pillar has another one each time it is compiled with the \
             grains that it had before",
            minion.id()
        );
        Err(self.error(ErrorKind::Facts, message))
    }

    /// The mapping in the pillar of a minion; empty where the pillar has none.
    fn of_pillar(&self, minion: &Minion) -> Result<Map, Error> {
        let note = |error: Error| {
            error.note(format!(
                "in the pillar of '{}', whose '{}' gives its grains (`grains_from` in .mapstack.yaml)",
                minion.id(),
                self.key
            ))
        };
        let pillar = self
            .pillars
            .compile(&minion.clone().complete())
            .map_err(note)?;
        let failures = pillar.failures();
        let data = Value::Map(pillar.data);
        let found = self
            .key
            .split(':')
            .try_fold(&data, |inner, key| inner.as_map()?.get(key));
        match (found, failures.into_iter().next()) {
            (Some(Value::Map(grains)), _) => Ok(grains.clone()),
            (None, None) => Ok(Map::new()),
            // The key may be in an sls that failed.
            (None, Some(first)) => Err(note(first)),
            (Some(other), _) => {
                let message = format!(
                    "the pillar of '{}' has {} at '{}', and grains are a mapping",
                    minion.id(),
                    other.kind().described(),
                    self.key
                );
                Err(self.error(ErrorKind::Facts, message))
            }
        }
    }

    fn error(&self, kind: ErrorKind, message: String) -> Error {
        let help = format!(
            "`grains_from: pillar:{}` in .mapstack.yaml names the source of these grains",
            self.key
        );
        Error::new(kind, message).help(help)
    }
}

/// The first key for which two mappings have different values.
fn difference(one: &Map, other: &Map) -> Option<String> {
    let differs = |key: &&Key| match (one.get(*key), other.get(*key)) {
        (Some(one), Some(other)) => !one.is_same(other),
        _ => true,
    };
    one.keys()
        .chain(other.keys())
        .find(differs)
        .map(ToString::to_string)
}

//! The compiled states of the minions of an estate.

use std::collections::BTreeMap;
use std::sync::Arc;

use mapstack::loader::Snapshot;
use mapstack::minion::Minion;
use mapstack::secrets::Redacted;
use mapstack::{Engine, Error};
use mapstack_files::SharedFiles;
use mapstack_fleet::{Census, Masking, Minions as _, Pace, Panic, Traits, ordered};
use mapstack_report::fleet_files::FleetFile;
use mapstack_states::{Compiled, Gatherer, TopOptions};

use crate::inputs::deployed::with_roots;
use crate::inputs::flags::{FactFlags, Input, WorkFlags};
use crate::inputs::functions::{MemoryOf, engine};
use crate::inputs::minions::{MinionStream, pillar_changes};
use crate::inputs::pillars::{Configured, ConfiguredPillars};
use crate::inputs::served::Served;
use crate::inputs::state_facts::{Refused, give_pillar, top_options};
use crate::inputs::{InputError, WarningSink};

/// The states of many minions.
pub struct FleetHighstate {
    /// Groups of minions that have the same states.
    pub groups: Vec<(Arc<Compiled>, Vec<String>)>,
    /// The files that the states make, with the minions that get them; none if they were not asked for.
    pub files: Vec<(FleetFile, Vec<String>)>,
    /// The reasons for which minions get no states, with the minions.
    pub failed: Vec<(Redacted<Error>, Vec<String>)>,
    /// The number of minions.
    pub minions: usize,
    /// The traits that minions have in common.
    pub census: Census,
}

/// A minion and its states.
struct MinionHighstate {
    minion: Minion,
    states: Result<Arc<Compiled>, Refused>,
    files: Vec<FleetFile>,
}

/// Compiles the states of minions, whose pillars are compiled first.
struct StatesOf<'s> {
    gatherer: Gatherer<'s>,
    /// The maker of files, if they are requested.
    files: Option<SharedFiles<'s>>,
    engine: &'s Engine,
    pillars: Option<&'s ConfiguredPillars>,
    changes: Vec<(String, mapstack::value::Value)>,
}

impl<'s> StatesOf<'s> {
    /// A compiler for the minions of an engine.
    ///
    /// # Errors
    /// Flags change pillars in a way that cannot be.
    fn new(
        engine: &'s Engine,
        options: TopOptions,
        facts: &FactFlags,
        pillars: Option<&'s ConfiguredPillars>,
    ) -> Result<Self, InputError> {
        Ok(StatesOf {
            gatherer: Gatherer::new(engine, options),
            files: None,
            engine,
            pillars,
            changes: pillar_changes(facts)?,
        })
    }

    /// Make their files as well.
    fn with_files(mut self) -> Self {
        self.gatherer = self.gatherer.keeping_low();
        self.files = Some(SharedFiles::new(self.engine));
        self
    }

    fn highstate(&self, minion: &Minion) -> MinionHighstate {
        let mut minion = self.engine.with_tree_grains(minion).into_owned();
        let states = give_pillar(&mut minion, self.pillars, &self.changes);
        let states = states.and_then(|()| self.states(&minion));
        let made = self.files.as_ref().zip(states.as_ref().ok());
        let made = made.map(|(files, states)| files.of(&minion, states));
        let files = made.iter().flatten().map(FleetFile::of).collect();
        MinionHighstate {
            minion,
            states,
            files,
        }
    }

    /// The states of a minion that has its pillar.
    ///
    /// # Errors
    /// Salt refuses them, or the top files cannot be used.
    fn states(&self, minion: &Minion) -> Result<Arc<Compiled>, Refused> {
        let compiled = self.gatherer.compiled(minion).map_err(|e| vec![e])?;
        match &compiled.errors[..] {
            [] => Ok(compiled),
            errors => Err(errors.to_vec()),
        }
    }
}

impl FleetHighstate {
    /// The states of the minions of flags, and the files that they make if these are requested.
    ///
    /// # Errors
    /// Flags name no minion or no files, or some that cannot be read.
    pub fn of(
        input: &Input,
        work: &WorkFlags,
        masking: &Masking,
        with_files: bool,
        memory: MemoryOf,
        warn: &dyn WarningSink,
    ) -> Result<Self, InputError> {
        let config = input.config(warn)?;
        let config = config.as_ref();
        let flags = input.engine_flags();
        let pillars = ConfiguredPillars::of(config, flags, memory, warn)?;
        let minions = MinionStream::of_work(input, work, Configured::later(config), warn)?;
        let served = Served::new(&input.files, config, None, warn)?.files;
        let engine = engine(Snapshot::new(served), &input.functions, memory)?;
        let engine = with_roots(engine, &input.files, config);
        let minions = minions.selected(&engine, &work.target)?;
        let ids = work.of(minions.ids());
        let options = top_options(config, &input.files);
        let states = StatesOf::new(&engine, options, &input.facts, pillars.as_ref())?;
        let states = match with_files {
            true => states.with_files(),
            false => states,
        };
        Ok(Self::made(&states, &minions, &ids, work.pace(), masking))
    }

    fn made(
        states: &StatesOf<'_>,
        minions: &MinionStream<'_>,
        ids: &[String],
        pace: Pace,
        masking: &Masking,
    ) -> Self {
        let mut all = CollectedStates {
            fleet: FleetHighstate {
                groups: Vec::new(),
                files: Vec::new(),
                failed: Vec::new(),
                minions: ids.len(),
                census: Census::default(),
            },
            by_states: BTreeMap::new(),
            by_error: BTreeMap::new(),
            by_file: BTreeMap::new(),
        };
        std::thread::scope(|scope| {
            let work = |id: &String| -> Result<MinionHighstate, Error> {
                Ok(states.highstate(&minions.read(id)?))
            };
            for (id, made) in ids.iter().zip(ordered(scope, ids.iter(), pace, work)) {
                all.add(id, made, masking);
            }
        });
        let mut fleet = all.fleet;
        fleet.files = all.by_file.into_iter().collect();
        fleet
    }
}

/// The states of the minions that were looked at so far.
struct CollectedStates {
    fleet: FleetHighstate,
    /// The groups by the address of the states, which they keep.
    by_states: BTreeMap<usize, usize>,
    by_error: BTreeMap<String, usize>,
    by_file: BTreeMap<FleetFile, Vec<String>>,
}

impl CollectedStates {
    fn add(
        &mut self,
        id: &str,
        made: Result<Result<MinionHighstate, Error>, Panic>,
        masking: &Masking,
    ) {
        match made.map_err(Error::from).flatten() {
            Ok(looked) => {
                self.fleet.census.add(id, Traits::of(&looked.minion));
                for file in looked.files {
                    self.by_file.entry(file).or_default().push(id.to_owned());
                }
                match looked.states {
                    Ok(states) => self.group(id, states),
                    Err(errors) => {
                        let secrets = masking.of([&looked.minion]);
                        for error in secrets.redact_all(&errors) {
                            self.fail(id, error);
                        }
                    }
                }
            }
            Err(error) => self.fail(id, masking.of([]).redact(&error)),
        }
    }

    fn group(&mut self, id: &str, states: Arc<Compiled>) {
        let groups = &mut self.fleet.groups;
        let address = Arc::as_ptr(&states) as usize;
        let at = *self.by_states.entry(address).or_insert(groups.len());
        match groups.get_mut(at) {
            Some((_, ids)) => ids.push(id.to_owned()),
            None => groups.push((states, vec![id.to_owned()])),
        }
    }

    fn fail(&mut self, id: &str, error: Redacted<Error>) {
        let failed = &mut self.fleet.failed;
        let at = *self
            .by_error
            .entry(error.to_string())
            .or_insert(failed.len());
        match failed.get_mut(at) {
            Some((_, ids)) => ids.push(id.to_owned()),
            None => failed.push((error, vec![id.to_owned()])),
        }
    }
}

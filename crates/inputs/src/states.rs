//! Two states of the files, with what is computed of each.

use std::sync::Arc;

use mapstack::loader::{Backends, FileServer, Snapshot};
use mapstack::value::Value;
use mapstack::{Engine, Error, ErrorKind};
use mapstack_fleet::{ChangedFiles, Comparison, Fleet, Pillars};
use mapstack_pillar::Master;
use mapstack_salt_config::Config;

use crate::around::Around;
use crate::flags::Input;
use crate::functions::{MemoryOf, engine};
use crate::minions::pillar_changes;
use crate::outside::Outside;
use crate::sides::{PillarSides, Sides};
use crate::{Configured, InputError, Plan, formulas};

/// Two states of the files as engines, and the pillars that each compiles.
pub struct States {
    before: Engine,
    after: Engine,
    pillars: Option<Compiled>,
    changed: ChangedFiles,
    /// Why pillars are not compared, though the configuration compiles them.
    pub no_pillars: Option<String>,
    /// The files around the roots that are different.
    pub outside: Outside,
}

/// The pillars of two states.
struct Compiled {
    config: Config,
    files: [Arc<dyn FileServer>; 2],
    changed: ChangedFiles,
    changes: Vec<(String, Value)>,
    below_roots: Vec<String>,
    around: Option<Around>,
}

/// How many files changed, and which of them no compared result is made of.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// How many changed.
    pub changed: usize,
    /// Those that were not compared.
    pub unread: Vec<String>,
    /// How many files of the pillar changed.
    pub changed_of_pillar: usize,
    /// Those of the pillar that were not compared; `None` if pillars are not.
    pub unread_of_pillar: Option<Vec<String>>,
    /// Those around the roots that were not compared.
    pub unread_outside: Vec<String>,
}

impl States {
    /// The states that flags name.
    ///
    /// # Errors
    /// As [`Sides::new`], and files that cannot be read.
    pub fn new(
        input: &Input,
        states: (&str, &str),
        config: Option<&Config>,
        memory: MemoryOf,
    ) -> Result<Self, InputError> {
        let with_pillars = input.facts.pillar.is_none();
        let sides = Sides::new(&input.files, states, (config, with_pillars))?;
        let state = |files: Backends| engine(Snapshot::new(files), &input.functions, memory);
        let (before, after) = (state(sides.before)?, state(sides.after)?);
        let changed = changed(before.files(), after.files())?;
        let compiled = |sides: PillarSides| -> Result<Compiled, InputError> {
            let files = sides.files.map(|files| Arc::new(Snapshot::new(files)));
            Ok(Compiled {
                changed: self::changed(&*files[0], &*files[1])?,
                files: files.map(|files| files as Arc<dyn FileServer>),
                changes: pillar_changes(&input.facts)?,
                config: sides.config,
                below_roots: sides.below_roots,
                around: sides.around,
            })
        };
        Ok(States {
            before,
            after,
            pillars: sides.pillars.map(compiled).transpose()?,
            changed,
            no_pillars: sides.no_pillars,
            outside: sides.outside,
        })
    }

    /// Whether pillars are compared.
    pub fn has_pillars(&self) -> bool {
        self.pillars.is_some()
    }

    /// How minions get their pillars: here, if they are compared.
    pub fn minions_by<'c>(
        &self,
        config: Option<&'c Config>,
        now: Option<&'c crate::Pillars>,
    ) -> Configured<'c> {
        match self.has_pillars() {
            true => Configured::later(config),
            false => (config, now).into(),
        }
    }

    /// The formulas to compare: those given, or all.
    ///
    /// # Errors
    /// The formula does not exist; or neither formulas nor pillars were found.
    pub fn formulas(&self, saltenv: &str, given: &[String]) -> Result<Vec<String>, InputError> {
        let engines = [&self.before, &self.after];
        formulas::compared(engines, saltenv, given, self.has_pillars())
    }

    /// What is computed of both states.
    ///
    /// # Errors
    /// As [`Plan::fleet`].
    pub fn fleets(&self, plan: &Plan) -> Result<[Fleet<'_>; 2], Error> {
        let fleet = |engine, index: usize| -> Result<Fleet<'_>, Error> {
            let fleet = plan.fleet(engine)?;
            let Some(compiled) = &self.pillars else {
                return Ok(fleet);
            };
            let files = compiled.files.get(index).cloned();
            let files = files.unwrap_or_else(|| Arc::new(Backends::default()));
            let master = Master::new(compiled.config.clone(), files);
            let around = compiled.around.as_ref();
            let around = around.and_then(|around| around.of_state(index));
            let master = match around {
                Some((directory, files)) => master.mount(directory, files),
                None => master,
            };
            let pillars = Pillars::new(master, engine);
            Ok(fleet.with_pillars(pillars.with_changes(compiled.changes.clone())))
        };
        Ok([fleet(&self.before, 0)?, fleet(&self.after, 1)?])
    }

    /// The comparison of both states, and of pillars unless only formulas are meant.
    pub fn comparison<'f, 'e>(
        &self,
        [before, after]: [&'f Fleet<'e>; 2],
        only_formulas: bool,
    ) -> Comparison<'f, 'e> {
        let comparison = Comparison::new(before, after).reached_by(self.changed.clone());
        let comparison = match only_formulas {
            true => comparison.of_formulas(),
            false => comparison,
        };
        match &self.pillars {
            Some(compiled) => comparison.pillars_reached_by(compiled.changed.clone()),
            None => comparison,
        }
    }

    /// The changed files, after a comparison. A file of the pillar counts as such, even if the file server has it as
    /// well.
    pub fn counted(&self, comparison: &Comparison<'_, '_>) -> Counted {
        let below = self
            .pillars
            .iter()
            .flat_map(|compiled| &compiled.below_roots);
        let below: Vec<&String> = below.collect();
        let is_of_pillar = |path: &str| {
            below.iter().any(|root| {
                let rest = path.strip_prefix(root.as_str());
                rest.is_some_and(|rest| root.is_empty() || rest.starts_with('/'))
            })
        };
        let around = self.pillars.as_ref().and_then(|of| of.around.as_ref());
        let is_stacked = |path: &String| {
            let paths = around.map(|around| around.paths_of(path));
            let mut paths = paths.into_iter().flatten();
            paths.any(|path| comparison.has_stacked(&path))
        };
        let unstacked = |paths: Vec<String>| -> Vec<String> {
            paths.into_iter().filter(|path| !is_stacked(path)).collect()
        };
        let unread = comparison.not_compared().unwrap_or_default().into_iter();
        let unread = unread.filter(|path| !is_of_pillar(path)).collect();
        let of_pillar = self.pillars.as_ref();
        let outside = &self.outside.changed;
        let has_stacked = |path: &&String| comparison.has_stacked(path);
        let (stacked, unread_outside): (Vec<&String>, Vec<&String>) =
            outside.iter().partition(has_stacked);
        Counted {
            changed: self
                .changed
                .project_paths()
                .filter(|path| !is_of_pillar(path))
                .count()
                + stacked.len(),
            unread: unstacked(unread),
            changed_of_pillar: of_pillar
                .map_or(0, |compiled| compiled.changed.project_paths().count()),
            unread_of_pillar: comparison.pillar_files_not_compared().map(unstacked),
            unread_outside: unread_outside.into_iter().cloned().collect(),
        }
    }
}

fn changed(before: &dyn FileServer, after: &dyn FileServer) -> Result<ChangedFiles, Error> {
    ChangedFiles::between(before, after).map_err(|e| {
        Error::new(
            ErrorKind::File,
            format!("the files cannot be compared: {e}"),
        )
    })
}

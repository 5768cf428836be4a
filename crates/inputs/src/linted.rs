//! What is checked for mistakes: formulas, and the pillar.

use mapstack::Engine;
use mapstack::loader::Backends;
use mapstack::minion::Minion;
use mapstack::{Error, ErrorKind};
use mapstack_fleet::Minions as _;
use mapstack_salt_config::{Config, Kind};

use crate::configuration;
use crate::explained_pillar::ExplainedPillar;
use crate::flags::{Facts, SiteFlags};
use crate::functions::{MemoryOf, engine};
use crate::minions::{Many, pillar_changes};
use crate::pillars::{Configured, ConfiguredPillars};
use crate::served::Served;
use crate::{InputError, Warn, formulas};

/// The formulas and the pillar that flags name.
pub struct Linted {
    /// What formulas are served by.
    pub engine: Engine,
    /// The formulas.
    pub formulas: Vec<String>,
    /// The pillar, if it is to be checked.
    pub pillars: Option<ConfiguredPillars>,
    config: Option<Config>,
}

/// The minions for which things are checked.
pub struct LintMinions {
    /// The minions. Where the pillar is checked, they have none but what they are given with.
    pub minions: Vec<Minion>,
    /// Whether they are real minions, not examples.
    pub are_known: bool,
}

impl Linted {
    /// What is named; else all formulas, and the pillar that the configuration compiles. A pillar that is given is not
    /// checked.
    ///
    /// # Errors
    /// A formula does not exist, or there is nothing to check.
    pub fn of(
        names: &[String],
        site: &SiteFlags,
        memory: MemoryOf,
        warn: &dyn Warn,
    ) -> Result<Self, InputError> {
        let SiteFlags {
            files,
            functions,
            facts,
            ..
        } = site;
        // A minion's configuration has a pillar only where it has no master.
        let asks = names.iter().any(|name| name == ExplainedPillar::NAME);
        let kind = asks.then_some(Kind::Master);
        let config = configuration::read(files, None, kind, warn)?;
        crate::pillars::warn_of_order(config.as_ref(), (files, functions), warn)?;
        let pillars = match facts.pillar {
            None => ConfiguredPillars::of(config.as_ref(), (files, functions), memory, warn)?,
            Some(_) => None,
        };
        let has_files = !files.root.is_empty()
            || configuration::has_own_roots(config.as_ref())
            || pillars.is_none();
        let served = match has_files {
            true => Served::new(files, config.as_ref(), None, warn)?.files,
            false => Backends::default(),
        };
        let engine = engine(served, functions, memory)?;
        let saltenv = files.saltenv.as_deref().unwrap_or("base");
        let all = formulas::all(&engine, saltenv)?;
        let is_pillar = |name: &&String| {
            name.as_str() == ExplainedPillar::NAME && !all.contains(ExplainedPillar::NAME)
        };
        let (of_pillar, named): (Vec<&String>, Vec<&String>) = names.iter().partition(is_pillar);
        let named: Vec<String> = named.into_iter().cloned().collect();
        let is_wanted = !of_pillar.is_empty() || names.is_empty();
        if pillars.is_none() && !of_pillar.is_empty() {
            return Err(match facts.pillar {
                Some(_) => InputError::Usage(
                    "--pillar gives the pillar, so a master's pillar is not compiled and cannot be checked".into(),
                ),
                None => InputError::Usage(ExplainedPillar::NOTHING_COMPILES.into()),
            });
        }
        let formulas = match (named.is_empty(), pillars.is_some() && is_wanted) {
            // Nothing else may be served.
            (true, true) if of_pillar.is_empty() => all.into_iter().collect(),
            (true, true) => Vec::new(),
            _ => formulas::existing(&engine, saltenv, &named)?,
        };
        Ok(Linted {
            engine,
            formulas,
            pillars: pillars.filter(|_| is_wanted),
            config,
        })
    }

    /// The one formula that is named, or the pillar; else the only formula there is.
    ///
    /// # Errors
    /// The formula does not exist, or none is named and there is not just one.
    pub fn one(
        name: Option<&String>,
        site: &SiteFlags,
        memory: MemoryOf,
        warn: &dyn Warn,
    ) -> Result<Self, InputError> {
        if let Some(name) = name {
            let names = std::slice::from_ref(name);
            return Self::of(names, site, memory, warn);
        }
        let files = &site.files;
        let config = configuration::read(files, None, None, warn)?;
        let served = Served::new(files, config.as_ref(), None, warn)?;
        let engine = engine(served.files, &site.functions, memory)?;
        let saltenv = files.saltenv.as_deref().unwrap_or("base");
        Ok(Linted {
            formulas: vec![formulas::one(&engine, saltenv, None)?],
            engine,
            pillars: None,
            config,
        })
    }

    /// The minions of flags, or one of each platform.
    ///
    /// # Errors
    /// Flags name no minion, or one that cannot be read.
    pub fn minions(
        &self,
        site: &SiteFlags,
        memory: MemoryOf,
        warn: &dyn Warn,
    ) -> Result<LintMinions, InputError> {
        let SiteFlags {
            target,
            facts,
            files,
            functions,
        } = site;
        let config = self.config.as_ref();
        let own = match self.pillars {
            Some(_) => None,
            None => ConfiguredPillars::of(config, (files, functions), memory, warn)?,
        };
        let by = match self.pillars {
            Some(_) => Configured::later(config),
            None => Configured::from((config, own.as_ref())),
        };
        let minions = Many::list_or_platforms((facts, target), by, &functions.stub, warn)?
            .selected(&self.engine, target)?;
        let ids = minions.ids();
        let minions = ids.iter().map(|id| minions.read(id));
        let minions = minions.collect::<Result<_, Error>>()?;
        if let Some(own) = &own {
            own.count_warnings(warn)?;
        }
        let is_cached = configuration::cache(config, facts).is_some();
        Ok(LintMinions {
            minions,
            are_known: facts.platform.is_empty()
                && (facts.name_minions() || is_cached || facts.of_estate().is_some()),
        })
    }

    /// Minions with their pillars as `--set` changes them.
    ///
    /// # Errors
    /// A change is not possible.
    pub fn changed(minions: Vec<Minion>, facts: &Facts) -> Result<Vec<Minion>, InputError> {
        let changes = pillar_changes(facts)?;
        let changed = minions.into_iter().map(|mut minion| {
            for (path, value) in &changes {
                let set = minion.set(path, value.clone());
                set.map_err(|e| Error::new(ErrorKind::Facts, e.to_string()))?;
            }
            Ok(minion)
        });
        changed.collect()
    }
}

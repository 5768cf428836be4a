//! The subjects of `mapstack lint`: formulas, and the pillar.

use std::collections::BTreeSet;

use mapstack::loader::{Backends, Fetched, LoadError, SaltPath, Snapshot, Unserved};
use mapstack::minion::Minion;
use mapstack::value::Map;
use mapstack::{Configuration, DataOptions, Engine, Error, ErrorKind, UnansweredCall};
use mapstack_fleet::Minions as _;
use mapstack_salt_config::{Config, Kind};
use mapstack_states::{Gatherer, TopOptions};

use crate::inputs::compared_files::{ComparedFiles, NOW};
use crate::inputs::configuration;
use crate::inputs::explained_pillar::ExplainedPillar;
use crate::inputs::flags::{EngineFlags, FactFlags, FileFlags, SiteFlags};
use crate::inputs::functions::{MemoryOf, engine};
use crate::inputs::minions::{MinionStream, pillar_changes};
use crate::inputs::pillars::{Configured, ConfiguredPillars, NoWarnings};
use crate::inputs::served::Served;
use crate::inputs::states::FilesState;
use crate::inputs::{InputError, WarningSink, deployed, formulas, misplaced};

/// The formulas and the pillar that flags name.
pub struct LintTargets {
    /// The engine that serves formulas.
    pub engine: Engine,
    /// The formulas.
    pub formulas: Vec<String>,
    /// The pillar, if it is to be checked.
    pub pillars: Option<ConfiguredPillars>,
    /// The states of the estate, if all of it is to be checked: how top files are read, and the folders below the roots
    /// that have no states, with the reason.
    pub estate: Option<EstateStates>,
    config: Option<Config>,
}

/// All states that are served.
#[derive(Debug, Clone, Default)]
pub struct EstateStates {
    /// The options by which top files are read.
    pub options: Map,
    /// Folders below the roots that have no states, with the reason.
    pub others: Vec<(String, String)>,
}

/// The minions for which things are checked.
pub struct LintMinions {
    /// The minions. Where the pillar is checked, they have none but what they are given with.
    pub minions: Vec<Minion>,
    /// True if they are real minions, not examples.
    pub are_known: bool,
    /// Those that are assumed in place of others.
    pub examples: BTreeSet<String>,
    /// Those whose grains are assumed.
    pub assumed: BTreeSet<String>,
    /// Those that could not be read.
    pub broken: Vec<(String, Error)>,
}

/// The configuration behind flags. A minion's has a pillar only where it has no master, so a named pillar asks for a master's.
fn config_for(
    names: &[String],
    files: &FileFlags,
    warn: &dyn WarningSink,
) -> Result<Option<Config>, InputError> {
    let asks = names.iter().any(|name| name == ExplainedPillar::NAME);
    configuration::read(files, None, asks.then_some(Kind::Master), warn)
}

/// The states of what is served, if it is an estate: the current checkout is one, there is a top file, or there are sls
/// and no formulas.
fn estate_states(
    engine: &Engine,
    saltenv: &str,
    files: &FileFlags,
    config: Option<&Config>,
    has_formulas: bool,
) -> Option<EstateStates> {
    let options = config.map(|config| config.options().clone());
    let options = options.unwrap_or_default();
    let project = files.project.as_ref();
    let is_estate = project.is_some_and(|project| project.estate.is_some());
    let top = SaltPath::from_relative("top.sls");
    let has_top = || matches!(engine.fetch(&top, saltenv), Ok(Fetched::Found { .. }));
    let has_sls = || {
        let served = engine.list(saltenv, "").unwrap_or_default();
        served.iter().any(|path| path.ends_with(".sls"))
    };
    // A root that is a formula, or lies in one, is refused with a better one.
    let is_all_states = || !has_formulas && misplaced::check(engine, saltenv).is_ok() && has_sls();
    if !is_estate && !has_top() && !is_all_states() {
        return None;
    }
    let below = config.map(|config| {
        let own = crate::inputs::compared_files::roots_of_pillar(config).unwrap_or_default();
        let roots = crate::inputs::served::roots(files, Some(config)).unwrap_or_default();
        crate::inputs::compared_files::below_roots(&own, &roots)
    });
    let others = below.unwrap_or_default().into_iter();
    let others = others.filter(|folder| !folder.is_empty());
    Some(EstateStates {
        options,
        others: others
            .map(|folder| (folder, "it is of the pillar".to_owned()))
            .collect(),
    })
}

impl LintTargets {
    /// The named subjects; else all formulas, and the pillar that the configuration compiles. A pillar that is
    /// given is not checked.
    ///
    /// # Errors
    /// A formula does not exist, or nothing can be checked.
    pub fn of(
        names: &[String],
        site: &SiteFlags,
        memory: MemoryOf,
        warn: &dyn WarningSink,
    ) -> Result<Self, InputError> {
        let SiteFlags {
            files,
            functions,
            facts,
            ..
        } = site;
        let config = config_for(names, files, warn)?;
        crate::inputs::pillars::warn_of_order(
            config.as_ref(),
            EngineFlags { files, functions },
            warn,
        )?;
        let pillars = match facts.pillar {
            None => ConfiguredPillars::of(
                config.as_ref(),
                EngineFlags { files, functions },
                memory,
                warn,
            )?,
            Some(_) => None,
        };
        let has_files = !files.root.is_empty()
            || configuration::has_own_roots(config.as_ref())
            || pillars.is_none();
        let served = match has_files {
            true => Served::new(files, config.as_ref(), None, warn)?.files,
            false => Backends::default(),
        };
        let engine = engine(Snapshot::new(served), functions, memory)?;
        let engine = deployed::with_roots(engine, files, config.as_ref());
        LintTargets::serving(names, files, facts, config, pillars, engine)
    }

    /// The same as things were at a revision, or nothing where none of them was there. The configuration, the flags and
    /// the minions are those of now.
    ///
    /// # Errors
    /// The revision cannot be read, or what [`of`](Self::of) fails for.
    pub fn before(
        revision: &str,
        names: &[String],
        site: &SiteFlags,
        memory: MemoryOf,
    ) -> Result<Option<Self>, InputError> {
        let SiteFlags {
            files,
            functions,
            facts,
            ..
        } = site;
        let config = config_for(names, files, &NoWarnings)?;
        let with_pillars = facts.pillar.is_none();
        let side = || ComparedFiles::new(files, [revision, NOW], config.as_ref(), with_pillars);
        let flags = EngineFlags { files, functions };
        let mut sides = side()?;
        let state = FilesState::of(&mut sides, 0, flags, config.as_ref(), memory)?;
        let pillars = match sides.pillars {
            Some(of) => {
                let own = FilesState::of(&mut side()?, 0, flags, config.as_ref(), memory)?;
                Some(ConfiguredPillars::of_state(
                    own.engine, own.pillar, own.mounts, of.config, flags,
                )?)
            }
            None => None,
        };
        let saltenv = files.saltenv.as_deref().unwrap_or("base");
        let all = formulas::all(&state.engine, saltenv)?;
        let is_pillar = |name: &str| name == ExplainedPillar::NAME && pillars.is_some();
        let there = names
            .iter()
            .filter(|name| all.contains(*name) || is_pillar(name));
        let there: Vec<String> = there.cloned().collect();
        let is_nothing = match names.is_empty() {
            true => all.is_empty() && pillars.is_none(),
            false => there.is_empty(),
        };
        if is_nothing {
            return Ok(None);
        }
        LintTargets::serving(&there, files, facts, config, pillars, state.engine).map(Some)
    }

    /// The named formulas and pillars of an engine.
    fn serving(
        names: &[String],
        files: &FileFlags,
        facts: &FactFlags,
        config: Option<Config>,
        pillars: Option<ConfiguredPillars>,
        engine: Engine,
    ) -> Result<Self, InputError> {
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
        let estate = match names.is_empty() {
            true => estate_states(&engine, saltenv, files, config.as_ref(), !all.is_empty()),
            false => None,
        };
        let formulas = match (named.is_empty(), pillars.is_some() && is_wanted) {
            // Their states are among those of the estate.
            (true, _) if estate.is_some() => formulas::layered(&engine, saltenv)?,
            // Nothing else may be served.
            (true, true) if of_pillar.is_empty() => all.into_iter().collect(),
            (true, true) => Vec::new(),
            _ => formulas::existing(&engine, saltenv, &named)?,
        };
        Ok(LintTargets {
            engine,
            formulas,
            pillars: pillars.filter(|_| is_wanted),
            estate,
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
        warn: &dyn WarningSink,
    ) -> Result<Self, InputError> {
        if let Some(name) = name {
            let names = std::slice::from_ref(name);
            return Self::of(names, site, memory, warn);
        }
        let files = &site.files;
        let config = configuration::read(files, None, None, warn)?;
        let served = Served::new(files, config.as_ref(), None, warn)?;
        let engine = engine(served.files, &site.functions, memory)?;
        let engine = deployed::with_roots(engine, files, config.as_ref());
        let saltenv = files.saltenv.as_deref().unwrap_or("base");
        Ok(LintTargets {
            formulas: vec![formulas::one(&engine, saltenv, None)?],
            engine,
            pillars: None,
            estate: None,
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
        warn: &dyn WarningSink,
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
            None => ConfiguredPillars::of(config, EngineFlags { files, functions }, memory, warn)?,
        };
        let by = match self.pillars {
            Some(_) => Configured::later(config),
            None => Configured::new(config, own.as_ref()),
        };
        let minions = MinionStream::list_or_platforms(facts, target, by, &functions.stub, warn)?
            .selected(&self.engine, target)?;
        let ids = minions.ids();
        let (minions, broken) = readable(&ids, |id| minions.read(id))?;
        if let Some(own) = &own {
            own.count_warnings(warn)?;
        }
        let is_cached = configuration::cache(config, facts).is_some();
        let of_estate = facts.of_estate().filter(|_| !facts.name_minions());
        let is_named = facts.name_minions() && facts.platform.is_empty();
        let all = || ids.iter().cloned().collect();
        let (examples, assumed) = match of_estate {
            Some(found) => (found.made_up().collect(), all()),
            None if is_named || is_cached => Default::default(),
            None => (all(), all()),
        };
        Ok(LintMinions {
            examples,
            assumed,
            minions,
            broken,
            are_known: facts.platform.is_empty()
                && match of_estate {
                    Some(found) => found.is_given,
                    None => facts.name_minions() || is_cached,
                },
        })
    }

    /// The names among the checked files that are not served, with the formula, or `None` for the pillar.
    ///
    /// # Errors
    /// The files cannot be listed.
    pub fn unserved(
        &self,
        files: &FileFlags,
        only: &[String],
    ) -> Result<Vec<(Option<String>, Unserved)>, Error> {
        let failed = |e: LoadError| Error::new(ErrorKind::File, e.to_string());
        let saltenv = files.saltenv.as_deref().unwrap_or("base");
        let mut all = Vec::new();
        let named = only.iter().filter(|name| self.formulas.contains(name));
        let prefixes: Vec<&str> = match only.is_empty() {
            true => vec![""],
            false => named.map(String::as_str).collect(),
        };
        for prefix in prefixes {
            let found = self.engine.files().unserved(saltenv, prefix);
            all.extend(found.map_err(failed)?.into_iter().map(|one| {
                let folder = one.path.split('/').next().unwrap_or_default();
                (Some(folder.to_owned()), one)
            }));
        }
        if let Some(pillars) = &self.pillars {
            let files = pillars.master().files();
            for env in files.envs() {
                let found = files.unserved(&env, "").map_err(failed)?;
                all.extend(found.into_iter().map(|one| (None, one)));
            }
        }
        Ok(all)
    }

    /// The calls that nothing answers when the pillar is compiled, and the formulas and their sls are rendered for
    /// minions: all of them at once, as far as they do not depend on answers. With them come the minions, whose pillars
    /// say what is secret in arguments.
    ///
    /// # Errors
    /// A pillar that cannot be compiled at all, or a change of it that is not possible.
    pub fn lacking(
        self,
        minions: Vec<Minion>,
        site: &SiteFlags,
    ) -> Result<(Vec<Minion>, Vec<UnansweredCall>), InputError> {
        let (minions, mut lacking) = match self.pillars {
            Some(pillars) => pillars.lacking(minions)?,
            None => (minions, Vec::new()),
        };
        let minions = LintTargets::changed(minions, &site.facts)?;
        let saltenv = site.files.saltenv.as_deref().unwrap_or("base");
        let (_, of_formulas) = self.engine.collecting(|engine| {
            if let Some(estate) = &self.estate {
                gather_all(engine, &minions, saltenv, estate);
            }
            for minion in &minions {
                for formula in &self.formulas {
                    render_all(engine, minion, formula, saltenv);
                }
            }
        });
        UnansweredCall::join(&mut lacking, of_formulas);
        Ok((minions, lacking))
    }

    /// Minions with their pillars as `--set` changes them.
    ///
    /// # Errors
    /// A change is not possible.
    pub fn changed(minions: Vec<Minion>, facts: &FactFlags) -> Result<Vec<Minion>, InputError> {
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

/// Minions, and the errors of those that cannot be read.
type Readable = (Vec<Minion>, Vec<(String, Error)>);

/// The minions that can be read; the error of the only one there is.
fn readable(
    ids: &[String],
    read: impl Fn(&str) -> Result<Minion, Error>,
) -> Result<Readable, Error> {
    let (mut minions, mut broken) = (Vec::new(), Vec::new());
    for id in ids {
        match read(id) {
            Ok(minion) => minions.push(minion),
            Err(error) if ids.len() == 1 => return Err(error),
            Err(error) => broken.push((id.clone(), error)),
        }
    }
    Ok((minions, broken))
}

/// Render what minions get by top files, and what none gets for the first. Only what is asked meanwhile matters.
fn gather_all(engine: &Engine, minions: &[Minion], saltenv: &str, estate: &EstateStates) {
    let gatherer = Gatherer::new(engine, TopOptions::of(&estate.options));
    let mut gotten = BTreeSet::new();
    for minion in minions {
        let gathered = gatherer.gather(minion);
        gotten.extend(gathered.sls.into_iter().map(|sls| sls.path));
    }
    let listed = engine.list(saltenv, "").unwrap_or_default();
    let is_other = |path: &String| {
        let mut others = estate.others.iter();
        path.ends_with(".sls") && !others.any(|(folder, _)| path.starts_with(folder))
    };
    for path in listed
        .iter()
        .filter(|path| is_other(path) && !gotten.contains(*path))
    {
        if let Some(first) = minions.first() {
            let _ = engine.run(first).with_saltenv(saltenv).sls(path);
        }
    }
}

/// Render what a formula has. Only what is asked meanwhile matters.
fn render_all(engine: &Engine, minion: &Minion, formula: &str, saltenv: &str) {
    let run = || engine.run(minion).with_saltenv(saltenv);
    let found = Configuration::of(engine, formula, saltenv, DataOptions::default());
    let _ = found.and_then(|found| found.compute(&run()));
    let listed = engine.list(saltenv, &format!("{formula}/"));
    for path in listed.iter().flatten() {
        if path.ends_with(".sls") {
            let _ = run().sls(path);
        }
    }
}

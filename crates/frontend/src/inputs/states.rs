//! Two states of the files, with what is computed of each.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use mapstack::loader::{Fetched, FileServer, SaltPath, Snapshot, Unserved};
use mapstack::minion::SaltVersion;
use mapstack::value::{Key, Value};
use mapstack::{Engine, Error, ErrorKind, sls_name, yaml};
use mapstack_fleet::states::{ComparedStates, ShownParts, StatePlans, WantedStates};
use mapstack_fleet::unrelated::{self, Top};
use mapstack_fleet::{
    ChangedFiles, Comparison, Departed, Fleet, NamedGroups, Pillars, modules_leave,
};
use mapstack_pillar::Master;
use mapstack_salt_config::Config;
use mapstack_states::TopOptions;

use crate::inputs::compared_directory::ComparedDirectory;
use crate::inputs::compared_files::{ComparedFiles, ComparedPillarFiles};
use crate::inputs::flags::{EngineFlags, Input};
use crate::inputs::functions::{MemoryOf, engine};
use crate::inputs::minions::pillar_changes;
use crate::inputs::renamed;
use crate::inputs::unserved_files::UnservedFiles;
use crate::inputs::wanted_parts::WantedParts;
use crate::inputs::{Configured, InputError, Plan, deployed, formulas, pillars};

/// Two states of the files as engines, and the pillars that each compiles.
pub struct States {
    states: [Arc<FilesState>; 2],
    pillars: Option<Compiled>,
    changed: ChangedFiles,
    /// The states of minions that are compared, and how top files are read.
    run: Option<(TopOptions, WantedStates, ShownParts)>,
    /// Why pillars are not compared, though the configuration compiles them.
    pub no_pillars: Option<String>,
    /// The files around the roots that are different.
    pub outside: UnservedFiles,
}

/// One state of the files.
pub struct FilesState {
    pub(crate) engine: Engine,
    /// The files of the pillar, if pillars are compared.
    pub(crate) pillar: Option<Arc<dyn FileServer>>,
    /// The file servers in place of directories on the disk, where stacked files lie.
    pub(crate) mounts: Vec<(PathBuf, Arc<dyn FileServer>)>,
}

impl FilesState {
    /// The state before (0) or after (1), which has the files of the side from then on.
    ///
    /// # Errors
    /// Flags of functions cannot be used.
    pub(crate) fn of(
        sides: &mut ComparedFiles,
        index: usize,
        EngineFlags { files, functions }: EngineFlags<'_>,
        config: Option<&Config>,
        memory: MemoryOf,
    ) -> Result<Self, InputError> {
        let served = std::mem::take(match index {
            0 => &mut sides.before,
            _ => &mut sides.after,
        });
        let pillars = sides.pillars.as_ref();
        let around = pillars.and_then(|sides| sides.around.as_ref()?.of_state(index));
        let engine = engine(Snapshot::new(served), functions, memory)?;
        let engine = deployed::with_roots(engine, files, config);
        let mounts: Vec<_> = around.into_iter().collect();
        let of_state = sides.around.as_ref().and_then(|it| it.of_state(index));
        let deployed = mounts.iter().cloned().chain(of_state);
        let deployed = deployed.fold(engine.deployed().clone(), |deployed, (at, files)| {
            deployed.mount(at, files)
        });
        Ok(FilesState {
            engine: engine
                .with_deployed(deployed)
                .with_salt_version(functions.versions()[index.min(1)]),
            pillar: pillars.and_then(|sides| sides.files.get(index)).cloned(),
            mounts,
        })
    }

    /// The work on the state, pillars included if a configuration compiles them.
    pub(crate) fn fleet(
        &self,
        plan: &Plan,
        compiling: Option<&Compiling>,
    ) -> Result<Fleet<'_>, Error> {
        let fleet = plan.fleet(&self.engine)?;
        let (Some(compiling), Some(files)) = (compiling, &self.pillar) else {
            return Ok(fleet);
        };
        let master = Master::new(compiling.config.clone(), files.clone());
        let master = pillars::with_mirrors(master, compiling.mirrors.as_deref())
            .with_memory(pillars::SHARED);
        let master = self
            .mounts
            .iter()
            .fold(master, |master, (directory, files)| {
                master.mount(directory, files.clone())
            });
        let pillars = Pillars::new(master, &self.engine);
        Ok(fleet.with_pillars(pillars.with_changes(compiling.changes.clone())))
    }
}

/// The compiler of the pillars of a state.
#[derive(Clone)]
pub(crate) struct Compiling {
    pub config: Config,
    /// The changes of each pillar by flags.
    pub changes: Vec<(String, Value)>,
    /// The paths of the pillar's roots below those of the file server.
    pub below_roots: Vec<String>,
    /// The directory of mirrors of git repositories, if external pillars need them.
    pub mirrors: Option<PathBuf>,
}

/// The pillars of two states.
struct Compiled {
    by: Compiling,
    changed: ChangedFiles,
    around: Option<ComparedDirectory>,
}

/// The number of files that changed, and those of which no compared result is made.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ChangedFileCount {
    /// The number of files that changed.
    pub changed: usize,
    /// Those that were not compared.
    pub unread: Vec<String>,
    /// The number of files of the pillar that changed.
    pub changed_of_pillar: usize,
    /// Those of the pillar that were not compared; `None` if pillars are not.
    pub unread_of_pillar: Option<Vec<String>>,
    /// Those around the roots that were not compared.
    pub unread_outside: Vec<String>,
    /// Files that Salt does not serve, such as documents and tests. They are not counted among the others.
    pub unrelated: Vec<String>,
    /// Files that were not compared and have another name now, each counted once: both names.
    pub renamed: Vec<(String, String)>,
}

/// The targets of the top files of all saltenvs, each with its value of `match`.
fn top_targets(files: &dyn FileServer) -> Vec<(Key, Option<Value>)> {
    let path = SaltPath::from_relative("top.sls");
    let tops = files.envs().into_iter().filter_map(|env| {
        let Ok(Fetched::Found { bytes, .. }) = files.fetch(&path, &env) else {
            return None;
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let is_plain = !text.starts_with("#!") && !text.contains("{{") && !text.contains("{%");
        is_plain.then(|| yaml::load(&text).ok()).flatten()
    });
    let mut targets = Vec::new();
    for top in tops {
        let envs = top.as_map().into_iter().flat_map(|envs| envs.values());
        for (target, items) in envs.filter_map(Value::as_map).flatten() {
            let items = items.as_list().unwrap_or_default().iter();
            let mut matchers = items.filter_map(|item| item.as_map()?.get("match"));
            targets.push((target.clone(), matchers.next().cloned()));
        }
    }
    targets
}

/// The names below the roots that are not served, so that nothing can be compared.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct NotServed {
    /// Those that are different, or may be.
    pub different: Vec<Unserved>,
    /// Those that are the same in both states.
    pub same: Vec<Unserved>,
}

impl NotServed {
    fn add(&mut self, before: &dyn FileServer, after: &dyn FileServer) -> Result<(), Error> {
        let envs: BTreeSet<String> = before.envs().into_iter().chain(after.envs()).collect();
        for env in envs {
            let of = |files: &dyn FileServer| {
                let found = files.unserved(&env, "");
                found.map_err(|e| Error::new(ErrorKind::File, e.to_string()))
            };
            let old = of(before)?.into_iter().map(|one| (one.path.clone(), one));
            let mut left: BTreeMap<String, Unserved> = old.collect();
            for new in of(after)? {
                let old = left.remove(&new.path);
                match old.is_some_and(|old| old.mark.is_some() && old.mark == new.mark) {
                    true => self.same.push(new),
                    false => self.different.push(new),
                }
            }
            self.different.extend(left.into_values());
        }
        Ok(())
    }
}

impl States {
    /// The states that flags name.
    ///
    /// # Errors
    /// As [`ComparedFiles::new`], and files that cannot be read.
    pub fn new(
        input: &Input,
        [from, to]: [&str; 2],
        config: Option<&Config>,
        memory: MemoryOf,
    ) -> Result<Self, InputError> {
        let with_pillars = input.facts.pillar.is_none();
        let mut sides = ComparedFiles::new(&input.files, [from, to], config, with_pillars)?;
        let flags = input.engine_flags();
        let mut state =
            |index| FilesState::of(&mut sides, index, flags, config, memory).map(Arc::new);
        let both = [state(0)?, state(1)?];
        let compiled = |sides: ComparedPillarFiles| -> Result<(Compiling, Option<ComparedDirectory>), InputError> {
            let by = Compiling {
                changes: pillar_changes(&input.facts)?,
                mirrors: pillars::mirrors(&sides.config, &input.files)?,
                config: sides.config,
                below_roots: sides.below_roots,
            };
            Ok((by, sides.around))
        };
        let compiled = sides.pillars.map(compiled).transpose()?;
        Ok(States {
            no_pillars: sides.no_pillars,
            outside: sides.outside,
            ..States::between(both, compiled)?
        })
    }

    /// Two states that are known.
    pub(crate) fn between(
        states: [Arc<FilesState>; 2],
        compiled: Option<(Compiling, Option<ComparedDirectory>)>,
    ) -> Result<Self, InputError> {
        let [before, after] = &states;
        let of_pillar = |(by, around)| -> Result<Compiled, InputError> {
            let changed = match (&before.pillar, &after.pillar) {
                (Some(before), Some(after)) => changed(&**before, &**after)?,
                _ => ChangedFiles::default(),
            };
            Ok(Compiled {
                by,
                changed,
                around,
            })
        };
        Ok(States {
            changed: changed(before.engine.files(), after.engine.files())?,
            pillars: compiled.map(of_pillar).transpose()?,
            run: None,
            no_pillars: None,
            outside: UnservedFiles::default(),
            states,
        })
    }

    /// True if pillars are compared.
    pub fn has_pillars(&self) -> bool {
        self.pillars.is_some()
    }

    /// The compilers of minions' pillars: here, if they are compared.
    pub fn minions_by<'c>(
        &self,
        config: Option<&'c Config>,
        now: Option<&'c crate::inputs::ConfiguredPillars>,
    ) -> Configured<'c> {
        match self.has_pillars() {
            true => Configured::later(config),
            false => Configured::new(config, now),
        }
    }

    /// Plan to compare formulas: the named ones or all, and states, unless other parts are selected.
    ///
    /// # Errors
    /// The formula does not exist; or nothing was found that could be compared.
    pub fn plan(
        &mut self,
        plan: &mut Plan,
        given: &[String],
        wanted: &WantedParts,
    ) -> Result<(), InputError> {
        self.plan_states(plan.saltenv(), given, wanted)?;
        let engines = self.states.each_ref().map(|state| &state.engine);
        let has_others = self.has_pillars() || self.run.is_some();
        let formulas = formulas::compared(engines, plan.saltenv(), given, has_others)?;
        let formulas = match wanted.parts.maps {
            true => formulas,
            false => Vec::new(),
        };
        Ok(plan.compare(formulas, engines)?)
    }

    /// Plan to compare what states do, if that is wanted and there are any.
    ///
    /// # Errors
    /// The files cannot be listed.
    pub(crate) fn plan_states(
        &mut self,
        saltenv: &str,
        given: &[String],
        WantedParts { parts, top_options }: &WantedParts,
    ) -> Result<(), Error> {
        if parts.has_states() {
            let wanted = self.wanted_states(saltenv, given, top_options)?;
            let shown = ShownParts {
                states: parts.states,
                files: parts.files,
            };
            self.run = wanted.map(|wanted| (top_options.clone(), wanted, shown));
        }
        Ok(())
    }

    /// The states that minions run: those of top files if one side has any, or else those of each sls of the
    /// formulas; `None` without both.
    fn wanted_states(
        &self,
        saltenv: &str,
        given: &[String],
        options: &TopOptions,
    ) -> Result<Option<WantedStates>, Error> {
        let named = formulas::named(given);
        let has_top = |state: &Arc<FilesState>| has_top(state.engine.files(), options);
        if self.states.iter().any(has_top) {
            return Ok(Some(WantedStates::Top(named)));
        }
        let mut names: BTreeSet<String> = BTreeSet::new();
        for state in &self.states {
            let folders = match named.is_empty() {
                true => formulas::all(&state.engine, saltenv)?,
                false => named.iter().cloned().collect(),
            };
            let listed = state.engine.list(saltenv, "")?;
            let of_folder = |path: &&String| {
                path.split_once('/')
                    .is_some_and(|(folder, _)| folders.contains(folder))
            };
            names.extend(
                listed
                    .iter()
                    .filter(of_folder)
                    .filter_map(|path| sls_of(path)),
            );
        }
        let mut names: Vec<String> = names.into_iter().collect();
        // Sls that include others come first.
        names.sort_by_cached_key(|name| (name.matches('.').count(), name.clone()));
        let names: Vec<(String, String)> = names
            .into_iter()
            .map(|name| (saltenv.to_owned(), name))
            .collect();
        Ok((!names.is_empty()).then_some(WantedStates::Sls(names)))
    }

    /// The work on both states.
    ///
    /// # Errors
    /// As [`Plan::fleet`].
    pub fn fleets(&self, plan: &Plan) -> Result<[Fleet<'_>; 2], Error> {
        let compiling = self.pillars.as_ref().map(|compiled| &compiled.by);
        let [before, after] = self.states.each_ref();
        Ok([
            self.fleet_of(before, plan, compiling)?,
            self.fleet_of(after, plan, compiling)?,
        ])
    }

    /// The work on one of the two states of the files.
    ///
    /// # Errors
    /// As [`Plan::fleet`].
    pub(crate) fn fleet_of<'s>(
        &self,
        state: &'s FilesState,
        plan: &Plan,
        compiling: Option<&Compiling>,
    ) -> Result<Fleet<'s>, Error> {
        Ok(self.running(state.fleet(plan, compiling)?, &state.engine))
    }

    /// The states that are compared; nothing if none are.
    #[must_use]
    pub fn compared_states(&self) -> Option<ComparedStates> {
        let (_, wanted, shown) = self.run.as_ref()?;
        Some(ComparedStates {
            of_top: matches!(wanted, WantedStates::Top(_)),
            shown: *shown,
        })
    }

    /// A fleet that compiles what states do, if that is compared.
    fn running<'e>(&self, fleet: Fleet<'e>, engine: &'e Engine) -> Fleet<'e> {
        match &self.run {
            Some((options, wanted, shown)) => {
                let plans = StatePlans::new(engine, options.clone(), wanted.clone());
                fleet.with_states(plans.showing(*shown))
            }
            None => fleet,
        }
    }

    /// The files of the project that are different, those of the pillar included.
    pub fn changed_paths(&self) -> Vec<&str> {
        let of_pillar = self.pillars.iter();
        let of_pillar = of_pillar.flat_map(|compiled| compiled.changed.project_paths());
        self.changed.project_paths().chain(of_pillar).collect()
    }

    /// The versions of Salt before and after.
    #[must_use]
    pub fn versions(&self) -> [SaltVersion; 2] {
        self.states
            .each_ref()
            .map(|state| state.engine.salt_version())
    }

    /// The execution functions that templates use and that Salt no longer has in the version of the state after; of the
    /// folders of some formulas, if any are named.
    ///
    /// # Errors
    /// The files cannot be listed or read.
    pub fn departed_functions(&self, formulas: &[String]) -> Result<Vec<Departed>, Error> {
        let [_, after] = self.states.each_ref();
        if !modules_leave(self.versions()) {
            return Ok(Vec::new());
        }
        let engine = &after.engine;
        let mut found = Departed::functions(engine.files(), engine, formulas)?;
        if let Some(pillar) = after.pillar.as_deref().filter(|_| formulas.is_empty()) {
            found.extend(Departed::functions(pillar, engine, &[])?);
        }
        Ok(found)
    }

    /// True if no file at all is different, as far as that is known: of stacked files it is not.
    pub(crate) fn is_same(&self) -> bool {
        let is_same = |compiled: &Compiled| compiled.changed.is_empty();
        self.changed.is_empty() && self.pillars.as_ref().is_none_or(is_same)
    }

    /// The nodegroups of a configuration, and the targets of the top files, as far as these are not templates.
    #[must_use]
    pub fn named_groups(&self, config: Option<&Config>) -> NamedGroups {
        let of_pillars = self.pillars.as_ref().map(|compiled| &compiled.by.config);
        let nodegroups = config
            .into_iter()
            .chain(of_pillars)
            .find_map(|config| config.get("nodegroups")?.as_map().cloned());
        let [_, after] = &self.states;
        let of_states = top_targets(after.engine.files());
        let of_pillar = after.pillar.as_deref().map(top_targets);
        let targets = of_states.into_iter().chain(of_pillar.into_iter().flatten());
        NamedGroups::new(&nodegroups.unwrap_or_default(), targets)
    }

    /// The names below the roots, in one state or both, that are not served.
    ///
    /// # Errors
    /// The files cannot be listed.
    pub fn unserved(&self) -> Result<NotServed, Error> {
        let [before, after] = &self.states;
        let mut all = NotServed::default();
        all.add(before.engine.files(), after.engine.files())?;
        if let (Some(before), Some(after)) = (&before.pillar, &after.pillar) {
            all.add(&**before, &**after)?;
        }
        Ok(all)
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
    pub fn counted(&self, comparison: &Comparison<'_, '_>) -> ChangedFileCount {
        let below = self
            .pillars
            .iter()
            .flat_map(|compiled| &compiled.by.below_roots);
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
        let [before, after] = self.states.each_ref();
        let files = [before.engine.files(), after.engine.files()];
        let (mut unread, mut unrelated) = unrelated::split(unstacked(unread), files, &self.changed);
        let renamed = renamed::take(&mut unread, files);
        let unread_of_pillar = comparison.pillar_files_not_compared().map(unstacked);
        let (unread_of_pillar, unrelated_of_pillar) = self.apart_of_pillar(unread_of_pillar);
        let of_pillar = self.pillars.as_ref();
        let outside = &self.outside.changed;
        let has_stacked = |path: &&String| comparison.has_stacked(path);
        let (stacked, unread_outside): (Vec<&String>, Vec<&String>) =
            outside.iter().partition(has_stacked);
        let unread_outside = unread_outside.into_iter().cloned();
        let (unrelated_outside, unread_outside): (Vec<String>, Vec<String>) =
            unread_outside.partition(|path| Top::Around.is_unrelated(path));
        let inside = unrelated.len();
        let of_pillar_inside = unrelated_of_pillar.len();
        unrelated.extend(unrelated_of_pillar);
        unrelated.extend(unrelated_outside);
        ChangedFileCount {
            changed: self
                .changed
                .project_paths()
                .filter(|path| !is_of_pillar(path))
                .count()
                + stacked.len()
                - inside
                - renamed.len(),
            unread,
            changed_of_pillar: of_pillar
                .map_or(0, |compiled| compiled.changed.project_paths().count())
                - of_pillar_inside,
            unread_of_pillar,
            unread_outside,
            unrelated,
            renamed,
        }
    }

    /// Splits changed files of the pillar into those that matter to Salt and those that do not.
    fn apart_of_pillar(&self, unread: Option<Vec<String>>) -> (Option<Vec<String>>, Vec<String>) {
        let [before, after] = self.states.each_ref().map(|state| &state.pillar);
        match (unread, before, after, &self.pillars) {
            (Some(unread), Some(before), Some(after), Some(compiled)) => {
                let (unread, unrelated) =
                    unrelated::split(unread, [&**before, &**after], &compiled.changed);
                (Some(unread), unrelated)
            }
            (unread, ..) => (unread, Vec::new()),
        }
    }
}

/// True if there are top files, or something else that gives minions their sls.
fn has_top(files: &dyn FileServer, options: &TopOptions) -> bool {
    let path = SaltPath::from_relative(&options.state_top);
    let envs = files.envs().into_iter();
    let mut tops = envs.map(|env| files.fetch(&path, &env));
    options.all.get("master_tops").is_some_and(Value::truthy)
        || tops.any(|top| matches!(top, Ok(Fetched::Found { .. })))
}

/// The name of the sls at a path, if it is one.
fn sls_of(path: &str) -> Option<String> {
    let stem = path.strip_suffix(".sls")?;
    sls_name(path).filter(|_| !stem.contains('.'))
}

fn changed(before: &dyn FileServer, after: &dyn FileServer) -> Result<ChangedFiles, Error> {
    ChangedFiles::between(before, after).map_err(|e| {
        Error::new(
            ErrorKind::File,
            format!("the files cannot be compared: {e}"),
        )
    })
}

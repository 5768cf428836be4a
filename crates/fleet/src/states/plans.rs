//! The plans of minions in one state of the files.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use indexmap::IndexMap;
use mapstack::loader::{Fetched, SaltPath};
use mapstack::minion::Minion;
use mapstack::trace::FileReadKind;
use mapstack::value::{Str, Value};
use mapstack::{Engine, Error};
use mapstack_files::{Candidate, FileOfMinion, SharedFiles, SourceLookup};
use mapstack_states::{Compiled, Gatherer, OwnModules, Places, TopOptions};

use super::known::KnownPlans;
use super::plan::{MinionPlan, PlannedText, StateName};
use crate::departed::{DepartedUse, modules_leave};
use crate::reach::{ChangedFiles, FileAccess};

/// The states that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WantedStates {
    /// The states that top files give; if folders are named, only those of sls in them.
    Top(Vec<String>),
    /// The states of each sls, by saltenv and name. An sls that an earlier one includes is not run alone.
    Sls(Vec<(String, String)>),
}

/// The kinds of changes that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownParts {
    /// New and removed states, changed arguments, and their order.
    pub states: bool,
    /// The files that states manage.
    pub files: bool,
}

/// The states that a comparison is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedStates {
    /// True for those of top files, false for those of each sls.
    pub of_top: bool,
    /// The changes that are shown.
    pub shown: ShownParts,
}

/// Compiles the plans of minions from one state of the files.
pub struct StatePlans<'e> {
    engine: &'e Engine,
    gatherer: Gatherer<'e>,
    files: SharedFiles<'e>,
    wanted: WantedStates,
    shown: ShownParts,
    /// The path of top files.
    state_top: String,
    /// True if top files are plain YAML, and nothing else gives minions their sls.
    has_plain_top: bool,
    /// The plans so far, by the addresses of their parts.
    known: Mutex<HashMap<Vec<usize>, Arc<SharedPlan>>>,
    /// The plan of an sls that does not exist.
    nothing: Arc<SharedPlan>,
    /// The state modules of the file server, once they are requested.
    own: OnceLock<OwnModules>,
}

/// The states and files that some minions have in common, or the errors.
pub(crate) struct SharedPlan {
    pub compiled: Arc<Compiled>,
    pub plan: MinionPlan,
    /// The errors because of which minions get no states.
    pub errors: Vec<Error>,
    /// The texts that templates made of secrets.
    pub secret_texts: Vec<Str>,
    /// Its files, which are kept so that no other file gets their addresses.
    files: Vec<FileOfMinion>,
    /// The plans that are joined in it.
    joined: Vec<Arc<SharedPlan>>,
}

impl std::fmt::Debug for SharedPlan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Planned");
        shown.field("plan", &self.plan).finish_non_exhaustive()
    }
}

/// Plans that are kept before starting over.
const MAX_PLANS: usize = 128;

impl<'e> StatePlans<'e> {
    /// Plans of some states, on the files of an engine.
    #[must_use]
    pub fn new(engine: &'e Engine, options: TopOptions, wanted: WantedStates) -> Self {
        StatePlans {
            engine,
            state_top: options.state_top.clone(),
            has_plain_top: has_plain_top(engine, &options),
            gatherer: Gatherer::new(engine, options).keeping_low(),
            files: SharedFiles::new(engine),
            wanted,
            shown: ShownParts {
                states: true,
                files: true,
            },
            known: Mutex::default(),
            nothing: Arc::new(SharedPlan::nothing()),
            own: OnceLock::new(),
        }
    }

    /// Show only some changes.
    #[must_use]
    pub fn showing(mut self, shown: ShownParts) -> Self {
        self.shown = shown;
        self
    }

    pub(crate) fn shown(&self) -> ShownParts {
        self.shown
    }

    /// True if a path is that of the top files, and these are compared.
    pub(crate) fn is_top(&self, path: &str) -> bool {
        matches!(self.wanted, WantedStates::Top(_)) && self.state_top == path
    }

    pub(crate) fn gatherer(&self) -> &Gatherer<'e> {
        &self.gatherer
    }

    pub(crate) fn wanted(&self) -> &WantedStates {
        &self.wanted
    }

    /// The plan of the states that top files give a minion.
    pub(crate) fn of_top(&self, minion: &Minion) -> Arc<SharedPlan> {
        match self.gatherer.compiled(minion) {
            Ok(compiled) => self.planned(minion, compiled),
            Err(error) => Arc::new(SharedPlan {
                errors: vec![error],
                ..SharedPlan::nothing()
            }),
        }
    }

    /// The plan of the states of an sls; nothing if it does not exist.
    pub(crate) fn of_sls(&self, minion: &Minion, saltenv: &str, name: &str) -> Arc<SharedPlan> {
        match self.gatherer.path(saltenv, name) {
            Some(_) => self.planned(
                minion,
                self.gatherer
                    .compiled_sls(minion, saltenv, &[name.to_owned()]),
            ),
            None => self.nothing.clone(),
        }
    }

    /// The plans of all runs on a minion.
    pub(crate) fn all(&self, minion: &Minion) -> KnownPlans {
        let mut plans = KnownPlans::default();
        let names = match &self.wanted {
            WantedStates::Top(_) => {
                plans.add(None, self.of_top(minion));
                return plans;
            }
            WantedStates::Sls(names) => names,
        };
        let mut covered: HashSet<(String, String)> = HashSet::new();
        for run in names {
            if covered.contains(run) {
                continue;
            }
            let plan = self.of_sls(minion, &run.0, &run.1);
            covered.extend(plan.sls());
            plans.add(Some(run.clone()), plan);
        }
        plans
    }

    /// True if an sls exists.
    pub(crate) fn has_sls(&self, saltenv: &str, name: &str) -> bool {
        self.gatherer.path(saltenv, name).is_some()
    }

    /// Several plans as one.
    pub(crate) fn joined(&self, plans: Vec<Arc<SharedPlan>>) -> Arc<SharedPlan> {
        let mut key: Vec<usize> = plans
            .iter()
            .map(|plan| Arc::as_ptr(plan) as usize)
            .collect();
        match &plans[..] {
            [] => return self.nothing.clone(),
            [one] => return one.clone(),
            // Other keys begin with the address of compiled states.
            _ => key.insert(0, 0),
        }
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(&key) {
            return known.clone();
        }
        let planned = Arc::new(SharedPlan::joined(plans));
        known().entry(key).or_insert(planned).clone()
    }

    /// The plan of the states that top files give a minion, from the plan before a change.
    pub(crate) fn of_top_after(
        &self,
        before: &Arc<SharedPlan>,
        minion: &Minion,
        changed: Option<&ChangedFiles>,
    ) -> Arc<SharedPlan> {
        let staying = self.top_stays(changed);
        match changed.filter(|changed| staying && self.stays(before, changed)) {
            Some(changed) => self.planned_after(before, minion, changed),
            None => self.of_top(minion),
        }
    }

    /// True if no change reaches the states that top files give a minion, nor the files that these make.
    pub(crate) fn leaves_top(&self, before: &SharedPlan, changed: Option<&ChangedFiles>) -> bool {
        self.top_stays(changed) && self.leaves(before, changed)
    }

    /// True if no change reaches compiled states, nor the files that these make.
    pub(crate) fn leaves(&self, before: &SharedPlan, changed: Option<&ChangedFiles>) -> bool {
        let is_left = |changed: &ChangedFiles| {
            self.stays(before, changed)
                && !before.files.iter().any(|one| self.reaches(one, changed))
        };
        changed.is_some_and(is_left)
    }

    fn top_stays(&self, changed: Option<&ChangedFiles>) -> bool {
        changed.is_some_and(|changed| {
            let envs = self.engine.files().envs();
            self.has_plain_top
                && !envs
                    .iter()
                    .any(|env| changed.has_path(env, &self.state_top))
        })
    }

    /// The plan of an sls, from the plan before a change.
    pub(crate) fn of_sls_after(
        &self,
        before: &Arc<SharedPlan>,
        minion: &Minion,
        (saltenv, name): &(String, String),
        changed: Option<&ChangedFiles>,
    ) -> Arc<SharedPlan> {
        let has_sls = self.has_sls(saltenv, name);
        match changed.filter(|changed| has_sls && self.stays(before, changed)) {
            Some(changed) => self.planned_after(before, minion, changed),
            None => self.of_sls(minion, saltenv, name),
        }
    }

    /// True if no change can reach the compiled states. Their files are not considered.
    fn stays(&self, before: &SharedPlan, changed: &ChangedFiles) -> bool {
        let is_whole = before.errors.is_empty() && !before.compiled.sls.is_empty();
        let has_one_saltenv = self.engine.files().envs().len() < 2;
        let sls = before.compiled.sls.iter();
        let reads = sls.flat_map(|sls| &sls.rendered.reads);
        is_whole && !changed.reaches_states(reads, has_one_saltenv)
    }

    /// True if a change reaches a file, a source that was tried before it, or its mode.
    fn reaches(&self, one: &FileOfMinion, changed: &ChangedFiles) -> bool {
        looked_for(one).any(|looked| changed.has(looked)) || one.file.gets_other_mode(self.engine)
    }

    fn planned(&self, minion: &Minion, compiled: Arc<Compiled>) -> Arc<SharedPlan> {
        let files = self.files.of(minion, &compiled);
        let only = match &self.wanted {
            WantedStates::Top(only) => &only[..],
            WantedStates::Sls(_) => &[],
        };
        self.known_or(compiled, files, |compiled, files| {
            MinionPlan::of(compiled, files, only)
        })
    }

    /// The plan of states that a change does not reach. Only the files that it reaches are made again.
    fn planned_after(
        &self,
        before: &Arc<SharedPlan>,
        minion: &Minion,
        changed: &ChangedFiles,
    ) -> Arc<SharedPlan> {
        let reached = before.files.iter().filter(|one| self.reaches(one, changed));
        let reached: HashSet<usize> = reached.map(|one| one.file.state.position).collect();
        if reached.is_empty() {
            return before.clone();
        }
        let compiled = before.compiled.clone();
        let files = self
            .files
            .of_after(minion, &compiled, &before.files, &reached);
        self.known_or(compiled, files, |compiled, files| {
            before.plan.with_files(compiled, files, &reached)
        })
    }

    /// The known plan of states and their files, or a new one from `plan`.
    fn known_or(
        &self,
        compiled: Arc<Compiled>,
        files: Vec<FileOfMinion>,
        plan: impl FnOnce(&Compiled, &[FileOfMinion]) -> MinionPlan,
    ) -> Arc<SharedPlan> {
        let addresses = files.iter().flat_map(|one| {
            [
                Arc::as_ptr(&one.file) as usize,
                Arc::as_ptr(&one.made) as usize,
            ]
        });
        let key: Vec<usize> = [Arc::as_ptr(&compiled) as usize]
            .into_iter()
            .chain(addresses)
            .collect();
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known().get(&key) {
            return known.clone();
        }
        let plan = plan(&compiled, &files);
        let planned = Arc::new(SharedPlan::of(compiled, files, plan));
        let mut known = known();
        if known.len() >= MAX_PLANS {
            known.clear();
        }
        known.entry(key).or_insert(planned).clone()
    }

    /// The states and arguments of a plan that the earlier version of Salt has and the current one lacks.
    pub(crate) fn departed(
        &self,
        before: &StatePlans<'_>,
        planned: &SharedPlan,
    ) -> Vec<DepartedUse> {
        if !modules_leave([before, self].map(|plans| plans.engine.salt_version())) {
            return Vec::new();
        }
        let own = || OwnModules::of(self.engine, &["_states/"]);
        let places = self.places(planned);
        let place = |state: &StateName| state.place(&places);
        DepartedUse::of_plan(&planned.plan, self.own.get_or_init(own), place)
    }

    /// The places in the sls of a plan.
    pub(crate) fn places<'p>(&'p self, planned: &'p SharedPlan) -> Places<'p> {
        Places::new(self.engine, &planned.compiled.sls)
    }
}

/// True if top files are plain YAML, and nothing else gives minions their sls.
fn has_plain_top(engine: &Engine, options: &TopOptions) -> bool {
    let path = SaltPath::from_relative(&options.state_top);
    let files = engine.files();
    let is_plain = |env: String| match files.fetch(&path, &env) {
        Ok(Fetched::Found { bytes, .. }) => {
            let text = String::from_utf8_lossy(&bytes);
            !text.starts_with("#!") && !text.contains("{%") && !text.contains("{{")
        }
        Ok(_) => true,
        Err(_) => false,
    };
    !options.all.get("master_tops").is_some_and(Value::truthy)
        && files.envs().into_iter().all(is_plain)
}

impl SharedPlan {
    /// The saltenvs and names of the sls that top files name.
    pub(crate) fn given(&self) -> Vec<(String, String)> {
        let sls = self.compiled.sls.iter();
        let given = sls.filter(|sls| sls.included_by.is_none());
        given
            .map(|sls| (sls.saltenv.clone(), sls.name.clone()))
            .collect()
    }

    /// The files that its known parts read or looked up.
    pub(crate) fn reads(&self) -> impl Iterator<Item = FileAccess<'_>> {
        let plans = std::iter::once(self).chain(self.joined.iter().map(|plan| &**plan));
        plans.flat_map(|plan| {
            let sls = plan.compiled.sls.iter().filter(|_| plan.joined.is_empty());
            let of_sls = sls.flat_map(|sls| &sls.rendered.reads);
            let of_files = plan.files.iter().filter(|one| !is_unknown(one));
            of_sls
                .map(FileAccess::from)
                .chain(of_files.flat_map(looked_for))
        })
    }

    /// The saltenvs and names of all its sls.
    pub(crate) fn sls(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let sls = self.compiled.sls.iter();
        sls.map(|sls| (sls.saltenv.clone(), sls.name.clone()))
    }

    fn nothing() -> Self {
        SharedPlan {
            compiled: Arc::default(),
            plan: MinionPlan::default(),
            errors: Vec::new(),
            secret_texts: Vec::new(),
            files: Vec::new(),
            joined: Vec::new(),
        }
    }

    fn joined(plans: Vec<Arc<SharedPlan>>) -> Self {
        let mut all = SharedPlan::nothing();
        let mut sls = Vec::new();
        for plan in &plans {
            all.plan.add(&plan.plan);
            all.errors.extend(plan.errors.iter().cloned());
            all.secret_texts.extend(plan.secret_texts.iter().cloned());
            sls.extend(plan.compiled.sls.iter().cloned());
        }
        all.compiled = Arc::new(Compiled {
            sls,
            ..Compiled::default()
        });
        all.joined = plans;
        all
    }

    fn of(compiled: Arc<Compiled>, files: Vec<FileOfMinion>, plan: MinionPlan) -> Self {
        let of_files = files.iter().flat_map(|one| &one.made.secret_texts);
        let sls = compiled.sls.iter();
        let secret_texts = sls.flat_map(|sls| &sls.rendered.secret_texts);
        SharedPlan {
            secret_texts: secret_texts.chain(of_files).cloned().collect(),
            errors: compiled.errors.clone(),
            plan,
            compiled,
            files,
            joined: Vec::new(),
        }
    }
}

/// True if the text of a file is unknown. Such a text is not compared.
fn is_unknown(one: &FileOfMinion) -> bool {
    matches!(one.made.content, mapstack_files::Content::Unknown(_))
}

/// The files that were read or looked up for a managed file, even if its text is unknown.
fn looked_for(one: &FileOfMinion) -> impl Iterator<Item = FileAccess<'_>> {
    let source = one.file.source.iter();
    let candidates = source.flat_map(|source| &source.candidates);
    let candidates =
        candidates.filter_map(|candidate| of_candidate(candidate, &one.file.state.saltenv));
    candidates.chain(one.made.reads.iter().map(FileAccess::from))
}

fn of_candidate<'c>(candidate: &'c Candidate, saltenv: &'c str) -> Option<FileAccess<'c>> {
    let kind = match candidate.found {
        SourceLookup::Chosen => FileReadKind::Found,
        SourceLookup::Missing => FileReadKind::Absent,
        SourceLookup::Unknown | SourceLookup::NotAsked => return None,
    };
    let path = candidate.url.strip_prefix("salt://")?;
    let (path, of_url) = match path.split_once("?saltenv=") {
        Some((path, saltenv)) => (path, Some(saltenv)),
        None => (path, None),
    };
    Some(FileAccess {
        saltenv: of_url.unwrap_or(saltenv),
        path: path.trim_start_matches('/'),
        kind,
    })
}

/// The plans of the sls that top files give a minion, each compiled alone.
pub(crate) struct SlsPlans {
    /// The plans that compile, in the order of the top files.
    pub plans: IndexMap<(String, String), Arc<SharedPlan>>,
    /// The sls that do not compile, with those that they include.
    refused: HashSet<(String, String)>,
}

impl SlsPlans {
    /// The parts of a minion's states.
    pub(crate) fn of(
        whole: &SharedPlan,
        plan: impl Fn(&(String, String)) -> Arc<SharedPlan>,
    ) -> Self {
        let mut parts = SlsPlans {
            plans: IndexMap::new(),
            refused: HashSet::new(),
        };
        for run in whole.given() {
            let plan = plan(&run);
            if plan.errors.is_empty() {
                parts.plans.insert(run, plan);
            } else {
                parts.refused.insert(run);
                parts.refused.extend(plan.sls());
            }
        }
        parts
    }

    /// The plans to compare with those of the other side. An sls that only this side has is left out if, on
    /// the other side, an sls that does not compile includes a part of it: its states may be there as well.
    pub(crate) fn comparable(&self, other: &SlsPlans) -> Vec<Arc<SharedPlan>> {
        let plans = self.plans.iter().filter(|(run, plan)| {
            other.plans.contains_key(*run) || !plan.sls().any(|sls| other.refused.contains(&sls))
        });
        plans.map(|(_, plan)| plan.clone()).collect()
    }
}

impl PlannedText {
    /// True if Salt refuses the file.
    #[must_use]
    pub fn is_failed(&self) -> bool {
        matches!(self, PlannedText::Failed { .. })
    }
}

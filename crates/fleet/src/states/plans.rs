//! The plans of minions in one state of the files.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use indexmap::IndexMap;
use mapstack::loader::{Fetched, SaltPath};
use mapstack::minion::Minion;
use mapstack::trace::{FileRead, FileReadKind};
use mapstack::value::{Str, Value};
use mapstack::{Engine, Error};
use mapstack_files::{Candidate, FileOfMinion, Found, SharedFiles};
use mapstack_states::{Compiled, Gatherer, OwnModules, Places, TopOptions};

use super::known::KnownPlans;
use super::plan::{MinionPlan, PlannedText, StateName};
use crate::departed::{DepartedUse, modules_leave};
use crate::reach::ChangedFiles;

/// The states that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WantedStates {
    /// Those that top files give, of the sls in some folders if any are named.
    Top(Vec<String>),
    /// Those of each sls, by saltenv and name. One that an earlier sls includes has no run of its own.
    Sls(Vec<(String, String)>),
}

/// The changes of states that are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownParts {
    /// States that appear and vanish, what they are told, and their order.
    pub states: bool,
    /// The files that they make.
    pub files: bool,
}

/// Compiles what states do on minions, from one state of the files.
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
    /// The plans so far, by the addresses of what they are made of.
    known: Mutex<HashMap<Vec<usize>, Arc<Planned>>>,
    /// The plan of an sls that is not there.
    nothing: Arc<Planned>,
    /// The state modules of the file server, once they are asked for.
    own: OnceLock<OwnModules>,
}

/// The states and files of minions that have the same ones, or why there are none.
pub(crate) struct Planned {
    pub compiled: Arc<Compiled>,
    pub plan: MinionPlan,
    /// The errors that keep minions from the states.
    pub errors: Vec<Error>,
    /// The files that the known parts were read from.
    pub reads: Vec<FileRead>,
    /// The texts that templates made of secrets.
    pub secret_texts: Vec<Str>,
    /// Its files, which stay, so that their addresses do.
    files: Vec<FileOfMinion>,
    /// The plans that it is joined of.
    _joined: Vec<Arc<Planned>>,
}

impl std::fmt::Debug for Planned {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut shown = f.debug_struct("Planned");
        shown.field("plan", &self.plan).finish_non_exhaustive()
    }
}

/// Plans that are kept before starting over.
const MAX_PLANS: usize = 128;

impl<'e> StatePlans<'e> {
    /// The states that are wanted, on the files of an engine.
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
            nothing: Arc::new(Planned::nothing()),
            own: OnceLock::new(),
        }
    }

    /// Only some changes are shown.
    #[must_use]
    pub fn showing(mut self, shown: ShownParts) -> Self {
        self.shown = shown;
        self
    }

    pub(crate) fn shown(&self) -> ShownParts {
        self.shown
    }

    /// True if a path is that of the top files that count.
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
    pub(crate) fn of_top(&self, minion: &Minion) -> Arc<Planned> {
        match self.gatherer.compiled(minion) {
            Ok(compiled) => self.planned(minion, compiled),
            Err(error) => Arc::new(Planned {
                errors: vec![error],
                ..Planned::nothing()
            }),
        }
    }

    /// The plan of the states of an sls; nothing if it is not there.
    pub(crate) fn of_sls(&self, minion: &Minion, (saltenv, name): (&str, &str)) -> Arc<Planned> {
        match self.gatherer.path(saltenv, name) {
            Some(_) => self.planned(
                minion,
                self.gatherer
                    .compiled_sls(minion, saltenv, &[name.to_owned()]),
            ),
            None => self.nothing.clone(),
        }
    }

    /// The plans of all that is run on a minion.
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
            let plan = self.of_sls(minion, (&run.0, &run.1));
            covered.extend(plan.sls());
            plans.add(Some(run.clone()), plan);
        }
        plans
    }

    /// True if there is an sls of a name.
    pub(crate) fn has_sls(&self, (saltenv, name): (&str, &str)) -> bool {
        self.gatherer.path(saltenv, name).is_some()
    }

    /// Several plans as one.
    pub(crate) fn joined(&self, plans: Vec<Arc<Planned>>) -> Arc<Planned> {
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
        let planned = Arc::new(Planned::joined(plans));
        known().entry(key).or_insert(planned).clone()
    }

    /// The plan of the states that top files give a minion, which another one has from before a change, or from other
    /// states.
    pub(crate) fn of_top_after(
        &self,
        before: &Arc<Planned>,
        minion: &Minion,
        changed: Option<&ChangedFiles>,
    ) -> Arc<Planned> {
        if self.leaves_top(before, changed) {
            return before.clone();
        }
        match self.top_stays(changed) && self.stays(before, changed) {
            true => self.planned(minion, before.compiled.clone()),
            false => self.of_top(minion),
        }
    }

    /// True if no change reaches the states that top files give a minion, nor the files that these make.
    pub(crate) fn leaves_top(&self, before: &Planned, changed: Option<&ChangedFiles>) -> bool {
        self.top_stays(changed) && self.leaves(before, changed)
    }

    /// True if no change reaches compiled states, nor the files that these make.
    pub(crate) fn leaves(&self, before: &Planned, changed: Option<&ChangedFiles>) -> bool {
        let makes_same =
            |changed: &ChangedFiles| !before.file_reads().any(|read| changed.has(&read));
        self.stays(before, changed) && changed.is_some_and(makes_same)
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

    /// The same of an sls.
    pub(crate) fn of_sls_after(
        &self,
        before: &Arc<Planned>,
        minion: &Minion,
        run: (&str, &str),
        changed: Option<&ChangedFiles>,
    ) -> Arc<Planned> {
        if self.has_sls(run) && self.leaves(before, changed) {
            return before.clone();
        }
        match self.has_sls(run) && self.stays(before, changed) {
            true => self.planned(minion, before.compiled.clone()),
            false => self.of_sls(minion, run),
        }
    }

    /// True if no change can reach compiled states; their files are something else.
    fn stays(&self, before: &Planned, changed: Option<&ChangedFiles>) -> bool {
        let is_whole = before.errors.is_empty() && !before.compiled.sls.is_empty();
        let has_one_saltenv = self.engine.files().envs().len() < 2;
        let sls = before.compiled.sls.iter();
        let reads = sls.flat_map(|sls| &sls.rendered.reads);
        is_whole && changed.is_some_and(|changed| !changed.reaches_states(reads, has_one_saltenv))
    }

    fn planned(&self, minion: &Minion, compiled: Arc<Compiled>) -> Arc<Planned> {
        let files = self.files.of(minion, &compiled);
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
        let only = match &self.wanted {
            WantedStates::Top(only) => &only[..],
            WantedStates::Sls(_) => &[],
        };
        let planned = Arc::new(Planned::of(compiled, files, only));
        let mut known = known();
        if known.len() >= MAX_PLANS {
            known.clear();
        }
        known.entry(key).or_insert(planned).clone()
    }

    /// The states and arguments of a plan that Salt no longer has, as it had in the version of an earlier state.
    pub(crate) fn departed(&self, before: &StatePlans<'_>, planned: &Planned) -> Vec<DepartedUse> {
        if !modules_leave([before, self].map(|plans| plans.engine.salt_version())) {
            return Vec::new();
        }
        let own = || OwnModules::of(self.engine, &["_states/"]);
        let place = |state: &StateName| self.place(planned, state);
        DepartedUse::of_plan(&planned.plan, self.own.get_or_init(own), place)
    }

    /// The place of a state, as a file and a line, or the file alone where a template makes the ID.
    pub(crate) fn place(&self, planned: &Planned, state: &StateName) -> String {
        let places = Places::new(self.engine, &planned.compiled.sls);
        places.of_id(&state.sls, &state.saltenv, &state.id).0
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

impl Planned {
    /// The saltenvs and names of the sls that top files give.
    pub(crate) fn given(&self) -> Vec<(String, String)> {
        let sls = self.compiled.sls.iter();
        let given = sls.filter(|sls| sls.included_by.is_none());
        given
            .map(|sls| (sls.saltenv.clone(), sls.name.clone()))
            .collect()
    }

    /// All that its files are made of, and what was looked for, also of those whose text is unknown.
    fn file_reads(&self) -> impl Iterator<Item = FileRead> + '_ {
        self.files.iter().flat_map(all_reads)
    }

    /// The saltenvs and names of all sls that it has states of.
    pub(crate) fn sls(&self) -> impl Iterator<Item = (String, String)> + '_ {
        let sls = self.compiled.sls.iter();
        sls.map(|sls| (sls.saltenv.clone(), sls.name.clone()))
    }

    fn nothing() -> Self {
        Planned {
            compiled: Arc::default(),
            plan: MinionPlan::default(),
            errors: Vec::new(),
            reads: Vec::new(),
            secret_texts: Vec::new(),
            files: Vec::new(),
            _joined: Vec::new(),
        }
    }

    fn joined(plans: Vec<Arc<Planned>>) -> Self {
        let mut all = Planned::nothing();
        let mut sls = Vec::new();
        for plan in &plans {
            all.plan.add(&plan.plan);
            all.errors.extend(plan.errors.iter().cloned());
            all.reads.extend(plan.reads.iter().cloned());
            all.secret_texts.extend(plan.secret_texts.iter().cloned());
            sls.extend(plan.compiled.sls.iter().cloned());
        }
        all.compiled = Arc::new(Compiled {
            sls,
            ..Compiled::default()
        });
        all._joined = plans;
        all
    }

    fn of(compiled: Arc<Compiled>, files: Vec<FileOfMinion>, only: &[String]) -> Self {
        let plan = MinionPlan::of(&compiled, &files, only);
        let renders = || compiled.sls.iter().map(|sls| &sls.rendered);
        let of_files = files.iter().flat_map(|one| &one.made.secret_texts);
        let secret_texts = renders().flat_map(|rendered| &rendered.secret_texts);
        Planned {
            secret_texts: secret_texts.chain(of_files).cloned().collect(),
            reads: renders()
                .flat_map(|rendered| rendered.reads.iter().cloned())
                .chain(files.iter().flat_map(reads))
                .collect(),
            errors: compiled.errors.clone(),
            plan,
            compiled,
            files,
            _joined: Vec::new(),
        }
    }
}

/// The files that a managed file is made of, and those that were looked for. Of one that is unknown nothing is
/// compared.
fn reads(one: &FileOfMinion) -> Vec<FileRead> {
    if matches!(one.made.content, mapstack_files::Content::Unknown(_)) {
        return Vec::new();
    }
    all_reads(one).collect()
}

fn all_reads(one: &FileOfMinion) -> impl Iterator<Item = FileRead> + '_ {
    let source = one.file.source.iter();
    let looked_for = source.flat_map(|source| &source.candidates);
    let looked_for = looked_for.filter_map(|candidate| read(candidate, &one.file.state.saltenv));
    looked_for.chain(one.made.reads.iter().cloned())
}

fn read(candidate: &Candidate, saltenv: &str) -> Option<FileRead> {
    let kind = match candidate.found {
        Found::Chosen => FileReadKind::Found,
        Found::Missing => FileReadKind::Absent,
        Found::Unknown | Found::NotAsked => return None,
    };
    let path = candidate.url.strip_prefix("salt://")?;
    let (path, of_url) = match path.split_once("?saltenv=") {
        Some((path, saltenv)) => (path, Some(saltenv)),
        None => (path, None),
    };
    Some(FileRead {
        saltenv: of_url.unwrap_or(saltenv).into(),
        path: path.trim_start_matches('/').into(),
        kind,
    })
}

/// The plans of the sls that top files give a minion, each compiled alone.
pub(crate) struct Parts {
    /// The plans that compile, in the order of the top files.
    pub plans: IndexMap<(String, String), Arc<Planned>>,
    /// The sls that do not, with those that they include.
    refused: HashSet<(String, String)>,
}

impl Parts {
    /// The parts of a minion's states.
    pub(crate) fn of(whole: &Planned, plan: impl Fn(&(String, String)) -> Arc<Planned>) -> Self {
        let mut parts = Parts {
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

    /// The plans to compare with the other side's. An sls that only this side is given is left out if the other side
    /// has a part of it in an sls that does not compile: its states may have been there before.
    pub(crate) fn comparable(&self, other: &Parts) -> Vec<Arc<Planned>> {
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

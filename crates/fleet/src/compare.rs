//! One fleet in two states: before a change of the files, and after it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use mapstack::minion::Minion;
use mapstack::share::{Answers, Outcome};
use mapstack::trace::{FileRead, FileReadKind};
use mapstack::value::{Map, Str, Value};
use mapstack::{Configuration, Engine, Error, Result};
use mapstack_lineage::ValuePosition;

use crate::census::{Census, Traits};
use crate::change::{Change, changes};
use crate::failures::{ErrorTurn, ErrorsOfState, is_at, turns};
use crate::fleet::Fleet;
use crate::kinds::Kinds;
use crate::minion_data::MinionData;
use crate::named::NamedGroups;
use crate::origins::Origins;
use crate::pillar_pair::PillarPair;
use crate::pillars::Pillar;
use crate::reach::{ChangedFile, ChangedFiles};
use crate::scope::Scope;
use crate::states::{
    KnownPlans, RunKey, SharedPlan, SlsPlans, StatePlans, StatesPair, WantedStates,
};

/// Compares the results of minions before and after a change.
///
/// ```
/// use mapstack::{Engine, loader::MemoryFiles, minion::Minion};
/// use mapstack_fleet::{Comparison, Differences, Fleet};
///
/// let files = |port| MemoryFiles::new().file("base", "ssh/parameters/defaults.yaml", &format!("values: {{port: {port}}}"));
/// let (old, new) = (Engine::new(files(22)), Engine::new(files(2222)));
/// let (before, after) = (Fleet::new(&old).formula("ssh"), Fleet::new(&new).formula("ssh"));
/// let comparison = Comparison::new(&before, &after);
/// let mut differences = Differences::default();
/// for id in ["web1", "web2"] {
///     let minion = Minion::new(id).complete();
///     differences.add(&comparison, id, comparison.compare(&minion), || minion.clone());
/// }
/// let [group] = differences.groups() else { panic!("one change") };
/// assert_eq!((group.change.path[0].to_string(), group.minions.len()), ("port".into(), 2));
/// assert_eq!(group.old_origin.as_ref().unwrap().to_string(), "ssh/parameters/defaults.yaml:1:16");
/// ```
pub struct Comparison<'f, 'e> {
    before: &'f Fleet<'e>,
    after: &'f Fleet<'e>,
    scope: Option<&'f Scope>,
    changed: Option<ChangedFiles>,
    /// True if both states are computed as by one version of Salt.
    has_one_version: bool,
    /// The changed files of the pillar.
    changed_pillar: Option<ChangedFiles>,
    /// The index of the earlier of several states.
    since: usize,
    /// True if changes of pillars are left out.
    only_formulas: bool,
    /// Groups by which minions are described.
    named: NamedGroups,
    /// Of each formula, whether its configuration is made in the same way in both states.
    made_alike: Vec<bool>,
    /// Of each formula, whether it has a configuration before and after.
    has_data: Vec<[bool; 2]>,
    /// The comparisons so far, for minions that share their results.
    known: Mutex<HashMap<(usize, usize, usize), ComparedPair>>,
    known_states: Mutex<HashMap<(usize, usize), Arc<StatesPair>>>,
    seen: Mutex<ChangedReads>,
    /// The kinds of outcomes.
    kinds: Kinds,
}

/// The changed files that a compared result is made of.
#[derive(Default)]
struct ChangedReads {
    /// The kinds of outcomes whose files were noted.
    kinds: HashSet<u64>,
    /// By saltenv and path.
    files: HashSet<(String, String)>,
    /// The files of the pillar.
    of_pillar: HashSet<(String, String)>,
    /// The paths of stacked files.
    stacked: HashSet<String>,
    /// The kinds of pillars whose files were noted, before or after, with those of failures or without.
    pillars: HashSet<(bool, u64, bool)>,
    /// True if what states do was compared.
    has_states: bool,
}

/// A result of a minion: the configuration of a formula, by its index, or its pillar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ComparedResult {
    /// A formula's configuration.
    Formula(usize),
    /// The pillar.
    Pillar,
    /// The plan of its states.
    States,
}

/// A pair, with the outcomes it is of: as long as they are kept, their addresses stay theirs.
type ComparedPair = ([Arc<Outcome>; 2], Arc<Pair>);

/// The two outcomes of one formula on minions that share its outcomes in both states, or of a minion's pillar.
#[derive(Debug)]
pub struct Pair {
    /// The formula, or the pillar.
    pub subject: ComparedResult,
    /// The kinds of the outcomes before and after: outcomes of one kind are alike.
    pub(crate) kinds: [u64; 2],
    pub(crate) what: ComparisonWork,
    /// The files of the pillar that were read before and are not now, as one fails.
    lost: Vec<String>,
}

impl Pair {
    /// True if a value that was there came from a file of the pillar that is lost.
    pub(crate) fn has_lost(&self, spot: &ValuePosition) -> bool {
        let ValuePosition::File { place, .. } = spot else {
            return false;
        };
        self.lost.iter().any(|path| is_at(&place.file, path))
    }
}

/// The comparison of a formula on a minion, or of its pillar.
#[derive(Debug)]
pub(crate) enum ComparisonWork {
    Same,
    Changed(Vec<Change>),
    /// It fails in one of the states: with what, and since when.
    Fails(Vec<(ErrorTurn, Error)>),
}

impl ComparisonWork {
    /// True if it fails in both states alike.
    fn fails_still(&self) -> bool {
        match self {
            ComparisonWork::Same | ComparisonWork::Changed(_) => false,
            ComparisonWork::Fails(errors) => {
                errors.iter().all(|(turn, _)| *turn == ErrorTurn::Still)
            }
        }
    }
}

/// The comparison of a minion.
#[derive(Debug)]
pub enum Compared {
    /// It is left out.
    LeftOut,
    /// Its facts are of no use.
    Broken(Error),
    /// The comparison of its pillar, its states, and those of its formulas whose results changed.
    Formulas(Vec<Arc<Pair>>, Vec<Arc<StatesPair>>),
}

/// The comparison of a minion whose outcomes before were known.
#[derive(Debug)]
pub enum Advanced {
    /// No change reaches it.
    Unreached {
        /// True if a formula fails, as it did.
        fails: bool,
        /// Its states beside themselves: what is unknown about them stays so.
        states: Vec<Arc<StatesPair>>,
    },
    /// The comparison of the minion, and what it has now.
    Reached(Compared, Box<MinionData>),
}

/// Pairs that are remembered before starting over.
const MAX_PAIRS: usize = 100_000;
/// The same of what states do, which takes more room.
const MAX_STATES: usize = 128;

impl<'f, 'e> Comparison<'f, 'e> {
    /// Compare two fleets of the same formulas in the same order.
    #[must_use]
    pub fn new(before: &'f Fleet<'e>, after: &'f Fleet<'e>) -> Self {
        let both = || before.configurations().zip(after.configurations());
        let has_data = both().map(|(before, after)| [before.has_data(), after.has_data()]);
        Comparison {
            before,
            after,
            made_alike: both().map(|(before, after)| before == after).collect(),
            has_data: has_data.collect(),
            scope: None,
            changed: None,
            has_one_version: before.engine().salt_version() == after.engine().salt_version(),
            changed_pillar: None,
            since: 0,
            only_formulas: false,
            named: NamedGroups::default(),
            known: Mutex::default(),
            known_states: Mutex::default(),
            seen: Mutex::default(),
            kinds: Kinds::default(),
        }
    }

    /// Only some changes count.
    #[must_use]
    pub fn within(mut self, scope: &'f Scope) -> Self {
        self.scope = Some(scope);
        self
    }

    /// Work out again only what these changes can reach: they are all there are.
    #[must_use]
    pub fn reached_by(mut self, changed: ChangedFiles) -> Self {
        self.changed = Some(changed);
        self
    }

    /// The changes of files, if they alone decide what is another result.
    fn reaching(&self) -> Option<&ChangedFiles> {
        self.changed.as_ref().filter(|_| self.has_one_version)
    }

    /// Leave changes of pillars out; formulas see the pillars of both states all the same.
    #[must_use]
    pub fn of_formulas(mut self) -> Self {
        self.only_formulas = true;
        self
    }

    /// Describe minions by these groups as well.
    #[must_use]
    pub fn naming(mut self, named: NamedGroups) -> Self {
        self.named = named;
        self
    }

    /// Nobody is known so far.
    pub(crate) fn census(&self) -> Census {
        Census::default().with_groups(self.named.names())
    }

    /// The facts by which a minion is described.
    pub(crate) fn traits(&self, minion: &Minion) -> Traits {
        let groups = self.named.of(self.after.engine(), minion);
        Traits::of(minion).with_groups(groups)
    }

    /// The files of the pillar that changed: without any, minions have the pillars that they had.
    #[must_use]
    pub fn pillars_reached_by(mut self, changed: ChangedFiles) -> Self {
        self.changed_pillar = Some(changed);
        self
    }

    /// The number of the earlier state, for callers that compare several with a later one.
    #[must_use]
    pub fn since(mut self, state: usize) -> Self {
        self.since = state;
        self
    }

    /// The number of the earlier state.
    pub(crate) fn state(&self) -> usize {
        self.since
    }

    /// True if pillars are compiled.
    pub(crate) fn has_pillars(&self) -> bool {
        self.before.pillars().is_some()
    }

    /// The comparison of a minion.
    #[must_use]
    pub fn compare(&self, minion: &Minion) -> Compared {
        self.begin(minion).0
    }

    /// The same, and what it has now.
    #[must_use]
    pub fn begin(&self, minion: &Minion) -> (Compared, MinionData) {
        match self.both(minion) {
            Some(both) => self.of_both(&both, None),
            None => {
                let (compared, outcomes) = self.formulas([minion, minion], None, false);
                let (compared, plans) = self.with_states(compared, [minion, minion], true, None);
                (
                    compared,
                    MinionData {
                        plans,
                        ..outcomes.into()
                    },
                )
            }
        }
    }

    /// Compare a minion with its pillars, and tell what it has now. Its outcomes before are worked out if they are not
    /// known.
    fn of_both(&self, both: &PillarPair, before: Option<&MinionData>) -> (Compared, MinionData) {
        let mut pairs = self.pillar_pairs(both);
        let minion_data = |outcomes, plans| MinionData {
            pillar: both.pillars().last().cloned(),
            outcomes,
            plans,
        };
        // A minion without its whole pillar has no configuration to compare.
        if !both.is_whole() {
            let [_, new] = both.pillars();
            // These outcomes are compared with the next state's.
            let (outcomes, plans) = match before.is_some() && new.is_whole() {
                true => self.after.results(both.minions()[1]),
                false => (Vec::new(), None),
            };
            let compared = match self.means(both.minions()) {
                Ok(true) => {
                    self.note_pillar_files(both);
                    Compared::Formulas(pairs, Vec::new())
                }
                Ok(false) => Compared::LeftOut,
                Err(error) => Compared::Broken(error),
            };
            return (compared, minion_data(outcomes, plans));
        }
        let outcomes = before.map(|before| &before.outcomes[..]);
        let (compared, after) = self.formulas(both.minions(), outcomes, !both.is_same());
        let (compared, plans) = match compared {
            Compared::Formulas(of_formulas, _) => {
                pairs.extend(of_formulas);
                let compared = Compared::Formulas(pairs, Vec::new());
                let known = before.and_then(|before| before.plans.as_ref());
                self.with_states(compared, both.minions(), both.is_same(), known)
            }
            other => (other, None),
        };
        if matches!(compared, Compared::Formulas(..)) {
            self.note_pillar_files(both);
        }
        (compared, minion_data(after, plans))
    }

    /// Compare the formulas on a minion, which may have other facts after the change.
    fn formulas(
        &self,
        [old, new]: [&Minion; 2],
        before: Option<&[Arc<Outcome>]>,
        differs: bool,
    ) -> (Compared, Vec<Arc<Outcome>>) {
        match self.means([old, new]) {
            Ok(true) => {}
            Ok(false) => return (Compared::LeftOut, Vec::new()),
            Err(error) => return (Compared::Broken(error), Vec::new()),
        }
        let before = match before {
            Some(before) => before.to_vec(),
            None => self.before.outcomes(old),
        };
        let reached = match differs {
            true => vec![true; before.len()],
            false => self.reached(&before),
        };
        let after = self.after(&before, &reached, new);
        self.note_keys(before.iter().chain(&after));
        let pairs = self.pairs(&before, &after);
        (Compared::Formulas(pairs, Vec::new()), after)
    }

    /// The comparison of a minion with that of what its states do, if it could be compared, and the plans that it has now.
    /// `is_same` if it has the same facts before and after.
    fn with_states(
        &self,
        compared: Compared,
        minions: [&Minion; 2],
        is_same: bool,
        known: Option<&KnownPlans>,
    ) -> (Compared, Option<KnownPlans>) {
        match compared {
            Compared::Formulas(pairs, _) => {
                let states = self.after.states().filter(|_| !self.is_of_keys());
                let mut now = states.map(|_| KnownPlans::default());
                let states = self.states(minions, is_same, known, now.as_mut());
                (Compared::Formulas(pairs, states), now)
            }
            other => (other, None),
        }
    }

    /// True if only keys count, of which states have none.
    fn is_of_keys(&self) -> bool {
        self.scope.is_some_and(Scope::has_get)
    }

    /// Compare what states do on a minion, which may have other facts after the change: for all that top files give, or
    /// for each sls that is run. The plans before are worked out as far as they are not known; those after are noted.
    fn states(
        &self,
        [old, new]: [&Minion; 2],
        is_same: bool,
        known: Option<&KnownPlans>,
        now: Option<&mut KnownPlans>,
    ) -> Vec<Arc<StatesPair>> {
        let states = (self.before.states(), self.after.states());
        let ((Some(before), Some(after)), Some(now)) = (states, now) else {
            return Vec::new();
        };
        let old = self.before.engine().with_tree_grains(old);
        let new = self.after.engine().with_tree_grains(new);
        // With other facts, states can be other ones.
        let changed = self.reaching().filter(|_| is_same);
        let known = |run: &RunKey| known.and_then(|known| known.get(run)).cloned();
        let names = match before.wanted() {
            WantedStates::Top(_) => {
                let earlier = known(&None).unwrap_or_else(|| before.of_top(&old));
                let later = after.of_top_after(&earlier, &new, changed);
                now.add(None, later.clone());
                let whole = [earlier, later];
                let pair = self.states_pair([before, after], whole.clone(), None);
                let mut pairs = Vec::new();
                if pair.fails_still() {
                    pairs.extend(self.parts([before, after], [&old, &new], &whole, changed));
                }
                pairs.push(pair);
                return pairs;
            }
            WantedStates::Sls(names) => names,
        };
        let plans = [before, after];
        let mut covered: [HashSet<(String, String)>; 2] = Default::default();
        let mut pairs = Vec::new();
        // An sls that only one side has may have another name on the other side.
        let mut one_sided: [Vec<Arc<SharedPlan>>; 2] = Default::default();
        for (saltenv, name) in names {
            let key = (saltenv.clone(), name.clone());
            if covered.iter().all(|covered| covered.contains(&key)) {
                continue;
            }
            let as_key = Some(key.clone());
            let earlier = known(&as_key).unwrap_or_else(|| before.of_sls(&old, saltenv, name));
            let later = after.of_sls_after(&earlier, &new, &key, changed);
            now.add(as_key, later.clone());
            let sides = [earlier, later];
            for (covered, side) in covered.iter_mut().zip(&sides) {
                covered.extend(side.sls());
            }
            match plans.map(|plans| plans.has_sls(saltenv, name)) {
                [true, false] => one_sided[0].push(sides[0].clone()),
                [false, true] => one_sided[1].push(sides[1].clone()),
                _ => pairs.push(self.states_pair(plans, sides, Some(name))),
            }
            for covered in &mut covered {
                covered.insert(key.clone());
            }
        }
        if one_sided.iter().any(|of_side| !of_side.is_empty()) {
            let [old, new] = one_sided;
            let sides = [before.joined(old), after.joined(new)];
            pairs.push(self.states_pair(plans, sides, Some(&"others".to_owned())));
        }
        pairs
    }

    /// The comparison of the sls that compile alone, for a minion that is refused its states before and
    /// after: an sls that lacks a fact does not hide changes of the others. `None` if no sls compiles alone.
    fn parts(
        &self,
        plans: [&StatePlans<'_>; 2],
        [old, new]: [&Minion; 2],
        whole: &[Arc<SharedPlan>; 2],
        changed: Option<&ChangedFiles>,
    ) -> Option<Arc<StatesPair>> {
        let [before, after] = plans;
        let earlier = SlsPlans::of(&whole[0], |run| before.of_sls(old, &run.0, &run.1));
        let later = SlsPlans::of(&whole[1], |run| match earlier.plans.get(run) {
            Some(known) => after.of_sls_after(known, new, run, changed),
            None => after.of_sls(new, &run.0, &run.1),
        });
        let sides = [
            before.joined(earlier.comparable(&later)),
            after.joined(later.comparable(&earlier)),
        ];
        let is_empty = |side: &Arc<SharedPlan>| side.compiled.sls.is_empty();
        (!sides.iter().all(is_empty)).then(|| self.states_pair(plans, sides, None))
    }

    fn states_pair(
        &self,
        plans: [&StatePlans<'_>; 2],
        sides: [Arc<SharedPlan>; 2],
        sls: Option<&String>,
    ) -> Arc<StatesPair> {
        let known = || {
            self.known_states
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
        };
        let [old, new] = sides.each_ref().map(|side| Arc::as_ptr(side) as usize);
        if let Some(known) = known().get(&(old, new)) {
            return known.clone();
        }
        let pair = Arc::new(StatesPair::of(plans, sides, sls.cloned()));
        if !pair.fails_still() {
            self.note_files_of_states(&pair);
        }
        let mut known = known();
        if known.len() >= MAX_STATES {
            known.clear();
        }
        known.entry((old, new)).or_insert(pair).clone()
    }

    /// Note the changed files that compared states are made of.
    fn note_files_of_states(&self, pair: &StatesPair) {
        let Some(changed) = &self.changed else {
            return;
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.has_states = true;
        for side in &pair.sides {
            for (env, path) in changed.among(side.reads()) {
                seen.files.insert((env.clone(), path.clone()));
            }
        }
    }

    /// True if a minion is meant: a condition that asks for its pillar may be true in one of the states.
    fn means(&self, [old, new]: [&Minion; 2]) -> Result<bool> {
        Ok(self.before.means(old)? || (!std::ptr::eq(old, new) && self.after.means(new)?))
    }

    /// The minion with its pillars, if they are compiled.
    fn both(&self, minion: &Minion) -> Option<PillarPair> {
        let pillars = [self.before.pillars()?, self.after.pillars()?];
        Some(PillarPair::of(pillars, minion, &|pillar| {
            self.stays(pillar)
        }))
    }

    /// True if no change can reach a pillar.
    fn stays(&self, pillar: &Pillar) -> bool {
        let is_unchanged = |read: &FileRead| {
            let changed = self.reaching();
            changed.is_some_and(|changed| !changed.has(read))
        };
        let no_file = self.changed_pillar.as_ref();
        let no_file = no_file.is_some_and(ChangedFiles::is_empty);
        // Of stacked files it is not known which are different.
        let reads = &pillar.reads;
        no_file
            && self.has_one_version
            && reads.stacked.is_empty()
            && reads.served.iter().all(is_unchanged)
    }

    /// Compare a minion's pillar.
    fn pillar_pairs(&self, both: &PillarPair) -> Vec<Arc<Pair>> {
        let lost = both.lost(self.changed_pillar.as_ref());
        let pair = |what| {
            Arc::new(Pair {
                subject: ComparedResult::Pillar,
                kinds: both.kinds(),
                what,
                lost: lost.clone(),
            })
        };
        let data = both.data().filter(|_| !self.only_formulas);
        let found = data.map(|(old, new)| {
            if let Some(scope) = self.scope {
                scope.note_keys(old);
                scope.note_keys(new);
            }
            self.counting(changes(old, new))
        });
        let found = found.filter(|what| !matches!(what, ComparisonWork::Same));
        let failures = both.failures();
        let fails = (!failures.is_empty()).then_some(ComparisonWork::Fails(failures));
        let both = [found, fails];
        both.into_iter().flatten().map(pair).collect()
    }

    /// Note the changed files that a minion's pillars are made of. Those of which nothing came in both states are not
    /// compared.
    fn note_pillar_files(&self, both: &PillarPair) {
        let Some(changed) = &self.changed_pillar else {
            return;
        };
        let with_failed = !both.fails_still();
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for (is_after, pillar) in [false, true].into_iter().zip(both.pillars()) {
            if !seen.pillars.insert((is_after, pillar.kind, with_failed)) {
                continue;
            }
            if !with_failed && pillar.data.is_none() {
                continue;
            }
            let stacked = pillar.reads.stacked.iter();
            let stacked = stacked.filter(|read| read.kind != FileReadKind::List);
            seen.stacked
                .extend(stacked.map(|read| read.path.to_string()));
            let failed: HashSet<&FileRead> = pillar.reads.failed.iter().collect();
            let counted = pillar.reads.pillar.iter();
            let counted: Vec<FileRead> = counted
                .filter(|read| with_failed || !failed.contains(read))
                .cloned()
                .collect();
            for (env, path) in changed.among(&counted) {
                seen.of_pillar.insert((env.clone(), path.clone()));
            }
        }
    }

    /// Compare a minion that is known, for callers that follow a fleet from change to change: no minion is read
    /// that no change can reach, and what it has now is returned.
    ///
    /// # Errors
    /// The minion cannot be read.
    pub fn advance(
        &self,
        before: &MinionData,
        read: impl FnOnce() -> Result<Minion>,
    ) -> Result<Advanced> {
        let reached = self.reached(&before.outcomes);
        let pillars = before.pillar.as_ref().zip(self.after.pillars());
        let stays = pillars.is_none_or(|(pillar, _)| self.stays(pillar));
        let plans = before.plans.as_ref();
        let states = self.after.states().filter(|_| !self.is_of_keys());
        let of_states = states.is_some_and(|states| {
            plans.is_none_or(|plans| plans.are_reached(states, self.reaching()))
        });
        if stays && !of_states && !reached.contains(&true) {
            return Ok(Advanced::Unreached {
                fails: before.fails(),
                states: plans
                    .filter(|_| !self.is_of_keys())
                    .map(|plans| self.same(plans))
                    .unwrap_or_default(),
            });
        }
        let minion = read()?;
        let (compared, now) = match pillars {
            Some((old, pillars)) => {
                let new = match stays {
                    true => old.clone(),
                    false => pillars.pillar(&minion),
                };
                let both = PillarPair::new([old.clone(), new], &minion);
                self.of_both(&both, Some(before))
            }
            None => {
                let outcomes = self.after(&before.outcomes, &reached, &minion);
                self.note_keys(before.outcomes.iter().chain(&outcomes));
                let pairs = self.pairs(&before.outcomes, &outcomes);
                let compared = Compared::Formulas(pairs, Vec::new());
                let (compared, plans) = self.with_states(compared, [&minion, &minion], true, plans);
                (
                    compared,
                    MinionData {
                        plans,
                        ..outcomes.into()
                    },
                )
            }
        };
        Ok(Advanced::Reached(compared, now.into()))
    }

    /// The change of the result of a formula that worked in the earlier state, failed since, and works again.
    pub(crate) fn recovered(
        &self,
        formula: usize,
        before: &Arc<Outcome>,
        now: &Arc<Outcome>,
    ) -> Option<Arc<Pair>> {
        let pair = self.pair(formula, before.clone(), now.clone());
        matches!(pair.what, ComparisonWork::Changed(_)).then_some(pair)
    }

    /// The same of a pillar of which there was nothing since.
    pub(crate) fn recovered_pillar(&self, pillars: [&Pillar; 2]) -> Option<Arc<Pair>> {
        let both = PillarPair::new(pillars.map(Pillar::clone), &Minion::default());
        let mut pairs = self.pillar_pairs(&both).into_iter();
        pairs.find(|pair| matches!(pair.what, ComparisonWork::Changed(_)))
    }

    /// Plans that no change reaches, each beside itself.
    fn same(&self, plans: &KnownPlans) -> Vec<Arc<StatesPair>> {
        let (Some(before), Some(after)) = (self.before.states(), self.after.states()) else {
            return Vec::new();
        };
        let pair = |(run, plan): (&RunKey, Option<&Arc<SharedPlan>>)| {
            let sls = run.as_ref().map(|(_, sls)| sls);
            let plan = plan?;
            Some(self.states_pair([before, after], [plan.clone(), plan.clone()], sls))
        };
        plans.working().filter_map(pair).collect()
    }

    /// The changes of a run of states that worked in the earlier state, failed since, and works again. The earlier plan is
    /// worked out if it is not known.
    pub(crate) fn recovered_states(
        &self,
        run: &RunKey,
        old: Option<&Arc<SharedPlan>>,
        new: &Arc<SharedPlan>,
        read: impl FnOnce() -> Minion,
    ) -> Option<Arc<StatesPair>> {
        let plans = [self.before.states()?, self.after.states()?];
        let sls = run.as_ref().map(|(_, sls)| sls);
        let old = old.cloned().unwrap_or_else(|| {
            let minion = self.before.with_facts(&read());
            match run {
                None => plans[0].of_top(&minion),
                Some((saltenv, sls)) => plans[0].of_sls(&minion, saltenv, sls),
            }
        });
        let pair = self.states_pair(plans, [old, new.clone()], sls);
        (!pair.is_same()).then_some(pair)
    }

    /// Note which keys of the scope outcomes have.
    pub(crate) fn note_keys<'o>(&self, outcomes: impl Iterator<Item = &'o Arc<Outcome>>) {
        if let Some(scope) = self.scope {
            for data in outcomes.filter_map(|outcome| outcome.result.as_ref().ok()) {
                scope.note_keys(data);
            }
        }
    }

    /// The outcomes that the changes can reach.
    fn reached(&self, before: &[Arc<Outcome>]) -> Vec<bool> {
        let formulas: Vec<&str> = self.before.formulas().collect();
        let is_reached = |(name, outcome): (&str, &Arc<Outcome>)| {
            self.reaching()
                .is_none_or(|changed| changed.reaches(name, &formulas, &outcome.files))
        };
        let results = formulas.iter().copied().zip(before);
        results
            .zip(&self.made_alike)
            .map(|(result, is_alike)| !is_alike || is_reached(result))
            .collect()
    }

    /// The outcomes after the change: those that it does not reach are what they were.
    fn after(
        &self,
        before: &[Arc<Outcome>],
        reached: &[bool],
        minion: &Minion,
    ) -> Vec<Arc<Outcome>> {
        let minion = self.after.engine().with_tree_grains(minion);
        let answers = Answers::new(&minion);
        let outcomes =
            before
                .iter()
                .zip(reached)
                .enumerate()
                .map(|(index, (before, is_reached))| {
                    let after = is_reached
                        .then(|| self.after.outcome(index, &answers))
                        .flatten();
                    after.unwrap_or_else(|| before.clone())
                });
        outcomes.collect()
    }

    /// The changed files that no result compared so far is made of, by saltenv and path. Of what failed in both states
    /// alike, nothing was compared. `None` if it is not known which files changed.
    #[must_use]
    pub fn not_compared(&self) -> Option<Vec<String>> {
        let changed = self.changed.as_ref()?;
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let is_unseen = |(env, path): &ChangedFile<'_>| {
            let is_top = seen.has_states && self.is_top(path);
            !is_top && !seen.files.contains(&((*env).clone(), (*path).clone()))
        };
        Some(
            changed
                .of_project()
                .filter(is_unseen)
                .map(|(_, path)| path.clone())
                .collect(),
        )
    }

    /// True if a path is that of the top files by which minions get states.
    fn is_top(&self, path: &str) -> bool {
        self.after
            .states()
            .is_some_and(|states| states.is_top(path))
    }

    /// The same of the files of the pillar, which no compared pillar is made of. `None` if none is compared.
    #[must_use]
    pub fn pillar_files_not_compared(&self) -> Option<Vec<String>> {
        let changed = self.changed_pillar.as_ref()?;
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let all = changed.of_project();
        let unseen =
            all.filter(|(env, path)| !seen.of_pillar.contains(&((*env).clone(), (*path).clone())));
        Some(unseen.map(|(_, path)| path.clone()).collect())
    }

    /// True if a compared pillar reads or looks for a stacked file, by its path below the directory that is
    /// [mounted](mapstack_pillar::Master::mount).
    #[must_use]
    pub fn has_stacked(&self, path: &str) -> bool {
        let seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.stacked.contains(path)
    }

    /// Note the changed files that a compared outcome is made of.
    fn note_files(&self, outcome: &Outcome) {
        let Some(changed) = &self.changed else {
            return;
        };
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if seen.kinds.insert(self.kinds.of(&*outcome.files)) {
            for (env, path) in changed.among(&*outcome.files) {
                seen.files.insert((env.clone(), path.clone()));
            }
        }
    }

    fn pairs(&self, before: &[Arc<Outcome>], after: &[Arc<Outcome>]) -> Vec<Arc<Pair>> {
        let both = before.iter().zip(after).enumerate();
        let pairs = both
            .filter(|(_, (before, after))| !Arc::ptr_eq(before, after) || before.result.is_err());
        let others = self.before.configurations().map(Configuration::is_others);
        let others: Vec<bool> = others.collect();
        pairs
            .map(|(index, (before, after))| {
                let pair = self.pair(index, before.clone(), after.clone());
                if !pair.what.fails_still() {
                    self.note_files(before);
                    self.note_files(after);
                }
                (index, pair)
            })
            .filter(|(index, pair)| {
                // A pillar's failure fails the configuration as well.
                let is_other = others.get(*index) == Some(&true);
                !is_other || !matches!(pair.what, ComparisonWork::Fails(_))
            })
            .map(|(_, pair)| pair)
            .collect()
    }

    fn pair(&self, formula: usize, before: Arc<Outcome>, after: Arc<Outcome>) -> Arc<Pair> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (
            formula,
            Arc::as_ptr(&before) as usize,
            Arc::as_ptr(&after) as usize,
        );
        if let Some((_, pair)) = known().get(&key) {
            return pair.clone();
        }
        let kinds = [&before, &after].map(|outcome| self.kinds.of(&*outcome.files));
        let pair = Arc::new(Pair {
            subject: ComparedResult::Formula(formula),
            kinds,
            what: self.what(formula, [&before, &after]),
            lost: Vec::new(),
        });
        let mut known = known();
        if known.len() >= MAX_PAIRS {
            known.clear();
        }
        known
            .entry(key)
            .or_insert(([before, after], pair))
            .1
            .clone()
    }

    fn what(&self, formula: usize, [before, after]: [&Outcome; 2]) -> ComparisonWork {
        let has_data = self.has_data.get(formula).unwrap_or(&[true; 2]);
        let others = self.before.configurations().nth(formula);
        let is_other = others.is_some_and(Configuration::is_others);
        match (&before.result, &after.result) {
            // That it has data now, or has none any more, is said of the formula itself.
            (Ok(_), Ok(_)) if has_data[0] != has_data[1] && is_other => ComparisonWork::Same,
            (Ok(_), Ok(new)) if *has_data == [false, true] => {
                self.counting(vec![Change::of_whole([None, Some(new)])])
            }
            (Ok(old), Ok(_)) if *has_data == [true, false] => {
                self.counting(vec![Change::of_whole([Some(old), None])])
            }
            (Ok(old), Ok(new)) => self.counting(changes(old, new)),
            (old, new) => {
                let errors = |result: &Result<Value>| result.clone().err().into_iter().collect();
                let [old, new]: [Vec<Error>; 2] = [errors(old), errors(new)];
                ComparisonWork::Fails(turns(
                    ErrorsOfState::new(&old, before.files.iter().map(|read| &*read.path)),
                    ErrorsOfState::new(&new, after.files.iter().map(|read| &*read.path)),
                ))
            }
        }
    }

    /// The changes that count.
    fn counting(&self, found: Vec<Change>) -> ComparisonWork {
        let found = match self.scope {
            Some(scope) => scope.of(found),
            None => found,
        };
        match found.is_empty() {
            true => ComparisonWork::Same,
            false => ComparisonWork::Changed(found),
        }
    }

    /// The fleets before and after.
    pub(crate) fn fleets(&self) -> [&Fleet<'e>; 2] {
        [self.before, self.after]
    }

    /// A minion as it is in each state.
    pub(crate) fn examples(&self, minion: Minion) -> Vec<Minion> {
        match self.both(&minion) {
            Some(both) => both.minions().map(Minion::clone).to_vec(),
            None => vec![minion],
        }
    }

    /// The secrets on a minion, and texts that a formula's templates make of them in both states. `minions` are the
    /// [examples](Self::examples).
    pub(crate) fn secret_texts(&self, subject: ComparedResult, minions: &[Minion]) -> Vec<Str> {
        let ComparedResult::Formula(formula) = subject else {
            return Vec::new();
        };
        let sides = [(self.before, minions.first()), (self.after, minions.last())];
        sides
            .iter()
            .filter_map(|(fleet, minion)| Some(fleet.secret_texts(formula, (*minion)?)))
            .flatten()
            .collect()
    }

    /// The origins of values in each state.
    pub(crate) fn origins(
        &self,
        subject: ComparedResult,
        minions: &[Minion],
    ) -> [Option<Origins>; 2] {
        [(self.before, minions.first()), (self.after, minions.last())].map(|(fleet, minion)| {
            match subject {
                ComparedResult::Formula(formula) => fleet.origins(formula, minion?),
                // The example has its pillar already.
                ComparedResult::Pillar => {
                    let bare = Minion {
                        pillar: Map::new(),
                        ..minion?.clone()
                    };
                    fleet.pillars()?.origins(&bare)
                }
                ComparedResult::States => None,
            }
        })
    }
}

/// Comparisons are shared between threads.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Comparison<'_, '_>>();
    shared::<Engine>();
};

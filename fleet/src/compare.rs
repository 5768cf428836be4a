//! One fleet in two states: before a change of the files, and after it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use mapstack::lineage::{Lineage, Spot};
use mapstack::minion::Minion;
use mapstack::value::Value;
use mapstack::{Engine, Error, Outcome, Result, Witness};

use crate::change::{Change, Ignored, changes};
use crate::fleet::{Fleet, Report};
use crate::reach::ChangedFiles;

/// Compares what comes of minions before and after a change.
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
    ignored: Vec<Ignored>,
    changed: Option<ChangedFiles>,
    /// What was compared already, for minions that share their results.
    known: Mutex<HashMap<(usize, usize, usize), Known>>,
}

/// A pair, with the outcomes it is of: as long as they are kept, their addresses stay theirs.
type Known = ([Arc<Outcome>; 2], Arc<Pair>);

/// What became of one formula on minions that share its outcomes in both states.
#[derive(Debug)]
pub struct Pair {
    /// The index of the formula.
    pub formula: usize,
    /// What outcomes before and after are alike.
    kinds: [u64; 2],
    what: What,
}

/// What became of a formula on a minion.
#[derive(Debug)]
enum What {
    Same,
    Changed(Vec<Change>),
    /// It works no longer.
    Broken(Error),
    /// It works again.
    Mended(Error),
    /// It fails in both states, and says something else.
    FailsOtherwise(Error),
    /// It fails in both states alike.
    FailsStill,
}

/// What became of a minion.
#[derive(Debug)]
pub enum Compared {
    /// It is left out.
    LeftOut,
    /// Its facts are of no use.
    Broken(Error),
    /// What became of its formulas, those left out that have the result they had.
    Formulas(Vec<Arc<Pair>>),
}

/// What became of a minion whose outcomes before were known.
#[derive(Debug)]
pub enum Advanced {
    /// No change reaches it.
    Unreached {
        /// Whether a formula fails, as it did.
        fails: bool,
    },
    /// What became of the minion, and its outcomes now.
    Reached(Compared, Vec<Arc<Outcome>>),
}

/// Lineages that are kept before starting over.
const MOST_LINEAGES: usize = 256;

/// Pairs that are remembered before starting over.
const MOST_PAIRS: usize = 100_000;

impl<'f, 'e> Comparison<'f, 'e> {
    /// Compare two fleets of the same formulas in the same order.
    #[must_use]
    pub fn new(before: &'f Fleet<'e>, after: &'f Fleet<'e>) -> Self {
        Comparison { before, after, ignored: Vec::new(), changed: None, known: Mutex::default() }
    }

    /// Leave changes under some keys out.
    #[must_use]
    pub fn ignore(mut self, ignored: Ignored) -> Self {
        self.ignored.push(ignored);
        self
    }

    /// Work out again only what these changes can reach: they are all there are.
    #[must_use]
    pub fn reached_by(mut self, changed: ChangedFiles) -> Self {
        self.changed = Some(changed);
        self
    }

    /// What became of a minion.
    #[must_use]
    pub fn compare(&self, minion: &Minion) -> Compared {
        let Some(Report { outcomes: before, .. }) = self.before.report(minion) else { return Compared::LeftOut };
        let before = match before {
            Ok(before) => before,
            Err(error) => return Compared::Broken(error),
        };
        let after = self.after(&before, &self.reached(&before), minion);
        Compared::Formulas(self.pairs(&before, &after))
    }

    /// What became of a minion whose outcomes are known, for who follows a fleet from change to change: no minion
    /// is read that no change can reach, and the outcomes it has now are told.
    ///
    /// # Errors
    /// The minion cannot be read.
    pub fn advance(&self, before: &[Arc<Outcome>], read: impl FnOnce() -> Result<Minion>) -> Result<Advanced> {
        let reached = self.reached(before);
        if !reached.contains(&true) {
            let fails = before.iter().any(|outcome| outcome.result.is_err());
            return Ok(Advanced::Unreached { fails });
        }
        let minion = read()?;
        let outcomes = self.after(before, &reached, &minion);
        let compared = Compared::Formulas(self.pairs(before, &outcomes));
        Ok(Advanced::Reached(compared, outcomes))
    }

    /// Which outcomes the changes can reach.
    fn reached(&self, before: &[Arc<Outcome>]) -> Vec<bool> {
        let formulas: Vec<&str> = self.before.formulas().collect();
        let is_reached = |(name, outcome): (&&str, &Arc<Outcome>)| {
            self.changed.as_ref().is_none_or(|changed| changed.reaches(name, &formulas, &outcome.files))
        };
        formulas.iter().zip(before).map(is_reached).collect()
    }

    /// The outcomes after the change: those that it does not reach are what they were.
    fn after(&self, before: &[Arc<Outcome>], reached: &[bool], minion: &Minion) -> Vec<Arc<Outcome>> {
        let witness = Witness::new(minion);
        let outcomes = before.iter().zip(reached).enumerate().map(|(index, (before, is_reached))| {
            let after = is_reached.then(|| self.after.outcome(index, &witness)).flatten();
            after.unwrap_or_else(|| before.clone())
        });
        outcomes.collect()
    }

    fn pairs(&self, before: &[Arc<Outcome>], after: &[Arc<Outcome>]) -> Vec<Arc<Pair>> {
        let both = before.iter().zip(after).enumerate();
        let told = both.filter(|(_, (before, after))| !Arc::ptr_eq(before, after) || before.result.is_err());
        told.map(|(index, (before, after))| self.pair(index, before.clone(), after.clone())).collect()
    }

    fn pair(&self, formula: usize, before: Arc<Outcome>, after: Arc<Outcome>) -> Arc<Pair> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (formula, Arc::as_ptr(&before) as usize, Arc::as_ptr(&after) as usize);
        if let Some((_, pair)) = known().get(&key) {
            return pair.clone();
        }
        let kinds = [before.kind(), after.kind()];
        let pair = Arc::new(Pair { formula, kinds, what: self.what(&before, &after) });
        let mut known = known();
        if known.len() >= MOST_PAIRS {
            known.clear();
        }
        known.entry(key).or_insert(([before, after], pair)).1.clone()
    }

    fn what(&self, before: &Outcome, after: &Outcome) -> What {
        match (&before.result, &after.result) {
            (Ok(old), Ok(new)) => {
                let mut found = changes(old, new);
                found.retain(|change| !self.ignored.iter().any(|ignored| ignored.has(&change.path)));
                if found.is_empty() { What::Same } else { What::Changed(found) }
            }
            (Ok(_), Err(error)) => What::Broken(error.clone()),
            (Err(error), Ok(_)) => What::Mended(error.clone()),
            (Err(old), Err(new)) if old.diagnostic().message == new.diagnostic().message => What::FailsStill,
            (Err(_), Err(error)) => What::FailsOtherwise(error.clone()),
        }
    }

    /// Where values of a formula come from in each state.
    fn lineages(&self, formula: usize, minion: &Minion) -> [Option<Lineage>; 2] {
        [self.before, self.after].map(|fleet| fleet.explain(formula, minion))
    }
}

/// The same change on some minions.
#[derive(Debug, Clone)]
pub struct Group {
    /// What changed.
    pub change: Change,
    /// Where the old value came from.
    pub old_origin: Option<Spot>,
    /// Where the new one comes from.
    pub new_origin: Option<Spot>,
    /// The indices of the formulas concerned.
    pub formulas: Vec<usize>,
    /// The minions, in order.
    pub minions: Vec<String>,
    /// One of them.
    pub example: Minion,
}

/// The same failure on some minions.
#[derive(Debug, Clone)]
pub struct Failing {
    /// The index of the formula.
    pub formula: usize,
    /// What it fails with, or failed with.
    pub error: Error,
    /// The minions, in order.
    pub minions: Vec<String>,
    /// One of them.
    pub example: Minion,
}

/// What became of a fleet.
#[derive(Debug, Default)]
pub struct Differences {
    groups: Vec<Group>,
    by_key: HashMap<String, usize>,
    /// The groups of pairs that were seen, by their address; the pairs are kept, so that it stays theirs.
    by_pair: HashMap<usize, (Arc<Pair>, Vec<usize>)>,
    /// Where the values of outcomes come from that are alike.
    lineages: HashMap<(usize, [u64; 2]), [Option<Lineage>; 2]>,
    failing: Vec<(Turn, Failing)>,
    by_failure: HashMap<(Turn, usize, String), usize>,
    /// Minions whose facts are of no use, with why.
    pub broken: Vec<(String, Error)>,
    /// How many were compared.
    pub minions: usize,
    /// How many of them have no difference at all.
    pub unaffected: usize,
    /// How many of them have a formula that fails in both states alike.
    pub fail_still: usize,
}

/// How failing changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Turn {
    /// It works no longer.
    Broken,
    /// It works again.
    Mended,
    /// It fails with something else.
    Otherwise,
}

impl Differences {
    /// Take in what became of a minion, which is read for the first of each change: where values come from is
    /// asked for that one.
    pub fn add(&mut self, comparison: &Comparison<'_, '_>, id: &str, compared: Compared, read: impl Fn() -> Minion) {
        let pairs = match compared {
            Compared::LeftOut => return,
            Compared::Broken(error) => {
                self.minions += 1;
                self.broken.push((id.into(), error));
                return;
            }
            Compared::Formulas(pairs) => pairs,
        };
        self.minions += 1;
        let (mut affected, mut fails_still) = (false, false);
        for pair in pairs {
            match &pair.what {
                What::Same => continue,
                What::FailsStill => {
                    fails_still = true;
                    continue;
                }
                What::Changed(_) => self.changed(comparison, id, &pair, &read),
                What::Broken(error) => self.failure(Turn::Broken, pair.formula, error, id, &read),
                What::Mended(error) => self.failure(Turn::Mended, pair.formula, error, id, &read),
                What::FailsOtherwise(error) => self.failure(Turn::Otherwise, pair.formula, error, id, &read),
            }
            affected = true;
        }
        self.unaffected += usize::from(!affected);
        self.fail_still += usize::from(fails_still);
    }

    /// Count a minion that no change reaches; `fails` if one of its formulas does, as it did.
    pub fn add_unreached(&mut self, fails: bool) {
        self.minions += 1;
        self.unaffected += 1;
        self.fail_still += usize::from(fails);
    }

    fn changed(&mut self, comparison: &Comparison<'_, '_>, id: &str, pair: &Arc<Pair>, read: &impl Fn() -> Minion) {
        let address = Arc::as_ptr(pair) as usize;
        if !self.by_pair.contains_key(&address) {
            let groups = self.groups_of(comparison, pair, read);
            self.by_pair.insert(address, (pair.clone(), groups));
        }
        let Some((_, groups)) = self.by_pair.get(&address) else { return };
        for group in groups {
            let Some(group) = self.groups.get_mut(*group) else { continue };
            if !group.formulas.contains(&pair.formula) {
                group.formulas.push(pair.formula);
            }
            // Two formulas of one minion can change alike.
            if group.minions.last().is_none_or(|last| last != id) {
                group.minions.push(id.into());
            }
        }
    }

    fn groups_of(&mut self, comparison: &Comparison<'_, '_>, pair: &Pair, read: &impl Fn() -> Minion) -> Vec<usize> {
        let What::Changed(changes) = &pair.what else { return Vec::new() };
        if self.lineages.len() >= MOST_LINEAGES {
            self.lineages.clear();
        }
        let lineages = self.lineages.entry((pair.formula, pair.kinds));
        let [before, after] = lineages.or_insert_with(|| comparison.lineages(pair.formula, &read()));
        let origin = |lineage: &Option<Lineage>, change: &Change, is_there: bool| {
            is_there.then(|| Some(lineage.as_ref()?.at(&change.path)?.spot)).flatten()
        };
        let groups = changes.iter().map(|change| {
            let old_origin = origin(before, change, change.old.is_some());
            let new_origin = origin(after, change, change.new.is_some());
            let text = |value: &Option<Value>| value.as_ref().map(Value::repr);
            let key = format!(
                "{:?}",
                (
                    &change.path,
                    text(&change.old),
                    text(&change.new),
                    shown(old_origin.as_ref()),
                    shown(new_origin.as_ref())
                )
            );
            *self.by_key.entry(key).or_insert_with(|| {
                let change = change.clone();
                let (formulas, minions, example) = (Vec::new(), Vec::new(), read());
                self.groups.push(Group { change, old_origin, new_origin, formulas, minions, example });
                self.groups.len() - 1
            })
        });
        groups.collect()
    }

    fn failure(&mut self, turn: Turn, formula: usize, error: &Error, id: &str, read: &impl Fn() -> Minion) {
        let index = *self.by_failure.entry((turn, formula, error.to_string())).or_insert_with(|| {
            let failing = Failing { formula, error: error.clone(), minions: Vec::new(), example: read() };
            self.failing.push((turn, failing));
            self.failing.len() - 1
        });
        if let Some((_, failing)) = self.failing.get_mut(index) {
            failing.minions.push(id.into());
        }
    }

    /// The changes, in the order they were first seen.
    #[must_use]
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// The failures that began, ended or changed, in the order they were first seen.
    pub fn failing(&self) -> impl Iterator<Item = (Turn, &Failing)> {
        self.failing.iter().map(|(turn, failing)| (*turn, failing))
    }

    /// Whether nothing is different.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.failing.is_empty()
    }
}

fn shown(spot: Option<&Spot>) -> String {
    spot.map(ToString::to_string).unwrap_or_default()
}

/// Comparisons are shared between threads.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Comparison<'_, '_>>();
    shared::<Engine>();
};

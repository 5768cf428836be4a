//! Equal changes and failures of a fleet, folded.

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mapstack::minion::Minion;
use mapstack::value::{Key, Value};
use mapstack::{Error, ErrorKind};
use mapstack_lineage::ValuePosition;

use crate::census::Census;
use crate::change::Change;
use crate::compare::{Compared, ComparedResult, Comparison, ComparisonWork, Pair};
use crate::example::Example;
use crate::failures::{ErrorTurn, FailingMinions, by_reason};
use crate::minions::Minions;
use crate::ordered::ordered;
use crate::origins::{Origins, read_back};
use crate::own::MinionNames;
use crate::pace::Pace;
use crate::states::{StateGroups, StatesPair};

/// Pairs of origins that are kept before starting over.
const MAX_ORIGINS: usize = 256;
/// Minions that are explained because their values are like no other's; of more, places are not known.
const MAX_EXPLAINED: usize = 2_000;

/// The same change on some minions.
#[derive(Debug, Clone)]
pub struct ChangeGroup {
    /// The change.
    pub change: Change,
    /// The origin of the old value.
    pub old_origin: Option<ValuePosition>,
    /// The origin of the new value.
    pub new_origin: Option<ValuePosition>,
    /// The paths of scalars in the old value that are secret.
    pub old_secret: HashSet<Vec<Key>>,
    /// The paths of scalars in the new one that are.
    pub new_secret: HashSet<Vec<Key>>,
    /// The subjects that changed alike: formulas, or the pillar.
    pub subjects: Vec<ComparedResult>,
    /// The minions, in order.
    pub minions: Vec<String>,
    /// One of them.
    pub example: Arc<Example>,
    /// True for a value of the pillar that does not exist because a file of it fails.
    pub is_lost: bool,
}

/// The same failure on some minions.
#[derive(Debug, Clone)]
pub struct SharedFailure {
    /// The formula that fails, or the pillar.
    pub subject: ComparedResult,
    /// The error, now or before.
    pub error: Error,
    /// The minions, in order.
    pub minions: Vec<String>,
    /// One of them.
    pub example: Arc<Example>,
}

/// The differences of a fleet.
#[derive(Debug, Default)]
pub struct Differences {
    groups: Vec<ChangeGroup>,
    by_key: HashMap<String, usize>,
    /// The groups of pairs that were seen, by their address; the pairs are kept, so that it stays theirs.
    by_pair: HashMap<usize, (Arc<Pair>, Vec<usize>)>,
    /// The origins of equal outcomes, by the number of the earlier state.
    explained: HashMap<(usize, ComparedResult, [u64; 2]), OriginPair>,
    /// The number of minions that were explained for what they do not have in common with others.
    explained_apart: usize,
    failing: Vec<(ErrorTurn, SharedFailure)>,
    by_failure: HashMap<(ErrorTurn, ComparedResult, String), usize>,
    /// The changes of what states do.
    pub states: StateGroups,
    /// The minions that were compared, as far as they are known.
    pub census: Census,
    /// Minions whose facts are of no use, with why.
    pub broken: Vec<(String, Error)>,
    /// The number of minions, those included that could not be compared.
    pub minions: usize,
    /// The number of them that could not be compared.
    pub not_compared: usize,
    /// The number of them that have no difference at all.
    pub unaffected: usize,
    /// The number of them that have a formula that fails in both states alike.
    pub fail_still: usize,
    /// Those that fail, each counted once.
    pub failing_minions: FailingMinions,
}

/// So many ways of failing as before are kept; the others are only counted.
const MAX_STILL: usize = 100;

impl Differences {
    /// Compare some minions, side by side.
    pub fn of(
        comparison: &Comparison<'_, '_>,
        minions: &dyn Minions,
        ids: &[String],
        pace: Pace,
    ) -> Self {
        let mut differences = Differences {
            census: comparison.census(),
            ..Differences::default()
        };
        std::thread::scope(|scope| {
            let done = ordered(scope, ids.iter(), pace, |id| {
                let minion = minions.read(id)?;
                Ok((comparison.compare(&minion), comparison.traits(&minion)))
            });
            for (id, result) in ids.iter().zip(done) {
                match result {
                    Ok(Ok((compared, traits))) => {
                        if !matches!(compared, Compared::LeftOut) {
                            differences.census.add(id, traits);
                        }
                        differences.add(comparison, id, compared, || minions.read_or_name(id));
                    }
                    Ok(Err(error)) => differences.add_broken(id, error),
                    Err(panicked) => differences.add_broken(id, panicked.into()),
                }
            }
        });
        differences.explain_states(comparison);
        // With many changes this takes more memory than they do, and reports need their own.
        differences.by_key = HashMap::new();
        differences.by_pair = HashMap::new();
        differences.explained = HashMap::new();
        differences
    }

    /// Take in the comparison of a minion, which is read for the first of each change: where values come from is
    /// asked for that one.
    pub fn add(
        &mut self,
        comparison: &Comparison<'_, '_>,
        id: &str,
        compared: Compared,
        read: impl Fn() -> Minion,
    ) {
        let pairs = match compared {
            Compared::LeftOut => return,
            Compared::Broken(error) => return self.add_broken(id, error),
            Compared::Formulas(pairs, states) => (pairs, states),
        };
        let (pairs, states) = pairs;
        self.minions += 1;
        let (mut affected, mut fails_still, mut turns) = (false, false, Vec::new());
        for pair in pairs {
            match &pair.what {
                ComparisonWork::Same => {}
                ComparisonWork::Changed(_) => {
                    affected = true;
                    self.changed(comparison, id, &pair, &read);
                }
                ComparisonWork::Fails(errors) => {
                    for (turn, error) in errors {
                        turns.push(*turn);
                        match turn {
                            ErrorTurn::Still => fails_still = true,
                            _ => affected = true,
                        }
                        self.failure(comparison, *turn, pair.subject, error, id, &read);
                    }
                }
            }
        }
        for pair in &states {
            affected |= !pair.is_same() && !pair.fails_still();
            fails_still |= pair.fails_still();
            turns.extend(pair.failures.iter().map(|(turn, _)| *turn));
            self.add_states(comparison, id, pair, &read);
        }
        self.unaffected += usize::from(!affected);
        self.fail_still += usize::from(fails_still);
        self.failing_minions.add(&turns, affected);
    }

    /// Ask for each change of states and files where it comes from, once all minions are compared.
    pub fn explain_states(&mut self, comparison: &Comparison<'_, '_>) {
        self.states.explain(comparison.state(), comparison.fleets());
    }

    /// Take in what states do on a minion now. An error that its formulas have as well is not said again.
    fn add_states(
        &mut self,
        comparison: &Comparison<'_, '_>,
        id: &str,
        pair: &Arc<StatesPair>,
        read: &impl Fn() -> Minion,
    ) {
        for (turn, error) in &pair.failures {
            let text = error.to_string();
            let mut of_formulas = self.by_failure.iter();
            let is_said = of_formulas.any(|((of, subject, said), at)| {
                let is_it = of == turn && *subject != ComparedResult::States && *said == text;
                let group = self.failing.get(*at).filter(|_| is_it);
                group.is_some_and(|(_, group)| group.minions.last().is_some_and(|last| last == id))
            });
            if is_said {
                continue;
            }
            self.failure(comparison, *turn, ComparedResult::States, error, id, read);
        }
        let examples = || comparison.examples(read());
        self.states.add(comparison.state(), id, pair, &examples);
    }

    /// The same of states that work again.
    pub(crate) fn add_recovered_states(
        &mut self,
        comparison: &Comparison<'_, '_>,
        id: &str,
        pair: &Arc<StatesPair>,
        read: &impl Fn() -> Minion,
    ) {
        self.add_states(comparison, id, pair, read);
    }

    /// Take in a minion that cannot be compared, and why.
    pub fn add_broken(&mut self, id: &str, error: Error) {
        self.broken.push((id.into(), error));
        self.add_not_compared();
    }

    /// Count a minion that cannot be compared, for a reason that was reported before.
    pub(crate) fn add_not_compared(&mut self) {
        self.minions += 1;
        self.not_compared += 1;
    }

    /// Why minions could not be compared, each reason once, with the minions.
    #[must_use]
    pub fn broken_by_reason(&self) -> Vec<(&Error, Vec<&str>)> {
        by_reason(self.broken.iter().map(|(id, error)| (&**id, error)))
    }

    /// The number of minions that have a difference.
    #[must_use]
    pub fn affected(&self) -> usize {
        self.minions - self.unaffected - self.not_compared
    }

    /// Take in how a result of a minion changed that [was added](Self::add) as one that works again.
    pub(crate) fn add_recovered(
        &mut self,
        comparison: &Comparison<'_, '_>,
        id: &str,
        pair: &Arc<Pair>,
        read: impl Fn() -> Minion,
    ) {
        self.changed(comparison, id, pair, &read);
    }

    /// Count a minion that no change reaches. `fails` is true if one of its formulas fails as before. Its
    /// states are beside themselves.
    pub fn add_unreached(
        &mut self,
        comparison: &Comparison<'_, '_>,
        id: &str,
        fails: bool,
        states: &[Arc<StatesPair>],
        read: impl Fn() -> Minion,
    ) {
        for pair in states {
            self.add_states(comparison, id, pair, &read);
        }
        self.minions += 1;
        self.unaffected += 1;
        self.fail_still += usize::from(fails);
        if fails {
            self.failing_minions.add(&[ErrorTurn::Still], false);
        }
    }

    fn changed(
        &mut self,
        comparison: &Comparison<'_, '_>,
        id: &str,
        pair: &Arc<Pair>,
        read: &impl Fn() -> Minion,
    ) {
        for group in self.known_groups(comparison, pair, read) {
            let Some(group) = self.groups.get_mut(group) else {
                continue;
            };
            if !group.subjects.contains(&pair.subject) {
                group.subjects.push(pair.subject);
            }
            // Two formulas of one minion can change alike.
            if group.minions.last().is_none_or(|last| last != id) {
                group.minions.push(id.into());
            }
        }
    }

    /// The groups of a pair, found once for all minions that share it.
    fn known_groups(
        &mut self,
        comparison: &Comparison<'_, '_>,
        pair: &Arc<Pair>,
        read: &impl Fn() -> Minion,
    ) -> Vec<usize> {
        // Pillars differ from minion to minion: keeping all would fill the memory.
        if pair.subject == ComparedResult::Pillar {
            return self.groups_of(comparison, pair, read);
        }
        let address = Arc::as_ptr(pair) as usize;
        if let Some((_, groups)) = self.by_pair.get(&address) {
            return groups.clone();
        }
        let groups = self.groups_of(comparison, pair, read);
        self.by_pair.insert(address, (pair.clone(), groups.clone()));
        groups
    }

    fn groups_of(
        &mut self,
        comparison: &Comparison<'_, '_>,
        pair: &Pair,
        read: &impl Fn() -> Minion,
    ) -> Vec<usize> {
        let ComparisonWork::Changed(changes) = &pair.what else {
            return Vec::new();
        };
        if self.explained.len() >= MAX_ORIGINS {
            self.explained.clear();
        }
        let key = (comparison.state(), pair.subject, pair.kinds);
        let of_kind = || OriginPair::of(comparison, pair.subject, read());
        let shared = self.explained.entry(key).or_insert_with(of_kind);
        let shared = ChangeOrigins::of(shared, || MinionNames::of(&read()), changes);
        let spots = match shared {
            Some(spots) => spots,
            None if self.explained_apart < MAX_EXPLAINED => {
                self.explained_apart += 1;
                let apart = of_kind();
                let spots = ChangeOrigins::of(&apart, || apart.own.clone(), changes);
                self.explained.insert(key, apart);
                spots.unwrap_or_else(|| vec![ChangeOrigins::default(); changes.len()])
            }
            None => vec![ChangeOrigins::default(); changes.len()],
        };
        let both = changes.iter().zip(spots);
        let example = OnceCell::new();
        both.map(|(change, spots)| {
            let read = || comparison.examples(read());
            self.group(comparison, pair, change, spots, &example, &read)
        })
        .collect()
    }

    /// The group of a change, which is new if no other is the same.
    fn group(
        &mut self,
        comparison: &Comparison<'_, '_>,
        pair: &Pair,
        change: &Change,
        spots: ChangeOrigins,
        example: &OnceCell<Arc<Example>>,
        read: &dyn Fn() -> Vec<Minion>,
    ) -> usize {
        let [old_origin, new_origin] = spots.0;
        let is_gone = change.new.is_none();
        let is_lost = is_gone && old_origin.as_ref().is_some_and(|spot| pair.has_lost(spot));
        let origins = [old_origin.as_ref(), new_origin.as_ref()];
        let key = key_of(pair.subject, is_lost, change, origins);
        if let Some(known) = self.by_key.get(&key) {
            return *known;
        }
        let explained = self
            .explained
            .get(&(comparison.state(), pair.subject, pair.kinds));
        let sides = explained.map(|explained| &explained.sides);
        let secret = |side: usize, value: &Option<Value>| {
            let origins = sides.and_then(|sides| sides.get(side)?.as_ref());
            let both = origins.zip(value.as_ref());
            both.map(|(origins, value)| origins.secret_paths(&change.path, value))
                .unwrap_or_default()
        };
        let texts = sides.into_iter().flatten().flatten();
        let texts = texts.flat_map(|origins| origins.secret_texts().to_vec());
        let example = example.get_or_init(|| {
            Arc::new(Example {
                minions: read(),
                secret_texts: texts.collect(),
            })
        });
        self.groups.push(ChangeGroup {
            old_secret: secret(0, &change.old),
            new_secret: secret(1, &change.new),
            change: change.clone(),
            old_origin,
            new_origin,
            subjects: Vec::new(),
            minions: Vec::new(),
            example: example.clone(),
            is_lost,
        });
        let index = self.groups.len() - 1;
        self.by_key.insert(key, index);
        index
    }

    fn failure(
        &mut self,
        comparison: &Comparison<'_, '_>,
        turn: ErrorTurn,
        subject: ComparedResult,
        error: &Error,
        id: &str,
        read: &impl Fn() -> Minion,
    ) {
        let key = (turn, subject, error.to_string());
        let is_new = turn == ErrorTurn::Still && !self.by_failure.contains_key(&key);
        if is_new && self.still_failing(true).count() >= MAX_STILL {
            return;
        }
        let index = *self.by_failure.entry(key).or_insert_with(|| {
            let examples = comparison.examples(read());
            // A limit's message quotes no template's values, and reaching it again takes long.
            let secret_texts = match error.kind() {
                ErrorKind::Limit => Vec::new(),
                _ => comparison.secret_texts(subject, &examples),
            };
            let failing = SharedFailure {
                subject,
                error: error.clone(),
                minions: Vec::new(),
                example: Arc::new(Example {
                    minions: examples,
                    secret_texts,
                }),
            };
            self.failing.push((turn, failing));
            self.failing.len() - 1
        });
        if let Some((_, failing)) = self.failing.get_mut(index)
            && failing.minions.last().is_none_or(|last| last != id)
        {
            failing.minions.push(id.into());
        }
    }

    /// The changes, in the order they were first seen.
    #[must_use]
    pub fn groups(&self) -> &[ChangeGroup] {
        &self.groups
    }

    /// The failures that began, ended or changed, in the order they were first seen.
    pub fn failing(&self) -> impl Iterator<Item = (ErrorTurn, &SharedFailure)> {
        self.still_failing(false)
    }

    /// The same, then what fails in both states alike; of a fleet that fails in many ways, the first hundred.
    pub fn failures(&self) -> impl Iterator<Item = (ErrorTurn, &SharedFailure)> {
        self.failing().chain(self.still_failing(true))
    }

    fn still_failing(&self, still: bool) -> impl Iterator<Item = (ErrorTurn, &SharedFailure)> {
        let all = self.failing.iter().map(|(turn, failing)| (*turn, failing));
        all.filter(move |(turn, _)| (*turn == ErrorTurn::Still) == still)
    }

    /// True if nothing is different.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.states.is_empty() && self.failing().next().is_none()
    }
}

impl ChangeGroup {
    /// A text that is the same for changes that differ only in what is each minion's own.
    #[must_use]
    pub fn alike(&self) -> String {
        let own = own(&self.minions, &self.example);
        let Change { path, old, new } = &self.change;
        let origins = [&self.old_origin, &self.new_origin];
        let places = origins.map(|origin| own.alike(&shown(origin.as_ref())));
        let subjects = (&self.subjects, self.is_lost);
        let change = own.change(path, [old.as_ref(), new.as_ref()]);
        format!("{:?}", (subjects, places, change))
    }
}

impl SharedFailure {
    /// A text that is the same for failures that differ only in what is each minion's own.
    #[must_use]
    pub fn alike(&self) -> String {
        let own = own(&self.minions, &self.example);
        let message = own.alike(&self.error.to_string());
        format!("{:?}", (self.subject, message))
    }
}

/// The values that a single minion has; those that several have in common are left out.
fn own(minions: &[String], example: &Example) -> MinionNames {
    match (minions, &example.minions[..]) {
        ([_], [example, ..]) => MinionNames::of(example),
        _ => MinionNames::default(),
    }
}

/// The origins of a minion's values in both states.
#[derive(Debug)]
struct OriginPair {
    own: MinionNames,
    sides: [Option<Origins>; 2],
}

impl OriginPair {
    fn of(comparison: &Comparison<'_, '_>, subject: ComparedResult, minion: Minion) -> Self {
        let own = MinionNames::of(&minion);
        OriginPair {
            sides: comparison.origins(subject, &comparison.examples(minion)),
            own,
        }
    }
}

/// The origins of the old and the new value of a change.
#[derive(Debug, Clone, Default)]
struct ChangeOrigins([Option<ValuePosition>; 2]);

impl ChangeOrigins {
    /// The origins of each change on a minion; `None` if the explained value differs from the change in more
    /// than the minion's own names.
    fn of(
        explained: &OriginPair,
        own: impl Fn() -> MinionNames,
        changes: &[Change],
    ) -> Option<Vec<Self>> {
        let mut known: Option<MinionNames> = None;
        let mut spot = |side: usize, path: &[Key], value: &Option<Value>| {
            let origins = explained.sides.get(side).and_then(Option::as_ref);
            let (Some(origins), Some(value)) = (origins, value) else {
                return Some(None);
            };
            let value = read_back(value);
            let is_alike = |other: &Value| {
                let own = known.get_or_insert_with(&own);
                let text = |own: &MinionNames, value| own.change(&[], [Some(value), None]);
                text(&explained.own, other) == text(own, &value)
            };
            let is_same = origins.has(path, |other| other.is_same(&value));
            (is_same || origins.has(path, is_alike)).then(|| origins.spot(path))
        };
        let both = changes.iter().map(|change| {
            let old = spot(0, &change.path, &change.old)?;
            Some(ChangeOrigins([old, spot(1, &change.path, &change.new)?]))
        });
        both.collect()
    }
}

/// The common part of changes that are reported once.
fn key_of(
    subject: ComparedResult,
    is_lost: bool,
    change: &Change,
    origins: [Option<&ValuePosition>; 2],
) -> String {
    let text = |value: &Option<Value>| value.as_ref().map(Value::repr);
    format!(
        "{:?}",
        (
            (subject == ComparedResult::Pillar, is_lost),
            &change.path,
            text(&change.old),
            text(&change.new),
            origins.map(shown)
        )
    )
}

fn shown(spot: Option<&ValuePosition>) -> String {
    spot.map(ToString::to_string).unwrap_or_default()
}

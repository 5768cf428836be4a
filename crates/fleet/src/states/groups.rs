//! Equal changes of what states do on a fleet, folded.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Weak};

use mapstack::minion::Minion;

use super::causes::{KnownLines, StateCauses, causes};
use super::compare::StateChange;
use super::explained_side::{ChangedStates, ExplainedStateSide, explained};
use super::pair::{PlanChange, StatePlaces, StatesPair};
use super::reactions::Reaction;
use super::unknown::UnknownCause;
use crate::departed::{Departed, DepartedPart, DepartedUse};
use crate::example::Example;
use crate::fleet::Fleet;
use crate::own::MinionNames;

/// The same change of what states do on some minions.
#[derive(Debug, Clone)]
pub struct StatesGroup {
    /// The change.
    pub change: PlanChange,
    /// The place of the state before and after.
    pub places: StatePlaces,
    /// The sls that are run in which it changes; none if it is in what top files give.
    pub runs: BTreeSet<String>,
    /// The minions, in order.
    pub minions: Vec<String>,
    /// One of them.
    pub example: Arc<Example>,
    /// The places from which the change comes, if they were requested.
    pub causes: Option<StateCauses>,
    /// The number of the earlier state of the files.
    state: usize,
}

/// An outcome that is unknown in both states of the files on some minions.
#[derive(Debug, Clone)]
pub struct UnknownGroup {
    /// The cause, as the first minion has it.
    pub cause: UnknownCause,
    /// The number of minions.
    pub minions: usize,
}

/// The changes of what states do on a fleet.
#[derive(Debug, Default)]
pub struct StateGroups {
    groups: Vec<StatesGroup>,
    by_key: HashMap<String, usize>,
    /// The unknown outcomes, and the last minion of each.
    unknown: Vec<(UnknownGroup, String)>,
    by_cause: HashMap<String, usize>,
    /// The states that look for their source elsewhere and find the same.
    relisted: BTreeSet<String>,
    /// The things that Salt no longer has.
    departed: BTreeMap<DepartedPart, Departed>,
    /// The groups of pairs that were seen, by their address.
    by_pair: HashMap<usize, PairGroups>,
    /// True if any were compared.
    are_compared: bool,
    /// The number of changes of which the causes were not asked for.
    unexplained: usize,
}

/// The groups of a pair and what is unknown about it. The pair itself is not kept, but no other gets its address.
type PairGroups = (Weak<StatesPair>, Vec<usize>, Vec<usize>);

/// Pairs that are remembered before starting over.
const MAX_PAIRS: usize = 128;
/// Minions, or sls that are run on them, whose changes are explained.
const MAX_EXPLAINED: usize = 64;
/// Changes that are explained.
const MAX_CHANGES: usize = 1_000;

/// Changes of one minion: its id, the sls that is run, and their positions.
type ToExplain = (String, Option<String>, Vec<usize>);

impl StateGroups {
    /// The changes, in the order they were first seen.
    #[must_use]
    pub fn groups(&self) -> &[StatesGroup] {
        &self.groups
    }

    /// The unknown outcomes, in the order in which they were first seen.
    pub fn unknown(&self) -> impl Iterator<Item = &UnknownGroup> {
        self.unknown.iter().map(|(group, _)| group)
    }

    /// The things that Salt no longer has, each once.
    pub fn departed(&self) -> impl Iterator<Item = &Departed> {
        self.departed.values()
    }

    /// Add functions that Salt no longer has and templates use.
    pub fn add_departed(&mut self, functions: Vec<Departed>) {
        for function in functions {
            let known = self.departed.entry(function.part.clone());
            let known = known.or_insert_with(|| Departed {
                places: BTreeSet::new(),
                ..function.clone()
            });
            known.places.extend(function.places);
        }
    }

    /// Add what the states of a minion use and Salt no longer has.
    fn add_uses(&mut self, id: &str, uses: &[DepartedUse]) {
        for one in uses {
            let known = self.departed.entry(one.part.clone());
            let known = known.or_insert_with(|| Departed {
                part: one.part.clone(),
                home: one.home,
                places: BTreeSet::new(),
                minions: Vec::new(),
            });
            if !known.places.contains(&one.place) {
                known.places.insert(one.place.clone());
            }
            if known.minions.last().is_none_or(|last| last != id) {
                known.minions.push(id.into());
            }
        }
    }

    /// The number of changes that were not explained, because there are too many.
    #[must_use]
    pub fn unexplained(&self) -> usize {
        self.unexplained
    }

    /// Ask for each change where it comes from: for a minion that has it, and once for changes that differ only in what
    /// is each minion's own. Only changes since one earlier state of the files are looked at.
    pub(crate) fn explain(&mut self, state: usize, fleets: [&Fleet<'_>; 2]) {
        for (_, run, groups) in self.unasked(state) {
            let all: Vec<&StatesGroup> = groups
                .iter()
                .filter_map(|at| self.groups.get(*at))
                .collect();
            let Some([first, ..]) = all.get(..1) else {
                continue;
            };
            let examples = &first.example.minions;
            let minions = [examples.first(), examples.last()];
            let changes: Vec<&StateChange> = all.iter().filter_map(|group| group.state()).collect();
            let found = causes_of(fleets, minions, run.as_deref(), &changes);
            for (at, causes) in groups.into_iter().zip(found) {
                if let Some(group) = self.groups.get_mut(at) {
                    group.causes = Some(causes);
                }
            }
        }
    }

    /// The changes of states to explain, by the minions that are examples of them.
    fn unasked(&mut self, state: usize) -> Vec<ToExplain> {
        let mut seen = HashSet::new();
        let mut all: Vec<ToExplain> = Vec::new();
        let mut count = 0;
        for (at, group) in self.groups.iter().enumerate() {
            let is_new = group.state().is_some() && group.causes.is_none();
            if group.state != state || !is_new || !seen.insert(group.alike()) {
                continue;
            }
            let Some(id) = group.minions.first() else {
                continue;
            };
            let run = group.runs.first();
            let is_it = |(minion, of, _): &ToExplain| minion == id && of.as_ref() == run;
            let known = all.iter().position(is_it);
            match known {
                Some(at_known) if count < MAX_CHANGES => all[at_known].2.push(at),
                None if all.len() < MAX_EXPLAINED && count < MAX_CHANGES => {
                    all.push((id.clone(), run.cloned(), vec![at]));
                }
                _ => {
                    self.unexplained += 1;
                    continue;
                }
            }
            count += 1;
        }
        all
    }

    /// The number of states that look for their source elsewhere than they did and find the same.
    #[must_use]
    pub fn relisted(&self) -> usize {
        self.relisted.len()
    }

    /// True if what states do was compared on some minion.
    #[must_use]
    pub fn are_compared(&self) -> bool {
        self.are_compared
    }

    /// True if nothing is different.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty() && self.departed.is_empty()
    }

    /// Take in what changed on a minion since an earlier state of the files.
    pub(crate) fn add(
        &mut self,
        state: usize,
        id: &str,
        pair: &Arc<StatesPair>,
        examples: &dyn Fn() -> Vec<Minion>,
    ) {
        self.are_compared |= !pair.fails_still();
        self.add_uses(id, &pair.departed);
        let (groups, causes) = self.known(state, pair, examples);
        for at in groups {
            if let Some(group) = self.groups.get_mut(at)
                && group.minions.last().is_none_or(|last| last != id)
            {
                group.minions.push(id.into());
            }
        }
        for at in causes {
            if let Some((group, last)) = self.unknown.get_mut(at)
                && last != id
            {
                id.clone_into(last);
                group.minions += 1;
            }
        }
    }

    /// The groups of a pair and what is unknown about it, found once for all minions that share it.
    fn known(
        &mut self,
        state: usize,
        pair: &Arc<StatesPair>,
        examples: &dyn Fn() -> Vec<Minion>,
    ) -> (Vec<usize>, Vec<usize>) {
        let address = Arc::as_ptr(pair) as usize;
        if let Some((_, groups, causes)) = self.by_pair.get(&address) {
            return (groups.clone(), causes.clone());
        }
        let example = OnceCell::new();
        let example = || {
            let read = || {
                Arc::new(Example {
                    minions: examples(),
                    secret_texts: pair.secret_texts(),
                })
            };
            example.get_or_init(read)
        };
        let mut groups = Vec::new();
        for (change, places) in &pair.changes {
            groups.push(self.group(state, pair, change, places, example()));
        }
        let mut causes = Vec::new();
        if !pair.rest.unknown.is_empty() || !pair.rest.relisted.is_empty() {
            let own = example()
                .minions
                .first()
                .map(MinionNames::of)
                .unwrap_or_default();
            for cause in &pair.rest.unknown {
                causes.push(self.cause(cause, &own));
            }
            let relisted = pair.rest.relisted.iter();
            self.relisted
                .extend(relisted.map(|state| own.alike(&state.key())));
        }
        if self.by_pair.len() >= MAX_PAIRS {
            self.by_pair.clear();
        }
        let known = (Arc::downgrade(pair), groups.clone(), causes.clone());
        self.by_pair.insert(address, known);
        (groups, causes)
    }

    fn group(
        &mut self,
        state: usize,
        pair: &StatesPair,
        change: &PlanChange,
        places: &StatePlaces,
        example: &Arc<Example>,
    ) -> usize {
        let is_run = pair.sls.is_some();
        let key = change.key(&MinionNames::default(), !is_run);
        let next = self.groups.len();
        let at = *self.by_key.entry(key).or_insert(next);
        if at == next {
            self.groups.push(StatesGroup {
                change: change.clone(),
                places: places.clone(),
                runs: BTreeSet::new(),
                minions: Vec::new(),
                example: example.clone(),
                causes: None,
                state,
            });
        }
        if let Some(group) = self.groups.get_mut(at) {
            group.runs.extend(pair.sls.clone());
            group.add_reactions(change);
        }
        at
    }

    fn cause(&mut self, cause: &UnknownCause, own: &MinionNames) -> usize {
        let key = format!("{}\0{}", cause.reason, own.alike(&cause.state.key()));
        let next = self.unknown.len();
        let at = *self.by_cause.entry(key).or_insert(next);
        if at == next {
            let group = UnknownGroup {
                cause: cause.clone(),
                minions: 0,
            };
            self.unknown.push((group, String::new()));
        }
        at
    }
}

/// The causes of changes of states on a minion, which is given as it is in both states of the files.
fn causes_of(
    fleets: [&Fleet<'_>; 2],
    minions: [Option<&Minion>; 2],
    run: Option<&str>,
    changes: &[&StateChange],
) -> Vec<StateCauses> {
    let [old, new] = [0, 1].map(|side| {
        let asked = minions[side].map(|minion| ChangedStates {
            minion,
            run,
            changes,
            side,
        });
        let found = asked.and_then(|asked| explained(fleets[side], &asked));
        found.unwrap_or_else(|| {
            changes
                .iter()
                .map(|_| ExplainedStateSide::default())
                .collect()
        })
    });
    let known = KnownLines::default();
    let both = changes.iter().zip(old.iter().zip(&new));
    both.map(|(change, (old, new))| causes(change, [old, new], &known))
        .collect()
}

impl StatesGroup {
    /// The change, if it is one of a state.
    #[must_use]
    pub fn state(&self) -> Option<&StateChange> {
        match &self.change {
            PlanChange::State(change) => Some(change),
            PlanChange::Order(_) => None,
        }
    }

    /// A text that is the same for changes that differ only in what is each minion's own.
    #[must_use]
    pub fn alike(&self) -> String {
        let own = match (&self.minions[..], &self.example.minions[..]) {
            ([_], [example, ..]) => MinionNames::of(example),
            _ => MinionNames::default(),
        };
        self.change.key(&own, self.runs.is_empty())
    }

    /// The states that react to the change.
    #[must_use]
    pub fn reactions(&self) -> &[Reaction] {
        match &self.change {
            PlanChange::State(change) => &change.reactions,
            PlanChange::Order(_) => &[],
        }
    }

    /// Add the states that react in another run of sls.
    fn add_reactions(&mut self, other: &PlanChange) {
        if let (PlanChange::State(own), PlanChange::State(other)) = (&mut self.change, other) {
            for reaction in &other.reactions {
                if !own.reactions.contains(reaction) {
                    own.reactions.push(reaction.clone());
                }
            }
        }
    }
}

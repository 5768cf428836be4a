//! The data of each minion and formula, kept while files change.

use std::collections::BTreeSet;
use std::sync::Arc;

use mapstack::Error;
use mapstack::minion::Minion;
use mapstack::share::Outcome;
use mapstack::value::Value;

use crate::compare::{Advanced, Compared, Comparison, Pair};
use crate::minion_data::MinionData;
use crate::pillars::Pillar;
use crate::states::{KnownPlans, PlanRoom, RunKey, SharedPlan, StatesPair};
use crate::{Differences, Fleet, Minions, Pace, Panic, ordered};

/// The data of each minion and formula as they are now: what no change reaches is not worked out again. Of what fails
/// now, what there was when it last worked is kept, with the number of that state.
#[derive(Default)]
pub struct FleetState {
    minions: Vec<KeptOutcome>,
    /// The number of the current state.
    state: usize,
}

struct KeptOutcome {
    /// None for a minion that is left out.
    data: Option<Result<MinionData, Error>>,
    /// The minion, of as many as are kept.
    minion: Option<Minion>,
    /// The results of before, of that which fails now.
    worked: Vec<WorkedOutcome>,
}

/// Something that worked.
struct WorkedOutcome {
    had: EarlierOutcome,
    /// The last state in which it worked.
    state: usize,
}

enum EarlierOutcome {
    Formula(usize, Arc<Outcome>),
    Pillar(Pillar),
    /// A run, with its plan if that was kept.
    States(RunKey, Option<Arc<SharedPlan>>),
}

/// The change of something that works again since it worked.
enum Recovery {
    Result(Arc<Pair>),
    States(Arc<StatesPair>),
}

impl Recovery {
    /// Add it to the differences since a state in which it worked.
    fn add_to(
        &self,
        differences: &mut Differences,
        by: &Comparison<'_, '_>,
        id: &str,
        read: &impl Fn() -> Minion,
    ) {
        match self {
            Recovery::Result(pair) => differences.add_recovered(by, id, pair, read),
            Recovery::States(pair) => differences.add_recovered_states(by, id, pair, read),
        }
    }
}

/// Minions whose facts are kept, at some ten kilobytes each; others are read again.
const MAX_KEPT: usize = 20_000;

impl FleetState {
    /// The data of minions now.
    pub fn of(fleet: &Fleet<'_>, minions: &dyn Minions, ids: &[String], pace: Pace) -> Self {
        let keep = |(at, id): (usize, &String)| match minions.read(id) {
            Ok(minion) => KeptOutcome {
                data: fleet.minion_data(&minion),
                minion: (at < MAX_KEPT).then_some(minion),
                worked: Vec::new(),
            },
            Err(error) => KeptOutcome::broken(error),
        };
        let minions = std::thread::scope(|scope| {
            let done = ordered(scope, ids.iter().enumerate(), pace, keep);
            let mut room = PlanRoom::default();
            let whole = |result: Result<KeptOutcome, Panic>| {
                let mut kept =
                    result.unwrap_or_else(|panicked| KeptOutcome::broken(panicked.into()));
                kept.fit(&mut room);
                kept
            };
            done.map(whole).collect()
        });
        FleetState { minions, state: 0 }
    }

    /// The same in the current state for other formulas; `renumbered` has the new index of one that stays.
    #[must_use]
    pub fn again(
        self,
        fleet: &Fleet<'_>,
        minions: &dyn Minions,
        ids: &[String],
        pace: Pace,
        renumbered: impl Fn(usize) -> Option<usize>,
    ) -> Self {
        let mut fleet_state = FleetState {
            state: self.state,
            ..FleetState::of(fleet, minions, ids, pace)
        };
        for (kept, before) in fleet_state.minions.iter_mut().zip(self.minions) {
            let stays = |worked: WorkedOutcome| {
                let had = match worked.had {
                    EarlierOutcome::Formula(index, outcome) => {
                        EarlierOutcome::Formula(renumbered(index)?, outcome)
                    }
                    had @ (EarlierOutcome::Pillar(_) | EarlierOutcome::States(..)) => had,
                };
                Some(WorkedOutcome { had, ..worked })
            };
            kept.worked = before.worked.into_iter().filter_map(stays).collect();
        }
        fleet_state
    }

    /// True if all minions are left out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.minions.iter().all(|kept| kept.data.is_none())
    }

    /// The number of the current state.
    #[must_use]
    pub fn state(&self) -> usize {
        self.state
    }

    /// The earlier states in which something worked that fails now.
    #[must_use]
    pub fn past(&self) -> BTreeSet<usize> {
        let worked = self.minions.iter().flat_map(|kept| &kept.worked);
        worked.map(|worked| worked.state).collect()
    }

    /// The data of each formula that works on minions, and their pillars.
    pub fn results(&self) -> impl Iterator<Item = Value> {
        self.all_data().flat_map(|data| {
            let pillar = data.pillar.as_ref();
            let pillar = pillar.and_then(|pillar| pillar.data.clone());
            let results = data.outcomes.iter();
            let results = results.filter_map(|outcome| outcome.result.as_ref().ok());
            pillar.map(Value::from).into_iter().chain(results.cloned())
        })
    }

    /// The errors in facts, and in the pillars that are compiled.
    pub fn broken(&self) -> impl Iterator<Item = &Error> {
        self.minions.iter().flat_map(|kept| {
            let data = kept.data.as_ref();
            let facts = data.and_then(|data| data.as_ref().err());
            let pillar = data.and_then(|data| data.as_ref().ok()?.pillar.as_ref());
            let of_pillar = pillar.into_iter().flat_map(|pillar| &pillar.errors);
            facts.into_iter().chain(of_pillar)
        })
    }

    fn all_data(&self) -> impl Iterator<Item = &MinionData> {
        let all_data = self.minions.iter().filter_map(|kept| kept.data.as_ref());
        all_data.filter_map(|data| data.as_ref().ok())
    }

    /// Compare what each minion has now with what a change gives it, and keep the latter. `past` compares the [earlier
    /// states](Self::past) with the one after the change: what works again is compared with the last that worked.
    pub fn advance(
        &mut self,
        comparison: &Comparison<'_, '_>,
        past: &[Comparison<'_, '_>],
        minions: &dyn Minions,
        ids: &[String],
        pace: Pace,
    ) -> Differences {
        let mut differences = Differences::default();
        let mut now = Vec::new();
        let mut room = PlanRoom::default();
        std::thread::scope(|scope| {
            let known = ids.iter().zip(&self.minions);
            let done = ordered(scope, known, pace, |(id, kept)| {
                let read = || kept.minion.clone().map_or_else(|| minions.read(id), Ok);
                match kept.data.as_ref() {
                    Some(Ok(data)) => Some(comparison.advance(data, read)),
                    None if !comparison.has_pillars() => None,
                    // It is left out, or was reported to be broken, until it is not.
                    None | Some(Err(_)) => {
                        let begun = read().map(|minion| comparison.begin(&minion));
                        let reached =
                            |(compared, data)| Advanced::Reached(compared, Box::new(data));
                        Some(begun.map(reached))
                    }
                }
            });
            for (at, ((id, kept), result)) in ids.iter().zip(&self.minions).zip(done).enumerate() {
                let read = || {
                    let minion = kept.minion.clone();
                    minion.unwrap_or_else(|| minions.read_or_name(id))
                };
                match result.map_err(Error::from) {
                    Ok(None) => {}
                    Ok(Some(Ok(Advanced::Unreached { fails, states }))) => {
                        differences.add_unreached(comparison, id, fails, &states, read);
                    }
                    Ok(Some(Ok(Advanced::Reached(compared, mut data)))) => {
                        let is_whole = matches!(compared, Compared::Formulas(..));
                        differences.add(comparison, id, compared, read);
                        if is_whole {
                            for (by, recovered) in kept.recovered(past, &data, &read) {
                                recovered.add_to(&mut differences, by, id, &read);
                            }
                            data.fit(&mut room);
                            now.push((at, Ok(*data)));
                        }
                    }
                    // Its present outcome is computed again as soon as it can be read.
                    Ok(Some(Err(error))) | Err(error) => {
                        match &kept.data {
                            Some(Err(_)) => differences.add_not_compared(),
                            _ => differences.add_broken(id, error.clone()),
                        }
                        now.push((at, Err(error)));
                    }
                }
            }
        });
        let all = std::iter::once(comparison).chain(past);
        all.for_each(|comparison| differences.explain_states(comparison));
        self.take(now);
        differences
    }

    /// Have other data of some minions, by their positions, from now on.
    fn take(&mut self, now: Vec<(usize, Result<MinionData, Error>)>) {
        for (at, data) in now {
            if let Some(kept) = self.minions.get_mut(at) {
                kept.take(data, self.state);
            }
        }
        // Those of minions that no change reached count as well.
        let mut room = PlanRoom::default();
        for kept in &mut self.minions {
            kept.fit(&mut room);
        }
        self.state += 1;
    }
}

impl KeptOutcome {
    fn broken(error: Error) -> Self {
        KeptOutcome {
            data: Some(Err(error)),
            minion: None,
            worked: Vec::new(),
        }
    }

    /// Forget the plans that do not fit into the room.
    fn fit(&mut self, room: &mut PlanRoom) {
        if let Some(Ok(data)) = &mut self.data {
            data.fit(room);
        }
    }

    /// The changes of what works again since it worked.
    fn recovered<'p, 'f, 'e>(
        &self,
        past: &'p [Comparison<'f, 'e>],
        now: &MinionData,
        read: &impl Fn() -> Minion,
    ) -> Vec<(&'p Comparison<'f, 'e>, Recovery)> {
        let pair = |worked: &WorkedOutcome| {
            let mut past = past.iter();
            let comparison = past.find(|comparison| comparison.state() == worked.state)?;
            let pair = match &worked.had {
                EarlierOutcome::Formula(index, outcome) => {
                    let now = working(now, *index)?;
                    Recovery::Result(comparison.recovered(*index, outcome, now)?)
                }
                EarlierOutcome::Pillar(pillar) => {
                    let pillars = [pillar, with_data(now.pillar.as_ref())?];
                    Recovery::Result(comparison.recovered_pillar(pillars)?)
                }
                EarlierOutcome::States(run, plan) => {
                    let now = now.plans.as_ref()?.get(run)?;
                    let now = now.errors.is_empty().then_some(now)?;
                    Recovery::States(comparison.recovered_states(run, plan.as_ref(), now, read)?)
                }
            };
            Some((comparison, pair))
        };
        self.worked.iter().filter_map(pair).collect()
    }

    /// Have something else from now on, and keep what works no longer as it was in a state.
    fn take(&mut self, now: Result<MinionData, Error>, state: usize) {
        if let (Some(Ok(before)), Ok(now)) = (&self.data, &now) {
            self.worked.retain(|worked| match &worked.had {
                EarlierOutcome::Formula(index, _) => working(now, *index).is_none(),
                EarlierOutcome::Pillar(_) => with_data(now.pillar.as_ref()).is_none(),
                EarlierOutcome::States(run, _) => refuses(now, run),
            });
            for (index, outcome) in before.outcomes.iter().enumerate() {
                if outcome.result.is_ok() && working(now, index).is_none() {
                    let had = EarlierOutcome::Formula(index, outcome.clone());
                    self.worked.push(WorkedOutcome { had, state });
                }
            }
            let plans = before.plans.iter().flat_map(KnownPlans::working);
            for (run, plan) in plans.filter(|(run, _)| refuses(now, run)) {
                let had = EarlierOutcome::States(run.clone(), plan.cloned());
                self.worked.push(WorkedOutcome { had, state });
            }
            if let (Some(pillar), None) = (
                with_data(before.pillar.as_ref()),
                with_data(now.pillar.as_ref()),
            ) && now.pillar.is_some()
            {
                let had = EarlierOutcome::Pillar(pillar.clone());
                self.worked.push(WorkedOutcome { had, state });
            }
        }
        self.data = Some(now);
    }
}

/// The outcome of a formula, if it works.
fn working(data: &MinionData, formula: usize) -> Option<&Arc<Outcome>> {
    let outcome = data.outcomes.get(formula);
    outcome.filter(|outcome| outcome.result.is_ok())
}

/// True if the states of a run are refused, or there are none since the pillar fails.
fn refuses(data: &MinionData, run: &RunKey) -> bool {
    let plans = data.plans.as_ref();
    plans.is_none_or(|plans| plans.refuses(run))
}

/// A pillar of which there is something.
fn with_data(pillar: Option<&Pillar>) -> Option<&Pillar> {
    pillar.filter(|pillar| pillar.data.is_some())
}

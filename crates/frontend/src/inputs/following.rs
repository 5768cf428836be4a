//! The data of minions, from change to change of the files.

use std::collections::BTreeSet;
use std::sync::Arc;

use mapstack::{ConfigurationMethod, Error};
use mapstack_fleet::{Comparison, Differences, Fleet, FleetState, Pace, Scope};

use mapstack_states::TopOptions;

use crate::inputs::states::{Compiling, State, States};
use crate::inputs::wanted_parts::Parts;
use crate::inputs::{
    ChangedFileCount, InputError, MinionStream, Plan, WatchedDirectories, formulas, selects_none,
};

/// Minions that are followed while files change.
pub struct FollowedMinions<'f> {
    watched: &'f WatchedDirectories<'f>,
    plan: Plan,
    /// The formulas that are named.
    given: &'f [String],
    /// The parts that are compared, and how top files are read.
    parts: (Parts, TopOptions),
    scope: &'f Scope,
    minions: &'f MinionStream<'f>,
    ids: &'f [String],
    pace: Pace,
    now: Arc<State>,
    fleet_state: FleetState,
    /// The states in which something worked that fails now, by their numbers.
    past: Vec<(usize, Arc<State>)>,
}

/// The effects of a change.
pub struct FollowedChange {
    /// The files of the project that are different.
    pub files: Vec<String>,
    /// The formulas that were compared, by their indices.
    pub formulas: Vec<String>,
    /// The way in which each formula's configuration is made.
    pub ways: Vec<(String, ConfigurationMethod)>,
    /// The differences.
    pub differences: Differences,
    /// The number of files that changed, and those that were not compared.
    pub counted: ChangedFileCount,
    /// True if what states do is that of top files, false if it is that of each sls; nothing if it is not compared.
    pub run_of_top: Option<bool>,
}

impl<'f> FollowedMinions<'f> {
    /// Begin with the parts that minions have now; of the formulas that are `given`, or all.
    ///
    /// # Errors
    /// A formula or a key does not exist, or files cannot be read.
    pub fn new(
        watched: &'f WatchedDirectories<'f>,
        (mut plan, given, parts): (Plan, &'f [String], (Parts, TopOptions)),
        (minions, ids, pace): (&'f MinionStream<'f>, &'f [String], Pace),
        scope: &'f Scope,
    ) -> Result<Self, InputError> {
        let now = watched.now()?;
        let mut states = watched.states([&now, &now])?;
        states.plan(&mut plan, given, parts.clone())?;
        let fleet = states.fleet_of(&now, (&plan, watched.compiling()))?;
        let fleet_state = FleetState::of(&fleet, minions, ids, pace);
        drop(fleet);
        if fleet_state.is_empty() && !ids.is_empty() {
            return Err(selects_none(plan.select(), minions, ids));
        }
        fleet_state.results().for_each(|data| scope.look(&data));
        scope.check()?;
        Ok(FollowedMinions {
            watched,
            plan,
            given,
            parts,
            scope,
            minions,
            ids,
            pace,
            now,
            fleet_state,
            past: Vec::new(),
        })
    }

    /// The errors in facts and pillars.
    pub fn broken(&self) -> impl Iterator<Item = &Error> {
        self.fleet_state.broken()
    }

    /// The changes since the last step; `None` if no file is different.
    ///
    /// # Errors
    /// Files cannot be read. The next step begins where this one did.
    pub fn step(&mut self) -> Result<Option<FollowedChange>, InputError> {
        let after = self.watched.now()?;
        let mut states = self.watched.states([&self.now, &after])?;
        if states.is_same() && !self.watched.has_stacks() {
            return Ok(None);
        }
        states.plan_states(self.plan.saltenv(), self.given, self.parts.clone())?;
        let formulas = match (self.parts.0.maps, self.given.is_empty()) {
            (false, _) => BTreeSet::new(),
            (true, true) => formulas::configured(&after.engine, self.plan.saltenv())?,
            (true, false) => formulas::named(self.given).into_iter().collect(),
        };
        // A formula that goes is compared for a last time.
        let either: BTreeSet<String> = self
            .plan
            .formulas
            .iter()
            .chain(&formulas)
            .cloned()
            .collect();
        let now = self.now.clone();
        self.follow(&states, either.into_iter().collect(), [&now, &after])?;
        let step = self.compare(&states)?;
        let number = self.fleet_state.state() - 1;
        self.past.push((number, now));
        self.now = after;
        let needed = self.fleet_state.past();
        self.past.retain(|(number, _)| needed.contains(number));
        let now = self.now.clone();
        self.follow(&states, formulas.into_iter().collect(), [&now, &now])?;
        Ok(Some(step))
    }

    /// Compare the state at hand with the next one, which is the state of all minions from then on.
    fn compare(&mut self, states: &States) -> Result<FollowedChange, InputError> {
        let fleets = states.fleets(&self.plan)?;
        let [before, after] = &fleets;
        let only_formulas = !self.given.is_empty() || !self.parts.0.pillar;
        let comparison = states.comparison([before, after], only_formulas);
        let comparison = comparison
            .within(self.scope)
            .since(self.fleet_state.state());
        let past = past_fleets(&self.past, states, (&self.plan, self.watched.compiling()))?;
        let past = past.iter().map(|(number, fleet)| {
            let past = Comparison::new(fleet, after).within(self.scope);
            let past = past.since(*number);
            match only_formulas {
                true => past.of_formulas(),
                false => past,
            }
        });
        let past: Vec<Comparison<'_, '_>> = past.collect();
        let work = (self.ids, self.pace);
        let differences = self
            .fleet_state
            .advance(&comparison, &past, self.minions, work);
        let files = states.changed_paths().into_iter();
        Ok(FollowedChange {
            files: files.map(str::to_owned).collect(),
            formulas: self.plan.names(),
            ways: self.plan.ways([before, after]),
            counted: states.counted(&comparison),
            run_of_top: states
                .run_of_top()
                .filter(|_| differences.states.are_compared()),
            differences,
        })
    }

    /// Follow formulas in two states, the first of which is the one at hand.
    fn follow(
        &mut self,
        states: &States,
        formulas: Vec<String>,
        both: [&State; 2],
    ) -> Result<(), Error> {
        let before = self.plan.names();
        self.plan
            .compare(formulas, both.map(|state| &state.engine))?;
        let names = self.plan.names();
        if names == before {
            return Ok(());
        }
        let fleet = states.fleet_of(&self.now, (&self.plan, self.watched.compiling()))?;
        let renumbered = |index: usize| {
            // A formula of which other variables are compared has a second index.
            let name = before.get(index)?;
            let earlier = before.iter().take(index);
            let nth = earlier.filter(|other| *other == name).count();
            let mut own = names.iter().enumerate().filter(|(_, own)| *own == name);
            own.nth(nth).map(|(index, _)| index)
        };
        let fleet_state = std::mem::take(&mut self.fleet_state);
        self.fleet_state = fleet_state.again(&fleet, self.minions, self.ids, self.pace, renumbered);
        Ok(())
    }
}

/// The work on the states that something is compared with when it works again.
fn past_fleets<'s>(
    past: &'s [(usize, Arc<State>)],
    states: &States,
    work: (&Plan, Option<&Compiling>),
) -> Result<Vec<(usize, Fleet<'s>)>, Error> {
    let mut fleets = Vec::with_capacity(past.len());
    for (number, state) in past {
        fleets.push((*number, states.fleet_of(state, work)?));
    }
    Ok(fleets)
}

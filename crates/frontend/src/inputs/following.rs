//! The data of minions, from change to change of the files.

use std::collections::BTreeSet;
use std::sync::Arc;

use mapstack::{ConfigurationMethod, Error};
use mapstack_fleet::states::ComparedStates;
use mapstack_fleet::{Comparison, Differences, Fleet, FleetState, Pace, Scope};

use crate::inputs::states::{Compiling, FilesState, States};
use crate::inputs::wanted_parts::WantedParts;
use crate::inputs::{
    ChangedFileCount, InputError, MinionStream, Plan, WatchedDirectories, formulas, selects_none,
};

/// The work that is done again after each change.
pub struct FollowedWork<'f> {
    /// The plan, to which the formulas are added that are compared.
    pub plan: Plan,
    /// The formulas that are named, or none for all.
    pub given: &'f [String],
    /// The parts that are compared.
    pub wanted: WantedParts,
    /// The keys that count.
    pub scope: &'f Scope,
    /// The minions.
    pub minions: &'f MinionStream<'f>,
    /// The ids of those that are worked on.
    pub ids: &'f [String],
    /// The number of threads.
    pub pace: Pace,
}

/// Minions that are followed while files change.
pub struct FollowedMinions<'f> {
    watched: &'f WatchedDirectories<'f>,
    work: FollowedWork<'f>,
    now: Arc<FilesState>,
    fleet_state: FleetState,
    /// The states in which something worked that fails now, by their numbers.
    past: Vec<(usize, Arc<FilesState>)>,
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
    /// The states that were compared; nothing if none were.
    pub states: Option<ComparedStates>,
}

impl<'f> FollowedMinions<'f> {
    /// Begin with the parts that minions have now.
    ///
    /// # Errors
    /// A formula or a key does not exist, or files cannot be read.
    pub fn new(
        watched: &'f WatchedDirectories<'f>,
        mut work: FollowedWork<'f>,
    ) -> Result<Self, InputError> {
        let now = watched.now()?;
        let mut states = watched.states([&now, &now])?;
        states.plan(&mut work.plan, work.given, &work.wanted)?;
        let fleet = states.fleet_of(&now, &work.plan, watched.compiling())?;
        let fleet_state = FleetState::of(&fleet, work.minions, work.ids, work.pace);
        drop(fleet);
        if fleet_state.is_empty() && !work.ids.is_empty() {
            return Err(selects_none(work.plan.select(), work.minions, work.ids));
        }
        let results = fleet_state.results();
        results.for_each(|data| work.scope.note_keys(&data));
        work.scope.check()?;
        Ok(FollowedMinions {
            watched,
            work,
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
        states.plan_states(self.work.plan.saltenv(), self.work.given, &self.work.wanted)?;
        let formulas = match (self.work.wanted.parts.maps, self.work.given.is_empty()) {
            (false, _) => BTreeSet::new(),
            (true, true) => formulas::configured(&after.engine, self.work.plan.saltenv())?,
            (true, false) => formulas::named(self.work.given).into_iter().collect(),
        };
        // A formula that goes is compared for a last time.
        let either: BTreeSet<String> = self
            .work
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

    /// Compare the current state with the next one, which is the state of all minions from then on.
    fn compare(&mut self, states: &States) -> Result<FollowedChange, InputError> {
        let fleets = states.fleets(&self.work.plan)?;
        let [before, after] = &fleets;
        let only_formulas = !self.work.given.is_empty() || !self.work.wanted.parts.pillar;
        let comparison = states.comparison([before, after], only_formulas);
        let comparison = comparison
            .within(self.work.scope)
            .since(self.fleet_state.state());
        let past = past_fleets(
            &self.past,
            states,
            &self.work.plan,
            self.watched.compiling(),
        )?;
        let past = past.iter().map(|(number, fleet)| {
            let past = Comparison::new(fleet, after).within(self.work.scope);
            let past = past.since(*number);
            match only_formulas {
                true => past.of_formulas(),
                false => past,
            }
        });
        let past: Vec<Comparison<'_, '_>> = past.collect();
        let differences = self.fleet_state.advance(
            &comparison,
            &past,
            self.work.minions,
            self.work.ids,
            self.work.pace,
        );
        let files = states.changed_paths().into_iter();
        Ok(FollowedChange {
            files: files.map(str::to_owned).collect(),
            formulas: self.work.plan.names(),
            ways: self.work.plan.ways([before, after]),
            counted: states.counted(&comparison),
            states: states
                .compared_states()
                .filter(|_| differences.states.are_compared()),
            differences,
        })
    }

    /// Follow formulas in two states, the first of which is the one at hand.
    fn follow(
        &mut self,
        states: &States,
        formulas: Vec<String>,
        both: [&FilesState; 2],
    ) -> Result<(), Error> {
        let before = self.work.plan.names();
        self.work
            .plan
            .compare(formulas, both.map(|state| &state.engine))?;
        let names = self.work.plan.names();
        if names == before {
            return Ok(());
        }
        let fleet = states.fleet_of(&self.now, &self.work.plan, self.watched.compiling())?;
        let renumbered = |index: usize| {
            // A formula of which other variables are compared has a second index.
            let name = before.get(index)?;
            let earlier = before.iter().take(index);
            let nth = earlier.filter(|other| *other == name).count();
            let mut own = names.iter().enumerate().filter(|(_, own)| *own == name);
            own.nth(nth).map(|(index, _)| index)
        };
        let fleet_state = std::mem::take(&mut self.fleet_state);
        self.fleet_state = fleet_state.again(
            &fleet,
            self.work.minions,
            self.work.ids,
            self.work.pace,
            renumbered,
        );
        Ok(())
    }
}

/// The work on the states that something is compared with when it works again.
fn past_fleets<'s>(
    past: &'s [(usize, Arc<FilesState>)],
    states: &States,
    plan: &Plan,
    compiling: Option<&Compiling>,
) -> Result<Vec<(usize, Fleet<'s>)>, Error> {
    let mut fleets = Vec::with_capacity(past.len());
    for (number, state) in past {
        fleets.push((*number, states.fleet_of(state, plan, compiling)?));
    }
    Ok(fleets)
}

//! What minions have, from change to change of the files.

use std::collections::BTreeSet;
use std::sync::Arc;

use mapstack::{Error, Way};
use mapstack_fleet::{Comparison, Differences, Fleet, Pace, Scope, Standing};

use crate::states::{Compiling, State, States};
use crate::{Counted, InputError, Many, Plan, Watched, formulas};

/// Minions that are followed while files change.
pub struct Following<'f> {
    watched: &'f Watched<'f>,
    plan: Plan,
    /// The formulas that are named.
    given: &'f [String],
    scope: &'f Scope,
    minions: &'f Many<'f>,
    ids: &'f [String],
    pace: Pace,
    now: Arc<State>,
    standing: Standing,
    /// The states in which something worked that fails now, by their numbers.
    past: Vec<(usize, Arc<State>)>,
}

/// What a change does.
pub struct Step {
    /// The files of the project that are different.
    pub files: Vec<String>,
    /// The formulas that were compared, by their indices.
    pub formulas: Vec<String>,
    /// The way in which each formula's configuration is made.
    pub ways: Vec<(String, Way)>,
    /// What is different.
    pub differences: Differences,
    /// How many files changed, and which were not compared.
    pub counted: Counted,
}

impl<'f> Following<'f> {
    /// Begin with what minions have now; of the formulas that are `given`, or all.
    ///
    /// # Errors
    /// A formula or a key does not exist, or files cannot be read.
    pub fn new(
        watched: &'f Watched<'f>,
        (mut plan, given): (Plan, &'f [String]),
        (minions, ids, pace): (&'f Many<'f>, &'f [String], Pace),
        scope: &'f Scope,
    ) -> Result<Self, InputError> {
        let now = watched.now()?;
        let engines = [&now.engine; 2];
        plan.formulas = formulas::compared(engines, plan.saltenv(), given, watched.has_pillars())?;
        let fleet = now.fleet(&plan, watched.compiling())?;
        let standing = Standing::of(&fleet, minions, ids, pace);
        drop(fleet);
        standing.results().for_each(|data| scope.look(&data));
        scope.check()?;
        Ok(Following {
            watched,
            plan,
            given,
            scope,
            minions,
            ids,
            pace,
            now,
            standing,
            past: Vec::new(),
        })
    }

    /// What is wrong with facts and pillars.
    pub fn broken(&self) -> impl Iterator<Item = &Error> {
        self.standing.broken()
    }

    /// What changed since the last step; `None` if no file is different.
    ///
    /// # Errors
    /// Files cannot be read. The next step begins where this one did.
    pub fn step(&mut self) -> Result<Option<Step>, InputError> {
        let after = self.watched.now()?;
        let states = self.watched.states([&self.now, &after])?;
        if states.is_same() && !self.watched.has_stacks() {
            return Ok(None);
        }
        let formulas = match self.given.is_empty() {
            true => formulas::configured(&after.engine, self.plan.saltenv())?,
            false => formulas::named(self.given).into_iter().collect(),
        };
        // A formula that goes is compared for a last time.
        let either: BTreeSet<String> = self
            .plan
            .formulas
            .iter()
            .chain(&formulas)
            .cloned()
            .collect();
        if either.len() != self.plan.formulas.len() {
            self.again(either.into_iter().collect())?;
        }
        let step = self.compare(&states)?;
        let number = self.standing.state() - 1;
        self.past
            .push((number, std::mem::replace(&mut self.now, after)));
        let needed = self.standing.past();
        self.past.retain(|(number, _)| needed.contains(number));
        if self.plan.formulas.len() != formulas.len() {
            self.again(formulas.into_iter().collect())?;
        }
        Ok(Some(step))
    }

    /// What is different between the state at hand and the next one, which is the state of all minions from then on.
    fn compare(&mut self, states: &States) -> Result<Step, InputError> {
        let fleets = states.fleets(&self.plan)?;
        let [before, after] = &fleets;
        let only_formulas = !self.given.is_empty();
        let comparison = states.comparison([before, after], only_formulas);
        let comparison = comparison.within(self.scope).since(self.standing.state());
        let past = past_fleets(&self.past, &self.plan, self.watched.compiling())?;
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
            .standing
            .advance(&comparison, &past, self.minions, work);
        let files = states.changed_paths().into_iter();
        Ok(Step {
            files: files.map(str::to_owned).collect(),
            formulas: self.plan.formulas.clone(),
            ways: self.plan.ways([before, after]),
            counted: states.counted(&comparison),
            differences,
        })
    }

    /// Follow other formulas.
    fn again(&mut self, formulas: Vec<String>) -> Result<(), Error> {
        let before = std::mem::replace(&mut self.plan.formulas, formulas);
        let fleet = self.now.fleet(&self.plan, self.watched.compiling())?;
        let renumbered = |index: usize| {
            let name = before.get(index)?;
            self.plan.formulas.iter().position(|own| own == name)
        };
        let standing = std::mem::take(&mut self.standing);
        self.standing = standing.again(&fleet, self.minions, (self.ids, self.pace), renumbered);
        Ok(())
    }
}

/// What is computed of the states that something is compared with when it works again.
fn past_fleets<'s>(
    past: &'s [(usize, Arc<State>)],
    plan: &Plan,
    compiling: Option<&Compiling>,
) -> Result<Vec<(usize, Fleet<'s>)>, Error> {
    let mut fleets = Vec::with_capacity(past.len());
    for (number, state) in past {
        fleets.push((*number, state.fleet(plan, compiling)?));
    }
    Ok(fleets)
}

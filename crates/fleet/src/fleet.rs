//! Work that is done for every minion.

use std::sync::Arc;
use std::thread::Scope;

use mapstack::minion::Minion;
use mapstack::share::{Answers, FactRead, Outcome, SharedFormula};
use mapstack::value::Str;
use mapstack::{Condition, Configuration, ConfigurationMethod, DataOptions, Engine, Error, Result};

use crate::Pace;
use crate::minion_data::MinionData;
use crate::ordered::{Panic, ordered};
use crate::origins::Origins;
use crate::pillars::{Pillar, Pillars};
use crate::states::{KnownPlans, StatePlans};

/// The work that is done for every minion of a fleet.
pub struct Fleet<'e> {
    engine: &'e Engine,
    formulas: Vec<SharedFormula<'e>>,
    pillars: Option<Pillars<'e>>,
    states: Option<StatePlans<'e>>,
    conditions: Vec<Condition>,
}

/// The results of one minion.
#[derive(Debug, Clone)]
pub struct Report {
    /// The minion; empty if it is not known.
    pub id: String,
    /// An outcome for each formula, in order; or why none was tried, such as facts that are broken.
    pub outcomes: Result<Vec<Arc<Outcome>>>,
}

impl<'e> Fleet<'e> {
    /// A fleet for which nothing is computed yet.
    pub fn new(engine: &'e Engine) -> Self {
        Fleet {
            engine,
            formulas: Vec::new(),
            pillars: None,
            states: None,
            conditions: Vec::new(),
        }
    }

    /// Compute a formula's configuration, too.
    #[must_use]
    pub fn formula(self, formula: &str) -> Self {
        let formula = SharedFormula::new(self.engine, formula, DataOptions::default());
        self.shared_formula(formula)
    }

    /// The same with arguments, in a saltenv, or with less memory.
    #[must_use]
    pub fn shared_formula(mut self, formula: SharedFormula<'e>) -> Self {
        self.formulas.push(formula);
        self
    }

    /// Compile the pillars of minions that have none, for a [`Comparison`](crate::Comparison).
    #[must_use]
    pub fn with_pillars(mut self, pillars: Pillars<'e>) -> Self {
        self.pillars = Some(pillars);
        self
    }

    /// Compile what states do, for a [`Comparison`](crate::Comparison).
    #[must_use]
    pub fn with_states(mut self, states: StatePlans<'e>) -> Self {
        self.states = Some(states);
        self
    }

    /// The compiler of what states do.
    pub(crate) fn states(&self) -> Option<&StatePlans<'e>> {
        self.states.as_ref()
    }

    /// The engine.
    pub(crate) fn engine(&self) -> &'e Engine {
        self.engine
    }

    /// The compiler of pillars.
    #[must_use]
    pub fn pillars(&self) -> Option<&Pillars<'e>> {
        self.pillars.as_ref()
    }

    /// Leave out minions of which a condition is not true.
    #[must_use]
    pub fn only(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    /// The formulas, in the order of a report's outcomes.
    pub fn formulas(&self) -> impl Iterator<Item = &str> {
        self.formulas.iter().map(SharedFormula::formula)
    }

    /// The results of one minion; `None` if it is left out.
    pub fn report(&self, minion: &Minion) -> Option<Report> {
        let outcomes = match self.means(minion) {
            Ok(false) => return None,
            Ok(true) => Ok(self.outcomes(minion)),
            Err(error) => Err(error),
        };
        Some(Report {
            id: minion.id().to_string(),
            outcomes,
        })
    }

    /// The data of a minion, with its pillar if pillars are compiled; `None` if it is left out.
    pub(crate) fn minion_data(&self, minion: &Minion) -> Option<Result<MinionData>> {
        let pillar = self.pillars().map(|pillars| pillars.pillar(minion));
        let of_pillar = pillar.as_ref().map(|pillar| pillar.of(minion));
        let minion = of_pillar.as_ref().unwrap_or(minion);
        match self.means(minion) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(error) => return Some(Err(error)),
        }
        let is_whole = pillar.as_ref().is_none_or(Pillar::is_whole);
        let (outcomes, plans) = match is_whole {
            true => self.results(minion),
            false => (Vec::new(), None),
        };
        Some(Ok(MinionData {
            outcomes,
            plans,
            pillar,
        }))
    }

    /// True if all conditions are true of a minion.
    ///
    /// # Errors
    /// A condition cannot be evaluated.
    pub(crate) fn means(&self, minion: &Minion) -> Result<bool> {
        for condition in &self.conditions {
            let holds = self.engine.holds(condition, minion).map_err(|e| {
                e.note(format!(
                    "while the condition {} was evaluated",
                    condition.as_str()
                ))
            })?;
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The outcome of each formula on a minion.
    pub(crate) fn outcomes(&self, minion: &Minion) -> Vec<Arc<Outcome>> {
        let minion = self.engine.with_tree_grains(minion);
        let answers = Answers::new(&minion);
        let formulas = self.formulas.iter();
        formulas
            .map(|formula| formula.outcome_for(&answers))
            .collect()
    }

    /// A minion with the pillar and the grains that it has in this state of the files.
    pub(crate) fn with_facts(&self, minion: &Minion) -> Minion {
        let minion = match self.pillars() {
            Some(pillars) => pillars.pillar(minion).of(minion),
            None => minion.clone(),
        };
        self.engine.with_tree_grains(&minion).into_owned()
    }

    /// The outcome of each formula on a minion that has its whole pillar, and the plans of its states.
    pub(crate) fn results(&self, minion: &Minion) -> (Vec<Arc<Outcome>>, Option<KnownPlans>) {
        let plans = self.states().map(|states| {
            let minion = self.engine.with_tree_grains(minion);
            states.all(&minion)
        });
        (self.outcomes(minion), plans)
    }

    /// The outcome of one formula, by its index, on a minion, even if the minion is not meant.
    #[must_use]
    pub fn outcome(&self, formula: usize, minion: &Answers<'_, 'e>) -> Option<Arc<Outcome>> {
        Some(self.formulas.get(formula)?.outcome_for(minion))
    }

    /// The facts of a minion that a formula, by its index, depends on; `None` if that is not known.
    #[must_use]
    pub fn facts(&self, formula: usize, minion: &Minion) -> Option<Vec<FactRead>> {
        self.formulas.get(formula)?.facts(minion)
    }

    /// The configurations that are computed, in the order of a report's outcomes.
    pub fn configurations(&self) -> impl Iterator<Item = &Configuration> {
        self.formulas.iter().map(SharedFormula::configuration)
    }

    /// The origins of the values of a formula, by its index, on a minion.
    #[must_use]
    pub fn origins(&self, formula: usize, minion: &Minion) -> Option<Origins> {
        let shared = self.formulas.get(formula)?;
        let configuration = shared.configuration();
        // The lineage of layers has what their templates made of secrets.
        let secret_texts = match configuration.way() {
            ConfigurationMethod::Data => Vec::new(),
            ConfigurationMethod::Map => shared.secret_texts(minion),
        };
        Some(Origins::of(
            configuration,
            || shared.run(minion),
            secret_texts,
        ))
    }

    /// The texts that a formula's templates, by its index, made of a minion's secrets, and those secrets.
    #[must_use]
    pub fn secret_texts(&self, formula: usize, minion: &Minion) -> Vec<Str> {
        self.formulas
            .get(formula)
            .map(|formula| formula.secret_texts(minion))
            .unwrap_or_default()
    }

    /// The results of each minion, in order, without those that are left out. Minions are read from
    /// the iterator one by one, and worked on by the threads of the scope. What is slow about reading
    /// them is better done side by side, too: with [`ordered`] and [`report`](Self::report).
    pub fn reports<'scope, I>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        minions: I,
        pace: Pace,
    ) -> impl Iterator<Item = Report> + use<'scope, I>
    where
        I: Iterator<Item = Result<Minion>> + Send + 'scope,
    {
        let work = |minion: Result<Minion>| match minion {
            Ok(minion) => self.report(&minion),
            Err(error) => Some(Report {
                id: String::new(),
                outcomes: Err(error),
            }),
        };
        ordered(scope, minions, pace, work).filter_map(|report| {
            report.unwrap_or_else(|panicked| Some(Report::panicked("", panicked)))
        })
    }
}

impl Report {
    /// The report of a minion whose work panicked.
    #[must_use]
    pub fn panicked(id: &str, panicked: Panic) -> Self {
        Report {
            id: id.into(),
            outcomes: Err(panicked.into()),
        }
    }

    /// True if every formula has a result.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.outcomes
            .as_ref()
            .is_ok_and(|outcomes| outcomes.iter().all(|outcome| outcome.result.is_ok()))
    }

    /// The errors, with the index of the formula if it was one of them.
    pub fn errors(&self) -> impl Iterator<Item = (Option<usize>, &Error)> {
        let (outcomes, facts) = match &self.outcomes {
            Ok(outcomes) => (outcomes.as_slice(), None),
            Err(error) => (&[][..], Some((None, error))),
        };
        let of_formulas = outcomes.iter().enumerate();
        facts.into_iter().chain(
            of_formulas
                .filter_map(|(index, outcome)| Some((Some(index), outcome.result.as_ref().err()?))),
        )
    }
}

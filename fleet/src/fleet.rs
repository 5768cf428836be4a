//! What is computed for every minion.

use std::sync::Arc;
use std::thread::Scope;

use mapstack::minion::Minion;
use mapstack::value::Value;
use mapstack::{Condition, DataOptions, Diagnostic, Engine, Error, ErrorKind, Result};

use crate::ordered::{Pace, Panicked, ordered};

/// What is computed for every minion of a fleet.
#[derive(Clone)]
pub struct Fleet<'e> {
    engine: &'e Engine,
    saltenv: Option<String>,
    tasks: Vec<Task>,
    conditions: Vec<Condition>,
}

/// A formula whose configuration is wanted, and the arguments of `map.data` besides it.
#[derive(Debug, Clone, PartialEq)]
pub struct Task {
    /// The formula.
    pub formula: String,
    /// The arguments.
    pub options: DataOptions,
}

/// What came of one task for one minion.
#[derive(Debug, Clone, PartialEq)]
pub struct Outcome {
    /// The formula's configuration, or why there is none.
    pub result: Result<Value>,
    /// What was worth a warning, whether there is a result or not.
    pub warnings: Vec<Diagnostic>,
}

/// What came of one minion.
#[derive(Debug, Clone)]
pub struct Report {
    /// The minion; empty if nobody knows.
    pub id: String,
    /// An outcome for each task, in order; or why no task was tried, such as facts that are broken.
    pub outcomes: Result<Vec<Arc<Outcome>>>,
}

impl<'e> Fleet<'e> {
    /// A fleet for which nothing is computed yet.
    pub fn new(engine: &'e Engine) -> Self {
        Fleet { engine, saltenv: None, tasks: Vec::new(), conditions: Vec::new() }
    }

    /// Compute a formula's configuration, too.
    #[must_use]
    pub fn formula(self, formula: impl Into<String>) -> Self {
        self.task(Task { formula: formula.into(), options: DataOptions::default() })
    }

    /// The same with arguments.
    #[must_use]
    pub fn task(mut self, task: Task) -> Self {
        self.tasks.push(task);
        self
    }

    /// Leave out minions of which a condition is not true.
    #[must_use]
    pub fn only(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    /// Use another saltenv than each minion's own.
    #[must_use]
    pub fn in_saltenv(mut self, saltenv: impl Into<String>) -> Self {
        self.saltenv = Some(saltenv.into());
        self
    }

    /// What is computed.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// What comes of one minion; `None` if it is left out.
    pub fn report(&self, minion: &Minion) -> Option<Report> {
        let id = minion.id().to_string();
        for condition in &self.conditions {
            match self.engine.holds(condition, minion) {
                Ok(true) => {}
                Ok(false) => return None,
                Err(e) => {
                    let error = e.note(format!("while it was asked whether {} is meant", condition.as_str()));
                    return Some(Report { id, outcomes: Err(error) });
                }
            }
        }
        let outcomes = self.tasks.iter().map(|task| self.outcome(minion, task)).collect();
        Some(Report { id, outcomes: Ok(outcomes) })
    }

    /// What comes of each minion, in order, without those that are left out. Minions are read from
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
            Err(error) => Some(Report { id: String::new(), outcomes: Err(error) }),
        };
        ordered(scope, minions, pace, work)
            .filter_map(|report| report.unwrap_or_else(|panicked| Some(Report::panicked("", &panicked))))
    }

    fn outcome(&self, minion: &Minion, task: &Task) -> Arc<Outcome> {
        let run = self.engine.run(minion);
        let run = match &self.saltenv {
            Some(saltenv) => run.with_saltenv(saltenv.as_str()),
            None => run,
        };
        let result = run.data(&task.formula, &task.options);
        Arc::new(Outcome { result, warnings: run.warnings() })
    }
}

impl Report {
    /// The report of a minion whose work panicked.
    #[must_use]
    pub fn panicked(id: &str, panicked: &Panicked) -> Self {
        let Panicked(message) = panicked;
        let error = Error::new(ErrorKind::Unsupported, format!("this is a fault of mapstack: {message}"));
        Report { id: id.into(), outcomes: Err(error) }
    }

    /// Whether every task has a result.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.outcomes.as_ref().is_ok_and(|outcomes| outcomes.iter().all(|outcome| outcome.result.is_ok()))
    }

    /// What went wrong, with the index of the task if it was one of them.
    pub fn errors(&self) -> impl Iterator<Item = (Option<usize>, &Error)> {
        let (outcomes, facts) = match &self.outcomes {
            Ok(outcomes) => (outcomes.as_slice(), None),
            Err(error) => (&[][..], Some((None, error))),
        };
        let of_tasks = outcomes.iter().enumerate();
        facts
            .into_iter()
            .chain(of_tasks.filter_map(|(task, outcome)| Some((Some(task), outcome.result.as_ref().err()?))))
    }
}

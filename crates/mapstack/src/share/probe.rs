//! Answers of one minion, each computed once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use crate::{Engine, Run};
use foldhash::fast::RandomState;
use mapstack_minion::Minion;
use mapstack_value::Str;

use super::question::{HashedAnswer, InternedQuestion, Question};

/// All questions that the formulas of an engine asked, each with a number. Formulas mostly ask the same questions.
#[derive(Default)]
pub(crate) struct Questions(Mutex<HashMap<Question, Arc<InternedQuestion>, RandomState>>);

/// Limit on numbered questions. Facts can contain any text, and such texts become parts of questions.
const MAX_NUMBERS: usize = 1 << 14;

impl Questions {
    pub fn intern(&self, question: Question) -> Arc<InternedQuestion> {
        // Nothing panics while it holds the lock and the table is incomplete, so a poisoned lock is usable.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(interned) = known.get(&question) {
            return interned.clone();
        }
        let number = known.len();
        if number >= MAX_NUMBERS {
            return Arc::new(InternedQuestion {
                question,
                number: None,
            });
        }
        let interned = Arc::new(InternedQuestion {
            question: question.clone(),
            number: Some(number),
        });
        known.insert(question, interned.clone());
        interned
    }
}

/// A run that only answers questions about a minion in one saltenv. No template of it ever changes the facts.
pub(crate) struct Probe<'e> {
    pub run: Run<'e>,
    pub engine: &'e Engine,
    pub questions: Arc<Questions>,
    answers: RefCell<Vec<Option<HashedAnswer>>>,
}

impl<'e> Probe<'e> {
    pub fn new(engine: &'e Engine, run: Run<'e>) -> Self {
        Probe {
            run,
            engine,
            questions: engine.extension(),
            answers: RefCell::default(),
        }
    }

    /// The minion's answer to a question, from memory if it was asked before.
    pub fn ask(&self, interned: &InternedQuestion) -> HashedAnswer {
        let Some(number) = interned.number else {
            return interned.question.ask(self);
        };
        let known = self.answers.borrow().get(number).cloned().flatten();
        known.unwrap_or_else(|| {
            let answer = interned.question.ask(self);
            let mut answers = self.answers.borrow_mut();
            if answers.len() <= number {
                answers.resize(number + 1, None);
            }
            if let Some(place) = answers.get_mut(number) {
                *place = Some(answer.clone());
            }
            answer
        })
    }
}

/// A minion with the answers it has given so far. Several formulas use the same answers, so a question is evaluated
/// only once.
///
/// ```
/// use mapstack::{DataOptions, Engine, loader::MemoryFiles, minion::Minion};
/// use mapstack::share::{SharedFormula, Answers};
/// let engine = Engine::new(MemoryFiles::new().file("base", "a/parameters/os/Arch.yaml", "values: {x: 1}"));
/// let formulas = ["a", "b"].map(|formula| SharedFormula::new(&engine, formula, DataOptions::default()));
/// let minion = Minion::parse(b"{id: web1, grains: {os: Arch}}", "minion").unwrap().complete();
/// let answers = Answers::new(&minion);
/// for formula in &formulas {
///     assert_eq!(formula.outcome_for(&answers).result, engine.run(&minion).data(formula.formula(), &DataOptions::default()));
/// }
/// ```
pub struct Answers<'m, 'e> {
    minion: &'m Minion,
    /// One probe for each engine and saltenv.
    probes: RefCell<Vec<(Option<Str>, Rc<Probe<'e>>)>>,
}

impl<'m, 'e> Answers<'m, 'e> {
    /// A minion without answers so far.
    #[must_use]
    pub fn new(minion: &'m Minion) -> Self {
        Answers {
            minion,
            probes: RefCell::default(),
        }
    }

    /// The minion that answers.
    #[must_use]
    pub fn minion(&self) -> &'m Minion {
        self.minion
    }

    pub(crate) fn probe(&self, engine: &'e Engine, saltenv: Option<&Str>) -> Rc<Probe<'e>> {
        let mut probes = self.probes.borrow_mut();
        let is_it = |(env, probe): &&(Option<Str>, Rc<Probe<'e>>)| {
            env.as_ref() == saltenv && std::ptr::eq(probe.engine, engine)
        };
        if let Some((_, probe)) = probes.iter().find(is_it) {
            return probe.clone();
        }
        let run = engine.run(self.minion);
        let run = match saltenv {
            Some(saltenv) => run.with_saltenv(saltenv.clone()),
            None => run,
        };
        let probe = Rc::new(Probe::new(engine, run));
        probes.push((saltenv.cloned(), probe.clone()));
        probe
    }
}

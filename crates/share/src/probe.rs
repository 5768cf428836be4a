//! A minion that answers questions, each once.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use foldhash::fast::RandomState;
use mapstack::hooks::Hooks;
use mapstack::{Engine, Run};
use mapstack_minion::Minion;
use mapstack_value::Str;

use crate::question::{Posed, Question, Told};

/// The questions that were posed to minions of an engine: formulas ask the same, as a rule.
#[derive(Default)]
pub(crate) struct Questions(Mutex<HashMap<Question, Arc<Posed>, RandomState>>);

/// Questions that have a number. Texts of hostile facts can become questions, so there can be any number of them.
const MAX_NUMBERS: usize = 1 << 14;

impl Questions {
    pub fn pose(&self, question: Question) -> Arc<Posed> {
        // A panic elsewhere leaves nothing half-written here.
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(posed) = known.get(&question) {
            return posed.clone();
        }
        let number = known.len();
        if number >= MAX_NUMBERS {
            return Arc::new(Posed {
                question,
                number: None,
            });
        }
        let posed = Arc::new(Posed {
            question: question.clone(),
            number: Some(number),
        });
        known.insert(question, posed.clone());
        posed
    }
}

/// A run of a minion in a saltenv that does nothing but answer questions: templates never change what it sees.
pub(crate) struct Probe<'e> {
    pub run: Run<'e>,
    pub engine: &'e Engine,
    pub questions: Arc<Questions>,
    told: RefCell<Vec<Option<Told>>>,
}

impl<'e> Probe<'e> {
    fn new(engine: &'e Engine, run: Run<'e>) -> Self {
        Probe {
            run,
            engine,
            questions: engine.kept(),
            told: RefCell::default(),
        }
    }

    /// A run of the same minion, that may change what it sees.
    pub fn again(&self, hooks: Rc<dyn Hooks + 'e>) -> Run<'e> {
        self.engine
            .run_with_hooks(&self.run.minion(), hooks)
            .with_saltenv(self.run.saltenv().clone())
    }

    /// What the minion answers.
    pub fn ask(&self, posed: &Posed) -> Told {
        let Some(number) = posed.number else {
            return posed.question.ask(self);
        };
        let known = self.told.borrow().get(number).cloned().flatten();
        known.unwrap_or_else(|| {
            let answer = posed.question.ask(self);
            let mut told = self.told.borrow_mut();
            if told.len() <= number {
                told.resize(number + 1, None);
            }
            if let Some(place) = told.get_mut(number) {
                *place = Some(answer.clone());
            }
            answer
        })
    }
}

/// A minion, for many recipes: what one of them asks it, it remembers for the others.
///
/// ```
/// use mapstack::{DataOptions, Engine, loader::MemoryFiles, minion::Minion};
/// use mapstack_share::{Recipe, Witness};
/// let engine = Engine::new(MemoryFiles::new().file("base", "a/parameters/os/Arch.yaml", "values: {x: 1}"));
/// let recipes = ["a", "b"].map(|formula| Recipe::new(&engine, formula, DataOptions::default()));
/// let minion = Minion::parse(b"{id: web1, grains: {os: Arch}}", "minion").unwrap().complete();
/// let witness = Witness::new(&minion);
/// for recipe in &recipes {
///     assert_eq!(recipe.outcome_for(&witness).result, engine.run(&minion).data(recipe.formula(), &DataOptions::default()));
/// }
/// ```
pub struct Witness<'m, 'e> {
    minion: &'m Minion,
    /// One for each engine and saltenv.
    probes: RefCell<Vec<(Option<Str>, Rc<Probe<'e>>)>>,
}

impl<'m, 'e> Witness<'m, 'e> {
    /// A minion that nobody has asked yet.
    #[must_use]
    pub fn new(minion: &'m Minion) -> Self {
        Witness {
            minion,
            probes: RefCell::default(),
        }
    }

    /// The minion.
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

//! What a run asked, in order.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use mapstack_matcher::Definition;
use mapstack_render::{Reader, clock_reads};
use mapstack_value::{Key, Value};

use super::question::{LayerFiles, LayerPaths, Told};
use super::{Exact, Posed, Probe, Question, Root};

/// A run that asks more is nobody else's: following its questions would cost as much as the run.
const MOST_QUESTIONS: usize = 256;

/// Writes down what a run looks at.
///
/// Answers are those of the minion as it was given: a template may have changed what the run itself
/// sees, but how it did is already in the record.
pub(crate) struct Recorder<'e> {
    /// Who answers questions.
    probe: Rc<Probe<'e>>,
    log: Rc<ReadLog>,
    asked: RefCell<Asked>,
    /// Whether what is looked at is recorded in other words.
    quiet: Cell<bool>,
    /// Why the result cannot be anybody else's.
    own: Cell<bool>,
    clock: u64,
}

#[derive(Default)]
struct Asked {
    answers: Vec<(Arc<Posed>, Told)>,
    known: HashSet<Arc<Posed>, foldhash::fast::RandomState>,
    /// Whether everything was asked, which leaves nothing to ask.
    all: bool,
}

/// Reads of live dicts that are not asked as questions yet.
#[derive(Default)]
struct ReadLog(RefCell<Vec<Question>>);

/// The reads of one root's dicts.
pub(crate) struct RootReader {
    root: Root,
    log: Rc<ReadLog>,
}

impl Reader for RootReader {
    fn entry(&self, path: &[Key]) {
        self.log.0.borrow_mut().push(Question::Entry(self.root, exact(path)));
    }

    fn whole(&self, path: &[Key]) {
        self.log.0.borrow_mut().push(Question::Whole(self.root, exact(path)));
    }
}

fn exact(path: &[Key]) -> Vec<Exact> {
    path.iter().map(Exact::from).collect()
}

impl<'e> Recorder<'e> {
    /// A record of a run of the minion that `probe` is of.
    pub fn new(probe: Rc<Probe<'e>>) -> Self {
        let recorder = Recorder {
            probe,
            log: Rc::default(),
            asked: RefCell::default(),
            quiet: Cell::new(false),
            own: Cell::new(false),
            clock: clock_reads(),
        };
        recorder.note(Question::Start);
        recorder
    }

    /// The reader of a live dict.
    pub fn reader(&self, root: Root) -> Rc<RootReader> {
        Rc::new(RootReader { root, log: self.log.clone() })
    }

    /// Record a question.
    pub fn note(&self, question: Question) {
        if self.quiet.get() {
            return;
        }
        self.catch_up();
        self.ask(question);
    }

    /// Do work whose looks are recorded in other words.
    pub fn quietly<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = self.quiet.replace(true);
        let result = work();
        self.quiet.set(before);
        result
    }

    /// The result is not a function of the minion.
    pub fn is_own(&self) {
        self.own.set(true);
    }

    /// What live dicts were asked comes before what is asked next.
    fn catch_up(&self) {
        let reads = std::mem::take(&mut *self.log.0.borrow_mut());
        reads.into_iter().for_each(|question| self.ask(question));
    }

    /// Record which files a definition leads to below directories. Whether that can be one question: if it
    /// takes nothing but the minion.
    pub fn note_files(&self, definition: &Definition, directories: &[String], config_get_strategy: &Value) -> bool {
        let Some(paths) = LayerPaths::of(definition, config_get_strategy) else { return false };
        let paths = self.pose(Question::Paths(Box::new(paths)));
        self.note(Question::Files(Box::new(LayerFiles::new(paths, directories))));
        true
    }

    fn pose(&self, question: Question) -> Arc<Posed> {
        self.probe.run.engine.questions.pose(question)
    }

    fn ask(&self, question: Question) {
        let mut asked = self.asked.borrow_mut();
        if asked.all {
            return;
        }
        asked.all = question == Question::All;
        let posed = self.pose(question);
        if !asked.known.insert(posed.clone()) {
            return;
        }
        let told = self.probe.ask(&posed);
        asked.answers.push((posed, told));
        if asked.answers.len() > MOST_QUESTIONS {
            self.is_own();
            asked.all = true;
        }
    }

    /// Everything that was asked; nothing if the result is nobody else's.
    pub fn finish(&self) -> Option<Vec<(Arc<Posed>, Told)>> {
        self.catch_up();
        let is_own = self.own.get() || clock_reads() != self.clock;
        let answers = std::mem::take(&mut self.asked.borrow_mut().answers);
        (!is_own).then_some(answers)
    }
}

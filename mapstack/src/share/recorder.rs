//! What a run asked, in order.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use mapstack_render::{Reader, clock_reads};
use mapstack_value::Key;

use super::question::Answer;
use super::{Exact, Question, Root};
use crate::engine::Run;

/// A run that asks more is nobody else's: following its questions would cost as much as the run.
const MOST_QUESTIONS: usize = 256;

/// Writes down what a run looks at.
///
/// Answers are those of the minion as it was given: a template may have changed what the run itself
/// sees, but how it did is already in the record.
pub(crate) struct Recorder<'e> {
    /// A run that answers questions.
    probe: Box<Run<'e>>,
    log: Rc<ReadLog>,
    asked: RefCell<Asked>,
    /// What the minion was asked already, in order: as long as the run asks the same.
    before: RefCell<std::vec::IntoIter<(Arc<Question>, Answer)>>,
    /// Whether what is looked at is recorded in other words.
    quiet: Cell<bool>,
    /// Why the result cannot be anybody else's.
    own: Cell<bool>,
    clock: u64,
}

#[derive(Default)]
struct Asked {
    answers: Vec<(Question, Answer)>,
    known: HashSet<Question, foldhash::fast::RandomState>,
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
    /// A record of a run of the minion that `probe` is of, which was asked something `before`.
    pub fn new(probe: Box<Run<'e>>, before: Vec<(Arc<Question>, Answer)>) -> Self {
        let recorder = Recorder {
            probe,
            log: Rc::default(),
            asked: RefCell::default(),
            before: RefCell::new(before.into_iter()),
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

    fn ask(&self, question: Question) {
        let mut asked = self.asked.borrow_mut();
        if asked.all || asked.known.contains(&question) {
            return;
        }
        asked.all = question == Question::All;
        // The order is that of an earlier run, so that what does not fit is not asked at all.
        let known = self.before.borrow_mut().next().filter(|(known, _)| **known == question);
        let answer = known.map_or_else(|| question.ask(&self.probe), |(_, answer)| answer);
        asked.known.insert(question.clone());
        asked.answers.push((question, answer));
        if asked.answers.len() > MOST_QUESTIONS {
            self.is_own();
            asked.all = true;
        }
    }

    /// Everything that was asked; nothing if the result is nobody else's.
    pub fn finish(&self) -> Option<Vec<(Question, Answer)>> {
        self.catch_up();
        let is_own = self.own.get() || clock_reads() != self.clock;
        let answers = std::mem::take(&mut self.asked.borrow_mut().answers);
        (!is_own).then_some(answers)
    }
}

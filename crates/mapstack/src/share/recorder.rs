//! The recorder: which questions a run asks, in order.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use crate::Run;
use crate::hooks::{FactLookup, Hooks, SourcePaths};
use crate::trace::DataStage;
use mapstack_minion::Part;
use mapstack_pyobject::Reader;
use mapstack_salt_jinja::clock_reads;
use mapstack_value::Key;

use super::exact::Exact;
use super::layer_files::{LayerFiles, LayerPaths};
use super::probe::Probe;
use super::question::{FactRead, HashedAnswer, InternedQuestion, Question};

/// A run with more questions is not shared: asking another minion all of them would cost as much as running it.
const MAX_QUESTIONS: usize = 256;

/// Records the facts that a run reads.
///
/// The recorded answers are those of the minion as it was given. A template may have changed the facts that the run
/// itself sees, but the change depends only on what was recorded before it.
pub(crate) struct Recorder<'e> {
    /// Computes the answers.
    probe: Rc<Probe<'e>>,
    log: Rc<ReadLog>,
    trace: RefCell<Trace>,
    /// True if to ignore reads, because another question already covers them.
    suspended: Cell<bool>,
    /// True if no other minion can have the result.
    unshareable: Cell<bool>,
    clock: u64,
}

/// A question with its answer.
pub(crate) struct RecordedRead {
    pub question: Arc<InternedQuestion>,
    pub answer: HashedAnswer,
    /// For a question about files: the answer of the question about paths.
    pub paths: Option<HashedAnswer>,
}

impl RecordedRead {
    /// Approximate size in bytes.
    pub fn size(&self) -> usize {
        self.answer.size() + self.paths.as_ref().map_or(0, HashedAnswer::size)
    }
}

/// The outcome of recording a run.
pub(crate) enum Record {
    /// Minions with equal answers share the result.
    Shared(Vec<RecordedRead>),
    /// The result is valid for this minion only.
    NotShareable,
}

impl Record {
    /// The facts that the run read, each once; `None` if they are not known.
    pub fn facts(&self) -> Option<Vec<FactRead>> {
        let Record::Shared(steps) = self else {
            return None;
        };
        let mut seen = HashSet::new();
        let reads = steps.iter().flat_map(|step| step.question.question.reads());
        Some(reads.filter(|read| seen.insert(read.clone())).collect())
    }
}

#[derive(Default)]
struct Trace {
    steps: Vec<RecordedRead>,
    known: HashSet<Arc<InternedQuestion>, foldhash::fast::RandomState>,
    /// True if a question already covers all facts, so that further questions add nothing.
    all: bool,
}

/// Reads of dicts by templates, not yet turned into questions.
#[derive(Default)]
struct ReadLog(RefCell<Vec<Question>>);

/// Reports the reads of one part of the facts to the log.
pub(crate) struct RootReader {
    root: Part,
    log: Rc<ReadLog>,
}

impl Reader for RootReader {
    fn entry(&self, path: &[Key]) {
        self.log
            .0
            .borrow_mut()
            .push(Question::Entry(self.root, exact(path)));
    }

    fn whole(&self, path: &[Key]) {
        self.log
            .0
            .borrow_mut()
            .push(Question::Whole(self.root, exact(path)));
    }
}

fn exact(path: &[Key]) -> Vec<Exact> {
    path.iter().map(Exact::from).collect()
}

impl<'e> Recorder<'e> {
    /// A recorder for a run of the minion that `probe` answers for.
    pub fn new(probe: Rc<Probe<'e>>) -> Self {
        let recorder = Recorder {
            probe,
            log: Rc::default(),
            trace: RefCell::default(),
            suspended: Cell::new(false),
            unshareable: Cell::new(false),
            clock: clock_reads(),
        };
        recorder.note(Question::Start);
        recorder
    }

    /// Add a question to the trace, after the reads of dicts that came before it.
    fn note(&self, question: Question) {
        if self.suspended.get() {
            return;
        }
        self.catch_up();
        self.ask(question);
    }

    /// Turn the logged reads of dicts into questions, to keep the order of all reads.
    fn catch_up(&self) {
        let reads = std::mem::take(&mut *self.log.0.borrow_mut());
        reads.into_iter().for_each(|question| self.ask(question));
    }

    fn intern(&self, question: Question) -> Arc<InternedQuestion> {
        self.probe.questions.intern(question)
    }

    fn ask(&self, question: Question) {
        if self.trace.borrow().all {
            return;
        }
        let is_all = question == Question::All;
        let interned = self.intern(question);
        if self.trace.borrow_mut().known.insert(interned.clone()) {
            let answer = self.probe.ask(&interned);
            self.add(interned, answer);
        }
        self.trace.borrow_mut().all |= is_all;
    }

    fn add(&self, question: Arc<InternedQuestion>, answer: HashedAnswer) {
        let mut trace = self.trace.borrow_mut();
        let paths = question.question.paths().map(|paths| self.probe.ask(paths));
        trace.steps.push(RecordedRead {
            question,
            answer,
            paths,
        });
        if trace.steps.len() > MAX_QUESTIONS {
            self.unshareable.set(true);
            trace.all = true;
        }
    }

    /// End the recording of a run.
    pub fn finish(&self, run: &Run<'_>) -> Record {
        self.catch_up();
        let steps = std::mem::take(&mut self.trace.borrow_mut().steps);
        let cannot_share = run.has_outside_inputs() || clock_reads() != self.clock;
        match cannot_share || self.unshareable.get() {
            true => Record::NotShareable,
            false => Record::Shared(steps),
        }
    }
}

impl Hooks for Recorder<'_> {
    fn fact_read(&self, look: FactLookup<'_>) {
        self.note(Question::of(look));
    }

    fn fact_reader(&self, part: Part) -> Option<Rc<dyn Reader>> {
        Some(Rc::new(RootReader {
            root: part,
            log: self.log.clone(),
        }))
    }

    fn facts_changed(&self) {
        // Look-ups from now on see facts that the given minion does not have, so the result depends on all facts.
        self.note(Question::All);
    }

    /// Minions with different facts often lead to the same files, mostly to none. So a definition that reads only
    /// the minion becomes one question: which of its files exist.
    fn before_paths(&self, source: &SourcePaths<'_>) -> bool {
        let Some(paths) = LayerPaths::of(source.definition, source.config_get_strategy) else {
            return false;
        };
        let paths = self.intern(Question::Paths(Box::new(paths)));
        self.note(Question::Files(Box::new(LayerFiles::new(
            paths,
            source.directories,
        ))));
        self.suspended.set(true);
        true
    }

    fn after_paths<'s>(&self, source: &SourcePaths<'s>, succeeded: bool) -> Vec<&'s String> {
        self.suspended.set(false);
        if !succeeded || source.stage == DataStage::Meta {
            return Vec::new();
        }
        // A shared outcome does not list the missing files of other formulas' directories, so record that these were
        // listed.
        let is_own = |directory: &str| {
            source.formula.is_some() && directory.split('/').next() == source.formula
        };
        source
            .directories
            .iter()
            .filter(|directory| !is_own(directory))
            .collect()
    }
}

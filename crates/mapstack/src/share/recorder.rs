//! What a run asked, in order.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use mapstack_matcher::Definition;
use mapstack_minion::Part;
use mapstack_render::{Reader, clock_reads};
use mapstack_value::{Key, Value};
use mapstack_yaml::Mould;

use super::blanks::{Sheet, has_blank};
use super::layer_files::{LayerFiles, LayerPaths};
use super::printed::{LayerPrint, can_pay};
use super::question::Told;
use super::{Exact, Posed, Printing, Probe, Question};
use crate::engine::Run;
use crate::file::File;
use crate::layer::{LayerFile, Variables};

/// A run that asks more is nobody else's: following its questions would cost as much as the run.
const MAX_QUESTIONS: usize = 256;

/// Writes down what a run looks at.
///
/// Answers are those of the minion as it was given: a template may have changed what the run itself
/// sees, but how it did is already in the record.
pub(crate) struct Recorder<'e> {
    /// Who answers questions.
    probe: Rc<Probe<'e>>,
    log: Rc<ReadLog>,
    asked: RefCell<Asked>,
    /// The layers that are asked what they print.
    printing: Arc<Printing>,
    /// The template that asks, if it is a layer's.
    layer: RefCell<Option<Arc<str>>>,
    /// What layers printed that is left blank, and where: nothing any more if that cannot be told apart from the rest.
    blanks: RefCell<Option<Sheet>>,
    /// Whether what is looked at is recorded in other words.
    quiet: Cell<bool>,
    /// Why the result cannot be anybody else's.
    own: Cell<bool>,
    clock: u64,
}

/// A question with its answer.
pub(crate) struct Step {
    pub posed: Arc<Posed>,
    pub told: Told,
    /// Of a question for files, the paths that led there.
    pub paths: Option<Told>,
    /// The layer whose template asked.
    pub layer: Option<Arc<str>>,
}

/// What became of the record of a run.
pub(crate) enum Record {
    /// The questions lead to the result, which has blanks where scalars are.
    Shared(Vec<Step>, Sheet),
    /// The result is nobody else's.
    Own,
    /// So is this one, but it has blanks: there is no result.
    Unknown,
    /// Something looked at blanks: there is no result, and will be none for others.
    Spoilt,
}

#[derive(Default)]
struct Asked {
    steps: Vec<Step>,
    known: HashSet<Arc<Posed>, foldhash::fast::RandomState>,
    /// Whether everything was asked, which leaves nothing to ask.
    all: bool,
}

/// Reads of live dicts that are not asked as questions yet.
#[derive(Default)]
struct ReadLog(RefCell<Vec<Question>>);

/// The reads of one root's dicts.
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
    /// A record of a run of the minion that `probe` is of.
    pub fn new(probe: Rc<Probe<'e>>, printing: Arc<Printing>) -> Self {
        let recorder = Recorder {
            probe,
            log: Rc::default(),
            asked: RefCell::default(),
            printing,
            layer: RefCell::default(),
            blanks: RefCell::new(Some(Sheet::default())),
            quiet: Cell::new(false),
            own: Cell::new(false),
            clock: clock_reads(),
        };
        recorder.note(Question::Start);
        recorder
    }

    /// The reader of a live dict.
    pub fn reader(&self, root: Part) -> Rc<RootReader> {
        Rc::new(RootReader {
            root,
            log: self.log.clone(),
        })
    }

    /// Record a question.
    pub fn note(&self, question: Question) {
        if self.quiet.get() {
            return;
        }
        self.catch_up();
        self.ask(question);
    }

    /// Run the template of a layer.
    pub fn in_layer<T>(&self, path: &str, work: impl FnOnce() -> T) -> T {
        self.catch_up();
        let outer = self.layer.replace(Some(path.into()));
        let result = work();
        self.catch_up();
        self.layer.replace(outer);
        result
    }

    /// Do work whose looks are recorded in other words.
    pub fn without_recording<T>(&self, work: impl FnOnce() -> T) -> T {
        let before = self.quiet.replace(true);
        let result = work();
        self.quiet.set(before);
        result
    }

    /// What live dicts were asked comes before what is asked next.
    fn catch_up(&self) {
        let reads = std::mem::take(&mut *self.log.0.borrow_mut());
        reads.into_iter().for_each(|question| self.ask(question));
    }

    /// Record which files a definition leads to below directories. Whether that can be one question: if it
    /// takes nothing but the minion.
    pub fn note_files(
        &self,
        definition: &Definition,
        directories: &[String],
        config_get_strategy: &Value,
    ) -> bool {
        let Some(paths) = LayerPaths::of(definition, config_get_strategy) else {
            return false;
        };
        let paths = self.pose(Question::Paths(Box::new(paths)));
        self.note(Question::Files(Box::new(LayerFiles::new(
            paths,
            directories,
        ))));
        true
    }

    fn pose(&self, question: Question) -> Arc<Posed> {
        self.probe.run.engine.questions.pose(question)
    }

    fn ask(&self, question: Question) {
        if self.asked.borrow().all {
            return;
        }
        let is_all = question == Question::All;
        let posed = self.pose(question);
        if self.asked.borrow_mut().known.insert(posed.clone()) {
            let told = self.probe.ask(&posed);
            self.add(posed, told);
        }
        self.asked.borrow_mut().all |= is_all;
    }

    fn add(&self, posed: Arc<Posed>, told: Told) {
        let mut asked = self.asked.borrow_mut();
        let paths = posed.question.paths().map(|paths| self.probe.ask(paths));
        asked.steps.push(Step {
            posed,
            told,
            paths,
            layer: self.layer.borrow().clone(),
        });
        if asked.steps.len() > MAX_QUESTIONS {
            self.own.set(true);
            asked.all = true;
        }
    }

    /// A layer in which the words that every minion has for itself are left blank, as the run goes on with it, if
    /// it is one of those that are asked what they print.
    pub fn printed(
        &self,
        run: &Run<'_>,
        file: &File,
        variables: &Variables<'_>,
        stack: &Value,
    ) -> Option<LayerFile> {
        if self.quiet.get() || !self.printing.contains(&*file.path) {
            return None;
        }
        self.catch_up();
        let mut sheet = self.blanks.take().filter(|_| !self.asked.borrow().all)?;
        let print = LayerPrint::new(file, variables, stack, !run.blanks.is_empty());
        let posed = Arc::new(Posed {
            question: Question::Print(Box::new(print)),
            number: None,
        });
        let told = self.probe.ask(&posed);
        self.add(posed, told.clone());
        let Some(print) = told.print() else {
            self.own.set(true);
            self.blanks.replace(Some(sheet));
            return None;
        };
        run.note_reads(print.reads());
        let layer = LayerFile::of(
            sheet
                .add(Mould::read(&print.text, print.words.len())?)?
                .as_map()?,
        )?;
        if [&layer.strategy, &layer.merge_lists]
            .into_iter()
            .flatten()
            .any(has_blank)
        {
            return None;
        }
        if !sheet.is_empty() {
            run.blanks.fill_in();
        }
        self.blanks.replace(Some(sheet));
        Some(layer)
    }

    /// What was recorded of a run that has come to its end.
    pub fn finish(&self, run: &Run<'_>) -> Record {
        self.catch_up();
        let steps = std::mem::take(&mut self.asked.borrow_mut().steps);
        let prints = steps
            .iter()
            .filter(|step| step.told.print().is_some())
            .count();
        let is_own =
            run.is_own() || clock_reads() != self.clock || (prints > 0 && !can_pay(run, prints));
        match self.blanks.take() {
            Some(sheet) if sheet.is_empty() => match is_own || self.own.get() {
                true => Record::Own,
                false => Record::Shared(steps, sheet),
            },
            Some(_) if self.own.get() => Record::Unknown,
            Some(sheet) if !is_own && !run.blanks.were_seen() => Record::Shared(steps, sheet),
            _ => Record::Spoilt,
        }
    }
}

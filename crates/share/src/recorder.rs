//! What a run asked, in order.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use mapstack::hooks::{FactLook, Hooks, LayerContent, LayerTemplate, SourcePaths};
use mapstack::trace::Stage;
use mapstack::{LAYER_KEYS, Run};
use mapstack_minion::Part;
use mapstack_render::{Reader, clock_reads};
use mapstack_value::{Key, Value};
use mapstack_yaml::Mould;

use crate::blanks::{Blanks, Sheet, has_blank};
use crate::exact::Exact;
use crate::layer_files::{LayerFiles, LayerPaths};
use crate::printed::{LayerPrint, Printing, can_pay};
use crate::probe::Probe;
use crate::question::{Posed, Question, Told};

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
    /// The templates of layers that run, the innermost last.
    layers: RefCell<Vec<Arc<str>>>,
    /// What the data of the run holds in place of texts, if anything.
    blanks: Blanks,
    /// What layers printed that is left blank, and where: nothing any more if that cannot be told apart from the rest.
    sheet: RefCell<Option<Sheet>>,
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
            layers: RefCell::default(),
            blanks: Blanks::default(),
            sheet: RefCell::new(Some(Sheet::default())),
            quiet: Cell::new(false),
            own: Cell::new(false),
            clock: clock_reads(),
        };
        recorder.note(Question::Start);
        recorder
    }

    /// Record a question.
    fn note(&self, question: Question) {
        if self.quiet.get() {
            return;
        }
        self.catch_up();
        self.ask(question);
    }

    /// What live dicts were asked comes before what is asked next.
    fn catch_up(&self) {
        let reads = std::mem::take(&mut *self.log.0.borrow_mut());
        reads.into_iter().for_each(|question| self.ask(question));
    }

    fn pose(&self, question: Question) -> Arc<Posed> {
        self.probe.questions.pose(question)
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
            layer: self.layers.borrow().last().cloned(),
        });
        if asked.steps.len() > MAX_QUESTIONS {
            self.own.set(true);
            asked.all = true;
        }
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
        match self.sheet.take() {
            Some(sheet) if sheet.is_empty() => match is_own || self.own.get() {
                true => Record::Own,
                false => Record::Shared(steps, sheet),
            },
            Some(_) if self.own.get() => Record::Unknown,
            Some(sheet) if !is_own && !self.blanks.were_seen() => Record::Shared(steps, sheet),
            _ => Record::Spoilt,
        }
    }
}

impl Hooks for Recorder<'_> {
    fn fact_read(&self, look: FactLook<'_>) {
        self.note(Question::of(look));
    }

    fn fact_reader(&self, part: Part) -> Option<Rc<dyn Reader>> {
        Some(Rc::new(RootReader {
            root: part,
            log: self.log.clone(),
        }))
    }

    fn facts_changed(&self) {
        // What was put into facts can be the data.
        self.blanks.look();
        // The minion that was given no longer says what look-ups see.
        self.note(Question::All);
    }

    /// Minions that differ in what leads to files can have the same files: none, as a rule. So that is one question,
    /// if the definition takes nothing but the minion.
    fn before_paths(&self, source: &SourcePaths<'_>) -> bool {
        let Some(paths) = LayerPaths::of(source.definition, source.config_get_strategy) else {
            return false;
        };
        let paths = self.pose(Question::Paths(Box::new(paths)));
        self.note(Question::Files(Box::new(LayerFiles::new(
            paths,
            source.directories,
        ))));
        self.quiet.set(true);
        true
    }

    fn after_paths<'s>(&self, source: &SourcePaths<'s>, succeeded: bool) -> Vec<&'s String> {
        self.quiet.set(false);
        if !succeeded || source.stage == Stage::Meta {
            return Vec::new();
        }
        // An outcome that is shared does not say which files of another formula's folder are missing.
        let is_own = |directory: &str| {
            source.formula.is_some() && directory.split('/').next() == source.formula
        };
        source
            .directories
            .iter()
            .filter(|directory| !is_own(directory))
            .collect()
    }

    fn data_read(&self) {
        self.blanks.look();
    }

    fn data_reader(&self) -> Option<Rc<dyn Reader>> {
        self.blanks.reader()
    }

    /// A layer in which the words that every minion has for itself are left blank, as the run goes on with it, if
    /// it is one of those that are asked what they print.
    fn layer_content(&self, template: &LayerTemplate<'_>, data: &Value) -> Option<LayerContent> {
        if self.quiet.get() || !self.printing.contains(&*template.file.path) {
            return None;
        }
        self.catch_up();
        let mut sheet = self.sheet.take().filter(|_| !self.asked.borrow().all)?;
        let print = LayerPrint::new(template, data, !self.blanks.is_empty());
        let posed = Arc::new(Posed {
            question: Question::Print(Box::new(print)),
            number: None,
        });
        let told = self.probe.ask(&posed);
        self.add(posed, told.clone());
        let Some(print) = told.print() else {
            self.own.set(true);
            self.sheet.replace(Some(sheet));
            return None;
        };
        let content = sheet.add(Mould::read(&print.text, print.words.len())?)?;
        let layer = content.as_map()?;
        let is_known = |key: &Key| key.as_str().is_some_and(|key| LAYER_KEYS.contains(&key));
        if !layer.keys().all(is_known) {
            return None;
        }
        if ["strategy", "merge_lists"]
            .into_iter()
            .filter_map(|key| layer.get(key))
            .any(has_blank)
        {
            return None;
        }
        if !sheet.is_empty() {
            self.blanks.fill_in();
        }
        self.sheet.replace(Some(sheet));
        Some(LayerContent {
            content,
            reads: print.reads().clone(),
        })
    }

    fn before_template(&self, path: &str) {
        self.catch_up();
        self.layers.borrow_mut().push(path.into());
    }

    fn after_template(&self) {
        self.catch_up();
        self.layers.borrow_mut().pop();
    }
}

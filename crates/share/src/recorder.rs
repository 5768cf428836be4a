//! The recorder: which questions a run asks, in order.

use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::rc::Rc;
use std::sync::Arc;

use mapstack::hooks::{FactLookup, Hooks, LayerContent, LayerTemplate, SourcePaths};
use mapstack::trace::DataStage;
use mapstack::{LAYER_KEYS, Run};
use mapstack_minion::Part;
use mapstack_render::{Reader, clock_reads};
use mapstack_value::{Key, Value};
use mapstack_yaml::Skeleton;

use crate::exact::Exact;
use crate::layer_files::{LayerFiles, LayerPaths};
use crate::placeholders::{PlaceholderWatch, Placeholders, has_placeholder};
use crate::probe::Probe;
use crate::question::{HashedAnswer, InternedQuestion, Question};
use crate::rendered_layer::{LayerRendering, LayerSet, can_pay};

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
    /// The paths of the layers that are rendered for each minion.
    per_minion: Arc<LayerSet>,
    /// The layers whose templates are running, the innermost last.
    layers: RefCell<Vec<Arc<str>>>,
    /// Placeholders in the run's data, and reads of them.
    watch: PlaceholderWatch,
    /// The layers with placeholders. `None` once placeholders can no longer be distinguished from other data.
    placeholders: RefCell<Option<Placeholders>>,
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
    /// The layer whose template asked.
    pub layer: Option<Arc<str>>,
}

impl RecordedRead {
    /// Approximate size in bytes.
    pub fn size(&self) -> usize {
        self.answer.size() + self.paths.as_ref().map_or(0, HashedAnswer::size)
    }
}

/// The outcome of recording a run.
pub(crate) enum Record {
    /// Minions with equal answers share the result, which contains placeholders if the second part is not empty.
    Shared(Vec<RecordedRead>, Placeholders),
    /// The result is valid for this minion only.
    NotShareable,
    /// The result is valid for this minion only, but contains placeholders: the minion has to be run without
    /// recording.
    Discarded,
    /// Something read a placeholder: the result is wrong, and the formula must not render layers separately any
    /// more.
    PlaceholdersRead,
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
    pub fn new(probe: Rc<Probe<'e>>, per_minion: Arc<LayerSet>) -> Self {
        let recorder = Recorder {
            probe,
            log: Rc::default(),
            trace: RefCell::default(),
            per_minion,
            layers: RefCell::default(),
            watch: PlaceholderWatch::default(),
            placeholders: RefCell::new(Some(Placeholders::default())),
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
            layer: self.layers.borrow().last().cloned(),
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
        let rendered = steps
            .iter()
            .filter(|step| step.answer.rendered_layer().is_some())
            .count();
        let cannot_share = run.has_outside_inputs()
            || clock_reads() != self.clock
            || (rendered > 0 && !can_pay(run, rendered));
        match self.placeholders.take() {
            Some(placeholders) if placeholders.is_empty() => {
                match cannot_share || self.unshareable.get() {
                    true => Record::NotShareable,
                    false => Record::Shared(steps, placeholders),
                }
            }
            Some(_) if self.unshareable.get() => Record::Discarded,
            Some(placeholders) if !cannot_share && !self.watch.were_read() => {
                Record::Shared(steps, placeholders)
            }
            _ => Record::PlaceholdersRead,
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
        // A template may have put the merged data into the facts.
        self.watch.record_read();
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

    fn data_read(&self) {
        self.watch.record_read();
    }

    fn data_reader(&self) -> Option<Rc<dyn Reader>> {
        self.watch.reader()
    }

    /// For a layer that is rendered for each minion: its content with placeholders instead of the words that its
    /// template printed. The run continues with that.
    fn layer_content(&self, template: &LayerTemplate<'_>, data: &Value) -> Option<LayerContent> {
        if self.suspended.get() || !self.per_minion.contains(&*template.file.path) {
            return None;
        }
        self.catch_up();
        let mut placeholders = self
            .placeholders
            .take()
            .filter(|_| !self.trace.borrow().all)?;
        let rendering = LayerRendering::new(template, data, self.watch.are_present());
        let interned = Arc::new(InternedQuestion {
            question: Question::Rendering(Box::new(rendering)),
            number: None,
        });
        let answer = self.probe.ask(&interned);
        self.add(interned, answer.clone());
        let Some(layer_text) = answer.rendered_layer() else {
            self.unshareable.set(true);
            self.placeholders.replace(Some(placeholders));
            return None;
        };
        let content =
            placeholders.add(Skeleton::parse(&layer_text.text, layer_text.words.len())?)?;
        let layer = content.as_map()?;
        let is_known = |key: &Key| key.as_str().is_some_and(|key| LAYER_KEYS.contains(&key));
        if !layer.keys().all(is_known) {
            return None;
        }
        if ["strategy", "merge_lists"]
            .into_iter()
            .filter_map(|key| layer.get(key))
            .any(has_placeholder)
        {
            return None;
        }
        if !placeholders.is_empty() {
            self.watch.mark_present();
        }
        self.placeholders.replace(Some(placeholders));
        Some(LayerContent {
            content,
            reads: layer_text.reads().clone(),
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

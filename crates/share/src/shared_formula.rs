//! One formula whose results are shared by many minions.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mapstack::secrets::{Redact, Secrets};
use mapstack::trace::FileRead;
use mapstack::{Configuration, DataOptions, Engine, Run};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result};
use mapstack_minion::Minion;
use mapstack_value::{Str, Value, weight};

use crate::decisions::{DecisionTree, Walk};
use crate::placeholders::{Placeholders, ResultSkeleton};
use crate::probe::{Answers, Probe, Questions};
use crate::question::{FactRead, HashedAnswer, Question};
use crate::recorder::{Record, Recorder};
use crate::rendered_layer::{LayerSet, PerMinionLayers};

/// A formula that computes each result once for all minions with equal relevant facts.
///
/// [`outcome`](Self::outcome) returns what [`Configuration::compute`] returns for a minion. If an earlier minion
/// gave equal answers to all questions of a run, this costs little more than the look-ups. Memory is bounded.
/// Threads can share a formula.
///
/// A shared formula assumes that files do not change: make a new one when they do.
///
/// Some results are never shared: those of runs that read the clock, call functions of
/// [`Functions`](mapstack::Functions), or use template languages other than Jinja.
///
/// ```
/// use mapstack::{DataOptions, Engine, loader::MemoryFiles, minion::Minion};
/// use mapstack_share::SharedFormula;
/// let files = MemoryFiles::new()
///     .file("base", "users/parameters/defaults.yaml", "values: {shell: /bin/sh}")
///     .file("base", "users/parameters/os/Debian.yaml", "values: {shell: /bin/bash}");
/// let engine = Engine::new(files);
/// let formula = SharedFormula::new(&engine, "users", DataOptions::default());
/// let minion = |text: &str| Minion::parse(text.as_bytes(), "minion").unwrap().complete();
/// let one = formula.outcome(&minion("{id: web1, grains: {os: Debian, mem_total: 4000}}"));
/// let two = formula.outcome(&minion("{id: web2, grains: {os: Debian, mem_total: 8000}}"));
/// assert!(std::sync::Arc::ptr_eq(&one, &two));
/// ```
pub struct SharedFormula<'e> {
    engine: &'e Engine,
    configuration: Configuration,
    saltenv: Option<Str>,
    known: Option<DecisionTree<Leaf>>,
    layers: Mutex<PerMinionLayers>,
}

/// The result of a formula for one minion, or for several that share it.
#[derive(Debug)]
pub struct Outcome {
    /// The formula's configuration, or the error.
    pub result: Result<Value>,
    /// The warnings of the run, which can accompany a result or an error.
    pub warnings: Arc<[Diagnostic]>,
    /// The files that the run accessed, as in [`Run::file_reads`]. The outcome is valid as long as they do not
    /// change. An outcome that can be shared does not list the missing files of a source definition, because these
    /// differ between minions: the formula looks for them for each minion.
    pub files: Arc<[FileRead]>,
    /// The text made by [`Outcome::text`].
    text: OnceLock<String>,
    kind: u64,
}

/// A number for a new kind of outcomes, see [`Outcome::kind`].
fn new_kind() -> u64 {
    static KINDS: AtomicU64 = AtomicU64::new(0);
    KINDS.fetch_add(1, Ordering::Relaxed)
}

/// The result at a leaf of the decision tree.
struct Leaf {
    /// The outcome, with placeholders in its result if there is a skeleton.
    outcome: Arc<Outcome>,
    skeleton: Option<ResultSkeleton>,
}

impl Leaf {
    /// A leaf for an outcome whose result may contain placeholders. `None` if the run changed a placeholder into
    /// something else.
    fn of(outcome: Outcome, placeholders: Placeholders) -> Option<Arc<Self>> {
        let skeleton = match &outcome.result {
            _ if placeholders.is_empty() => None,
            Ok(value) => Some(ResultSkeleton::of(value, placeholders)?),
            Err(_) => return None,
        };
        Some(Arc::new(Leaf {
            outcome: Arc::new(outcome),
            skeleton,
        }))
    }

    /// The outcome for a minion whose layers rendered to these answers. `None` if the minion has to be run
    /// separately.
    fn outcome(&self, rendered: &[HashedAnswer]) -> Option<Arc<Outcome>> {
        let Some(skeleton) = &self.skeleton else {
            return Some(self.outcome.clone());
        };
        let words: Vec<&[Str]> = rendered
            .iter()
            .filter_map(HashedAnswer::rendered_layer)
            .map(|layer| &*layer.words)
            .collect();
        let Outcome {
            warnings,
            files,
            kind,
            ..
        } = &*self.outcome;
        let (warnings, files, result) =
            (warnings.clone(), files.clone(), Ok(skeleton.fill(&words)?));
        Some(Arc::new(Outcome {
            result,
            warnings,
            files,
            text: OnceLock::new(),
            kind: *kind,
        }))
    }

    fn size(&self) -> usize {
        self.outcome.size() + self.skeleton.as_ref().map_or(0, ResultSkeleton::size)
    }
}

/// Default limit on the memory of a formula, in bytes, approximately.
const MAX_BYTES: usize = 64 << 20;

impl<'e> SharedFormula<'e> {
    /// The result of `map.data` for a formula, with the other arguments.
    pub fn new(engine: &'e Engine, formula: &str, options: DataOptions) -> Self {
        Self::of(engine, Configuration::by_layers(formula, "base", options))
    }

    /// A formula's configuration, in whichever way the formula computes it.
    pub fn of(engine: &'e Engine, configuration: Configuration) -> Self {
        let formula = SharedFormula {
            engine,
            configuration,
            saltenv: None,
            known: None,
            layers: Mutex::default(),
        };
        formula.with_memory(MAX_BYTES)
    }

    /// Use this saltenv for all minions, instead of each minion's own.
    #[must_use]
    pub fn in_saltenv(mut self, saltenv: impl Into<Str>) -> Self {
        self.saltenv = Some(saltenv.into());
        self
    }

    /// Limit the memory of the formula to approximately this many bytes; with 0, nothing is shared.
    #[must_use]
    pub fn with_memory(mut self, bytes: usize) -> Self {
        let questions: Arc<Questions> = self.engine.extension();
        self.known =
            (bytes > 0).then(|| DecisionTree::new(questions.intern(Question::Start), bytes));
        self
    }

    /// The name of the formula.
    #[must_use]
    pub fn formula(&self) -> &str {
        self.configuration.formula()
    }

    /// The configuration that the formula computes.
    #[must_use]
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// The result for a minion.
    pub fn outcome(&self, minion: &Minion) -> Arc<Outcome> {
        self.outcome_for(&Answers::new(&self.engine.with_tree_grains(minion)))
    }

    /// Like [`outcome`](Self::outcome), for a minion whose answers several formulas use.
    pub fn outcome_for(&self, answers: &Answers<'_, 'e>) -> Arc<Outcome> {
        let minion = answers.minion();
        let alone = || Arc::new(self.computed(&self.run(minion)));
        let Some(known) = &self.known else {
            return alone();
        };
        let probe = answers.probe(self.engine, self.saltenv.as_ref());
        match known.follow(|question| probe.ask(question)) {
            Walk::Leaf(leaf, rendered) => return leaf.outcome(&rendered).unwrap_or_else(alone),
            Walk::NotShared => return alone(),
            Walk::Unknown => {}
        }
        let (version, per_minion) = {
            let layers = self.layers();
            (layers.version, layers.active.clone())
        };
        let (outcome, record) = self.recorded(minion, probe, per_minion);
        let (steps, placeholders) = match record {
            Record::Shared(steps, placeholders) => (steps, placeholders),
            Record::NotShareable => return Arc::new(outcome),
            Record::Discarded => return alone(),
            Record::PlaceholdersRead => return self.without_placeholders(known, version, alone),
        };
        let rendered: Vec<HashedAnswer> = steps
            .iter()
            .map(|step| &step.answer)
            .filter(|answer| answer.rendered_layer().is_some())
            .cloned()
            .collect();
        // An error in YAML must show the text as printed, which the run with holes does not have.
        if outcome.result.is_err() && !rendered.is_empty() {
            return alone();
        }
        let Some(leaf) = Leaf::of(outcome, placeholders) else {
            return self.without_placeholders(known, version, alone);
        };
        let outcome = leaf.outcome(&rendered).unwrap_or_else(alone);
        // A file that could not be read may be readable for the next minion, so do not keep that result.
        if leaf
            .outcome
            .result
            .as_ref()
            .err()
            .is_none_or(|e| e.kind() != ErrorKind::File)
        {
            let mut layers = self.layers();
            // If the set of rendered layers has changed since the recording began, the trace does not fit the tree.
            if layers.version == version
                && let Some(layer) = known.keep(steps, &leaf, leaf.size())
                && layers.activate(&layer)
            {
                known.forget();
            }
        }
        outcome
    }

    /// Stop rendering layers for each minion, and run this minion without recording.
    fn without_placeholders(
        &self,
        known: &DecisionTree<Leaf>,
        version: usize,
        alone: impl FnOnce() -> Arc<Outcome>,
    ) -> Arc<Outcome> {
        let mut layers = self.layers();
        if layers.version == version {
            layers.refuse();
            known.forget();
        }
        drop(layers);
        alone()
    }

    fn layers(&self) -> MutexGuard<'_, PerMinionLayers> {
        // Nothing panics while it holds the lock and the data is incomplete, so a poisoned lock is usable.
        self.layers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The facts that a minion's outcome depends on, without duplicates. `None` if this is not known, for example
    /// for templates in other languages than Jinja. Each call runs the formula.
    pub fn facts(&self, minion: &Minion) -> Option<Vec<FactRead>> {
        let minion = &*self.engine.with_tree_grains(minion);
        let probe = Answers::new(minion).probe(self.engine, self.saltenv.as_ref());
        let (_, Record::Shared(steps, _)) = self.recorded(minion, probe, Arc::default()) else {
            return None;
        };
        let mut seen = HashSet::new();
        let reads = steps.iter().flat_map(|step| step.question.question.reads());
        Some(reads.filter(|read| seen.insert(read.clone())).collect())
    }

    /// The minion's secrets, and the texts that templates made of them. Each call runs the formula; the texts are
    /// complete up to the point where a run fails.
    #[must_use]
    pub fn secret_texts(&self, minion: &Minion) -> Vec<Str> {
        let run = self.run(minion).following_secrets();
        // Only the secrets matter here; the caller already has the result or the error.
        let _ = self.configuration.compute(&run);
        run.secret_texts()
    }

    /// A new run of a minion in the saltenv of this formula. The formula keeps nothing of it.
    pub fn run(&self, minion: &Minion) -> Run<'e> {
        self.in_its_saltenv(self.engine.run(minion))
    }

    fn in_its_saltenv(&self, run: Run<'e>) -> Run<'e> {
        match &self.saltenv {
            Some(saltenv) => run.with_saltenv(saltenv.clone()),
            None => run,
        }
    }

    /// Run a minion with a recorder.
    fn recorded(
        &self,
        minion: &Minion,
        probe: Rc<Probe<'e>>,
        per_minion: Arc<LayerSet>,
    ) -> (Outcome, Record) {
        let recorder = Rc::new(Recorder::new(probe, per_minion));
        let run = self.engine.run_with_hooks(minion, recorder.clone());
        let run = self.in_its_saltenv(run);
        let outcome = self.computed(&run);
        let record = recorder.finish(&run);
        (outcome, record)
    }

    fn computed(&self, run: &Run<'_>) -> Outcome {
        let result = self.configuration.compute(run);
        let (warnings, files) = (run.warnings().into(), run.file_reads().into());
        Outcome {
            result,
            warnings,
            files,
            text: OnceLock::new(),
            kind: new_kind(),
        }
    }
}

/// Redacts the messages of an outcome, but not its data.
impl Redact for Outcome {
    fn redacted(&self, secrets: &Secrets) -> Self {
        Outcome {
            result: self.result.clone().map_err(|error| error.redacted(secrets)),
            warnings: self
                .warnings
                .iter()
                .map(|warning| warning.redacted(secrets))
                .collect(),
            files: self.files.clone(),
            text: OnceLock::new(),
            kind: self.kind,
        }
    }
}

impl Outcome {
    /// The outcome of a failed run.
    #[must_use]
    pub fn failed(error: Error) -> Self {
        Outcome::new(Err(error), Arc::default())
    }

    /// The outcome of a run elsewhere, of which no files are known.
    #[must_use]
    pub fn new(result: Result<Value>, warnings: Arc<[Diagnostic]>) -> Self {
        Outcome {
            result,
            warnings,
            files: Arc::default(),
            text: OnceLock::new(),
            kind: new_kind(),
        }
    }

    /// The outcome as text, made by `write` in the first call and shared by all minions with this outcome.
    pub fn text(&self, write: impl FnOnce(&Self) -> String) -> &str {
        self.text.get_or_init(|| write(self))
    }

    /// Identifies outcomes that have the same layers and differ at most in words that templates printed. The number
    /// is valid within this process.
    #[must_use]
    pub fn kind(&self) -> u64 {
        self.kind
    }

    /// Approximate size in bytes, with an allowance for the cached text.
    fn size(&self) -> usize {
        let of_result = match &self.result {
            Ok(value) => 48 * weight(value),
            Err(e) => e.to_string().len() + 512,
        };
        let of_files = self
            .files
            .iter()
            .map(|file| file.path.len() + 64)
            .sum::<usize>();
        of_files
            + of_result
            + self
                .warnings
                .iter()
                .map(|warning| warning.message.len() + 256)
                .sum::<usize>()
    }
}

/// Threads share these types.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<SharedFormula<'_>>();
    shared::<Outcome>();
};

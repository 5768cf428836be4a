//! One formula whose results are shared by many minions.

use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use crate::secrets::{Redact, Secrets};
use crate::trace::FileRead;
use crate::{Configuration, DataOptions, Engine, Run};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result};
use mapstack_minion::Minion;
use mapstack_value::{Str, Value, weight};

use super::decisions::{DecisionTree, DecisionWalk};
use super::probe::{Answers, Probe, Questions};
use super::question::{FactRead, Question};
use super::recorder::{Record, Recorder};

/// A formula that computes each result once for all minions with equal relevant facts.
///
/// [`outcome`](Self::outcome) returns what [`Configuration::compute`] returns for a minion. If an earlier minion
/// gave equal answers to all questions of a run, this costs little more than the look-ups. Memory is bounded.
/// Threads can share a formula.
///
/// A shared formula assumes that files do not change: make a new one when they do.
///
/// Some results are never shared: those of runs that read the clock, call functions of
/// [`Functions`](crate::Functions), or use template languages other than Jinja.
///
/// ```
/// use mapstack::{DataOptions, Engine, loader::MemoryFiles, minion::Minion};
/// use mapstack::share::SharedFormula;
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
    known: Option<DecisionTree<Outcome>>,
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
            DecisionWalk::Leaf(outcome) => return outcome,
            DecisionWalk::NotShared => return alone(),
            DecisionWalk::Unknown => {}
        }
        let (outcome, record) = self.recorded(minion, probe);
        let outcome = Arc::new(outcome);
        // A file that could not be read may be readable for the next minion, so that result is not kept.
        let failure = outcome.result.as_ref().err();
        if let Record::Shared(steps) = record
            && failure.is_none_or(|error| error.kind() != ErrorKind::File)
        {
            known.keep(steps, &outcome, outcome.size());
        }
        outcome
    }

    /// The facts that a minion's outcome depends on, without duplicates. `None` if this is not known, for example
    /// for templates in other languages than Jinja. Each call runs the formula.
    pub fn facts(&self, minion: &Minion) -> Option<Vec<FactRead>> {
        let minion = &*self.engine.with_tree_grains(minion);
        let probe = Answers::new(minion).probe(self.engine, self.saltenv.as_ref());
        self.recorded(minion, probe).1.facts()
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

    /// A new run of a minion in the saltenv of this formula. The formula keeps no part of it.
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
    fn recorded(&self, minion: &Minion, probe: Rc<Probe<'e>>) -> (Outcome, Record) {
        let recorder = Rc::new(Recorder::new(probe));
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
        }
    }

    /// The outcome as text, made by `write` in the first call and shared by all minions with this outcome.
    pub fn text(&self, write: impl FnOnce(&Self) -> String) -> &str {
        self.text.get_or_init(|| write(self))
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

//! One formula for many minions.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

use mapstack_minion::Minion;
use mapstack_value::{Str, Value};

use super::decisions::{Decisions, Led};
use super::question::Told;
use super::{FactRead, Posed, Probe, Question, Recorder, Witness};
use crate::calls::weight;
use crate::diagnostic::{Diagnostic, Error, ErrorKind, Result};
use crate::engine::{Engine, Run};
use crate::lineage::Lineage;
use crate::options::DataOptions;
use crate::trace::FileRead;

/// A formula's configuration, to be worked out for many minions.
///
/// Minions of which a run would look at equal facts share one result: [`outcome`](Self::outcome) is what
/// [`Run::data`] returns for each, and costs little more than the look-ups where another minion had the
/// same answers. What is remembered is bounded. Threads share a recipe.
///
/// Files are taken for what they are while the recipe is used: make a new one when they change.
///
/// Never shared are results of runs that asked for the time, that called functions of
/// [`Functions`](crate::Functions), and whose templates are not in Jinja.
///
/// ```
/// use mapstack::{DataOptions, Engine, Recipe, loader::MemoryFiles, minion::Minion};
/// let files = MemoryFiles::new()
///     .file("base", "users/parameters/defaults.yaml", "values: {shell: /bin/sh}")
///     .file("base", "users/parameters/os/Debian.yaml", "values: {shell: /bin/bash}");
/// let engine = Engine::new(files);
/// let recipe = Recipe::new(&engine, "users", DataOptions::default());
/// let minion = |text: &str| Minion::parse(text.as_bytes(), "minion").unwrap().complete();
/// let one = recipe.outcome(&minion("{id: web1, grains: {os: Debian, mem_total: 4000}}"));
/// let two = recipe.outcome(&minion("{id: web2, grains: {os: Debian, mem_total: 8000}}"));
/// assert!(std::sync::Arc::ptr_eq(&one, &two));
/// ```
pub struct Recipe<'e> {
    engine: &'e Engine,
    formula: String,
    options: DataOptions,
    saltenv: Option<Str>,
    known: Option<Decisions<Outcome>>,
}

/// What came of a formula for a minion, or for several.
#[derive(Debug)]
pub struct Outcome {
    /// The formula's configuration, or why there is none.
    pub result: Result<Value>,
    /// What was worth a warning, whether there is a result or not.
    pub warnings: Vec<Diagnostic>,
    /// The files that were looked at, as [`Run::file_reads`] has them: the outcome stays what it is as
    /// long as they do. Files that a source definition leads to and that are not there are left out of an
    /// outcome that can be shared: a recipe looks for those of each minion.
    pub files: Vec<FileRead>,
    /// The outcome in the words of who uses it.
    text: OnceLock<String>,
}

/// About how many bytes a recipe remembers.
const MOST_BYTES: usize = 64 << 20;

impl<'e> Recipe<'e> {
    /// A formula and the arguments of `map.data` besides it.
    pub fn new(engine: &'e Engine, formula: impl Into<String>, options: DataOptions) -> Self {
        let recipe = Recipe { engine, formula: formula.into(), options, saltenv: None, known: None };
        recipe.with_memory(MOST_BYTES)
    }

    /// Use another saltenv than each minion's own.
    #[must_use]
    pub fn in_saltenv(mut self, saltenv: impl Into<Str>) -> Self {
        self.saltenv = Some(saltenv.into());
        self
    }

    /// Remember about so many bytes at most; with none, nothing is shared.
    #[must_use]
    pub fn with_memory(mut self, bytes: usize) -> Self {
        self.known = (bytes > 0).then(|| Decisions::new(self.engine.questions.pose(Question::Start), bytes));
        self
    }

    /// The formula.
    #[must_use]
    pub fn formula(&self) -> &str {
        &self.formula
    }

    /// What comes of a minion.
    pub fn outcome(&self, minion: &Minion) -> Arc<Outcome> {
        self.outcome_for(&Witness::new(minion))
    }

    /// The same, for who has several recipes for the minion.
    pub fn outcome_for(&self, witness: &Witness<'_, 'e>) -> Arc<Outcome> {
        let minion = witness.minion();
        let Some(known) = &self.known else { return Arc::new(self.worked_out(&self.run(minion))) };
        let probe = witness.probe(self.engine, self.saltenv.as_ref());
        match known.follow(|posed| probe.ask(posed)) {
            Led::To(outcome) => return outcome,
            Led::Apart => return Arc::new(self.worked_out(&self.run(minion))),
            Led::Nowhere => {}
        }
        let (outcome, asked) = self.recorded(minion, probe);
        let outcome = Arc::new(outcome);
        // A file that cannot be read now can be there for the next.
        let lasts = outcome.result.as_ref().err().is_none_or(|e| e.kind() != ErrorKind::File);
        if let Some(asked) = asked.filter(|_| lasts) {
            known.keep(asked, &outcome, outcome.size());
        }
        outcome
    }

    /// The facts of a minion that its outcome depends on, each once; `None` where that is not known, as
    /// for templates that are not in Jinja. That is worked out anew.
    pub fn facts(&self, minion: &Minion) -> Option<Vec<FactRead>> {
        let probe = Witness::new(minion).probe(self.engine, self.saltenv.as_ref());
        let (_, asked) = self.recorded(minion, probe);
        let mut seen = HashSet::new();
        let reads = asked?.into_iter().flat_map(|(posed, _)| posed.question.reads());
        Some(reads.filter(|read| seen.insert(read.clone())).collect())
    }

    /// Where each value of a minion's configuration comes from. That is worked out anew.
    ///
    /// # Errors
    /// As [`Run::data`].
    pub fn explain(&self, minion: &Minion) -> Result<Lineage> {
        self.run(minion).explain(&self.formula, &self.options).map(|(_, lineage)| lineage)
    }

    fn run(&self, minion: &Minion) -> Run<'e> {
        self.in_its_saltenv(self.engine.run(minion))
    }

    fn in_its_saltenv(&self, run: Run<'e>) -> Run<'e> {
        match &self.saltenv {
            Some(saltenv) => run.with_saltenv(saltenv.clone()),
            None => run,
        }
    }

    /// An outcome, and what was asked for it if others can share it.
    fn recorded(&self, minion: &Minion, probe: Rc<Probe<'e>>) -> (Outcome, Option<Vec<(Arc<Posed>, Told)>>) {
        let run = self.in_its_saltenv(Run::recorded(probe, minion));
        let outcome = self.worked_out(&run);
        (outcome, run.facts.recorder().and_then(Recorder::finish))
    }

    fn worked_out(&self, run: &Run<'_>) -> Outcome {
        let result = run.data(&self.formula, &self.options);
        Outcome { result, warnings: run.warnings(), files: run.file_reads(), text: OnceLock::new() }
    }
}

impl Outcome {
    /// The outcome of what failed.
    #[must_use]
    pub fn failed(error: Error) -> Self {
        Outcome { result: Err(error), warnings: Vec::new(), files: Vec::new(), text: OnceLock::new() }
    }

    /// The outcome as its user writes it, worked out once for all minions that share it.
    pub fn text(&self, write: impl FnOnce(&Self) -> String) -> &str {
        self.text.get_or_init(|| write(self))
    }

    /// About how many bytes it takes, its text included.
    fn size(&self) -> usize {
        let of_result = match &self.result {
            Ok(value) => 48 * weight(value),
            Err(e) => e.to_string().len() + 512,
        };
        let of_files = self.files.iter().map(|file| file.path.len() + 64).sum::<usize>();
        of_files + of_result + self.warnings.iter().map(|warning| warning.message.len() + 256).sum::<usize>()
    }
}

/// Recipes and what came of them are shared between threads.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Recipe<'_>>();
    shared::<Outcome>();
};

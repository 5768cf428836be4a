//! One formula for many minions.

use std::collections::HashSet;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use mapstack::secrets::{Redact, Secrets};
use mapstack::trace::FileRead;
use mapstack::{DataOptions, Engine, Run};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result};
use mapstack_minion::Minion;
use mapstack_value::{Str, Value, weight};

use crate::blanks::{Form, Sheet};
use crate::decisions::{Decisions, Led};
use crate::printed::{Layers, Printing};
use crate::probe::{Probe, Questions, Witness};
use crate::question::{FactRead, Question, Told};
use crate::recorder::{Record, Recorder};

/// A formula's configuration, to be worked out for many minions.
///
/// Minions of which a run would look at equal facts share one result: [`outcome`](Self::outcome) is what
/// [`Run::data`] returns for each, and costs little more than the look-ups where another minion had the
/// same answers. What is remembered is bounded. Threads share a recipe.
///
/// Files are taken for what they are while the recipe is used: make a new one when they change.
///
/// Never shared are results of runs that asked for the time, that called functions of
/// [`Functions`](mapstack::Functions), and whose templates are not in Jinja.
///
/// ```
/// use mapstack::{DataOptions, Engine, loader::MemoryFiles, minion::Minion};
/// use mapstack_share::Recipe;
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
    known: Option<Decisions<Leaf>>,
    layers: Mutex<Layers>,
}

/// What came of a formula for a minion, or for several.
#[derive(Debug)]
pub struct Outcome {
    /// The formula's configuration, or why there is none.
    pub result: Result<Value>,
    /// What was worth a warning, whether there is a result or not.
    pub warnings: Arc<[Diagnostic]>,
    /// The files that were looked at, as [`Run::file_reads`] has them: the outcome stays what it is as
    /// long as they do. Files that a source definition leads to and that are not there are left out of an
    /// outcome that can be shared: a recipe looks for those of each minion.
    pub files: Arc<[FileRead]>,
    /// The outcome in the words of who uses it.
    text: OnceLock<String>,
    kind: u64,
}

/// A number that no other kind of outcomes has.
fn new_kind() -> u64 {
    static KINDS: AtomicU64 = AtomicU64::new(0);
    KINDS.fetch_add(1, Ordering::Relaxed)
}

/// What minions with the same answers have.
struct Leaf {
    /// What all of them have, but for blanks in the result.
    outcome: Arc<Outcome>,
    form: Option<Form>,
}

impl Leaf {
    /// An outcome whose result may have blanks; `None` if something was made of one of them.
    fn of(outcome: Outcome, sheet: Sheet) -> Option<Arc<Self>> {
        let form = match &outcome.result {
            _ if sheet.is_empty() => None,
            Ok(value) => Some(Form::of(value, sheet)?),
            Err(_) => return None,
        };
        Some(Arc::new(Leaf {
            outcome: Arc::new(outcome),
            form,
        }))
    }

    /// What a minion has whose layers printed something; `None` if that makes something else of its result.
    fn outcome(&self, printed: &[Told]) -> Option<Arc<Outcome>> {
        let Some(form) = &self.form else {
            return Some(self.outcome.clone());
        };
        let words: Vec<&[Str]> = printed
            .iter()
            .filter_map(Told::print)
            .map(|print| &*print.words)
            .collect();
        let Outcome {
            warnings,
            files,
            kind,
            ..
        } = &*self.outcome;
        let (warnings, files, result) = (warnings.clone(), files.clone(), Ok(form.filled(&words)?));
        Some(Arc::new(Outcome {
            result,
            warnings,
            files,
            text: OnceLock::new(),
            kind: *kind,
        }))
    }

    fn size(&self) -> usize {
        self.outcome.size() + self.form.as_ref().map_or(0, Form::size)
    }
}

/// About how many bytes a recipe remembers.
const MAX_BYTES: usize = 64 << 20;

impl<'e> Recipe<'e> {
    /// A formula and the arguments of `map.data` besides it.
    pub fn new(engine: &'e Engine, formula: impl Into<String>, options: DataOptions) -> Self {
        let recipe = Recipe {
            engine,
            formula: formula.into(),
            options,
            saltenv: None,
            known: None,
            layers: Mutex::default(),
        };
        recipe.with_memory(MAX_BYTES)
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
        let questions: Arc<Questions> = self.engine.kept();
        self.known = (bytes > 0).then(|| Decisions::new(questions.pose(Question::Start), bytes));
        self
    }

    /// The formula.
    #[must_use]
    pub fn formula(&self) -> &str {
        &self.formula
    }

    /// The arguments of `map.data` besides the formula.
    #[must_use]
    pub fn options(&self) -> &DataOptions {
        &self.options
    }

    /// What comes of a minion.
    pub fn outcome(&self, minion: &Minion) -> Arc<Outcome> {
        self.outcome_for(&Witness::new(minion))
    }

    /// The same, for who has several recipes for the minion.
    pub fn outcome_for(&self, witness: &Witness<'_, 'e>) -> Arc<Outcome> {
        let minion = witness.minion();
        let alone = || Arc::new(self.worked_out(&self.run(minion)));
        let Some(known) = &self.known else {
            return alone();
        };
        let probe = witness.probe(self.engine, self.saltenv.as_ref());
        match known.follow(|posed| probe.ask(posed)) {
            Led::To(leaf, printed) => return leaf.outcome(&printed).unwrap_or_else(alone),
            Led::Apart => return alone(),
            Led::Nowhere => {}
        }
        let (version, printing) = {
            let layers = self.layers();
            (layers.version, layers.printing.clone())
        };
        let (outcome, record) = self.recorded(minion, probe, printing);
        let (steps, sheet) = match record {
            Record::Shared(steps, sheet) => (steps, sheet),
            Record::Own => return Arc::new(outcome),
            Record::Unknown => return alone(),
            Record::Spoilt => return self.without_blanks(known, version, alone),
        };
        let printed: Vec<Told> = steps
            .iter()
            .map(|step| &step.told)
            .filter(|told| told.print().is_some())
            .cloned()
            .collect();
        // What a layer printed is no text that an error could show a place in.
        if outcome.result.is_err() && !printed.is_empty() {
            return alone();
        }
        let Some(leaf) = Leaf::of(outcome, sheet) else {
            return self.without_blanks(known, version, alone);
        };
        let outcome = leaf.outcome(&printed).unwrap_or_else(alone);
        // A file that cannot be read now can be there for the next.
        if leaf
            .outcome
            .result
            .as_ref()
            .err()
            .is_none_or(|e| e.kind() != ErrorKind::File)
        {
            let mut layers = self.layers();
            // Who began before layers were asked otherwise has another record.
            if layers.version == version
                && let Some(layer) = known.keep(steps, &leaf, leaf.size())
                && layers.print(&layer)
            {
                known.forget();
            }
        }
        outcome
    }

    /// Ask no layers what they print any more.
    fn without_blanks(
        &self,
        known: &Decisions<Leaf>,
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

    fn layers(&self) -> MutexGuard<'_, Layers> {
        // A panic elsewhere leaves nothing half-written here.
        self.layers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The facts of a minion that its outcome depends on, each once; `None` where that is not known, as
    /// for templates that are not in Jinja. That is worked out anew.
    pub fn facts(&self, minion: &Minion) -> Option<Vec<FactRead>> {
        let probe = Witness::new(minion).probe(self.engine, self.saltenv.as_ref());
        let (_, Record::Shared(steps, _)) = self.recorded(minion, probe, Arc::default()) else {
            return None;
        };
        let mut seen = HashSet::new();
        let reads = steps.iter().flat_map(|step| step.posed.question.reads());
        Some(reads.filter(|read| seen.insert(read.clone())).collect())
    }

    /// The texts that templates made of a minion's secrets, and those secrets. That is worked out again, whether
    /// it fails or not.
    #[must_use]
    pub fn secret_texts(&self, minion: &Minion) -> Vec<Str> {
        let run = self.run(minion).following_secrets();
        // What it comes to is known already.
        let _ = run.data(&self.formula, &self.options);
        run.secret_texts()
    }

    /// A run of a minion, in the saltenv that outcomes are worked out in. Nothing of it is shared.
    pub fn run(&self, minion: &Minion) -> Run<'e> {
        self.in_its_saltenv(self.engine.run(minion))
    }

    fn in_its_saltenv(&self, run: Run<'e>) -> Run<'e> {
        match &self.saltenv {
            Some(saltenv) => run.with_saltenv(saltenv.clone()),
            None => run,
        }
    }

    /// An outcome, and what was asked for it.
    fn recorded(
        &self,
        minion: &Minion,
        probe: Rc<Probe<'e>>,
        printing: Arc<Printing>,
    ) -> (Outcome, Record) {
        let recorder = Rc::new(Recorder::new(probe, printing));
        let run = self.engine.run_with_hooks(minion, recorder.clone());
        let run = self.in_its_saltenv(run);
        let outcome = self.worked_out(&run);
        let record = recorder.finish(&run);
        (outcome, record)
    }

    fn worked_out(&self, run: &Run<'_>) -> Outcome {
        let result = run.data(&self.formula, &self.options);
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

/// What an outcome says beside its data.
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
    /// The outcome of what failed.
    #[must_use]
    pub fn failed(error: Error) -> Self {
        let (warnings, files) = (Arc::default(), Arc::default());
        Outcome {
            result: Err(error),
            warnings,
            files,
            text: OnceLock::new(),
            kind: new_kind(),
        }
    }

    /// The outcome as its user writes it, worked out once for all minions that share it.
    pub fn text(&self, write: impl FnOnce(&Self) -> String) -> &str {
        self.text.get_or_init(|| write(self))
    }

    /// What kind of outcome it is: all of a kind have the same layers, of which they differ at most in words that
    /// templates printed. The number is good as long as the program runs.
    #[must_use]
    pub fn kind(&self) -> u64 {
        self.kind
    }

    /// About how many bytes it takes, its text included.
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

/// Recipes and what came of them are shared between threads.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Recipe<'_>>();
    shared::<Outcome>();
};

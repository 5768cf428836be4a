//! Pieces of work that minions share, such as the render of one file.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

use crate::Run;
use crate::hooks::Hooks;
use crate::trace::FileRead;
use foldhash::fast::RandomState;
use mapstack_diagnostic::{Diagnostic, Result};

use super::decisions::{DecisionTree, DecisionWalk};
use super::probe::Probe;
use super::question::{FactRead, Question};
use super::recorder::{Record, RecordedRead, Recorder};

/// The key of a piece of work, with the memory that it takes.
pub trait WorkKey: Eq + Hash {
    /// Approximate size in bytes.
    fn size(&self) -> usize;
}

impl WorkKey for &str {
    fn size(&self) -> usize {
        self.len()
    }
}

/// The results of several pieces of work, each of which minions share by what it read of them. Threads share it.
///
/// A piece of work has a key, which covers everything that the work uses besides the minion, its run and files
/// that do not change.
///
/// ```
/// use mapstack::{Engine, loader::MemoryFiles, minion::Minion};
/// use mapstack::share::{MinionAnswers, SharedWork, WorkOrigin};
/// let engine = Engine::new(MemoryFiles::new().file("base", "a.sls", "os: {{ grains.os }}"));
/// let works = SharedWork::new(1 << 20);
/// let mut known = 0;
/// for id in ["web1", "web2", "web3"] {
///     let minion = Minion::parse(format!("{{id: {id}, grains: {{os: Arch}}}}").as_bytes(), id).unwrap().complete();
///     let run = engine.run(&minion);
///     let answers = MinionAnswers::default();
///     let found = works.find("a.sls", &answers, &run, |run| (run.sls("a.sls").unwrap(), Some(100)));
///     known += usize::from(matches!(found, WorkOrigin::Known(_)));
/// }
/// assert_eq!(known, 2);
/// ```
pub struct SharedWork<K, T> {
    works: RwLock<SharedPieces<K, T>>,
    bytes: AtomicUsize,
    max_bytes: usize,
    /// True if results know the facts that they depend on.
    notes_facts: bool,
}

type SharedPieces<K, T> = HashMap<K, Arc<SharedPiece<T>>, RandomState>;

struct SharedPiece<T> {
    known: DecisionTree<WorkResult<T>>,
    /// The number of results since the last shared one that no other minion could have.
    refused: AtomicUsize,
}

/// Work stops being recorded once it gave this many results that no other minion can have.
const MAX_REFUSED: usize = 8;

/// Bytes that a piece of work takes besides its key and what is recorded: the root of its tree, and allocations.
const OVERHEAD: usize = 256;

/// The result of a piece of work.
#[derive(Debug)]
pub struct WorkResult<T> {
    /// The result.
    pub value: T,
    warnings: Vec<Diagnostic>,
    reads: Vec<FileRead>,
    steps: u64,
    facts: Option<Vec<FactRead>>,
}

/// The known result of a piece of work for a minion.
enum LookedUp<T> {
    Known(Arc<WorkResult<T>>),
    /// The results of other minions, among which this minion's is missing.
    Unknown(Arc<SharedPiece<T>>),
    /// Minions differ too much in what it reads.
    NotShared,
}

/// The way in which a minion comes by the result of a piece of work.
pub enum WorkOrigin<'e, T> {
    /// Another minion has the same. [`WorkResult::replay`] lets the run of this one know.
    Known(Arc<WorkResult<T>>),
    /// The work was done, in a separate run.
    Done {
        /// The outcome.
        done: Arc<WorkResult<T>>,
        /// The run, if it sees other facts than it was given. Later work has to go on in it.
        changed: Option<Box<Run<'e>>>,
        /// True if other minions can have the result.
        is_shared: bool,
    },
}

impl<'e, T> WorkOrigin<'e, T> {
    /// Do work in a separate run, which no other minion can have.
    ///
    /// Work of which nothing is recorded has a separate run, too. The cost of an operation depends on what earlier
    /// templates of the run turned into objects, so all minions would not reach a limit at the same step if only some
    /// of them did the earlier work.
    pub fn alone(
        answers: &MinionAnswers<'e>,
        run: &Run<'e>,
        work: impl FnOnce(&Run<'e>) -> T,
    ) -> Self {
        let probe = answers.probe(run);
        let beside = run.beside(None);
        let done = WorkResult::in_run(work(&beside), None, &beside, run);
        let is_changed = !has_given_facts(&beside, probe);
        WorkOrigin::done(done, beside, is_changed, false)
    }

    fn done(done: Arc<WorkResult<T>>, beside: Run<'e>, is_changed: bool, is_shared: bool) -> Self {
        WorkOrigin::Done {
            done,
            changed: is_changed.then(|| Box::new(beside)),
            is_shared,
        }
    }
}

/// The answers of a minion to the questions of its works, which see the facts that it has when the first of them is
/// looked for.
#[derive(Default)]
pub struct MinionAnswers<'e>(OnceCell<Rc<Probe<'e>>>);

impl<'e> MinionAnswers<'e> {
    fn probe(&self, run: &Run<'e>) -> &Rc<Probe<'e>> {
        let make = || Rc::new(Probe::new(run.engine(), run.beside(None)));
        self.0.get_or_init(make)
    }

    /// The result of work in a separate run, with the facts that it read, as [`WorkResult::facts`].
    ///
    /// ```
    /// use mapstack::{Engine, loader::MemoryFiles, minion::{Minion, Part}};
    /// use mapstack::share::MinionAnswers;
    /// let engine = Engine::new(MemoryFiles::new().file("base", "a.sls", "os: {{ grains.get('os') }}"));
    /// let run = engine.run(&Minion::new("web1"));
    /// let (_, facts) = MinionAnswers::default().noting(&run, |run| run.sls("a.sls"));
    /// assert!(facts.unwrap().iter().any(|fact| fact.sees(Part::Grains, &["os".into()])));
    /// ```
    pub fn noting<T>(
        &self,
        run: &Run<'e>,
        work: impl FnOnce(&Run<'e>) -> T,
    ) -> (T, Option<Vec<FactRead>>) {
        let recorder = Rc::new(Recorder::new(self.probe(run).clone()));
        let beside = run.beside(Some(recorder.clone()));
        let made = work(&beside);
        (made, recorder.finish(&beside).facts())
    }
}

/// True if a run still sees the facts and options that its minion was given. If not, its work is nothing that other
/// minions can have.
fn has_given_facts(run: &Run<'_>, probe: &Probe<'_>) -> bool {
    let is_synced =
        run.sync_facts().is_ok() && run.has_given_options() && run.has_given_facts_of_templates();
    let (now, given) = (run.minion(), probe.run.minion());
    let has_facts = now.grains.ptr_eq(&given.grains) && now.pillar.ptr_eq(&given.pillar);
    is_synced && has_facts
}

impl<K: WorkKey, T> SharedWork<K, T> {
    /// Nothing is known yet. Keys and results take approximately this many bytes at most; with 0, nothing is shared.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        SharedWork {
            works: RwLock::default(),
            bytes: AtomicUsize::new(0),
            max_bytes,
            notes_facts: false,
        }
    }

    /// The same with results that know the facts that they depend on, as [`WorkResult::facts`].
    #[must_use]
    pub fn noting_facts(mut self) -> Self {
        self.notes_facts = true;
        self
    }

    /// Look for the result of a piece of work, for the minion of a run. If no minion with the same answers has it, the
    /// work is done in a [run beside](Run::beside) the given one. It returns the result and its approximate size in
    /// bytes; without a size, no other minion gets the result.
    pub fn find<'e>(
        &self,
        key: K,
        answers: &MinionAnswers<'e>,
        run: &Run<'e>,
        work: impl FnOnce(&Run<'e>) -> (T, Option<usize>),
    ) -> WorkOrigin<'e, T> {
        self.find_by(|recorder| recorder, key, answers, run, work)
    }

    /// The same for a run whose hooks are made of the recorder.
    fn find_by<'e, H: Hooks + 'e>(
        &self,
        hooks: impl FnOnce(Rc<Recorder<'e>>) -> Rc<H>,
        key: K,
        answers: &MinionAnswers<'e>,
        run: &Run<'e>,
        work: impl FnOnce(&Run<'e>) -> (T, Option<usize>),
    ) -> WorkOrigin<'e, T> {
        let probe = answers.probe(run);
        let recorded = match self.look_up(key, probe, run.steps_left()) {
            LookedUp::Known(done) => return WorkOrigin::Known(done),
            LookedUp::NotShared if self.notes_facts => None,
            LookedUp::NotShared => return WorkOrigin::alone(answers, run, |run| work(run).0),
            LookedUp::Unknown(known) => Some(known),
        };
        let recorder = Rc::new(Recorder::new(probe.clone()));
        let beside = run.beside(Some(hooks(recorder.clone())));
        let (value, size) = work(&beside);
        let is_changed = !has_given_facts(&beside, probe);
        let record = recorder.finish(&beside);
        let facts = self.notes_facts.then(|| record.facts()).flatten();
        let done = WorkResult::in_run(value, facts, &beside, run);
        let is_shared = match (record, size, is_changed, &recorded) {
            (Record::Shared(steps), Some(size), false, Some(recorded)) => {
                self.keep(recorded, steps, &done, size);
                true
            }
            (.., recorded) => {
                if let Some(recorded) = recorded {
                    recorded.refused.fetch_add(1, Ordering::Relaxed);
                }
                false
            }
        };
        WorkOrigin::done(done, beside, is_changed, is_shared)
    }

    fn look_up(&self, key: K, probe: &Probe<'_>, steps_left: u64) -> LookedUp<T> {
        if self.max_bytes == 0 {
            return LookedUp::NotShared;
        }
        let recorded = self.work(key, probe);
        if recorded.refused.load(Ordering::Relaxed) >= MAX_REFUSED {
            return LookedUp::NotShared;
        }
        match recorded.known.follow(|question| probe.ask(question)) {
            // With too few steps, run the work, as the error must name the place at which they run out.
            DecisionWalk::Leaf(done) if done.steps > steps_left => LookedUp::NotShared,
            DecisionWalk::Leaf(done) => {
                recorded.refused.store(0, Ordering::Relaxed);
                LookedUp::Known(done)
            }
            DecisionWalk::NotShared => LookedUp::NotShared,
            DecisionWalk::Unknown => LookedUp::Unknown(recorded),
        }
    }

    fn work(&self, key: K, probe: &Probe<'_>) -> Arc<SharedPiece<T>> {
        // Nothing panics while it holds the lock and the table is incomplete, so a poisoned lock is usable.
        let known = self.works.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(work) = known.get(&key) {
            return work.clone();
        }
        drop(known);
        let size = key.size() + size_of::<(K, SharedPiece<T>)>() + OVERHEAD;
        let new = || {
            let first = probe.questions.intern(Question::Start);
            Arc::new(SharedPiece {
                known: DecisionTree::new(first, self.max_bytes),
                refused: AtomicUsize::new(0),
            })
        };
        // A key counts even if no result of its work is ever kept.
        let mut works = self.with_room(size);
        works.entry(key).or_insert_with(new).clone()
    }

    /// The works with room for this many bytes.
    fn with_room(&self, size: usize) -> RwLockWriteGuard<'_, SharedPieces<K, T>> {
        let mut works = self.works.write().unwrap_or_else(PoisonError::into_inner);
        if self.bytes.fetch_add(size, Ordering::Relaxed) + size > self.max_bytes {
            // Emptying everything is simple, and happens rarely.
            works.clear();
            self.bytes.store(size, Ordering::Relaxed);
        }
        works
    }

    fn keep(
        &self,
        work: &SharedPiece<T>,
        steps: Vec<RecordedRead>,
        done: &Arc<WorkResult<T>>,
        size: usize,
    ) {
        let size = size + done.size();
        let all = size + steps.iter().map(RecordedRead::size).sum::<usize>();
        work.known.keep(steps, done, size);
        if self.bytes.fetch_add(all, Ordering::Relaxed) + all > self.max_bytes {
            drop(self.with_room(0));
        }
    }
}

impl<T> WorkResult<T> {
    /// The result of work that was done in a run beside another one.
    fn in_run(
        value: T,
        facts: Option<Vec<FactRead>>,
        beside: &Run<'_>,
        run: &Run<'_>,
    ) -> Arc<Self> {
        Arc::new(WorkResult {
            value,
            facts,
            warnings: beside.warnings(),
            reads: beside.file_reads(),
            steps: run.steps_left().saturating_sub(beside.steps_left()),
        })
    }

    /// The facts that the result depends on, each once. `None` if they are not known: some languages do not say what
    /// they read, and nothing is noted without [`SharedWork::noting_facts`].
    #[must_use]
    pub fn facts(&self) -> Option<&[FactRead]> {
        self.facts.as_deref()
    }

    /// The files that were accessed for the result.
    #[must_use]
    pub fn reads(&self) -> &[FileRead] {
        &self.reads
    }

    /// Let a run have the warnings, the reads of files and the steps of the work as if it had done it.
    ///
    /// # Errors
    /// There are not enough steps left.
    pub fn replay(&self, run: &Run<'_>) -> Result<()> {
        for warning in &self.warnings {
            run.warn(warning.clone());
        }
        run.note_reads(&self.reads);
        run.spend(usize::try_from(self.steps).unwrap_or(usize::MAX))
    }

    /// Approximate size in bytes, without the value.
    fn size(&self) -> usize {
        let warnings = self
            .warnings
            .iter()
            .map(|warning| warning.message.len() + 256);
        let reads = self.reads.iter().map(|read| read.path.len() + 64);
        let facts = self.facts.as_ref().map_or(0, |facts| 96 * facts.len());
        256 + warnings.sum::<usize>() + reads.sum::<usize>() + facts
    }
}

/// Threads share these types.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<SharedWork<String, String>>();
};

#[cfg(test)]
mod tests {
    use crate::hooks::FactLookup;
    use crate::{Engine, loader::MemoryFiles, minion::Minion};
    use mapstack_minion::Part;
    use mapstack_pyobject::Reader;

    use super::*;

    /// Reads that a broken recorder misses.
    #[derive(Clone, Copy, PartialEq)]
    enum LostReads {
        Nothing,
        LookUps,
        Dict(Part),
    }

    struct Broken<'e> {
        recorder: Rc<Recorder<'e>>,
        lost: LostReads,
    }

    impl Hooks for Broken<'_> {
        fn fact_read(&self, look: FactLookup<'_>) {
            if self.lost != LostReads::LookUps {
                self.recorder.fact_read(look);
            }
        }

        fn fact_reader(&self, part: Part) -> Option<Rc<dyn Reader>> {
            let reader = self.recorder.fact_reader(part);
            reader.filter(|_| self.lost != LostReads::Dict(part))
        }

        fn facts_changed(&self) {
            self.recorder.facts_changed();
        }
    }

    /// The ways in which templates read facts, with the reads that are lost.
    const READS: [(&str, LostReads); 6] = [
        ("plain", LostReads::Nothing),
        ("{{ grains.os }}", LostReads::Dict(Part::Grains)),
        ("{{ pillar.role }}", LostReads::Dict(Part::Pillar)),
        ("{{ opts.own }}", LostReads::Dict(Part::Opts)),
        ("{{ salt['config.get']('os') }}", LostReads::LookUps),
        ("{{ salt['match.grain']('os:Arch') }}", LostReads::LookUps),
    ];

    /// The templates of which some minion gets another result by sharing than alone.
    fn wrong(lost: LostReads) -> Vec<&'static str> {
        let is_wrong = |read: &str| {
            let files = MemoryFiles::new().file("base", "a.sls", format!("read: {read}"));
            let engine = Engine::new(files);
            let works = SharedWork::new(1 << 20);
            ["Arch", "Debian", "Arch"].into_iter().any(|os| {
                let text = format!(
                    "{{id: a, grains: {{os: {os}}}, pillar: {{role: {os}}}, opts: {{own: {os}}}}}"
                );
                let minion = Minion::parse(text.as_bytes(), "a.yaml").unwrap().complete();
                let (run, answers) = (engine.run(&minion), MinionAnswers::default());
                let work = |run: &Run<'_>| (run.sls("a.sls").unwrap(), Some(100));
                let hooks = |recorder| Rc::new(Broken { recorder, lost });
                let value = match works.find_by(hooks, "a.sls", &answers, &run, work) {
                    WorkOrigin::Known(done) | WorkOrigin::Done { done, .. } => done.value.clone(),
                };
                !value.is_same(&engine.run(&minion).sls("a.sls").unwrap())
            })
        };
        let texts = READS.into_iter().map(|(read, _)| read);
        texts.filter(|read| is_wrong(read)).collect()
    }

    #[test]
    fn a_recorder_that_misses_reads_gives_wrong_results() {
        assert_eq!(wrong(LostReads::Nothing), [""; 0]);
        let parts = [Part::Grains, Part::Pillar, Part::Opts].map(LostReads::Dict);
        for lost in parts.into_iter().chain([LostReads::LookUps]) {
            let found = wrong(lost);
            let is_found = |(read, of): &(&str, LostReads)| *of == lost && found.contains(read);
            assert!(READS.iter().any(is_found), "{found:?}");
        }
    }

    #[test]
    fn keys_count_even_if_no_result_is_kept() {
        let engine = Engine::new(MemoryFiles::new());
        let run = engine.run(&Minion::new("web1"));
        let names: Vec<String> = (0..1000).map(|number| format!("{number:0>500}")).collect();
        let works = SharedWork::new(1 << 16);
        let mut most = 0;
        for name in &names {
            let answers = MinionAnswers::default();
            let found = works.find(name.as_str(), &answers, &run, |_| ((), None));
            assert!(matches!(found, WorkOrigin::Done { .. }));
            most = most.max(works.works.read().unwrap().len());
        }
        assert!((10..=(1 << 16) / 500).contains(&most), "{most}");
    }
}

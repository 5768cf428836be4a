//! The outcomes of jobs, kept for all threads: a job is done once for all requests of the same.
//!
//! The result of a function of a tree's modules depends on its arguments and the answers it gets, unless it reads
//! the clock or the like, which the program reports. So its outcome is kept with its questions. For the next job
//! that is the same, the host is asked the same questions, as if the job ran; if all answers are the same, so is the
//! outcome. No job sees what another one got: it would have been given the same.

use std::cell::Cell;
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError};
use std::time::Duration;

use crate::protocol::{
    CommandAnswer, FailureKind, FunctionJob, Job, JobOutcome, JobUsage, Message, SessionMessage,
};
use mapstack_pyobject::Result;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::Limits;
use super::session::JobSession;

/// A job that was done.
#[derive(Debug)]
struct FinishedJob {
    asked: Vec<(SessionMessage, CommandAnswer)>,
    outcome: JobOutcome,
    steps: u64,
    bytes: usize,
    /// The limits, if one of them was reached.
    reached: Option<Limits>,
}

impl FinishedJob {
    /// True if the job comes to the same end within limits.
    fn holds_within(&self, limits: &Limits) -> bool {
        // A run has less and less time: about as much is as little.
        let about = |given: u128, known: u128| given <= known + known / 8;
        match &self.reached {
            None => self.steps <= limits.fuel,
            Some(reached) => {
                about(limits.fuel.into(), reached.fuel.into())
                    && about(limits.time.as_micros(), reached.time.as_micros())
                    && about(limits.memory as u128, reached.memory as u128)
            }
        }
    }
}

/// The outcomes of one job, for different answers.
#[derive(Debug, Default, Clone)]
struct All(Arc<Vec<Arc<FinishedJob>>>);

/// The most bytes that are kept.
const MAX_BYTES: u64 = 64 << 20;
/// About how many jobs these are.
const USUAL_JOBS: usize = 10_000;
/// The most sets of answers for one job.
const MAX_VARIANTS: usize = 64;

static KEPT: LazyLock<Cache<Arc<[u8]>, All, Size>> =
    LazyLock::new(|| Cache::with_weighter(USUAL_JOBS, MAX_BYTES, Size));
/// Held while a job is added to those that are kept.
static ADDING: Mutex<()> = Mutex::new(());

/// The weight of a job: its bytes and those of its questions, answers and outcomes.
#[derive(Clone)]
struct Size;

impl Weighter<Arc<[u8]>, All> for Size {
    fn weight(&self, key: &Arc<[u8]>, all: &All) -> u64 {
        let done: usize = all.0.iter().map(|done| done.bytes).sum();
        (key.len() + done).max(1) as u64
    }
}

/// The key of a job's outcomes; `None` for jobs that are always done.
fn key(job: &Job) -> Option<Arc<[u8]>> {
    matches!(job, Job::Function(_) | Job::Render(_)).then(|| job.to_bytes().into())
}

/// The jobs that load a module, which threads are doing at the moment.
static LOADING: Mutex<Vec<Arc<[u8]>>> = Mutex::new(Vec::new());
/// Woken when one of them is done.
static LOADED: Condvar = Condvar::new();

/// The turn of a thread to load a module; the next thread gets it when this is dropped.
pub(super) struct LoadTurn(Arc<[u8]>);

thread_local! {
    /// True while this thread has a turn. It does not wait for another one: two threads could wait for each other.
    static HAS_TURN: Cell<bool> = const { Cell::new(false) };
}

/// Wait until no other thread loads the same module, so that one that never loads takes its time once. Functions do not
/// wait: most give other answers for other minions. `None` for them, inside another turn, and where time is up.
pub(super) fn turn(job: &Job, time: Duration) -> Option<LoadTurn> {
    let Job::Function(FunctionJob { function: None, .. }) = job else {
        return None;
    };
    let key = key(job).filter(|_| !HAS_TURN.get())?;
    let loading = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
    let is_taken = |loading: &mut Vec<Arc<[u8]>>| loading.contains(&key);
    let (mut loading, waited) = LOADED
        .wait_timeout_while(loading, time, is_taken)
        .unwrap_or_else(PoisonError::into_inner);
    if waited.timed_out() {
        return None;
    }
    loading.push(key.clone());
    HAS_TURN.set(true);
    Some(LoadTurn(key))
}

impl Drop for LoadTurn {
    fn drop(&mut self) {
        let mut loading = LOADING.lock().unwrap_or_else(PoisonError::into_inner);
        loading.retain(|key| *key != self.0);
        HAS_TURN.set(false);
        LOADED.notify_all();
    }
}

/// The outcome of the same job before, if the host answers the same. The host's answers are recorded in the talk.
pub(super) fn recalled(talk: &mut JobSession<'_>) -> Result<Option<JobOutcome>> {
    let Some(All(known)) = key(talk.job).and_then(|key| KEPT.get(&key)) else {
        return Ok(None);
    };
    let mut left: Vec<&Arc<FinishedJob>> = known
        .iter()
        .filter(|done| done.holds_within(talk.limits))
        .collect();
    for number in 0.. {
        // Whatever got the same answers so far asks the same question next, or none.
        if let Some(done) = left.iter().find(|done| done.asked.len() == number) {
            return Ok(Some(done.outcome.clone()));
        }
        let Some((question, _)) = left.first().and_then(|done| done.asked.get(number)) else {
            break;
        };
        let question = question.clone();
        let answer = talk
            .asked(question.clone())
            .map_err(super::lost::LostJob::without_job)?;
        talk.send(&answer);
        left.retain(|done| {
            done.asked
                .get(number)
                .is_some_and(|(asked, known)| *asked == question && is_same(known, &answer))
        });
    }
    // The job is done, with the answers there are.
    talk.rewind();
    Ok(None)
}

/// Keep the outcome of a job, a failure too, if it depends on nothing but what the job asked.
pub(super) fn keep(talk: &JobSession<'_>, outcome: &JobOutcome, taken: JobUsage) {
    let reached = match outcome {
        JobOutcome::Function { .. } => None,
        JobOutcome::Failed { failure, .. } => match failure.kind {
            FailureKind::Broken => return,
            FailureKind::Limit => Some(*talk.limits),
            _ => None,
        },
        _ => return,
    };
    if taken.is_by_chance {
        return;
    }
    let (Some(key), Some(asked)) = (key(talk.job), talk.replay.recorded()) else {
        return;
    };
    let bytes = outcome.to_bytes().len() + talk.replay.bytes();
    let done = Arc::new(FinishedJob {
        asked: asked.to_vec(),
        outcome: outcome.clone(),
        steps: taken.steps,
        bytes,
        reached,
    });
    let _held = ADDING.lock();
    let mut all: Vec<Arc<FinishedJob>> = KEPT
        .get(&key)
        .map(|All(known)| known.to_vec())
        .unwrap_or_default();
    if all.len() == MAX_VARIANTS {
        all.remove(0);
    }
    all.push(done);
    KEPT.insert(key, All(Arc::new(all)));
}

/// True if code cannot tell two answers apart. Errors of the host's have numbers of their own in each talk.
fn is_same(one: &CommandAnswer, other: &CommandAnswer) -> bool {
    match (one, other) {
        (CommandAnswer::Value(Ok(one)), CommandAnswer::Value(Ok(other))) => one.is_same(other),
        (CommandAnswer::Value(Err(one)), CommandAnswer::Value(Err(other)))
        | (CommandAnswer::Template(Err(one)), CommandAnswer::Template(Err(other)))
        | (CommandAnswer::Found(Err(one)), CommandAnswer::Found(Err(other))) => {
            one.kind == other.kind && one.message == other.message
        }
        (one, other) => one == other,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use crate::protocol::{FunctionFiles, Loader, TemplateSource};
    use mapstack_value::{Str, Value};

    use super::*;
    use crate::client::{Host, Interpreter, NoHost, session};

    /// A host with one module of grains.
    struct Grains(&'static str);

    impl Host for Grains {
        fn template(&self, uri: &str) -> Result<Option<TemplateSource>> {
            NoHost.template(uri)
        }

        fn has_function(&self, _: &str) -> bool {
            false
        }

        fn has_module(&self, _: &str) -> bool {
            false
        }

        fn call(&self, name: &str, given: Vec<Value>, named: Vec<(Str, Value)>) -> Result<Value> {
            NoHost.call(name, given, named)
        }

        fn find(&self, _: Loader, _: &str) -> Result<FunctionFiles> {
            let source = TemplateSource {
                name: "_grains/own.py".into(),
                text: self.0.into(),
            };
            Ok(FunctionFiles {
                sources: vec![source],
                is_known: false,
            })
        }
    }

    #[test]
    fn a_module_is_loaded_by_one_thread_at_a_time() {
        let job = |module: &str, function: Option<&str>| {
            Job::Function(FunctionJob {
                loader: Loader::Modules,
                module: module.into(),
                function: function.map(Into::into),
                arguments: Vec::new(),
                keywords: Vec::new(),
            })
        };
        let (loads, short) = (job("turns", None), Duration::from_millis(50));
        assert!(turn(&job("turns", Some("f")), short).is_none());
        let first = turn(&loads, short).unwrap();
        assert!(turn(&job("other", None), short).is_none(), "it would wait");
        std::thread::scope(|scope| {
            let others = scope.spawn(|| {
                let before = Instant::now();
                assert!(turn(&loads, short).is_none() && before.elapsed() >= short);
                assert!(turn(&job("other", None), short).is_some());
            });
            others.join().unwrap();
            let second = scope.spawn(|| turn(&loads, Duration::from_secs(60)).is_some());
            drop(first);
            assert!(second.join().unwrap());
        });
    }

    #[test]
    fn a_job_that_fails_is_done_once() {
        let cases = [
            ("1 / 0", "Raised"),
            ("open('/etc/hostname')", ""),
            ("exec('while True: pass')", "Limit"),
            // Native code, which only the process's end stops.
            ("__import__('re').match('(a|a)*$', 'a' * 40 + 'b')", "Limit"),
        ];
        for (number, (code, kind)) in cases.into_iter().enumerate() {
            let text = format!("def own():\n    {code}\n");
            let host = Grains(Box::leak(text.into_boxed_str()));
            let limits = Limits {
                fuel: 10_000,
                time: Duration::from_millis(300),
                ..Limits::default()
            };
            let job = Job::Function(FunctionJob {
                loader: Loader::Grains,
                module: "own".into(),
                function: Some("own".into()),
                arguments: Vec::new(),
                keywords: vec![("case".into(), Value::from(number))],
            });
            let recalled =
                |limits: &Limits| recalled(&mut JobSession::new(&host, limits, &job)).unwrap();
            assert_eq!(recalled(&limits), None, "{code}");
            let _ = session::perform(&Interpreter::new(), &host, &limits, &job);
            let Some(JobOutcome::Failed { failure, .. }) = recalled(&limits) else {
                panic!("{code} is not kept");
            };
            assert!(
                format!("{:?}", failure.kind).starts_with(kind),
                "{failure:?}"
            );
            // With more time it may end.
            let more = Limits {
                fuel: 40_000,
                time: Duration::from_secs(5),
                ..limits
            };
            assert_eq!(recalled(&more).is_some(), kind != "Limit", "{code}");
        }
    }
}

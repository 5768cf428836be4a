//! The outcomes of jobs, kept for all threads: a job is done once for all requests of the same.
//!
//! The result of a function of a tree's modules depends on its arguments and the answers it gets, unless it reads
//! the clock or the like, which the program reports. So its outcome is kept with its questions. For the next job
//! that is the same, the host is asked the same questions, as if the job ran; if all answers are the same, so is the
//! outcome. No job sees what another one got: it would have been given the same.

use std::sync::{Arc, LazyLock, Mutex};

use mapstack_pyobject::Result;
use mapstack_python_protocol::{Answer, Job, JobOutcome, Message, Said, Taken};
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::client::Talk;

/// A job that was done.
#[derive(Debug)]
struct Done {
    asked: Vec<(Said, Answer)>,
    outcome: JobOutcome,
    steps: u64,
    bytes: usize,
}

/// The outcomes of one job, for different answers.
#[derive(Debug, Default, Clone)]
struct All(Arc<Vec<Arc<Done>>>);

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

/// The outcome of the same job before, if the host answers the same. The host's answers are recorded in the talk.
pub(super) fn recalled(talk: &mut Talk<'_>) -> Result<Option<JobOutcome>> {
    let Some(All(known)) = key(talk.job).and_then(|key| KEPT.get(&key)) else {
        return Ok(None);
    };
    let mut left: Vec<&Arc<Done>> = known
        .iter()
        .filter(|done| done.steps <= talk.limits.fuel)
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
            .map_err(super::lost::Lost::without_job)?;
        left.retain(|done| {
            done.asked
                .get(number)
                .is_some_and(|(asked, known)| *asked == question && is_same(known, &answer))
        });
    }
    // The job is done, with the answers there are.
    talk.replay.rewind();
    Ok(None)
}

/// Keep the outcome of a job, if it came to something that depends on nothing but what it asked.
pub(super) fn keep(talk: &Talk<'_>, outcome: &JobOutcome, taken: Taken) {
    if taken.is_by_chance || !matches!(outcome, JobOutcome::Function { .. }) {
        return;
    }
    let (Some(key), Some(asked)) = (key(talk.job), talk.replay.recorded()) else {
        return;
    };
    let bytes = outcome.to_bytes().len() + talk.replay.bytes();
    let done = Arc::new(Done {
        asked: asked.to_vec(),
        outcome: outcome.clone(),
        steps: taken.steps,
        bytes,
    });
    let _held = ADDING.lock();
    let mut all: Vec<Arc<Done>> = KEPT
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
fn is_same(one: &Answer, other: &Answer) -> bool {
    match (one, other) {
        (Answer::Value(Ok(one)), Answer::Value(Ok(other))) => one.is_same(other),
        (Answer::Value(Err(one)), Answer::Value(Err(other)))
        | (Answer::Template(Err(one)), Answer::Template(Err(other)))
        | (Answer::Found(Err(one)), Answer::Found(Err(other))) => {
            one.kind == other.kind && one.message == other.message
        }
        (one, other) => one == other,
    }
}

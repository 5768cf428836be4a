//! Jobs done by the program that runs Python.
//!
//! A thread that renders has its own programs, kept between jobs. They ask for templates and functions by messages,
//! so the host's work happens on the thread that renders. A render inside a render takes a further program.

use std::time::{Duration, Instant};

use crate::protocol::{
    Bounds, CommandAnswer, FailureKind, FrameError, FunctionAnswer, Job, JobFailure, JobOutcome,
    JobUsage, Message, Names, Refusal, RefusalKind, SessionEnd, SessionMessage,
};
use mapstack_pyobject::{Error, ErrorKind, Result};
use mapstack_value::Value;

use super::failure::{Sources, class, of_ending};
use super::interpreter::{self, Interpreter, OpenedSession};
use super::lost::{KILLED, LostJob, STARTS};
use super::replay::Replay;
use super::{Chunk, Host, Limits, Session, memory};

/// The outcome of a job.
pub(crate) enum SessionOutcome {
    Value {
        value: Value,
        changed: Names,
    },
    Text {
        text: String,
        chunks: Vec<Chunk>,
        changed: Names,
    },
    Function {
        answer: FunctionAnswer,
        /// Positional arguments that the function changed, by their numbers.
        changed: Vec<(usize, Value)>,
    },
    /// A template that raised, with what it had changed by then.
    Failed {
        error: Box<Error>,
        changed: Names,
    },
}

/// An attempt that came to nothing.
struct Loss {
    lost: LostJob,
    stage: Attempt,
    ending: Option<SessionEnd>,
    /// True if it was killed from outside.
    is_by_kill: bool,
    /// The failure of the job, if it may be one of sharing a session.
    failed: Option<JobOutcome>,
}

/// When an attempt was lost.
#[derive(Debug, Clone, Copy)]
enum Attempt {
    /// Before there was a session.
    Start,
    /// In a session that others share.
    Shared,
    /// In a separate session.
    Own,
}

/// Native code in the middle may take so long after time is up.
const GRACE: Duration = Duration::from_millis(500);
/// A job whose process was killed from outside is done again so often.
const ATTEMPTS: usize = 20;
/// Do a job of an interpreter. `shares`: it may share a session with others that may.
pub(super) fn perform(
    interpreter: &Interpreter,
    host: &dyn Host,
    limits: &Limits,
    job: &Job,
) -> Result<SessionOutcome> {
    if limits.time.is_zero() {
        return Err(Error::limit("the template ran for too long"));
    }
    let mut talk = JobSession::new(host, limits, job);
    // What another thread does at the moment is known when it is done.
    let _turn = memory::turn(job, limits.time);
    let done = match memory::recalled(&mut talk)? {
        Some(done) => done,
        None => talk.result(interpreter, job.is_pure())?,
    };
    talk.outcome(done)
}

/// Do a job that asks for nothing.
pub(super) fn alone(
    interpreter: &Interpreter,
    limits: &Limits,
    job: &Job,
) -> Result<std::result::Result<JobOutcome, Box<Error>>> {
    let mut talk = JobSession::new(&super::NoHost, limits, job);
    match talk.result(interpreter, false)? {
        JobOutcome::Failed { failure, .. } => Ok(Err(talk.error(failure)?)),
        done => Ok(Ok(done)),
    }
}

/// One job and what was said about it.
pub(super) struct JobSession<'t> {
    host: &'t dyn Host,
    pub(super) limits: &'t Limits,
    pub(super) job: &'t Job,
    sources: Sources,
    /// The host's errors, by number.
    refused: Vec<Error>,
    /// The questions and answers, for the case that the job is done again.
    pub(super) replay: Replay,
}

impl<'t> JobSession<'t> {
    pub(super) fn new(host: &'t dyn Host, limits: &'t Limits, job: &'t Job) -> Self {
        JobSession {
            host,
            limits,
            job,
            sources: Sources::new(job),
            refused: Vec::new(),
            replay: Replay::default(),
        }
    }

    /// Run a job in the program. A job that is lost in a shared session, or killed from outside, is repeated in a
    /// separate one.
    fn result(&mut self, interpreter: &Interpreter, mut shares: bool) -> Result<JobOutcome> {
        let (mut attempts, mut starts) = (ATTEMPTS, STARTS);
        loop {
            let loss = match self.attempt(interpreter, shares)? {
                Ok(done) => return Ok(done),
                Err(loss) => loss,
            };
            let left = match loss.stage {
                Attempt::Shared => true,
                Attempt::Own => {
                    attempts -= 1;
                    loss.is_by_kill && attempts > 0
                }
                Attempt::Start => {
                    starts -= 1;
                    loss.is_by_kill && starts > 0
                }
            };
            if !(matches!(loss.lost, LostJob::Ended(_)) && left && self.replay.rewind()) {
                if let Some(done) = loss.failed {
                    return Ok(done);
                }
                let noted = loss.ending.and_then(|ending| ending.noted);
                if matches!(loss.lost, LostJob::Late) {
                    let error = loss.lost.into_error(self.limits);
                    let outcome = JobOutcome::Failed {
                        failure: self.sources.limit(error.message, noted),
                        changed: Vec::new(),
                    };
                    memory::keep(self, &outcome, JobUsage::default());
                    return Ok(outcome);
                }
                return Err(self.sources.blame(loss.lost.into_error(self.limits), noted));
            }
            shares &= matches!(loss.stage, Attempt::Start);
            self.sources = Sources::new(self.job);
        }
    }

    /// Do the job once.
    fn attempt(
        &mut self,
        interpreter: &Interpreter,
        shares: bool,
    ) -> Result<std::result::Result<JobOutcome, Loss>> {
        let opened = interpreter::open(interpreter, shares, self.job.is_pure(), self.limits)
            .map_err(|error| self.sources.blame(error, None))?;
        let mut failed = None;
        let mut stage = if shares {
            Attempt::Shared
        } else {
            Attempt::Own
        };
        let (mut program, lost) = match opened {
            Ok(mut opened) => match self.converse(&mut opened) {
                Ok(done) if !(shares && may_be_of_sharing(&done)) => {
                    if matches!(done, JobOutcome::Failed { .. }) {
                        opened.shared = None;
                    }
                    opened.done();
                    return Ok(Ok(done));
                }
                Ok(done) => {
                    failed = Some(done);
                    (opened.program, LostJob::Ended(None))
                }
                Err(lost) => (opened.program, lost),
            },
            Err(unopened) => {
                stage = Attempt::Start;
                unopened
            }
        };
        let ending = program.process.learn_end();
        let lost = match lost {
            LostJob::Ended(_) => LostJob::Ended(ending.clone()),
            lost => lost,
        };
        let is_by_kill = match (&ending, stage) {
            (Some(ending), _) => ending.signal == Some(KILLED),
            (None, Attempt::Start) => program.process.was_killed(),
            // A program that was killed says no more than one that hung up.
            (None, _) => true,
        };
        if ending.is_some() {
            program.keep();
        }
        Ok(Err(Loss {
            lost,
            stage,
            ending,
            is_by_kill,
            failed,
        }))
    }

    fn converse(&mut self, opened: &mut OpenedSession) -> std::result::Result<JobOutcome, LostJob> {
        let memory = opened.shared.map(|sharing| sharing.memory);
        self.speak_within(&mut opened.session, memory.unwrap_or(self.limits.memory))
    }

    /// Give a session the job, and answer what it asks.
    #[cfg(all(unix, test))]
    pub(super) fn speak(
        &mut self,
        session: &mut Session,
    ) -> std::result::Result<JobOutcome, LostJob> {
        self.speak_within(session, self.limits.memory)
    }

    fn speak_within(
        &mut self,
        session: &mut Session,
        memory: usize,
    ) -> std::result::Result<JobOutcome, LostJob> {
        let mut left = self.limits.time.saturating_add(GRACE);
        let bounds = bounds(&Limits {
            memory,
            ..*self.limits
        });
        session.write(&[bounds.to_bytes(), self.job.to_bytes()], left)?;
        loop {
            let asked = Instant::now();
            let frame = session.read(left)?;
            left = left.saturating_sub(asked.elapsed());
            let said = SessionMessage::from_bytes(&frame)
                .map_err(|error| LostJob::Strange(error.to_string()))?;
            match said {
                SessionMessage::Done(done, taken) => {
                    memory::keep(self, &done, taken);
                    return Ok(*done);
                }
                question => self.answer(session, question, left)?,
            }
        }
    }

    fn answer(
        &mut self,
        session: &mut Session,
        question: SessionMessage,
        left: Duration,
    ) -> std::result::Result<(), LostJob> {
        let answer = match self.replay.answer(&question) {
            Some(answer) => answer.map_err(|why| LostJob::Strange(why.to_owned()))?,
            None => self.asked(question)?,
        };
        self.send(&answer);
        Ok(session.write(&[answer.to_bytes()], left)?)
    }

    /// Note the sources that an answer gives the program, whose places speak of them.
    pub(super) fn send(&mut self, answer: &CommandAnswer) {
        match answer {
            CommandAnswer::Template(Ok(Some(source))) => self.sources.send(source),
            CommandAnswer::Found(Ok(found)) => {
                found
                    .sources
                    .iter()
                    .for_each(|source| self.sources.send(source));
            }
            _ => {}
        }
    }

    /// Begin again, with the answers that were recorded.
    pub(super) fn rewind(&mut self) {
        self.replay.rewind();
        self.sources = Sources::new(self.job);
    }

    /// The answer of the host, recorded.
    pub(super) fn asked(
        &mut self,
        question: SessionMessage,
    ) -> std::result::Result<CommandAnswer, LostJob> {
        let answer = self.live(&question)?;
        self.replay.record(question, &answer);
        Ok(answer)
    }

    /// The host's answer.
    fn live(&mut self, question: &SessionMessage) -> std::result::Result<CommandAnswer, LostJob> {
        Ok(match question {
            SessionMessage::HasFunction(name) => CommandAnswer::Flag(self.host.has_function(name)),
            SessionMessage::HasModule(name) => CommandAnswer::Flag(self.host.has_module(name)),
            SessionMessage::Call(name, arguments, keywords) => {
                // Even if it fails, the function may have done something.
                self.replay.called();
                CommandAnswer::Value(
                    self.host
                        .call(name, arguments.clone(), keywords.clone())
                        .map_err(|error| self.refuse(*error)),
                )
            }
            SessionMessage::Template(uri) => CommandAnswer::Template(
                self.host.template(uri).map_err(|error| self.refuse(*error)),
            ),
            SessionMessage::Find(loader, name) => CommandAnswer::Found(
                self.host
                    .find(*loader, name)
                    .map_err(|error| self.refuse(*error)),
            ),
            SessionMessage::Fact(name) => {
                CommandAnswer::Value(self.host.fact(name).map_err(|error| self.refuse(*error)))
            }
            SessionMessage::Machine(path) => {
                CommandAnswer::Value(self.host.machine(path).map_err(|error| self.refuse(*error)))
            }
            SessionMessage::Done(..) => {
                return Err(LostJob::Strange(
                    "an outcome where a question was".to_owned(),
                ));
            }
        })
    }

    /// Keep an error of the host's, and give what a template can see of it.
    fn refuse(&mut self, error: Error) -> Refusal {
        let kind = match error.kind {
            ErrorKind::TemplateNotFound => RefusalKind::NotFound,
            ErrorKind::Security => RefusalKind::Forbidden,
            // A function that fails for such a reason has no result, not even an error to report.
            ErrorKind::Undefined | ErrorKind::Absent | ErrorKind::Limit => RefusalKind::Unanswered,
            _ => RefusalKind::Other,
        };
        let number = u32::try_from(self.refused.len()).unwrap_or(u32::MAX);
        let message = error.message.clone();
        self.refused.push(error);
        Refusal {
            number,
            kind,
            message,
        }
    }

    pub(super) fn outcome(&self, done: JobOutcome) -> Result<SessionOutcome> {
        let outcome = match (done, self.job) {
            (JobOutcome::Value { value, changed }, Job::Module(_)) => {
                SessionOutcome::Value { value, changed }
            }
            (JobOutcome::Text { printed, changed }, Job::Template(_)) => {
                let chunks = self.sources.chunks(&printed)?;
                SessionOutcome::Text {
                    text: printed.text,
                    chunks,
                    changed,
                }
            }
            (JobOutcome::Failed { failure, changed }, _) => SessionOutcome::Failed {
                error: self.error(failure)?,
                changed,
            },
            (JobOutcome::Function { answer, changed }, Job::Function(job)) => {
                let is_asked = match &answer {
                    FunctionAnswer::Value(_) => job.function.is_some(),
                    FunctionAnswer::Names(_) => job.function.is_none(),
                    FunctionAnswer::Missing(_) => true,
                    FunctionAnswer::Text(_) => false,
                };
                let is_given = |(number, _): &(usize, Value)| *number < job.arguments.len();
                if !is_asked || !changed.iter().all(is_given) {
                    return Err(strange("it answered another question"));
                }
                return Ok(SessionOutcome::Function { answer, changed });
            }
            (JobOutcome::Function { answer, changed }, Job::Render(_)) => {
                if matches!(answer, FunctionAnswer::Names(_)) || !changed.is_empty() {
                    return Err(strange("it answered another question"));
                }
                return Ok(SessionOutcome::Function { answer, changed });
            }
            _ => return Err(strange("it answered another question")),
        };
        let (SessionOutcome::Value { changed, .. }
        | SessionOutcome::Text { changed, .. }
        | SessionOutcome::Failed { changed, .. }) = &outcome
        else {
            return Ok(outcome);
        };
        let asked = match self.job {
            Job::Module(job) => &job.changed[..],
            Job::Template(job) => &job.changed[..],
            Job::Compile(_) | Job::Function(_) | Job::Render(_) => &[],
        };
        match changed.iter().all(|(name, _)| asked.contains(name)) {
            true => Ok(outcome),
            false => Err(strange("it changed a variable that was not requested")),
        }
    }

    /// A failure as an error that points into the templates.
    fn error(&self, failure: JobFailure) -> Result<Box<Error>> {
        let kind = match &failure.kind {
            FailureKind::Raised(name) => ErrorKind::Code(class(name)),
            FailureKind::Refused(_) | FailureKind::Broken => ErrorKind::Nested,
            FailureKind::Forbidden => ErrorKind::Security,
            FailureKind::NotFound => ErrorKind::TemplateNotFound,
            FailureKind::Limit => ErrorKind::Limit,
            FailureKind::Unavailable => ErrorKind::Undefined,
        };
        let mut error = match failure.kind {
            FailureKind::Refused(number) => {
                let known = usize::try_from(number)
                    .ok()
                    .and_then(|number| self.refused.get(number));
                known
                    .cloned()
                    .map(Box::new)
                    .ok_or_else(|| strange("it spoke of an error that there was not"))?
            }
            _ => Error::new(kind, failure.message),
        };
        if failure.help.is_some() {
            error.help = failure.help;
        }
        let place = |place| self.sources.place(&failure.units, place);
        let mut way = Vec::new();
        for (what, at) in &failure.trace {
            way.push((what.as_str(), place(at)?));
        }
        let mut way = way.into_iter();
        if error.place.is_none() {
            error.place = match &failure.place {
                Some(at) => Some(place(at)?),
                // The place at which a refusal arrived.
                None => way.next().map(|(_, place)| place),
            };
        }
        for (what, place) in way {
            error = error.through(what, place);
        }
        // Such as what calls the template itself.
        Ok(self.sources.blame(error, None))
    }
}

/// True if the outcome of a job in a shared session might differ in a separate one: limits of steps, output
/// and time are each job's own, but memory is not.
fn may_be_of_sharing(done: &JobOutcome) -> bool {
    matches!(done, JobOutcome::Failed { failure, .. } if failure.kind != FailureKind::Limit)
}

fn bounds(limits: &Limits) -> Bounds {
    let wide = |size: usize| u64::try_from(size).unwrap_or(u64::MAX);
    Bounds {
        fuel: limits.fuel,
        output: wide(limits.output),
        depth: wide(limits.depth),
        time: u64::try_from(limits.time.as_millis()).unwrap_or(u64::MAX),
        memory: wide(limits.memory),
    }
}

fn strange(what: &str) -> Box<Error> {
    Error::new(
        ErrorKind::Nested,
        format!("the Python interpreter failed: {what}"),
    )
}

impl LostJob {
    fn into_error(self, limits: &Limits) -> Box<Error> {
        match self {
            LostJob::Ended(ending) => of_ending(ending.as_ref(), limits),
            LostJob::Late => Error::limit(format!(
                "the template ran for longer than {:.1}s, and was stopped",
                limits.time.as_secs_f64()
            )),
            other => other.without_job(),
        }
    }

    pub(super) fn without_job(self) -> Box<Error> {
        match self {
            LostJob::Absent(what) => Error::new(ErrorKind::Absent, what),
            LostJob::Stranger(what) => Error::new(ErrorKind::Nested, what)
                .with_help("build or install both from the same release"),
            LostJob::Strange(what) => strange(&format!("it does not keep to the protocol: {what}")),
            LostJob::Ended(_) | LostJob::Late => strange("it ended unexpectedly"),
        }
    }
}

impl From<FrameError> for LostJob {
    fn from(error: FrameError) -> Self {
        match error {
            FrameError::Io(error) if error.kind() == std::io::ErrorKind::TimedOut => LostJob::Late,
            FrameError::TooLong(_) => LostJob::Strange(error.to_string()),
            FrameError::Closed | FrameError::Cut | FrameError::Io(_) => LostJob::Ended(None),
        }
    }
}

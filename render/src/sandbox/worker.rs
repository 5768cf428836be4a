//! Interpreters on threads of their own.
//!
//! A thread that renders has its own interpreters, kept between renders. Each lives on a further thread
//! with a stack known to be large enough, and asks for templates and functions by messages, so the host's
//! work happens on the thread that renders. A render inside a render takes a further interpreter.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use mapstack_value::{Str, Value};

use super::machine::Machine;
use super::{Host, Limits, Source};
use crate::error::{Error, ErrorKind, Result};

/// Names with their values, in order.
pub(crate) type Names = Vec<(Str, Value)>;

/// What an interpreter is asked to do.
pub(crate) enum Job {
    /// Run a module and call its `run()`.
    Module(Box<ModuleJob>),
    /// Render a Mako template.
    Template(Box<TemplateJob>),
}

/// A module to run.
pub(crate) struct ModuleJob {
    pub(crate) source: Arc<str>,
    pub(crate) name: Option<Str>,
    pub(crate) variables: Names,
    /// Variables to read back.
    pub(crate) changed: Vec<Str>,
    pub(crate) limits: Limits,
}

/// A Mako template to render.
pub(crate) struct TemplateJob {
    pub(crate) source: Arc<str>,
    pub(crate) name: Option<Str>,
    pub(crate) uri: Option<Str>,
    pub(crate) options: crate::mako::Options,
    pub(crate) variables: Names,
    /// Names under which the `salt` object is given.
    pub(crate) functions: Vec<Str>,
    /// Variables to read back.
    pub(crate) changed: Vec<Str>,
    pub(crate) limits: Limits,
}

/// What came of it.
pub(crate) enum Outcome {
    Value {
        value: Value,
        changed: Names,
    },
    Text {
        text: String,
        chunks: Vec<crate::mako::Chunk>,
        changed: Names,
    },
    /// A template that raised, with what it had changed by then.
    Failed {
        error: Box<Error>,
        changed: Names,
    },
}

/// What an interpreter says.
pub(crate) enum Said {
    Template(String),
    HasFunction(String),
    HasModule(String),
    Call(String, Vec<Value>, Names),
    Done(Result<Outcome>),
}

/// What an interpreter is told.
pub(crate) enum Told {
    Job(Job),
    Template(Result<Option<Source>>),
    Flag(bool),
    Value(Result<Value>),
}

struct Worker {
    tell: Sender<Told>,
    said: Receiver<Said>,
}

thread_local! {
    static IDLE: RefCell<Vec<Worker>> = const { RefCell::new(Vec::new()) };
}

/// Python calls of native code nest on the stack; the interpreter refuses to go on where it ends.
const STACK: usize = 256 << 20;
/// A native operation in the middle may take so long after time is up.
const GRACE: Duration = Duration::from_secs(10);

/// Do a job on an idle interpreter of this thread, or on a new one.
pub(crate) fn with_interpreter(host: &dyn Host, limits: &Limits, job: Job) -> Result<Outcome> {
    let idle = IDLE.with_borrow_mut(Vec::pop);
    let worker = match idle {
        Some(worker) => worker,
        None => start()?,
    };
    let outcome = converse(&worker, host, limits, job)?;
    IDLE.with_borrow_mut(|idle| idle.push(worker));
    outcome
}

fn start() -> Result<Worker> {
    let (tell, told) = channel();
    let (say, said) = channel();
    let thread = std::thread::Builder::new().name("python".to_owned()).stack_size(STACK);
    thread
        .spawn(move || {
            let line = Line { say, told };
            let machine = Machine::new(line);
            machine.serve();
        })
        .map_err(|error| broken(&format!("its thread did not start: {error}")))?;
    Ok(Worker { tell, said })
}

fn broken(why: &str) -> Box<Error> {
    Error::new(ErrorKind::Nested, format!("the Python interpreter failed: {why}"))
}

/// The outer result tells whether the interpreter can be used again.
fn converse(worker: &Worker, host: &dyn Host, limits: &Limits, job: Job) -> Result<Result<Outcome>> {
    let gone = || broken("it ended unexpectedly");
    worker.tell.send(Told::Job(job)).map_err(|_| gone())?;
    let mut left = limits.time.saturating_add(GRACE);
    loop {
        let asked = Instant::now();
        let said = worker.said.recv_timeout(left).map_err(|error| match error {
            RecvTimeoutError::Timeout => Error::limit("the template ran for too long, and could not be stopped"),
            RecvTimeoutError::Disconnected => gone(),
        })?;
        left = left.saturating_sub(asked.elapsed());
        let answer = match said {
            Said::Done(outcome) => return Ok(outcome),
            Said::Template(uri) => Told::Template(host.template(&uri)),
            Said::HasFunction(name) => Told::Flag(host.has_function(&name)),
            Said::HasModule(name) => Told::Flag(host.has_module(&name)),
            Said::Call(name, arguments, keywords) => Told::Value(host.call(&name, arguments, keywords)),
        };
        worker.tell.send(answer).map_err(|_| gone())?;
    }
}

/// The interpreter's end of the line.
pub(crate) struct Line {
    say: Sender<Said>,
    told: Receiver<Told>,
}

impl Line {
    /// The next job; none when the thread that renders has ended.
    pub(crate) fn job(&self) -> Option<Job> {
        loop {
            match self.told.recv().ok()? {
                Told::Job(job) => return Some(job),
                Told::Template(_) | Told::Flag(_) | Told::Value(_) => {}
            }
        }
    }

    pub(crate) fn done(&self, outcome: Result<Outcome>) {
        // Nobody listens after a render was given up.
        let _ = self.say.send(Said::Done(outcome));
    }

    fn ask(&self, question: Said) -> Option<Told> {
        self.say.send(question).ok()?;
        self.told.recv().ok()
    }

    pub(crate) fn template(&self, uri: &str) -> Result<Option<Source>> {
        match self.ask(Said::Template(uri.to_owned())) {
            Some(Told::Template(source)) => source,
            _ => Err(broken("its host is gone")),
        }
    }

    pub(crate) fn has_function(&self, name: &str) -> bool {
        matches!(self.ask(Said::HasFunction(name.to_owned())), Some(Told::Flag(true)))
    }

    pub(crate) fn has_module(&self, name: &str) -> bool {
        matches!(self.ask(Said::HasModule(name.to_owned())), Some(Told::Flag(true)))
    }

    pub(crate) fn call(&self, name: &str, arguments: Vec<Value>, keywords: Names) -> Result<Value> {
        match self.ask(Said::Call(name.to_owned(), arguments, keywords)) {
            Some(Told::Value(value)) => value,
            _ => Err(broken("its host is gone")),
        }
    }
}

//! The line to the command: jobs come in, questions and outcomes go out.

use std::cell::{Cell, RefCell};
use std::io::{Read, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use mapstack_sandbox::protocol::{
    Bounds, CommandAnswer, FailureKind, FrameError, FunctionFiles, Job, JobFailure, JobOutcome,
    JobUsage, Loader, Message, Names, NotedPlace, Refusal, SessionMessage, Span, TemplateSource,
    Unit, UnitSource, UnitSpan, read_frame, write_frame,
};
use mapstack_value::{Value, cut};

use crate::error::{Error, ErrorKind, Result, SourceSpan};

/// Both directions of a session.
struct Stream {
    input: Box<dyn Read>,
    output: Box<dyn Write>,
}

/// The line of the session that is open; before there is one, questions have no answer.
#[derive(Default)]
pub(crate) struct SessionLine {
    stream: RefCell<Option<Stream>>,
    notes: RefCell<Notes>,
    /// The text of the job, and those that the command sent on its way.
    job: RefCell<Arc<str>>,
    sent: RefCell<Vec<Arc<str>>>,
    /// The time that the command took to answer.
    waited: Cell<Duration>,
}

/// The destination of notes, and their number so far.
#[derive(Default)]
struct Notes {
    output: Option<Box<dyn Write>>,
    made: usize,
    last: Option<NotedPlace>,
}

impl Notes {
    fn add(&mut self, noted: NotedPlace) {
        let Some(output) = &mut self.output else {
            return;
        };
        if self.last.replace(noted) == Some(noted) {
            return;
        }
        self.made += 1;
        if output.write_all(&noted.to_bytes()).is_err() || self.made >= NotedPlace::MAX_NOTES {
            self.output = None;
        }
    }
}

impl SessionLine {
    /// Use a stream from now on.
    pub(crate) fn open(&self, input: impl Read + 'static, output: impl Write + 'static) {
        *self.stream.borrow_mut() = Some(Stream {
            input: Box::new(input),
            output: Box::new(output),
        });
    }

    /// Have the places that the job comes to noted.
    pub(crate) fn note_to(&self, notes: impl Write + 'static) {
        *self.notes.borrow_mut() = Notes {
            output: Some(Box::new(notes)),
            ..Notes::default()
        };
    }

    /// Note the place that the job has come to.
    pub(crate) fn note(&self, source: &Arc<str>, span: Span) {
        let sent = if Arc::ptr_eq(source, &self.job.borrow()) {
            None
        } else {
            let sent = self.sent.borrow();
            let Some(number) = sent.iter().position(|sent| Arc::ptr_eq(source, sent)) else {
                return;
            };
            u32::try_from(number).ok()
        };
        self.notes.borrow_mut().add(NotedPlace { sent, span });
    }

    /// The next message; none where the command has hung up or does not speak the protocol.
    fn next<M: Message>(&self) -> Option<M> {
        let mut stream = self.stream.borrow_mut();
        let frame = read_frame(&mut stream.as_mut()?.input).ok()?;
        M::from_bytes(&frame).ok()
    }

    fn say(&self, said: &SessionMessage) -> Result<(), FrameError> {
        let mut stream = self.stream.borrow_mut();
        match stream.as_mut() {
            Some(stream) => write_frame(&mut stream.output, &said.to_bytes()),
            None => Err(FrameError::Closed),
        }
    }

    pub(crate) fn bounds(&self) -> Option<Bounds> {
        self.next()
    }

    /// The next job; none when the session is over.
    pub(crate) fn job(&self) -> Option<Job> {
        let job: Job = self.next()?;
        *self.job.borrow_mut() = match &job {
            Job::Module(job) => job.source.clone(),
            Job::Template(job) => job.source.clone(),
            Job::Compile(job) => job.source.clone(),
            Job::Render(job) => job.source.clone(),
            // Its texts are sent when it asks for them.
            Job::Function(_) => "".into(),
        };
        self.sent.borrow_mut().clear();
        self.waited.take();
        Some(job)
    }

    /// Report the outcome of a job. Returns whether the command received it.
    pub(crate) fn done(&self, outcome: JobOutcome, taken: JobUsage) -> bool {
        match self.say(&SessionMessage::Done(Box::new(outcome), taken)) {
            Err(FrameError::TooLong(length)) => {
                let error = Error::limit(format!("the result is too large: {length} bytes"));
                let failure = self.failure(&error);
                let failed = JobOutcome::Failed {
                    failure,
                    changed: Names::new(),
                };
                self.say(&SessionMessage::Done(Box::new(failed), taken))
                    .is_ok()
            }
            said => said.is_ok(),
        }
    }

    /// The time that the command took to answer since this was asked the last time.
    pub(crate) fn waited(&self) -> Duration {
        self.waited.take()
    }

    fn ask(&self, question: &SessionMessage) -> Option<CommandAnswer> {
        let asked = Instant::now();
        self.say(question).ok()?;
        let answer = self.next();
        self.waited.set(self.waited.get() + asked.elapsed());
        answer
    }

    pub(crate) fn template(&self, uri: &str) -> Result<Option<TemplateSource>> {
        match self.ask(&SessionMessage::Template(uri.to_owned())) {
            Some(CommandAnswer::Template(Ok(source))) => {
                if let Some(source) = &source {
                    self.sent.borrow_mut().push(source.text.clone());
                }
                Ok(source)
            }
            Some(CommandAnswer::Template(Err(refusal))) => Err(refused(refusal)),
            _ => Err(gone()),
        }
    }

    /// The tree's modules that may have a function.
    pub(crate) fn find(&self, loader: Loader, name: &str) -> Result<FunctionFiles> {
        match self.ask(&SessionMessage::Find(loader, name.to_owned())) {
            Some(CommandAnswer::Found(Ok(found))) => {
                let texts = found.sources.iter().map(|source| source.text.clone());
                self.sent.borrow_mut().extend(texts);
                Ok(found)
            }
            Some(CommandAnswer::Found(Err(refusal))) => Err(refused(refusal)),
            _ => Err(gone()),
        }
    }

    /// Facts by the name that modules have for them.
    pub(crate) fn fact(&self, name: &str) -> Result<Value> {
        match self.ask(&SessionMessage::Fact(name.to_owned())) {
            Some(CommandAnswer::Value(Ok(value))) => Ok(value),
            Some(CommandAnswer::Value(Err(refusal))) => Err(refused(refusal)),
            _ => Err(gone()),
        }
    }

    /// Read a path of the machine.
    pub(crate) fn machine(&self, path: &str) -> Result<Value> {
        match self.ask(&SessionMessage::Machine(path.to_owned())) {
            Some(CommandAnswer::Value(Ok(value))) => Ok(value),
            Some(CommandAnswer::Value(Err(refusal))) => Err(refused(refusal)),
            _ => Err(gone()),
        }
    }

    pub(crate) fn has_function(&self, name: &str) -> bool {
        matches!(
            self.ask(&SessionMessage::HasFunction(name.to_owned())),
            Some(CommandAnswer::Flag(true))
        )
    }

    pub(crate) fn has_module(&self, name: &str) -> bool {
        matches!(
            self.ask(&SessionMessage::HasModule(name.to_owned())),
            Some(CommandAnswer::Flag(true))
        )
    }

    pub(crate) fn call(&self, name: &str, arguments: Vec<Value>, keywords: Names) -> Result<Value> {
        match self.ask(&SessionMessage::Call(name.to_owned(), arguments, keywords)) {
            Some(CommandAnswer::Value(Ok(value))) => Ok(value),
            Some(CommandAnswer::Value(Err(refusal))) => Err(refused(refusal)),
            _ => Err(gone()),
        }
    }

    /// An error in the form in which it is reported to the command.
    pub(crate) fn failure(&self, error: &Error) -> JobFailure {
        let mut units = Units::new(self);
        let place = error.place.as_ref().map(|place| units.place(place));
        let trace = error
            .trace
            .iter()
            .map(|(what, place)| (what.clone(), units.place(place)))
            .collect();
        JobFailure {
            kind: match &error.kind {
                ErrorKind::Raised(class) => FailureKind::Raised(class.clone().into_owned()),
                ErrorKind::Refused(number, _) => FailureKind::Refused(*number),
                ErrorKind::Forbidden => FailureKind::Forbidden,
                ErrorKind::NotFound => FailureKind::NotFound,
                ErrorKind::Limit => FailureKind::Limit,
                ErrorKind::Broken => FailureKind::Broken,
                ErrorKind::Unavailable => FailureKind::Unavailable,
            },
            message: cut(&error.message).into_owned(),
            help: error.help.clone(),
            units: units.list,
            place,
            trace,
        }
    }
}

fn gone() -> Box<Error> {
    Error::new(
        ErrorKind::Broken,
        "the Python interpreter failed: the command does not answer it",
    )
}

fn refused(refusal: Refusal) -> Box<Error> {
    Error::new(
        ErrorKind::Refused(refusal.number, refusal.kind),
        refusal.message,
    )
}

/// The sources that places of one message are in. What the command has is named, not sent back.
pub(crate) struct Units<'l> {
    line: &'l SessionLine,
    known: Vec<(Option<mapstack_value::Str>, Arc<str>)>,
    pub(crate) list: Vec<Unit>,
}

impl<'l> Units<'l> {
    pub(crate) fn new(line: &'l SessionLine) -> Self {
        Units {
            line,
            known: Vec::new(),
            list: Vec::new(),
        }
    }

    pub(crate) fn place(&mut self, place: &SourceSpan) -> UnitSpan {
        let is = |(name, source): &(Option<mapstack_value::Str>, Arc<str>)| {
            *name == place.template && Arc::ptr_eq(source, &place.source)
        };
        // The last one is the likeliest.
        let unit = match self.known.iter().rposition(is) {
            Some(unit) => unit,
            None => {
                self.known
                    .push((place.template.clone(), place.source.clone()));
                self.list.push(Unit {
                    name: place.template.clone(),
                    source: self.source(&place.source),
                });
                self.list.len() - 1
            }
        };
        UnitSpan {
            unit,
            span: place.span,
        }
    }

    fn source(&self, source: &Arc<str>) -> UnitSource {
        if Arc::ptr_eq(source, &self.line.job.borrow()) {
            return UnitSource::Job;
        }
        match self
            .line
            .sent
            .borrow()
            .iter()
            .position(|sent| Arc::ptr_eq(source, sent))
        {
            Some(number) => UnitSource::Sent(number),
            None => UnitSource::Text(source.clone()),
        }
    }
}

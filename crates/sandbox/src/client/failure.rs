//! A program's failures and places, as errors that point into templates.

use std::sync::Arc;

use crate::protocol::{
    FailureKind, Job, JobFailure, NotedPlace, SessionEnd, TracedText, Unit, UnitSource, UnitSpan,
};
use mapstack_pyobject::{Error, ErrorKind, Result, TemplatePlace};
use mapstack_value::Str;

use super::{Chunk, Limits, TemplateSource};
use mapstack_salt_jinja::ast::Span;

/// The classes that errors name; others count as `Exception`.
const CLASSES: &[&str] = &[
    "ArithmeticError",
    "AssertionError",
    "AttributeError",
    "CommandExecutionError",
    "CompileException",
    "ImportError",
    "IndexError",
    "KeyError",
    "LookupError",
    "MakoException",
    "MemoryError",
    "ModuleNotFoundError",
    "NameConflictError",
    "NameError",
    "NotImplementedError",
    "OSError",
    "OverflowError",
    "RecursionError",
    "RuntimeError",
    "RuntimeException",
    "StopIteration",
    "SyntaxError",
    "SyntaxException",
    "TemplateLookupException",
    "TypeError",
    "UnboundLocalError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "UnicodeError",
    "UnsupportedError",
    "ValueError",
    "ZeroDivisionError",
];

/// The class of an exception.
pub(super) fn class(name: &str) -> &'static str {
    CLASSES
        .iter()
        .find(|known| **known == name)
        .copied()
        .unwrap_or("Exception")
}

/// The sources that places of a job are in.
pub(super) struct Sources {
    name: Option<Str>,
    /// The text of the job; none for a function, whose modules are sent on the way.
    job: Option<Arc<str>>,
    sent: Vec<TemplateSource>,
}

impl Sources {
    pub(super) fn new(job: &Job) -> Self {
        let (name, source) = match job {
            Job::Module(job) => (&job.name, Some(&job.source)),
            Job::Template(job) => (&job.name, Some(&job.source)),
            Job::Compile(job) => (&job.name, Some(&job.source)),
            Job::Render(job) => (&job.name, Some(&job.source)),
            Job::Function(_) => (&None, None),
        };
        Sources {
            name: name.clone(),
            job: source.cloned(),
            sent: Vec::new(),
        }
    }

    /// Note a template that is sent on the way.
    pub(super) fn send(&mut self, source: &TemplateSource) {
        self.sent.push(source.clone());
    }

    /// An error of which nothing is known but the template, and the place that the job noted last.
    pub(super) fn blame(&self, error: Box<Error>, noted: Option<NotedPlace>) -> Box<Error> {
        let start = Span { start: 0, end: 0 };
        let place = noted
            .and_then(|noted| self.noted(noted))
            .or_else(|| self.of_job(start));
        match place {
            Some(place) => error.at(|| place),
            None => error,
        }
    }

    /// The failure of a job that was ended from outside at a limit, at the place that it noted last.
    pub(super) fn limit(&self, message: String, noted: Option<NotedPlace>) -> JobFailure {
        let start = NotedPlace {
            sent: None,
            span: crate::protocol::Span { start: 0, end: 0 },
        };
        let at = noted.unwrap_or(start);
        let unit = match at.sent.map(usize::try_from) {
            None => self.job.is_some().then(|| Unit {
                name: self.name.clone(),
                source: UnitSource::Job,
            }),
            Some(number) => number.ok().and_then(|number| {
                Some(Unit {
                    name: Some(self.sent.get(number)?.name.clone()),
                    source: UnitSource::Sent(number),
                })
            }),
        };
        JobFailure {
            kind: FailureKind::Limit,
            message,
            help: None,
            place: unit.is_some().then_some(UnitSpan {
                unit: 0,
                span: at.span,
            }),
            units: unit.into_iter().collect(),
            trace: Vec::new(),
        }
    }

    fn of_job(&self, span: Span) -> Option<TemplatePlace> {
        Some(TemplatePlace {
            template: self.name.clone(),
            source: self.job.clone()?,
            span,
        })
    }

    fn noted(&self, noted: NotedPlace) -> Option<TemplatePlace> {
        let Some(number) = noted.sent else {
            return self.of_job(within(self.job.as_ref()?, noted.span));
        };
        let sent = self.sent.get(usize::try_from(number).ok()?)?;
        Some(TemplatePlace {
            template: Some(sent.name.clone()),
            source: sent.text.clone(),
            span: within(&sent.text, noted.span),
        })
    }

    fn source(&self, unit: &Unit) -> Result<Arc<str>> {
        match &unit.source {
            UnitSource::Job => self.job.clone().ok_or_else(stray),
            UnitSource::Sent(number) => self
                .sent
                .get(*number)
                .map(|sent| sent.text.clone())
                .ok_or_else(stray),
            UnitSource::Text(text) => Ok(text.clone()),
        }
    }

    /// A place as errors have it. What does not lie in the source is at its end.
    pub(super) fn place(&self, units: &[Unit], place: &UnitSpan) -> Result<TemplatePlace> {
        let unit = units.get(place.unit).ok_or_else(stray)?;
        let source = self.source(unit)?;
        Ok(TemplatePlace {
            template: unit.name.clone(),
            span: within(&source, place.span),
            source,
        })
    }

    /// The runs of what was printed.
    pub(super) fn chunks(&self, printed: &TracedText) -> Result<Vec<Chunk>> {
        let sources: Result<Vec<_>> = printed.units.iter().map(|unit| self.source(unit)).collect();
        let sources = sources?;
        let chunk = |chunk: &crate::protocol::Chunk| {
            let unit = chunk.place.unit;
            let (unit, source) = printed
                .units
                .get(unit)
                .zip(sources.get(unit))
                .ok_or_else(stray)?;
            let span = within(source, chunk.place.span);
            let (start, exact) = (chunk.start, chunk.exact);
            Ok(Chunk {
                start,
                name: unit.name.clone(),
                source: source.clone(),
                span,
                exact,
            })
        };
        printed.chunks.iter().map(chunk).collect()
    }
}

fn stray() -> Box<Error> {
    Error::new(
        ErrorKind::Nested,
        "the Python interpreter failed: it spoke of a source that there was not",
    )
}

fn within(source: &str, span: crate::protocol::Span) -> Span {
    let is_inside = source.get(span.start as usize..span.end as usize).is_some();
    let end = u32::try_from(source.len()).unwrap_or(u32::MAX);
    if is_inside {
        Span {
            start: span.start,
            end: span.end,
        }
    } else {
        Span { start: end, end }
    }
}

/// Why a session ended in the middle of a job.
pub(super) fn of_ending(ending: Option<&SessionEnd>, limits: &Limits) -> Box<Error> {
    let Some(ending) = ending else {
        return broken("the program that runs Python was ended from outside");
    };
    let said = |what: &str| ending.said.contains(what);
    if said("memory allocation of") || said("capacity overflow") {
        let most = limits.memory >> 20;
        return Error::limit(format!(
            "the template needs more memory than it may have, which is {most} MiB"
        ));
    }
    if said("has overflowed its stack") {
        return Error::limit("the template nests too deeply for the interpreter");
    }
    match ending.signal {
        // These have the same numbers wherever there are signals.
        Some(9) => broken(
            "the session that ran the template was ended from outside, perhaps for lack of memory",
        ),
        Some(24) => Error::limit(format!(
            "the template used more than {:.1?} of processor time, and was stopped",
            limits.time
        )),
        Some(31) => Error::new(
            ErrorKind::Security,
            "the template made the interpreter ask for what no template may have, and was stopped",
        ),
        Some(signal) => broken(&format!(
            "the template brought the interpreter down (signal {signal})"
        )),
        None => broken("the interpreter ended in the middle of the template"),
    }
}

fn broken(why: &str) -> Box<Error> {
    Error::new(ErrorKind::Nested, why)
}

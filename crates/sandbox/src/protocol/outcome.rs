//! The outcome of a job.

use std::sync::Arc;

use mapstack_value::{Str, Value};

use crate::protocol::codec::{DecodeError, Message, Reader, Writer};
use crate::protocol::job::{Names, read_names, write_names, write_texts};
use crate::protocol::plan::TemplatePlan;

/// The outcome of a job.
#[derive(Debug, Clone, PartialEq)]
pub enum JobOutcome {
    /// The result of a module's `run()`.
    Value {
        /// The value.
        value: Value,
        /// The variables to read back that changed.
        changed: Names,
    },
    /// The text that a template printed.
    Text {
        /// The text, and where it comes from.
        printed: TracedText,
        /// The variables to read back that changed.
        changed: Names,
    },
    /// The result of compiling a text.
    Compiled(Compiled),
    /// The answer of a function of the tree's modules.
    Function {
        /// The answer.
        answer: FunctionAnswer,
        /// Positional arguments that the function changed in place, by their numbers.
        changed: Vec<(usize, Value)>,
    },
    /// The job failed.
    Failed {
        /// The failure.
        failure: JobFailure,
        /// The variables that were to be read back, and had changed by then.
        changed: Names,
    },
}

/// The answer of a function of the tree's modules.
#[derive(Debug, Clone, PartialEq)]
pub enum FunctionAnswer {
    /// The result.
    Value(Value),
    /// The names of all functions of the module.
    Names(Vec<Str>),
    /// The text that a renderer made.
    Text(String),
    /// The function or its module does not exist; why, if something says so.
    Missing(Option<String>),
}

/// The result of compiling a text.
#[derive(Debug, Clone, PartialEq)]
pub struct Compiled {
    /// The code that a later job takes instead of compiling the text. For the command these are bytes to give back.
    pub code: Arc<[u8]>,
    /// The facts that the code looks at, if it can share an interpreter.
    pub purity: Option<Purity>,
    /// The plan of the code's output, if it only looks at what it is given.
    pub plan: Option<TemplatePlan>,
}

/// Code that leaves no state in an interpreter, and sees none of it but data that it is given, the
/// functions of the minion, and what Python has for everyone.
///
/// It holds if each of the `required` names is given; the code does not use other names than these here.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Purity {
    /// Names that would have another meaning if they were not given.
    pub required: Vec<Str>,
    /// Names that the code gives values to itself, or that Python has as well.
    pub optional: Vec<Str>,
}

impl Message for Compiled {
    fn write(&self, out: &mut Writer) {
        out.bytes(&self.code);
        out.option(self.purity.as_ref(), |out, purity| {
            write_texts(&purity.required, out);
            write_texts(&purity.optional, out);
        });
        out.option(self.plan.as_ref(), |out, plan| plan.write(out));
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let code = input.bytes()?.into();
        let purity = input.option(|input| {
            Ok(Purity {
                required: input.list(Reader::shared)?,
                optional: input.list(Reader::shared)?,
            })
        })?;
        let plan = input.option(TemplatePlan::read)?;
        Ok(Compiled { code, purity, plan })
    }
}

/// A text with the places that it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TracedText {
    /// The text.
    pub text: String,
    /// The sources that chunks speak of.
    pub units: Vec<Unit>,
    /// Runs of the text with one origin, in order.
    pub chunks: Vec<Chunk>,
}

/// A run of output with one origin; it reaches to the start of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    /// The start in the text.
    pub start: usize,
    /// The place of the code that printed it.
    pub place: UnitSpan,
    /// True if it is the source's text, byte by byte.
    pub exact: bool,
}

/// A range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// Something in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnitSpan {
    /// The source, as an index into a list of units.
    pub unit: usize,
    /// The span in it.
    pub span: Span,
}

/// A source that places are in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// The name in errors.
    pub name: Option<Str>,
    /// Its text.
    pub source: UnitSource,
}

/// The text of a source. What the command has is not sent back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnitSource {
    /// That of the job.
    Job,
    /// That of a template which the command sent, counted from 0.
    Sent(usize),
    /// A text that code gave to `eval` or `exec`.
    Text(Arc<str>),
}

/// A template compiled, as [`Compiled::code`] holds it. For the command these are bytes to give back.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CompiledTemplate {
    /// The code of its module.
    pub code: Vec<u8>,
    /// The span in the template behind each line of the module.
    pub lines: Vec<Option<Span>>,
    /// The spans that are printed, with true for the template's own text.
    pub marks: Vec<(Span, bool)>,
}

impl Message for CompiledTemplate {
    fn write(&self, out: &mut Writer) {
        out.bytes(&self.code);
        out.count(self.lines.len());
        for line in &self.lines {
            out.option(*line, |out, span| span.write(out));
        }
        out.count(self.marks.len());
        for (span, exact) in &self.marks {
            span.write(out);
            out.flag(*exact);
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let code = input.bytes()?.to_vec();
        let lines = input.list(|input| input.option(Span::read))?;
        let marks = input.list(|input| Ok((Span::read(input)?, input.flag()?)))?;
        Ok(CompiledTemplate { code, lines, marks })
    }
}

impl Message for Span {
    fn write(&self, out: &mut Writer) {
        out.uint(self.start.into());
        out.uint(self.end.into());
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (start, end) = (input.uint()?, input.uint()?);
        if start > end {
            return Err(input.error("a span ends before it starts"));
        }
        Ok(Span { start, end })
    }
}

/// The failure of a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobFailure {
    /// The class of the failure.
    pub kind: FailureKind,
    /// The message.
    pub message: String,
    /// The advice.
    pub help: Option<String>,
    /// The sources that places speak of.
    pub units: Vec<Unit>,
    /// The place of the failure.
    pub place: Option<UnitSpan>,
    /// The way there, innermost first: what was done, and where.
    pub trace: Vec<(String, UnitSpan)>,
}

/// Classes of failure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailureKind {
    /// A Python exception of this class.
    Raised(String),
    /// A refusal of the command's, by its number.
    Refused(u32),
    /// Something that templates cannot have.
    Forbidden,
    /// A template that was requested does not exist.
    NotFound,
    /// A limit was reached.
    Limit,
    /// Code needs something that does not exist, so nothing is known about what it would do.
    Unavailable,
    /// The interpreter itself failed.
    Broken,
}

impl Message for JobOutcome {
    fn write(&self, out: &mut Writer) {
        match self {
            JobOutcome::Value { value, changed } => {
                out.uint(1);
                value.write(out);
                write_names(changed, out);
            }
            JobOutcome::Text { printed, changed } => {
                out.uint(2);
                printed.write(out);
                write_names(changed, out);
            }
            JobOutcome::Compiled(compiled) => {
                out.uint(3);
                compiled.write(out);
            }
            JobOutcome::Failed { failure, changed } => {
                out.uint(4);
                failure.write(out);
                write_names(changed, out);
            }
            JobOutcome::Function { answer, changed } => {
                out.uint(5);
                answer.write(out);
                out.count(changed.len());
                for (number, value) in changed {
                    out.uint(*number as u64);
                    value.write(out);
                }
            }
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match input.uint::<u8>()? {
            1 => Ok(JobOutcome::Value {
                value: Value::read(input)?,
                changed: read_names(input)?,
            }),
            2 => Ok(JobOutcome::Text {
                printed: TracedText::read(input)?,
                changed: read_names(input)?,
            }),
            3 => Compiled::read(input).map(JobOutcome::Compiled),
            4 => Ok(JobOutcome::Failed {
                failure: JobFailure::read(input)?,
                changed: read_names(input)?,
            }),
            5 => Ok(JobOutcome::Function {
                answer: FunctionAnswer::read(input)?,
                changed: input.list(|input| Ok((input.uint()?, Value::read(input)?)))?,
            }),
            _ => Err(input.error("this is not an outcome")),
        }
    }
}

impl Message for FunctionAnswer {
    fn write(&self, out: &mut Writer) {
        match self {
            FunctionAnswer::Value(value) => {
                out.uint(1);
                value.write(out);
            }
            FunctionAnswer::Names(names) => {
                out.uint(2);
                write_texts(names, out);
            }
            FunctionAnswer::Text(text) => {
                out.uint(4);
                out.text(text);
            }
            FunctionAnswer::Missing(why) => {
                out.uint(3);
                out.option(why.as_deref(), Writer::text);
            }
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match input.uint::<u8>()? {
            1 => Value::read(input).map(FunctionAnswer::Value),
            2 => input.list(Reader::shared).map(FunctionAnswer::Names),
            3 => input.option(Reader::string).map(FunctionAnswer::Missing),
            4 => input.string().map(FunctionAnswer::Text),
            _ => Err(input.error("this is not the answer of a function")),
        }
    }
}

impl Message for TracedText {
    fn write(&self, out: &mut Writer) {
        out.text(&self.text);
        write_units(&self.units, out);
        out.count(self.chunks.len());
        for chunk in &self.chunks {
            out.uint(chunk.start as u64);
            chunk.place.write(out);
            out.flag(chunk.exact);
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let text = input.string()?;
        let units = input.list(Unit::read)?;
        let mut last = 0;
        let chunks = input.list(|input| {
            let start: usize = input.uint()?;
            if start < last || !text.is_char_boundary(start) {
                return Err(input.error("a chunk starts where none can"));
            }
            last = start;
            Ok(Chunk {
                start,
                place: place_in(&units, input)?,
                exact: input.flag()?,
            })
        })?;
        Ok(TracedText {
            text,
            units,
            chunks,
        })
    }
}

impl Message for UnitSpan {
    fn write(&self, out: &mut Writer) {
        out.uint(self.unit as u64);
        self.span.write(out);
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(UnitSpan {
            unit: input.uint()?,
            span: Span::read(input)?,
        })
    }
}

/// A place in one of some units.
fn place_in(units: &[Unit], input: &mut Reader<'_>) -> Result<UnitSpan, DecodeError> {
    let place = UnitSpan::read(input)?;
    if place.unit < units.len() {
        Ok(place)
    } else {
        Err(input.error("a place is in no source"))
    }
}

impl Message for Unit {
    fn write(&self, out: &mut Writer) {
        out.option(self.name.as_deref(), Writer::text);
        match &self.source {
            UnitSource::Job => out.uint(0),
            UnitSource::Sent(number) => {
                out.uint(1);
                out.uint(*number as u64);
            }
            UnitSource::Text(text) => {
                out.uint(2);
                out.text(text);
            }
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let name = input.option(Reader::shared)?;
        let source = match input.uint::<u8>()? {
            0 => UnitSource::Job,
            1 => UnitSource::Sent(input.uint()?),
            2 => UnitSource::Text(input.shared()?),
            _ => return Err(input.error("this is not a source")),
        };
        Ok(Unit { name, source })
    }
}

fn write_units(units: &[Unit], out: &mut Writer) {
    out.count(units.len());
    units.iter().for_each(|unit| unit.write(out));
}

impl Message for JobFailure {
    fn write(&self, out: &mut Writer) {
        match &self.kind {
            FailureKind::Raised(class) => {
                out.uint(1);
                out.text(class);
            }
            FailureKind::Refused(number) => {
                out.uint(2);
                out.uint((*number).into());
            }
            FailureKind::Forbidden => out.uint(3),
            FailureKind::NotFound => out.uint(4),
            FailureKind::Limit => out.uint(5),
            FailureKind::Broken => out.uint(6),
            FailureKind::Unavailable => out.uint(7),
        }
        out.text(&self.message);
        out.option(self.help.as_deref(), Writer::text);
        write_units(&self.units, out);
        out.option(self.place.as_ref(), |out, place| place.write(out));
        out.count(self.trace.len());
        for (what, place) in &self.trace {
            out.text(what);
            place.write(out);
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let kind = match input.uint::<u8>()? {
            1 => FailureKind::Raised(input.string()?),
            2 => FailureKind::Refused(input.uint()?),
            3 => FailureKind::Forbidden,
            4 => FailureKind::NotFound,
            5 => FailureKind::Limit,
            6 => FailureKind::Broken,
            7 => FailureKind::Unavailable,
            _ => return Err(input.error("this is not a kind of failure")),
        };
        let (message, help) = (input.string()?, input.option(Reader::string)?);
        let units = input.list(Unit::read)?;
        let place = input.option(|input| place_in(&units, input))?;
        let trace = input.list(|input| Ok((input.string()?, place_in(&units, input)?)))?;
        Ok(JobFailure {
            kind,
            message,
            help,
            units,
            place,
            trace,
        })
    }
}

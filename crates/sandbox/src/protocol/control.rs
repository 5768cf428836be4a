//! Messages about sessions, outside of them.

use std::fmt;

use crate::protocol::VERSION;
use crate::protocol::codec::{DecodeError, Message, Reader, Writer};
use crate::protocol::outcome::Span;

/// Stands before everything else that the program says, in every version.
const MAGIC: &str = "mapstack-python";

/// The first thing that the program says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// The version of the package.
    pub release: String,
    /// The parts of the sandbox around templates.
    pub walls: Vec<SandboxPart>,
}

/// A part of the sandbox around templates.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SandboxPart {
    /// The name ("no files (Landlock)").
    pub name: String,
    /// The reason why it could not be set up here, if so.
    pub missing: Option<String>,
}

/// A program that does not speak this protocol.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HelloError {
    /// It speaks something else.
    Stranger,
    /// It speaks another version.
    Version(u16),
}

impl fmt::Display for HelloError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HelloError::Stranger => f.write_str("it does not answer as mapstack-python does"),
            HelloError::Version(theirs) => {
                write!(
                    f,
                    "it speaks version {theirs} of the protocol, and this command speaks version {VERSION}"
                )
            }
        }
    }
}

impl std::error::Error for HelloError {}

impl Hello {
    /// The greeting as bytes, with the version of the protocol.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.to_bytes_of(VERSION)
    }

    /// The greeting as a program of another version would say it.
    #[must_use]
    pub fn to_bytes_of(&self, version: u16) -> Vec<u8> {
        let mut out = Body(version, self.clone()).to_bytes();
        let mut bytes = MAGIC.as_bytes().to_vec();
        bytes.append(&mut out);
        bytes
    }

    /// The greeting that bytes are.
    ///
    /// # Errors
    /// [`HelloError`]: they are something else, or of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, HelloError> {
        let body = bytes
            .strip_prefix(MAGIC.as_bytes())
            .ok_or(HelloError::Stranger)?;
        // The version comes first, and what follows is known only where it is the same.
        let version: u16 = Reader::new(body).uint().map_err(|_| HelloError::Stranger)?;
        if version != VERSION {
            return Err(HelloError::Version(version));
        }
        Body::from_bytes(body)
            .map(|Body(_, hello)| hello)
            .map_err(|_| HelloError::Stranger)
    }
}

/// A greeting behind its first words.
struct Body(u16, Hello);

impl Message for Body {
    fn write(&self, out: &mut Writer) {
        out.uint(self.0.into());
        out.text(&self.1.release);
        out.count(self.1.walls.len());
        for wall in &self.1.walls {
            out.text(&wall.name);
            out.option(wall.missing.as_deref(), Writer::text);
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let version = input.uint()?;
        let release = input.string()?;
        let walls = input.list(|input| {
            Ok(SandboxPart {
                name: input.string()?,
                missing: input.option(Reader::string)?,
            })
        })?;
        Ok(Body(version, Hello { release, walls }))
    }
}

/// A request of the command outside of sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// End the session that is open, at once, and open the next one.
    Next,
    /// The same, and be prepared for all kinds of jobs from then on.
    NextOfAll,
}

impl Message for Control {
    fn write(&self, out: &mut Writer) {
        match self {
            Control::Next => out.uint(1),
            Control::NextOfAll => out.uint(2),
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        match input.uint::<u8>()? {
            1 => Ok(Control::Next),
            2 => Ok(Control::NextOfAll),
            _ => Err(input.error("this is not a request")),
        }
    }
}

/// A report of the program outside of sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProgramReport {
    /// A session is open; its socket comes with the message.
    Open,
    /// The session's process has ended.
    Ended(SessionEnd),
}

/// The end of a session's process.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionEnd {
    /// With this status.
    pub status: Option<i32>,
    /// By this signal.
    pub signal: Option<i32>,
    /// The text on its standard error, or the start of it.
    pub said: String,
    /// The last place that the job noted before.
    pub noted: Option<NotedPlace>,
}

/// A place that a job noted when it came there, for the case that its process ends.
///
/// ```
/// use mapstack_sandbox::protocol::{NotedPlace, Span};
/// let [first, last] = [None, Some(2)].map(|sent| NotedPlace { sent, span: Span { start: 7, end: 9 } });
/// let row = [first.to_bytes(), last.to_bytes()].concat();
/// assert_eq!(NotedPlace::last(&row), Some(last));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NotedPlace {
    /// The number of a template that the command sent; none for the job's own text.
    pub sent: Option<u32>,
    /// The part of its text.
    pub span: Span,
}

impl NotedPlace {
    /// The bytes of a note.
    pub const SIZE: usize = 12;
    /// More notes than these are not made; behind them nothing is known.
    pub const MAX_NOTES: usize = 4096;

    /// The note as bytes of a fixed length, for a row of notes.
    #[must_use]
    pub fn to_bytes(self) -> [u8; Self::SIZE] {
        // Zero is the job's own text.
        let source = self.sent.map_or(0, |number| number.saturating_add(1));
        let mut bytes = [0; Self::SIZE];
        for (to, number) in bytes
            .chunks_exact_mut(4)
            .zip([source, self.span.start, self.span.end])
        {
            to.copy_from_slice(&number.to_le_bytes());
        }
        bytes
    }

    /// The last of a row of notes; none where there may have been more of them.
    #[must_use]
    pub fn last(notes: &[u8]) -> Option<Self> {
        if notes.len() / Self::SIZE >= Self::MAX_NOTES {
            return None;
        }
        let last = notes.chunks_exact(Self::SIZE).next_back()?;
        let number = |at: usize| {
            let bytes = last.get(at..at + 4)?.try_into().ok()?;
            Some(u32::from_le_bytes(bytes))
        };
        Some(NotedPlace {
            sent: number(0)?.checked_sub(1),
            span: Span {
                start: number(4)?,
                end: number(8)?,
            },
        })
    }
}

impl Message for ProgramReport {
    fn write(&self, out: &mut Writer) {
        match self {
            ProgramReport::Open => out.uint(1),
            ProgramReport::Ended(ending) => {
                out.uint(2);
                out.option(ending.status, |out, status| out.int(status.into()));
                out.option(ending.signal, |out, signal| out.int(signal.into()));
                out.text(&ending.said);
                out.option(ending.noted, |out, noted| {
                    out.option(noted.sent, |out, number| out.uint(number.into()));
                    out.uint(noted.span.start.into());
                    out.uint(noted.span.end.into());
                });
            }
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let small = |input: &mut Reader<'_>| {
            let int = input.int()?;
            i32::try_from(int).map_err(|_| input.error("the number is too large"))
        };
        match input.uint::<u8>()? {
            1 => Ok(ProgramReport::Open),
            2 => {
                let (status, signal) = (input.option(small)?, input.option(small)?);
                Ok(ProgramReport::Ended(SessionEnd {
                    status,
                    signal,
                    said: input.string()?,
                    noted: input.option(|input| {
                        let sent = input.option(Reader::uint)?;
                        let (start, end) = (input.uint()?, input.uint()?);
                        let span = Span { start, end };
                        Ok(NotedPlace { sent, span })
                    })?,
                }))
            }
            _ => Err(input.error("this is not a report")),
        }
    }
}

/// The bounds of a session; the first message in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Steps: passes through loops and comprehensions, and calls of functions.
    pub fuel: u64,
    /// Bytes of output, captures included.
    pub output: u64,
    /// Calls inside each other.
    pub depth: u64,
    /// Milliseconds of work, without what the command takes to answer.
    pub time: u64,
    /// Bytes of memory beside what the interpreter takes.
    pub memory: u64,
}

impl Message for Bounds {
    fn write(&self, out: &mut Writer) {
        for bound in [self.fuel, self.output, self.depth, self.time, self.memory] {
            out.uint(bound);
        }
    }

    fn read(input: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Bounds {
            fuel: input.uint()?,
            output: input.uint()?,
            depth: input.uint()?,
            time: input.uint()?,
            memory: input.uint()?,
        })
    }
}

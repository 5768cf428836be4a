//! The messages between the command and the program that runs Mako and Python templates.
//!
//! The crate does not know about interpreters, processes, files or templates.
//!
#![doc = include_str!("../README.md")]
//!
//! | channel | from the command | from the program |
//! |---|---|---|
//! | control, one for a program | [`Control`] | [`Hello`], then [`Report`]s |
//! | session, one for jobs that share an interpreter | for each job [`Bounds`], the [`Job`], [`Answer`]s | [`SessionMessage`] |
//!
//! Neither side trusts the other: a decoder takes any bytes without a panic, within bounded memory and depth, and
//! refuses what is left over behind a message.
//!
//! ```
//! use mapstack_python_protocol::{Answer, Message};
//! use mapstack_value::Value;
//! let answer = Answer::Value(Ok(Value::from_iter([1, 2])));
//! let bytes = answer.to_bytes();
//! assert_eq!(Answer::from_bytes(&bytes).unwrap(), answer);
//! assert!(Answer::from_bytes(&bytes[1..]).is_err());
//! ```

mod codec;
mod control;
mod frame;
mod job;
mod outcome;
mod plan;
mod value;

pub use codec::{DecodeError, Message, Reader, Writer};
pub use control::{
    Bounds, Control, Hello, HelloError, NotedPlace, Report, SandboxPart, SessionEnd,
};
pub use frame::{FrameError, MAX_FRAME, read_frame, write_frame};
pub use job::{
    Answer, CompileJob, FunctionFiles, FunctionJob, Job, JobUsage, Language, Loader, Lookup,
    ModuleJob, Names, Refusal, RefusalKind, RenderJob, SessionMessage, Source, TemplateJob,
};
pub use outcome::{
    Chunk, Compiled, CompiledTemplate, Failure, FailureKind, FunctionAnswer, JobOutcome, Purity,
    Span, TracedText, Unit, UnitSource, UnitSpan,
};
pub use plan::{
    Comparison, LookupExpr, MAX_PLAN_DEPTH, MAX_PLAN_VARIABLES, METHODS, Plan, PlanStep,
};

/// The version of the protocol. Sides of different versions do not talk.
pub const VERSION: u16 = 9;

//! The messages between the command and the program that runs Mako and Python templates.
//!
//! The program, `mapstack-python`, holds a Python interpreter in a sandbox of the operating system. The two sides
//! exchange frames of bounded length, each of which is one message in MessagePack's encoding.
//!
//! | channel | from the command | from the program |
//! |---|---|---|
//! | control, one for a program | [`Control`] | [`Hello`], then [`ProgramReport`]s |
//! | session, one for jobs that share an interpreter | for each job [`Bounds`], the [`Job`], [`CommandAnswer`]s | [`SessionMessage`] |
//!
//! Neither side trusts the other: a decoder takes any bytes without a panic, within bounded memory and depth, and
//! refuses what is left over behind a message.
//!
//! ```
//! use mapstack_sandbox::protocol::{CommandAnswer, Message};
//! use mapstack_value::Value;
//! let answer = CommandAnswer::Value(Ok(Value::from_iter([1, 2])));
//! let bytes = answer.to_bytes();
//! assert_eq!(CommandAnswer::from_bytes(&bytes).unwrap(), answer);
//! assert!(CommandAnswer::from_bytes(&bytes[1..]).is_err());
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
    Bounds, Control, Hello, HelloError, NotedPlace, ProgramReport, SandboxPart, SessionEnd,
};
pub use frame::{FrameError, MAX_FRAME, read_frame, write_frame};
pub use job::{
    CommandAnswer, CompileJob, FunctionFiles, FunctionJob, Job, JobUsage, Language, Loader, Lookup,
    ModuleJob, Names, Refusal, RefusalKind, RenderJob, SessionMessage, TemplateJob, TemplateSource,
};
pub use outcome::{
    Chunk, Compiled, CompiledTemplate, FailureKind, FunctionAnswer, JobFailure, JobOutcome, Purity,
    Span, TracedText, Unit, UnitSource, UnitSpan,
};
pub use plan::{
    Comparison, LookupExpr, MAX_PLAN_DEPTH, MAX_PLAN_VARIABLES, METHODS, PlanStep, TemplatePlan,
};

/// The version of the protocol. Sides of different versions do not talk.
pub const VERSION: u16 = 9;

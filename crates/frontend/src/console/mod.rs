//! The output of the command: messages on standard error, answers on standard output, and its exit status.
//!
//! A `Reporter` prints messages, and nothing that is secret in them: whatever it prints of minions is
//! `Redacted`. A `Failure` is why a command does not end well.
//!
//! ```rust
//! use mapstack_frontend::console::{Failure, Reporter};
//! use mapstack_frontend::inputs::flags::Messages;
//! let reporter = Reporter::new(&Messages { quiet: true, ..Messages::default() });
//! reporter.say("this is not printed");
//! let _status = reporter.finish(Err(Failure::Usage("--root names no directory".into())));
//! ```

mod allowance;
mod failure;
pub mod keeping;
mod left_out;
mod long;
mod managed;
mod minions;
pub mod output;
mod reporter;

pub use failure::Failure;
pub use left_out::{has_parts, left_out};
pub use long::{INTERRUPTED, ProgressLine, Stage, interrupted, shown_while};
pub use managed::FilesOfStates;
pub use minions::{
    WrittenFormat, named_errors, not_read, report_minions, report_not_compared, report_reasons,
    report_unread,
};
pub use reporter::Reporter;

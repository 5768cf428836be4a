//! What a command says on standard error, and how it ends.
//!
//! A [`Reporter`] prints messages, and nothing that is secret in them: whatever it prints of minions is
//! [`Redacted`](mapstack::secrets::Redacted). A [`Failure`] is why a command does not end well.
//!
//! ```
//! use mapstack_console::{Failure, Reporter};
//! use mapstack_inputs::flags::Messages;
//! let reporter = Reporter::new(&Messages { quiet: true, ..Messages::default() });
//! reporter.say("this is not printed");
//! let _status = reporter.finish(Err(Failure::Usage("--root names no directory".into())));
//! ```
//!
//! The crate does not know about verbs, or about what they print on standard output.

mod failure;
mod long;
mod reporter;

pub use failure::Failure;
pub use long::{INTERRUPTED, interrupted, progress};
pub use reporter::Reporter;

//! The budget of a render, whatever its language: steps, time, memory, output and depth. Work that cannot
//! reach the render it belongs to records its steps in a ledger of the thread, and stops once they cannot be paid. The
//! errors of templates, with their places, are here as well, since every limit is one of them.
//!
//! ```rust
//! use mapstack_pyobject::limits::{ErrorKind, Limits, ledger};
//!
//! let limits = Limits { fuel: 1_000, ..Limits::default() };
//! let account = ledger::OpenAccount::new(limits, limits.fuel);
//! assert!(ledger::spend(100).is_ok());
//! assert_eq!(ledger::spend(1_000_000).unwrap_err().kind, ErrorKind::Limit);
//! drop(account);
//! ```

mod bounds;
pub mod depth;
mod error;
pub mod ledger;
mod run;

pub use bounds::{Deadline, Limits, MemoryLimit, Spender};
pub use error::{Error, ErrorKind, Frame, Result, Span, TemplatePlace};
pub use run::{Refusal, RunBudget, RunLimits, RunningWork, SpentResource};

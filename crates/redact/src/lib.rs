//! Keeps secrets out of what is printed for people.
//!
//! There is one policy, and it is here: which names are those of secrets ([`is_secret_name`]), what is
//! printed in place of a value ([`Secrets::shown`]), what a message may say ([`Secrets::scrubbed`]), and
//! what of a file may be quoted ([`Secrets::starred`], [`Excerpts`]). Output takes [`Redacted`] values, which only
//! [`Secrets::redact`] makes.
//!
//! ```
//! use mapstack_redact::Secrets;
//! use mapstack_value::Map;
//! let secrets = Secrets::new(b"salt").of_pillar(&Map::from_iter([("pem", "first line\nsecond line\n")]));
//! assert!(!secrets.scrubbed("KeyError: 'first line\\nsecond line\\n'").contains("line"));
//! assert_eq!(secrets.starred("db_password: hunter2\nport: 22\n"), "db_password: *******\nport: 22\n");
//! ```
//!
//! The crate does not know about templates, files, minions or output formats.

mod excerpts;
mod names;
mod redacted;
mod search;
mod secrets;
mod stars;

pub use excerpts::Excerpts;
pub use names::is_secret_name;
pub use redacted::{Redact, Redacted};
pub use secrets::Secrets;

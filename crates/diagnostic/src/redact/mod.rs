//! Keeps secrets out of what is printed for people.
//!
//! There is one policy, and it is here: which values are secrets by themselves (`Policy`), what is
//! printed in place of a value (`Secrets::shown`), what a message may say (`Secrets::scrubbed`), and
//! what of a file may be quoted (`Secrets::starred`, `Excerpts`). Output takes `Redacted` values, which only
//! `Secrets::redact` makes.
//!
//! ```rust
//! use mapstack_diagnostic::redact::Secrets;
//! use mapstack_value::Map;
//! let secrets = Secrets::new(b"salt").of_pillar(&Map::from_iter([("pem", "first line\nsecond line\n")]));
//! assert!(!secrets.scrubbed("KeyError: 'first line\\nsecond line\\n'").contains("line"));
//! assert_eq!(secrets.starred("db_password: hunter2\nport: 22\n"), "db_password: *******\nport: 22\n");
//! ```

mod cipher;
mod excerpts;
mod names;
mod policy;
mod redacted;
mod search;
mod secrets;
mod stars;
mod texts;
mod words;

pub use cipher::{Cipher, is_ciphertext};
pub use excerpts::Excerpts;
pub use names::is_secret_name;
pub use policy::{Policy, is_encrypted, note_decrypted};
pub use redacted::{Redact, Redacted, with_keys};
pub use secrets::Secrets;

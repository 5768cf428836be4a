//! Keeps secrets out of what is printed for people.
//!
//! The crate does not know about templates, files, minions or output formats.
//!
#![doc = include_str!("../README.md")]

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
pub use redacted::{Redact, Redacted};
pub use secrets::Secrets;

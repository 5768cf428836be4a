//! One minion's facts — grains, pillar, options — and Salt's look-ups over them.
//!
//! The crate does not know about the file server, templates, layers or which minion it runs on.
//!
#![doc = include_str!("../README.md")]
//!
//! # Known differences
//!
//! - Values in the pillar are never masked.
//! - `sdb://` texts are returned as they are, with a [`Warning`] where Salt would ask a database.
//! - `config.get` with `merge` never reads `/etc/salt/master`: lists are replaced.
//! - A list as a key may hold items that cannot be keys; they lead nowhere.

pub mod builtin;
pub mod cache;
mod error;
mod lookup;
mod message;
mod minion;
pub mod minions;
mod options;
pub mod platforms;
mod read;
mod salt_version;
mod set;
mod sources;

pub use error::{DocumentPlace, LookupError, ReadError, ReadErrorKind, SetError, Warning};
pub use lookup::{ConfigGet, ConfigPlace, LookupAnswer, PillarGet};
pub use minion::{Minion, Part};
pub use read::MAX_BYTES;
pub use salt_version::{Behaviour, SaltVersion, UnknownVersion};
pub use sources::{FactPlace, FactPlaces, Sources};

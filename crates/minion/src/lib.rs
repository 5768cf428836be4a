//! One minion's facts — grains, pillar, options — and Salt's look-ups over them.
//!
//! A [`Minion`] is read from a document with `id`, `grains`, `pillar` and `opts`, from a file for
//! each of them, or built up in code:
//!
//! ```
//! use mapstack_minion::{ConfigGet, Minion};
//! use mapstack_value::Value;
//!
//! let text = "id: web1\ngrains: {os_family: Debian}\npillar: {openssh: {port: 22}}\n";
//! let minion = Minion::parse(text.as_bytes(), "web1.yaml").unwrap().complete();
//! assert_eq!(minion.grains_get("os_family", ":").unwrap(), Some(Value::from("Debian")));
//! let port = minion.config_get("openssh:port", &ConfigGet::default()).unwrap();
//! assert_eq!(port.value, Some(Value::from(22)));
//! ```
//!
//! [`minions::Minions`] has many: those of a directory or a text, or those that a master
//! [knows](cache::Cache). [`platforms`] are minions for which no machine is needed.
//!
//! A minion remembers what it was read from; [`FactPlaces`] finds the line and column of a fact.
//!
//! The look-ups are Salt's `grains.get`, `pillar.get` and `config.get`, keys, delimiters, merging
//! and all. `config.get` and [`Minion::options`] know the [options](builtin::options) every minion
//! has without configuration.
//!
//! # Known differences
//!
//! - Values in the pillar are never masked.
//! - `sdb://` texts are returned as they are, with a [`Warning`] where Salt would ask a database.
//! - `config.get` with `merge` never reads `/etc/salt/master`: lists are replaced.
//! - A list as a key may hold items that cannot be keys; they lead nowhere.
//!
//! The crate does not know about the file server, templates, layers or which minion it runs on.

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
mod set;
mod sources;

pub use error::{LookupError, Place, ReadError, ReadErrorKind, SetError, Warning};
pub use lookup::{Answer, ConfigGet, PillarGet};
pub use minion::{Minion, Part};
pub use read::MAX_BYTES;
pub use sources::{FactPlace, FactPlaces, Sources};

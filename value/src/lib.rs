//! Salt's data model in Rust: [`Value`], [`Map`] and [`Key`] with Python's meaning.
//!
//! Configuration in the Salt world is Python data. Two values are equal when Python says so
//! (`1 == 1.0 == True`), a mapping has one entry for keys that are equal, text prints as
//! `str()` and `repr()` print it, and integers never overflow. This crate holds those rules and
//! nothing else.
//!
//! Containers are shared and copied on write: cloning a [`Value`] copies a pointer, and changing a
//! clone leaves the original alone.
//!
//! ```
//! use mapstack_value::{Map, Value};
//!
//! let mut ports = Map::new();
//! ports.insert("http", 80);
//! let before = Value::from(ports.clone());
//! ports.insert("https", 443);
//! assert_eq!(Value::from(ports).repr(), "{'http': 80, 'https': 443}");
//! assert_eq!(before.repr(), "{'http': 80}");
//! assert_eq!(Value::from(true), Value::from(1.0));
//! ```
//!
//! The crate does not know about YAML, layers, files or templates.

mod float;
mod int;
pub mod json;
mod json_reader;
mod key;
mod keys;
mod map;
mod order;
pub mod posixpath;
mod ser;
mod text;
mod traverse;
mod value;

pub use int::{ArithmeticError, Int};
pub use key::{Key, KeyRef, Unhashable};
pub use map::{Map, MapKind, Set};
pub use order::{Incomparable, sort_by_key};
pub use text::{float_repr, is_printable, quote_str};
pub use traverse::{EmptyDelimiter, Path, Step, Traverse, integer_step, traverse};
pub use value::{Kind, List, Str, Value};

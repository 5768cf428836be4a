//! Python's values and texts, as configuration in the Salt world needs it.
//!
//! The crate does not know about YAML, layers, files or templates.
//!
#![doc = include_str!("../README.md")]
//!
//! # Features
//!
//! None is on by default.
//!
//! - `serde`: `Serialize` and `Deserialize` for [`Value`] and [`Map`]
//! - `serde_json`: [`From`] a `serde_json::Value`, and [`TryFrom`] into one
//! - `yaml_serde`: [`TryFrom`] a `serde_yaml::Value` (the crate `yaml_serde`) and into one
//!
//! The conversions that can lose something are `TryFrom`: nothing is lost without an error.

#[cfg(any(feature = "serde_json", feature = "yaml_serde"))]
mod convert;
#[cfg(any(feature = "serde", feature = "serde_json", feature = "yaml_serde"))]
mod de;
mod extent;
mod float;
mod int;
pub mod json;
mod json_reader;
mod key;
mod keyed;
mod keys;
mod map;
mod order;
pub mod pytext;
mod sent;
#[cfg(feature = "serde")]
mod ser;
mod shown;
mod text;
mod traverse;
mod value;

pub use crate::pytext::{float_repr, is_printable, posixpath, quote_str, split};
#[cfg(any(feature = "serde_json", feature = "yaml_serde"))]
pub use convert::NoCounterpart;
pub use extent::{Extent, weight};
pub use int::{ArithmeticError, Int};
pub use key::{Key, KeyRef, Unhashable};
pub use keyed::Keyed;
pub use map::{Map, MapKind, Set};
pub use order::{Incomparable, sort_by_key};
pub use sent::{sent, text_for_bytes};
pub use shown::{commands, cut, is_acting, is_plain};
pub use traverse::{EmptyDelimiter, Path, PathStep, Traverse, integer_step, traverse};
pub use value::{List, Str, Value, ValueKind};

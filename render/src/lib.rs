//! The template stage: Jinja as Salt speaks it, over Python's objects.
//!
//! A template is text plus a small program. [`jinja::render`] runs it with the variables it is
//! given and reaches everything else through a [`Host`](jinja::Host): other templates and
//! `salt[...]` functions. What it prints comes with a map from output to source.
//!
//! ```
//! use mapstack_render::jinja::{NoHost, Request, render};
//! use mapstack_render::Obj;
//!
//! let mut request = Request::new("{% do d.update(a=1) %}{{ d }}", &NoHost);
//! let d = Obj::dict([]);
//! request.variables.insert("d".into(), d.clone());
//! assert_eq!(render(request).unwrap().text, "{'a': 1}");
//! assert_eq!(d.to_value().unwrap().repr(), "{'a': 1}");
//! ```
//!
//! The crate does not know about file servers, minions, strategies or layers.

mod depth;
mod error;
mod filters;
mod format;
mod globals;
pub mod jinja;
mod ledger;
pub mod mako;
mod methods;
mod object;
pub mod python;
mod salt;
pub mod sandbox;
mod serial;
mod suggest;
#[cfg(feature = "tera")]
pub mod tera;
mod tests;

pub use error::{Error, ErrorKind, Frame, Place, Result};
pub use filters::date::clock_reads;
pub use filters::host::is_host_filter;
pub use filters::regex::regex_matches;
pub use ledger::spend;
pub use object::{
    CallArgs, DictRef, Iter, ListRef, Obj, ObjIter, Object, Reader, SetRef, Sweep, TupleRef,
    Undefined, check_extent, required,
};
pub use salt::{salt_object, traverse_object};

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

mod filters;
mod globals;
pub mod jinja;
pub mod mako;
pub mod python;
mod salt;
pub mod sandbox;
mod serial;
mod suggest;
#[cfg(feature = "tera")]
pub mod tera;
mod tests;

pub use filters::date::clock_reads;
pub use filters::host::is_host_filter;
pub use filters::regex::regex_matches;
pub use mapstack_pyobject::{
    CallArgs, DictRef, Error, ErrorKind, Frame, Interpreter, Iter, ListRef, Obj, ObjIter, Object,
    Place, Reader, Result, SetRef, Sweep, TupleRef, Undefined, changes, check_extent, required,
    spend,
};
pub use salt::{salt_object, traverse_object};
pub use serial::yaml_limits;

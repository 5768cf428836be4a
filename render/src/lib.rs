//! The template stage: Jinja as Salt speaks it, over Python's objects.
//!
//! A template is text plus a small program. [`jinja::render`] runs it with the variables it is
//! given and reaches everything else through a [`Host`](jinja::Host): other templates and
//! `salt[...]` functions. What it prints comes with a map from output to source.
//!
//! ```
//! use mapstack_render::jinja::{NoHost, render, request};
//! use mapstack_render::Obj;
//!
//! let mut request = request("{% do d.update(a=1) %}{{ d }}", &NoHost);
//! let d = Obj::dict([]);
//! request.variables.insert("d".into(), d.clone());
//! assert_eq!(render(request).unwrap().text, "{'a': 1}");
//! assert_eq!(d.to_value().unwrap().repr(), "{'a': 1}");
//! ```
//!
//! The crate does not know about file servers, minions, strategies or layers.

pub mod mako;
pub mod sandbox;
#[cfg(feature = "tera")]
pub mod tera;

pub use mapstack_pyobject::{
    CallArgs, DictRef, Error, ErrorKind, Frame, Interpreter, Iter, ListRef, Obj, ObjIter, Object,
    Place, Reader, Result, SetRef, Sweep, TupleRef, Undefined, changes, check_extent, required,
    spend,
};
pub use mapstack_salt_jinja::{
    clock_reads, is_host_filter, python, regex_matches, salt_object, traverse_object, yaml_limits,
};

/// Jinja as Salt speaks it; [`mapstack_salt_jinja`].
pub mod jinja {
    pub use mapstack_salt_jinja::{
        Deadline, Dialect, Edit, Host, Layer, Limits, MemoryLimit, Names, NoHost, Node, Origin,
        PillarStack, Rendered, Request, Salt, SourceMap, Syntax, SyntaxError, Taint, TemplateCache,
        Vm, Watch, ast, compile, parse, render, request, visit,
    };
}

//! The template stage: Jinja as Salt speaks it, over Python's objects.
//!
//! The crate does not know about file servers, minions, strategies or layers.
//!
#![doc = include_str!("../README.md")]

mod language;
pub mod mako;
pub mod pipe;
pub mod sandbox;
#[cfg(feature = "tera")]
pub mod tera;

#[cfg(feature = "tera")]
pub use language::Tera;
pub use language::{Jinja, Language, Mako};
pub use mapstack_pyobject::{
    CallArgs, DictRef, Error, ErrorKind, Frame, Interpreter, Iter, ListRef, Obj, ObjIter, Object,
    Reader, Result, SetRef, Sweep, TemplatePlace, TupleRef, Undefined, changes, check_extent,
    required, spend, spend_apart,
};
pub use mapstack_salt_jinja::{
    clock_reads, expr_match, is_host_filter, python, regex_matches, salt_object, traverse_object,
    yaml_limits,
};

/// Jinja as Salt speaks it; [`mapstack_salt_jinja`].
pub mod jinja {
    pub use mapstack_salt_jinja::{
        Deadline, Dialect, Edit, EditLog, Evaluated, Host, Jinja2, Limits, MemoryLimit, Names,
        NoHost, Node, OutputOrigin, PillarStack, Refusal, RenderResult, Request, RunBudget,
        RunLimits, RunningWork, Salt, ScopeChain, SourceMap, SpentResource, Syntax, SyntaxError,
        Table, Taint, TemplateCache, Tracer, Vm, ast, attributes, bound, compile, parse, render,
        request, visit,
    };
}

//! Jinja as Salt speaks it: a dialect of Jinja2.
//!
//! The crate does not know about file servers, minions, strategies or layers. It re-exports what callers need of
//! `mapstack-jinja`.
//!
#![doc = include_str!("../README.md")]

mod builtins;
mod dialect;
mod filters;
mod globals;
mod header;
mod load;
mod print;
pub mod python;
mod salt;
mod serial;
mod tests;

pub use dialect::{PillarStack, Salt, compile, parse, request};
pub use filters::date::clock_reads;
pub use filters::host::is_host_filter;
pub use filters::regex::{expr_match, regex_matches};
pub use mapstack_jinja::{
    BoundName, Deadline, Dialect, Edit, EditLog, Evaluated, Host, Jinja2, Limits, MemoryLimit,
    Names, NoHost, Node, Output, OutputOrigin, Refusal, RenderResult, Request, RunBudget,
    RunLimits, RunningWork, ScopeChain, SourceMap, SpentResource, Syntax, SyntaxError, Table,
    Taint, TemplateCache, Tracer, Vm, ast, attributes, bound, render, visit,
};
pub use salt::{call_by_name, is_salt, salt_object, traverse_object};
pub use serial::yaml_limits;

//! Jinja2, exactly, over Python's objects.
//!
//! The crate does not know about file servers, YAML, or the users of its dialects.
//!
#![doc = include_str!("../README.md")]

mod blocks;
mod cache;
mod check;
mod compile;
mod dialect;
mod edit_log;
pub mod filters;
mod fold;
pub mod globals;
mod host;
mod host_function;
mod interpret;
mod jinja2;
mod job;
mod loops;
mod macros;
mod module;
mod named;
mod output;
mod render;
mod scope;
mod suggest;
pub mod syntax;
mod taint;
mod tests;
mod tracer;
mod vm;

pub use crate::syntax::{
    DO, LOOP_CONTROLS, Node, Syntax, SyntaxError, Tag, TagForm, ast, bound, parse, visit,
};
pub use cache::TemplateCache;
pub use compile::compile;
pub use dialect::{Builtins, Dialect, Filter, Filters, Test, Tests, load_below};
pub use edit_log::{Edit, EditLog};
pub use filters::call;
pub use host::{Host, NoHost};
pub use host_function::HostFunction;
pub use jinja2::Jinja2;
pub use job::{call_in_render, in_render};
pub use mapstack_pyobject::{
    Deadline, Limits, MemoryLimit, Refusal, RunBudget, RunLimits, RunningWork, SpentResource,
};
pub use module::attributes;
pub use named::{Conversion, NamedFunction};
pub use output::{Output, OutputOrigin, SourceMap};
pub use render::{RenderResult, render};
pub use scope::{Names, ScopeChain};
pub use taint::Taint;
pub use tracer::{BoundName, Evaluated, Table, Tracer};
pub use vm::{Request, Vm};

//! Jinja2, exactly, over Python's objects.
//!
//! The crate does not know about file servers, YAML, or who uses its dialects.
//!
#![doc = include_str!("../README.md")]

mod blocks;
mod charge;
mod check;
mod dialect;
pub mod filters;
pub mod globals;
mod host;
mod interpret;
mod job;
mod loops;
mod macros;
mod module;
mod output;
mod random;
mod scope;
mod suggest;
mod taint;
pub mod tests;
mod vm;
mod watch;

pub use charge::Named;
pub use dialect::{Dialect, Jinja2, load_below};
pub use filters::{Filter, call};
pub use host::{Host, HostFunction, NoHost};
pub use job::{call_in_render, in_render};
pub use mapstack_jinja_syntax::{
    DO, Form, LOOP_CONTROLS, Node, Syntax, SyntaxError, Tag, ast, parse, visit,
};
pub use mapstack_pyobject::{Deadline, Limits, MemoryLimit};
pub use output::{Origin, Output, SourceMap};
pub use random::Twister;
pub use scope::{Layer, Names};
pub use taint::Taint;
pub use tests::Test;
pub use vm::{Rendered, Request, TemplateCache, Vm, compile, render};
pub use watch::{Edit, Watch};

//! Jinja as Salt speaks it: Jinja2's language and Salt's tags over Python's objects.

pub mod ast;
mod blocks;
pub(crate) mod charge;
mod check;
mod dialect;
mod header;
mod interpret;
pub(crate) mod job;
mod lexer;
mod loops;
mod macros;
mod module;
pub(crate) mod output;
pub mod parser;
mod scope;
mod syntax;
mod taint;
mod visit;
mod vm;
mod watch;

pub use dialect::Dialect;
pub use mapstack_pyobject::{Deadline, Limits, MemoryLimit};
pub use output::{Origin, SourceMap};
pub use parser::{SyntaxError, parse};
pub use scope::{Layer, Names};
pub use syntax::Syntax;
pub use taint::Taint;
pub use visit::{Node, visit};
pub use vm::{Host, NoHost, Rendered, Request, TemplateCache, Vm, compile, render};
pub use watch::{Edit, Watch};

//! Jinja2's syntax: templates to trees.
//!
//! The crate does not know about values of variables, filters, files or what a template prints.
//!
#![doc = include_str!("../README.md")]

pub mod ast;
mod compiled;
mod lexer;
mod operands;
mod parser;
mod scopes;
mod syntax;
mod tag;
mod unset;
mod visit;

pub use parser::{SyntaxError, parse};
pub use scopes::bound;
pub use syntax::Syntax;
pub use tag::{DO, Form, LOOP_CONTROLS, Tag};
pub use visit::{Node, visit};

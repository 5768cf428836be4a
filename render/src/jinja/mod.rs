//! Jinja as Salt speaks it.

pub mod ast;
pub mod parser;
mod lexer;
mod syntax;

pub use parser::{SyntaxError, parse};
pub use syntax::Syntax;

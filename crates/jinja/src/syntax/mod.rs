//! Jinja2's lexer and parser in Rust: templates to trees whose nodes know their places.
//!
//! ```rust
//! use mapstack_jinja::syntax::ast::{ExprKind, StmtKind};
//! use mapstack_jinja::syntax::{LOOP_CONTROLS, Node, Syntax, parse, visit};
//!
//! // Text to a tree …
//! let template = parse("Hello {{ name|upper }}!", None, &Syntax::default(), &[])?;
//! let StmtKind::Output(greeted) = &template.body[1].kind else { unreachable!() };
//! assert_eq!(&template.source[greeted.span.start as usize..greeted.span.end as usize], "name|upper");
//!
//! // … that can be walked over …
//! let mut names = Vec::new();
//! let walked: Result<(), ()> = visit(&template, &mut |node, _| {
//!     if let Node::Expr(e) = node && let ExprKind::Name(name) = &e.kind {
//!         names.push(name.to_string());
//!     }
//!     Ok(())
//! });
//! assert_eq!((walked, names), (Ok(()), vec!["name".to_string()]));
//!
//! // … with tags of extensions where they are requested, and Jinja2's messages.
//! let leaves = "{% for x in y %}{% break %}{% endfor %}";
//! assert!(parse(leaves, None, &Syntax::default(), &LOOP_CONTROLS).is_ok());
//! let error = parse(leaves, None, &Syntax::default(), &[]).unwrap_err();
//! assert!(error.message.starts_with("Encountered unknown tag 'break'."));
//! # Ok::<(), mapstack_jinja::syntax::SyntaxError>(())
//! ```
//!
//! The grammar, the whitespace rules, the messages and the line numbers of errors are Jinja2's, held to it by 1,086 recorded
//! trees and errors. What Jinja2 notices only when it compiles a template, such as a block that is defined twice, is refused
//! here as well.

pub mod ast;
mod compiled;
mod delimiters;
mod lexer;
mod operands;
mod parser;
mod scopes;
mod tag;
mod unset;
mod visit;

pub use delimiters::Syntax;
pub use parser::{SyntaxError, parse};
pub use scopes::bound;
pub use tag::{DO, LOOP_CONTROLS, Tag, TagForm};
pub use visit::{Node, visit};

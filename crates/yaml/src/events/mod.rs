//! The events of a YAML 1.1 text by libyaml's grammar: scalars, the starts and ends of collections, aliases.
//!
//! PyYAML, and so Salt, reads YAML with libyaml, whose grammar differs from the specification in many corners. This crate
//! accepts and refuses the same texts, with the same events, positions and messages. Events borrow from the text: a scalar
//! is copied only where folding, an escape or the indentation of a block takes something out of it.
//!
//! ```rust
//! use mapstack_yaml::events::{EventKind, Events};
//!
//! let text = "port: 80\n";
//! let scalars: Vec<(&str, usize)> = Events::of(text)
//!     .unwrap()
//!     .map(Result::unwrap)
//!     .filter_map(|event| match event.kind {
//!         EventKind::Scalar(scalar) => Some((&text[event.start.offset..][..scalar.value.len()], event.start.column)),
//!         _ => None,
//!     })
//!     .collect();
//! assert_eq!(scalars, [("port", 0), ("80", 6)]);
//! ```
//!
//! A text of any size and shape ends in events or in one `Error`. The scanner looks ahead by one token, and by at most a
//! line of 1024 characters where a key could begin. What is open is kept on a stack, so depth costs memory, not recursion;
//! whoever takes the events decides how deep is too deep.

mod bytes;
mod cursor;
mod error;
mod event;
mod parser;
mod scanner;
mod token;

pub use error::{Context, Error, Phase};
pub use event::{Event, EventKind, Mark, Node, Scalar, Style};
pub use parser::Events;

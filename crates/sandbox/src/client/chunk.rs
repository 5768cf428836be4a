//! The origin of what a template printed.

use std::sync::Arc;

use mapstack_value::Str;

use mapstack_salt_jinja::ast::Span;

/// A run of output with one origin; it reaches to the start of the next.
#[derive(Debug, Clone)]
pub struct Chunk {
    /// The start in the output.
    pub start: usize,
    /// The template's name.
    pub name: Option<Str>,
    /// The template's text.
    pub source: Arc<str>,
    /// The place of the code that printed it.
    pub span: Span,
    /// True if it is the source's text, byte by byte.
    pub exact: bool,
}

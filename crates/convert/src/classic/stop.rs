//! Why a map cannot be layers.

use mapstack::{Error, ErrorKind};
use mapstack_salt_jinja::ast::Span;

use crate::template::FormulaTemplate;

/// A reason for which something has no counterpart in layers, and where it is.
#[derive(Debug, Clone)]
pub(crate) struct Obstacle {
    pub why: String,
    pub span: Span,
}

impl Obstacle {
    pub fn new(why: impl Into<String>, span: Span) -> Self {
        Obstacle {
            why: why.into(),
            span,
        }
    }

    pub fn error(self, map: &FormulaTemplate) -> Error {
        let message = format!(
            "salt://{}/map.jinja cannot be layers: {}",
            map.formula, self.why
        );
        Error::new(ErrorKind::Unsupported, message).at(Some(map.place(self.span)))
    }
}

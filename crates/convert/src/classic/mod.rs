//! Formulas whose map is made of tables.

mod files;
mod filter_by;
mod layer;
mod reader;
mod rest;
mod yaml;

use mapstack::{Error, ErrorKind, Result};
use mapstack_render::jinja::ast::Span;

use crate::template::Parsed;
use crate::{Formula, Proposal};

/// A reason for which something has no counterpart in layers, and where it is.
#[derive(Debug, Clone)]
pub(crate) struct Stop {
    pub why: String,
    pub span: Span,
}

impl Stop {
    pub fn new(why: impl Into<String>, span: Span) -> Self {
        Stop {
            why: why.into(),
            span,
        }
    }

    fn error(self, map: &Parsed) -> Error {
        let message = format!(
            "salt://{}/map.jinja cannot be layers: {}",
            map.formula, self.why
        );
        Error::new(ErrorKind::Unsupported, message).at(Some(map.place(self.span)))
    }
}

/// What a formula of tables would be.
pub(crate) fn propose(formula: &Formula, map: &Parsed) -> Result<Proposal> {
    if formula.paths().any(|path| path.starts_with("parameters/")) {
        let message = format!("salt://{} has tables and parameters/", formula.name());
        return Err(Error::new(ErrorKind::Unsupported, message)
            .note("`convert` knows formulas that have the one or the other"));
    }
    let imports = rest::Imports::of(formula)?;
    let reader = reader::Reader::of(formula, map);
    let main = reader.main(&imports).map_err(|stop| stop.error(map))?;
    let rest = rest::Rest::of(&reader, &main, &imports).map_err(|stop| stop.error(map))?;
    let proposal = files::proposal(formula, &reader, (&main, &rest), &imports);
    Ok(proposal
        .map_err(|stop| stop.error(map))?
        .without_same(formula))
}

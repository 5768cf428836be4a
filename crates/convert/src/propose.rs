//! Finds out how a formula makes its configuration, and proposes its files with `map.data`.

use mapstack::{Error, ErrorKind, Result};

use crate::template::Parsed;
use crate::{Formula, Proposal, classic, libmapstack};

impl Proposal {
    /// The proposal for a formula.
    ///
    /// # Errors
    /// The formula has no `map.jinja`, uses `map.data` already, or makes its configuration in a way that has no
    /// counterpart. The error says where.
    pub fn of(formula: &Formula) -> Result<Self> {
        let map = match formula.has("map.jinja") {
            true => Parsed::of(formula, "map.jinja")?,
            false => return Err(no_map(formula)),
        };
        let Some(map) = map else {
            return Err(Error::new(
                ErrorKind::Template,
                format!(
                    "salt://{}/map.jinja is not a Jinja template",
                    formula.name()
                ),
            ));
        };
        if map.calls("map.data") && !map.imports("libmapstack.jinja") {
            let message = format!("salt://{}/map.jinja calls map.data", formula.name());
            return Err(
                Error::new(ErrorKind::Unsupported, message).note("there is nothing to convert")
            );
        }
        match map.imports("libmapstack.jinja") || libmapstack::is_inlined(formula, &map) {
            true => libmapstack::propose(formula, &map),
            false => classic::propose(formula, &map),
        }
    }
}

fn no_map(formula: &Formula) -> Error {
    let name = formula.name();
    let has_layers = formula.paths().any(|path| path.starts_with("parameters/"));
    let note = match has_layers {
        true => "it has parameters/ already: map.data reads them",
        false => "its states do not use a map, so there is no configuration to convert",
    };
    Error::new(
        ErrorKind::Unsupported,
        format!("salt://{name} has no map.jinja"),
    )
    .note(note)
}

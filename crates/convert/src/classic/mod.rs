//! Formulas whose map is made of tables.

mod files;
mod filter_by;
mod imports;
mod in_place;
mod layer;
mod reader;
mod repeated;
mod rest;
mod stop;
mod yaml;

use mapstack::{Error, ErrorKind, Result};

use crate::propose::ProposalForm;
use crate::template::FormulaTemplate;
use crate::{Formula, Proposal};

/// The proposal for a formula of tables.
pub(crate) fn propose(
    formula: &Formula,
    map: &FormulaTemplate,
    form: ProposalForm,
) -> Result<Proposal> {
    if formula.paths().any(|path| path.starts_with("parameters/")) {
        let message = format!("salt://{} has tables and parameters/", formula.name());
        return Err(Error::new(ErrorKind::Unsupported, message)
            .note("`convert` knows formulas that have the one or the other"));
    }
    let imports = imports::Imports::of(formula)?;
    let reader = reader::Reader::of(formula, map, form.leaves);
    let main = reader.main(&imports).map_err(|stop| stop.error(map))?;
    let rest =
        rest::OtherStatements::of(&reader, &main, &imports).map_err(|stop| stop.error(map))?;
    let proposal = files::proposal(&reader, &main, &rest, &imports, form.shares);
    Ok(proposal
        .map_err(|stop| stop.error(map))?
        .without_same(formula))
}

//! The states that write the files of platforms.

use mapstack::{Engine, Error};

/// Those of some formulas that have a state which makes files of platforms.
///
/// # Errors
/// The files of a formula cannot be listed.
pub fn with_state(
    engine: &Engine,
    saltenv: &str,
    formulas: &[String],
) -> Result<Vec<String>, Error> {
    let mut found = Vec::new();
    for formula in formulas {
        if has_state(engine, saltenv, formula)? {
            found.push(formula.clone());
        }
    }
    Ok(found)
}

/// True if a formula has such a state.
pub(crate) fn has_state(engine: &Engine, saltenv: &str, formula: &str) -> Result<bool, Error> {
    let listed = engine.list(saltenv, &format!("{formula}/_mapdata/"))?;
    Ok(listed.contains(&path(formula)))
}

/// The path of such a state.
pub(crate) fn path(formula: &str) -> String {
    format!("{formula}/_mapdata/init.sls")
}

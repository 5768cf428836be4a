//! The states that write the files of platforms.

use mapstack::{Engine, Error, ErrorKind};

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
        let state = format!("{formula}/_mapdata/init.sls");
        let listed = engine
            .files()
            .list(saltenv, &format!("{formula}/_mapdata/"));
        let listed = listed.map_err(|e| {
            Error::new(
                ErrorKind::File,
                format!("cannot list {formula}/_mapdata/: {e}"),
            )
        })?;
        if listed.contains(&state) {
            found.push(formula.clone());
        }
    }
    Ok(found)
}

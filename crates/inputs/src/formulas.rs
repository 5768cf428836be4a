//! Which formulas are meant.

use std::collections::BTreeSet;

use mapstack::loader::FileServer;
use mapstack::{Error, ErrorKind};

/// The formulas that are named, without slashes at their ends.
pub fn named(formulas: &[String]) -> Vec<String> {
    formulas
        .iter()
        .map(|formula| formula.trim_end_matches('/').to_owned())
        .collect()
}

/// The folders of a saltenv that are formulas: they have `parameters/`, a `map.jinja` or an `init.sls`.
///
/// # Errors
/// The files cannot be listed.
pub fn all(files: &dyn FileServer, saltenv: &str) -> Result<BTreeSet<String>, Error> {
    folders(files, saltenv, |rest| {
        rest.starts_with("parameters/") || matches!(rest, "map.jinja" | "init.sls")
    })
}

/// Those that have parameter files.
///
/// # Errors
/// The files cannot be listed.
pub fn layered(files: &dyn FileServer, saltenv: &str) -> Result<BTreeSet<String>, Error> {
    folders(files, saltenv, |rest| rest.starts_with("parameters/"))
}

fn folders(
    files: &dyn FileServer,
    saltenv: &str,
    is_one: impl Fn(&str) -> bool,
) -> Result<BTreeSet<String>, Error> {
    let listed = files.list(saltenv, "");
    let listed = listed.map_err(|e| {
        Error::new(
            ErrorKind::File,
            format!("cannot list the files of saltenv {saltenv}: {e}"),
        )
    })?;
    let of_formula = |path: &String| {
        let (folder, rest) = path.split_once('/')?;
        (is_one(rest) && !folder.starts_with('.')).then(|| folder.to_owned())
    };
    Ok(listed.iter().filter_map(of_formula).collect())
}

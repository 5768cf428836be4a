//! Which formulas are meant.

use std::collections::BTreeSet;

use mapstack::loader::FileServer;
use mapstack::{Engine, Error, ErrorKind, nearest};

use crate::InputError;
use crate::misplaced;

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

/// The formulas that are meant: those given, each of which there is, or all there are.
///
/// # Errors
/// There is no such formula, or none at all.
pub fn existing(
    engine: &Engine,
    saltenv: &str,
    given: &[String],
) -> Result<Vec<String>, InputError> {
    let found = all(engine.files(), saltenv)?;
    if given.is_empty() {
        misplaced::check(engine, saltenv)?;
        if found.is_empty() {
            let error = Error::new(
                ErrorKind::File,
                format!("no folder in saltenv {saltenv} is a formula"),
            );
            return Err(error
                .note("a formula has parameters/, a map.jinja or an init.sls")
                .into());
        }
        return Ok(found.into_iter().collect());
    }
    let wanted = named(given);
    let listed = |name: &String| {
        engine
            .files()
            .list(saltenv, &format!("{name}/"))
            .is_ok_and(|files| !files.is_empty())
    };
    for name in wanted.iter().filter(|name| is_folder(name)) {
        if !found.contains(name) && !listed(name) {
            misplaced::check(engine, saltenv)?;
            let error = Error::new(
                ErrorKind::File,
                format!("no root has a formula '{name}' in saltenv {saltenv}"),
            );
            return Err(match nearest(name, found.iter()) {
                Some(near) => error.note(format!("did you mean '{near}'?")),
                None if found.is_empty() => {
                    error.note("no folder below the roots is a formula: check --root")
                }
                None => error.note(format!(
                    "there are {}",
                    found.iter().cloned().collect::<Vec<_>>().join(", ")
                )),
            }
            .into());
        }
    }
    Ok(wanted)
}

/// Whether a name can be a formula's; the linter says what is wrong with others.
fn is_folder(name: &str) -> bool {
    !name.trim_start_matches("./").contains('/')
        && !matches!(name, "" | "." | "..")
        && !name.starts_with("./")
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

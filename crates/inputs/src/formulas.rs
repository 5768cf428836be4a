//! Which formulas are meant.

use std::collections::BTreeSet;

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
pub fn all(engine: &Engine, saltenv: &str) -> Result<BTreeSet<String>, Error> {
    folders(engine, saltenv, |rest| {
        rest.starts_with("parameters/") || matches!(rest, "map.jinja" | "init.sls")
    })
}

/// Those that have a configuration: parameter files or a `map.jinja`.
///
/// # Errors
/// The files cannot be listed.
pub fn configured(engine: &Engine, saltenv: &str) -> Result<BTreeSet<String>, Error> {
    folders(engine, saltenv, |rest| {
        rest.starts_with("parameters/") || rest == "map.jinja"
    })
}

/// The formulas to compare in two states of the files: those given, each of which is in one of them, or all that have
/// a configuration in one of them; there may be none if pillars are compared.
///
/// # Errors
/// The formula does not exist, or no formula was found.
pub(crate) fn compared(
    engines: [&Engine; 2],
    saltenv: &str,
    given: &[String],
    has_pillars: bool,
) -> Result<Vec<String>, InputError> {
    let [before, after] = engines;
    if !given.is_empty() {
        let missing = |name: &&String| existing(before, saltenv, &[(*name).clone()]).is_err();
        let of_after: Vec<String> = given.iter().filter(missing).cloned().collect();
        if !of_after.is_empty() {
            existing(after, saltenv, &of_after)?;
        }
        return Ok(named(given));
    }
    let mut all = configured(before, saltenv)?;
    all.extend(configured(after, saltenv)?);
    if all.is_empty() && !has_pillars {
        misplaced::check(after, saltenv)?;
        let message = format!("no formula in saltenv {saltenv} has a configuration to compare");
        let note =
            "a formula is a folder below a root, with parameters/ or a map.jinja: check --root";
        return Err(Error::new(ErrorKind::File, message).note(note).into());
    }
    Ok(all.into_iter().collect())
}

/// The folders with states that [`all`] leaves out, as they do not have what formulas have.
///
/// # Errors
/// The files cannot be listed.
pub fn others(engine: &Engine, saltenv: &str) -> Result<BTreeSet<String>, Error> {
    let with_states = folders(engine, saltenv, |rest| {
        rest.ends_with(".sls") && rest.matches('/').count() < 2
    })?;
    Ok(&with_states - &all(engine, saltenv)?)
}

/// The formulas that are meant: those given, each of which there is, or all there are.
///
/// # Errors
/// The formula does not exist, or no formula was found.
pub fn existing(
    engine: &Engine,
    saltenv: &str,
    given: &[String],
) -> Result<Vec<String>, InputError> {
    let found = all(engine, saltenv)?;
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
        let files = engine.list(saltenv, &format!("{name}/"));
        files.is_ok_and(|files| !files.is_empty())
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

/// The formula that is given, or else the only one that has a configuration.
///
/// # Errors
/// None is given, and there is not just one.
pub fn one(engine: &Engine, saltenv: &str, given: Option<&String>) -> Result<String, InputError> {
    if let Some(given) = given {
        return Ok(given.clone());
    }
    let all: Vec<String> = configured(engine, saltenv)?.into_iter().collect();
    match &all[..] {
        [only] => Ok(only.clone()),
        [] => {
            misplaced::check(engine, saltenv)?;
            let message =
                "name a formula: no folder below the roots has parameters/ or a map.jinja";
            Err(InputError::Usage(message.into()))
        }
        all => Err(InputError::Usage(format!(
            "name a formula: there are {}",
            all.join(", ")
        ))),
    }
}

/// The formulas that are given, each of which is in the saltenv that is named, or else in any: minions have their own.
///
/// # Errors
/// The formula does not exist.
pub fn served(
    engine: &Engine,
    given: &[String],
    saltenv: Option<&str>,
) -> Result<Vec<String>, InputError> {
    if given.is_empty() {
        return Ok(vec![one(engine, saltenv.unwrap_or("base"), None)?]);
    }
    let envs = match saltenv {
        Some(saltenv) => vec![saltenv.to_owned()],
        None => engine.files().envs(),
    };
    for name in given {
        let name = std::slice::from_ref(name);
        let is_in = |env: &String| existing(engine, env, name).is_ok();
        if !envs.iter().any(is_in) {
            existing(engine, saltenv.unwrap_or("base"), name)?;
        }
    }
    Ok(named(given))
}

/// Whether a name can be a formula's; the linter says what is wrong with others.
fn is_folder(name: &str) -> bool {
    !name.trim_start_matches("./").contains('/')
        && !matches!(name, "" | "." | "..")
        && !name.starts_with("./")
}

fn folders(
    engine: &Engine,
    saltenv: &str,
    is_one: impl Fn(&str) -> bool,
) -> Result<BTreeSet<String>, Error> {
    let listed = engine.list(saltenv, "")?;
    let of_formula = |path: &String| {
        let (folder, rest) = path.split_once('/')?;
        (is_one(rest) && !folder.starts_with('.')).then(|| folder.to_owned())
    };
    Ok(listed.iter().filter_map(of_formula).collect())
}

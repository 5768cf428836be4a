//! Selects formulas.

use std::collections::BTreeSet;

use mapstack::{Engine, Error, ErrorKind, nearest};

use crate::inputs::InputError;
use crate::inputs::misplaced;

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

/// Those that have parameter files.
///
/// # Errors
/// The files cannot be listed.
pub fn layered(engine: &Engine, saltenv: &str) -> Result<Vec<String>, Error> {
    let found = folders(engine, saltenv, |rest| rest.starts_with("parameters/"))?;
    Ok(found.into_iter().collect())
}

/// The formulas to compare in two states of the files: the named ones, each of which one side must have, or
/// all with a configuration on one side. The list may be empty if pillars are compared.
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
        let wanted = named(given);
        let of_before = |name: &String| !is_folder(name) || has_files(before, saltenv, name);
        let of_after: Vec<String> = wanted.iter().filter(|n| !of_before(n)).cloned().collect();
        if !of_after.is_empty() {
            existing(after, saltenv, &of_after)?;
        }
        return Ok(wanted);
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

/// The selected formulas: the named ones, which must exist, or all.
///
/// # Errors
/// The formula does not exist, or no formula was found.
pub fn existing(
    engine: &Engine,
    saltenv: &str,
    given: &[String],
) -> Result<Vec<String>, InputError> {
    if given.is_empty() {
        let found = all(engine, saltenv)?;
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
    for name in wanted.iter().filter(|name| is_folder(name)) {
        if !has_files(engine, saltenv, name) {
            misplaced::check(engine, saltenv)?;
            return Err(missing(name, saltenv, &all(engine, saltenv)?).into());
        }
    }
    Ok(wanted)
}

/// True if there is any file in a formula's folder. Only that folder is listed: a tree can be large, and formulas many.
fn has_files(engine: &Engine, saltenv: &str, name: &str) -> bool {
    let files = engine.list(saltenv, &format!("{name}/"));
    files.is_ok_and(|files| !files.is_empty())
}

/// The error for a formula that is in no root, where these are.
fn missing(name: &str, saltenv: &str, found: &BTreeSet<String>) -> Error {
    let error = Error::new(
        ErrorKind::File,
        format!("no root has a formula '{name}' in saltenv {saltenv}"),
    );
    if is_revision(name) {
        return error.note("a revision is given by --from and --to");
    }
    match nearest(name, found.iter()) {
        Some(near) => error.note(format!("did you mean '{near}'?")),
        None if found.is_empty() => {
            error.note("no folder below the roots is a formula: check --root")
        }
        None => error.note(format!(
            "there are {}",
            found.iter().cloned().collect::<Vec<_>>().join(", ")
        )),
    }
}

/// True if a name is written as Git writes revisions.
fn is_revision(name: &str) -> bool {
    name == "HEAD" || name.contains(['~', '^']) || name.contains("..") || name.contains("@{")
}

/// Make sure that there is a formula of a name, which can go on into its folder.
///
/// # Errors
/// No root has one.
pub fn check(engine: &Engine, saltenv: &str, given: &str) -> Result<(), InputError> {
    let name = given.trim_start_matches("./");
    let name = name.split('/').next().unwrap_or(name);
    if !is_folder(name) || has_files(engine, saltenv, name) {
        return Ok(());
    }
    misplaced::check(engine, saltenv)?;
    let error = missing(name, saltenv, &all(engine, saltenv)?);
    Err(match name.contains(':') {
        true => error.note(format!(
            "write the key after the formula, as in FORMULA {name}"
        )),
        false => error,
    }
    .into())
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
    let wanted = named(given);
    let is_missing =
        |name: &&String| is_folder(name) && !envs.iter().any(|env| has_files(engine, env, name));
    if let Some(missing) = wanted.iter().find(is_missing) {
        existing(
            engine,
            saltenv.unwrap_or("base"),
            std::slice::from_ref(missing),
        )?;
    }
    Ok(wanted)
}

/// True if a formula can have the name; the linter reports other names.
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use mapstack::loader::MemoryFiles;

    use super::*;
    use crate::inputs::serving::Intercepted;

    #[test]
    fn of_formulas_that_are_named_only_the_folders_are_listed() {
        let files =
            MemoryFiles::new()
                .file("base", "ntp/map.jinja", "")
                .file("base", "ssh/map.jinja", "");
        let asked = Arc::new(Mutex::new(Vec::new()));
        let engine = Engine::new(Intercepted::new(files, |_| None).noting_lists(&asked));
        let asked = || std::mem::take(&mut *asked.lock().unwrap());
        let given = ["ntp".to_owned(), "ssh/".to_owned()];
        assert_eq!(existing(&engine, "base", &given).unwrap(), ["ntp", "ssh"]);
        assert_eq!(asked(), ["ntp/", "ssh/"]);
        assert_eq!(served(&engine, &given, None).unwrap(), ["ntp", "ssh"]);
        assert_eq!(asked(), ["ntp/", "ssh/"]);
        let both = [&engine, &engine];
        assert_eq!(
            compared(both, "base", &given, false).unwrap(),
            ["ntp", "ssh"]
        );
        assert_eq!(asked(), ["ntp/", "ssh/"]);
        let misspelt = ["sssh".to_owned()];
        let error = existing(&engine, "base", &misspelt).unwrap_err();
        assert!(
            error.to_string().contains("no root has a formula 'sssh'"),
            "{error}"
        );
    }

    #[test]
    fn a_revision_in_place_of_a_formula_is_said_to_be_one() {
        let found = BTreeSet::from(["ntp".to_owned()]);
        for revision in ["HEAD", "HEAD~5", "main^", "v1..v2", "main@{1}"] {
            let error = missing(revision, "base", &found);
            assert_eq!(
                error.diagnostic().notes,
                ["a revision is given by --from and --to"]
            );
        }
        let error = missing("ssh", "base", &found);
        assert_eq!(error.diagnostic().notes, ["there are ntp"]);
    }
}

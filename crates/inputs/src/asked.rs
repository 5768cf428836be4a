//! The question that `mapstack impact` is asked.

use std::path::{Path, PathBuf};

use mapstack::minion::Part;
use mapstack::value::{Key, Path as KeyPath};
use mapstack_fleet::impact::What;
use mapstack_salt_config::Config;

use crate::flags::Files;
use crate::sides::roots_of_pillar;
use crate::{InputError, below, pillars};

/// The saltenvs and directories of the pillar that is compiled; none if none is.
///
/// # Errors
/// The configuration names none.
pub fn directories_of_pillar(
    config: Option<&Config>,
    files: &Files,
) -> Result<Vec<(String, PathBuf)>, InputError> {
    let compiling = pillars::compiling(config, files)?;
    Ok(compiling
        .as_ref()
        .map(roots_of_pillar)
        .transpose()?
        .unwrap_or_default())
}

/// The subject that a text names. If it is a file and a key, the file is meant; of what lies below a root of the file server and
/// one of the pillar, the file of the pillar.
///
/// # Errors
/// It is nothing that can be asked about.
pub fn asked(
    given: &str,
    formulas: &[String],
    roots: &[String],
    of_pillar: &[(String, PathBuf)],
) -> Result<What, InputError> {
    if let Some(path) = given.strip_prefix("salt://") {
        return Ok(What::File(path.into()));
    }
    if Path::new(given).is_file() {
        return file(given, roots, of_pillar);
    }
    let usage = |what: &str| {
        InputError::Usage(format!(
            "{given}: {what}; write a file, FORMULA:KEY, grains:KEY, pillar:KEY or opts:KEY"
        ))
    };
    let (first, key) = given
        .split_once(':')
        .ok_or_else(|| usage("the file does not exist"))?;
    let part = match first {
        "grains" => Some(Part::Grains),
        "pillar" => Some(Part::Pillar),
        "opts" => Some(Part::Opts),
        _ => None,
    };
    let path = KeyPath::split(key, ":").map_err(|e| InputError::Usage(e.to_string()))?;
    match part {
        Some(part) => Ok(What::Fact(part, key.split(':').map(Key::from).collect())),
        None if formulas.iter().any(|formula| formula == first) => {
            Ok(What::Value(first.into(), path))
        }
        None => Err(match mapstack::nearest(first, formulas) {
            Some(near) => usage(&format!(
                "no formula '{first}' has parameters/ or a map.jinja; did you mean '{near}'?"
            )),
            None => usage(&format!(
                "no formula '{first}' has parameters/ or a map.jinja"
            )),
        }),
    }
}

/// The path under which a file on disk is served.
fn file(
    given: &str,
    roots: &[String],
    of_pillar: &[(String, PathBuf)],
) -> Result<What, InputError> {
    let all = of_pillar.iter();
    let all: Vec<(&str, String)> = all
        .map(|(env, root)| (env.as_str(), root.display().to_string()))
        .collect();
    let found = all.iter().find_map(|(env, root)| {
        let path = below(std::slice::from_ref(root), given)?;
        Some((*env, path))
    });
    if let Some((env, path)) = found {
        let of_env = all.iter().filter(|(own, _)| *own == env);
        let of_env: Vec<String> = of_env.map(|(_, root)| root.clone()).collect();
        is_served(given, &path, &of_env)?;
        return Ok(What::Pillar(env.to_owned(), path));
    }
    match below(roots, given) {
        Some(path) => {
            is_served(given, &path, roots)?;
            Ok(What::File(path))
        }
        None => {
            let of_pillar = all.into_iter().map(|(_, root)| root);
            let all: Vec<String> = roots.iter().cloned().chain(of_pillar).collect();
            let message = format!("{given} lies below none of the roots: {}", all.join(", "));
            Err(InputError::Usage(message))
        }
    }
}

/// Fail if an earlier root has a file of the same path: then this one is never served.
fn is_served(given: &str, path: &str, roots: &[String]) -> Result<(), InputError> {
    let mut files = roots.iter().map(|root| Path::new(root).join(path));
    let Some(first) = files.find(|file| file.is_file()) else {
        return Ok(());
    };
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    match real(&first) == real(Path::new(given)) {
        true => Ok(()),
        false => Err(InputError::Usage(format!(
            "{given} is never served: {} comes before it",
            first.display()
        ))),
    }
}

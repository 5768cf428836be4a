//! The question that `mapstack impact` is asked.

use std::path::{Path, PathBuf};

use mapstack::loader::Deployed;
use mapstack::minion::Part;
use mapstack::value::{Key, Path as KeyPath, Value};
use mapstack_fleet::impact::QuestionSubject;
use mapstack_salt_config::Config;

use crate::inputs::compared_files::roots_of_pillar;
use crate::inputs::flags::{FactFlags, FileFlags};
use crate::inputs::project::FILE;
use crate::inputs::{InputError, below, pillars};

/// The directories of the files that pillars are compiled from.
#[derive(Debug, Default)]
pub struct PillarPlaces {
    /// True if pillars are compiled.
    pub are_compiled: bool,
    /// The saltenvs and directories of the pillar.
    pub roots: Vec<(String, PathBuf)>,
    /// The directories of external pillars, as far as the configuration names them.
    pub external: Vec<PathBuf>,
    /// The files and directories that say what is computed, and for which minions.
    pub settings: Vec<PathBuf>,
}

impl PillarPlaces {
    /// The places that a configuration names.
    ///
    /// # Errors
    /// The configuration names no root.
    pub fn of(
        config: Option<&Config>,
        files: &FileFlags,
        facts: &FactFlags,
        deployed: &Deployed,
    ) -> Result<Self, InputError> {
        let Some(config) = pillars::compiling(config, files)? else {
            return Ok(PillarPlaces::default());
        };
        let mut external = Vec::new();
        if let Some(items) = config.get("ext_pillar") {
            external_directories(items, deployed, &mut external);
        }
        let named = [
            &files.config,
            &facts.minions,
            &facts.minion,
            &facts.grains,
            &facts.pillar,
            &facts.opts,
        ];
        let named = named.into_iter().flatten().cloned();
        Ok(PillarPlaces {
            settings: named.chain([config.path().into(), FILE.into()]).collect(),
            are_compiled: true,
            roots: roots_of_pillar(&config)?,
            external,
        })
    }

    /// True if external pillars read their files around this one.
    pub fn have_around(&self, file: &Path) -> bool {
        let Ok(file) = file.canonicalize() else {
            return false;
        };
        let is_below = |places: &[PathBuf]| {
            let mut places = places.iter().filter_map(|place| place.canonicalize().ok());
            places.any(|place| file.starts_with(place))
        };
        is_below(&self.external) && !is_below(&self.settings)
    }
}

/// The directories that the arguments of external pillars name, and those of the files that they name.
fn external_directories(arguments: &Value, deployed: &Deployed, all: &mut Vec<PathBuf>) {
    match arguments {
        Value::Map(map) => map
            .values()
            .for_each(|value| external_directories(value, deployed, all)),
        Value::List(items) => items
            .iter()
            .for_each(|item| external_directories(item, deployed, all)),
        Value::Str(path) => {
            // MakoStack has a graft point behind it.
            let path = path.split(':').next().unwrap_or_default();
            let local = deployed.local(path).unwrap_or_else(|| path.to_owned());
            let path = Path::new(&local);
            match path.parent() {
                _ if path.is_dir() => all.push(path.into()),
                Some(directory) if path.is_file() => all.push(directory.into()),
                _ => {}
            }
        }
        _ => {}
    }
}

/// The subject that a text names. A name of both a file and a key is taken for the file. A file below both a
/// root of the file server and one of the pillar is taken for a file of the pillar.
///
/// # Errors
/// It is nothing that can be asked about.
pub fn question_subject(
    given: &str,
    formulas: &[String],
    roots: &[String],
    of_pillar: &PillarPlaces,
) -> Result<QuestionSubject, InputError> {
    if let Some(path) = given.strip_prefix("salt://") {
        return Ok(QuestionSubject::File(path.into()));
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
        Some(part) => Ok(QuestionSubject::Fact(
            part,
            key.split(':').map(Key::from).collect(),
        )),
        None if formulas.iter().any(|formula| formula == first) => {
            Ok(QuestionSubject::Value(first.into(), path))
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
    of_pillar: &PillarPlaces,
) -> Result<QuestionSubject, InputError> {
    let all = of_pillar.roots.iter();
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
        return Ok(QuestionSubject::Pillar(env.to_owned(), path));
    }
    match below(roots, given) {
        Some(path) => {
            is_served(given, &path, roots)?;
            Ok(QuestionSubject::File(path))
        }
        None if of_pillar.are_compiled => Ok(QuestionSubject::External(given.into())),
        None => {
            let of_pillar = all.into_iter().map(|(_, root)| root);
            let all: Vec<String> = roots.iter().cloned().chain(of_pillar).collect();
            let message = format!("{given} is below none of the roots: {}", all.join(", "));
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

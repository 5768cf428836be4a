//! The question that `mapstack impact` is asked.

use std::path::Path;

use mapstack::minion::Part;
use mapstack::value::{Key, Path as KeyPath};
use mapstack_fleet::impact::What;

use crate::{InputError, below};

/// The subject that a text names. If it is a file and a key, the file is meant.
///
/// # Errors
/// It is nothing that can be asked about.
pub fn asked(given: &str, formulas: &[String], roots: &[String]) -> Result<What, InputError> {
    if let Some(path) = given.strip_prefix("salt://") {
        return Ok(What::File(path.into()));
    }
    if Path::new(given).is_file() {
        let path = below(roots, given).ok_or_else(|| {
            InputError::Usage(format!(
                "{given} lies below none of the roots: {}",
                roots.join(", ")
            ))
        })?;
        return Ok(What::File(path));
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

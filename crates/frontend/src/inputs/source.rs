//! `--minions` and `--platform`: all minions, and the selected ones.

use std::path::Path;
use std::time::SystemTime;

use mapstack::minion::Minion;
use mapstack::minion::minions::{CacheOptions, Minions};
use mapstack::minion::platforms::{self, Platform};
use mapstack::value::pytext::Fnmatch;
use mapstack::{Diagnostic, Error, ErrorKind, nearest};

use crate::inputs::estate::{FoundMinions, GivenGrains};
use crate::inputs::flags::{FactFlags, TargetFlags};
use crate::inputs::id::shortened;
use crate::inputs::read::{read, shown};
use crate::inputs::{InputError, WarningSink};

/// The number of ids that a message lists.
const LISTED: usize = 5;

/// The minions of a path.
pub struct MinionSource {
    name: String,
    minions: Minions,
    grains: Option<GivenGrains>,
}

/// A choice among minions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice<'c> {
    /// All of them.
    All,
    /// The one of this very id.
    Id(&'c str),
    /// Those whose ids match a shell pattern.
    Glob(&'c str),
}

impl<'c> Choice<'c> {
    /// The choice that `--id` or `--minion-glob` makes; there is one of them.
    pub fn of(facts: &'c FactFlags, target: &'c TargetFlags) -> Self {
        match (&facts.id, &target.minion_glob) {
            (Some(id), _) => Choice::Id(id),
            (None, Some(glob)) => Choice::Glob(glob),
            (None, None) => Choice::All,
        }
    }
}

impl MinionSource {
    /// Read what there is, and warn of minions that did not answer. `pillarenv` is what a master's
    /// cache is read for.
    pub fn open(
        path: &Path,
        pillarenv: Option<&str>,
        warn: &dyn WarningSink,
    ) -> Result<Self, InputError> {
        let minions = match path == Path::new("-") {
            true => Minions::from_text(&read(path)?, &shown(path)),
            false => {
                let pillarenv = pillarenv.map(str::to_owned);
                Minions::open(
                    path,
                    &CacheOptions {
                        now: Some(SystemTime::now()),
                        pillarenv,
                    },
                )
            }
        };
        let source = MinionSource {
            name: shown(path),
            minions: minions.map_err(Error::from)?,
            grains: None,
        };
        let silent: Vec<Diagnostic> = source
            .minions
            .silent()
            .iter()
            .map(|one| {
                Diagnostic::warning(ErrorKind::Facts, format!("{one}; the minion is left out"))
            })
            .collect();
        warn.warn_of(&silent)?;
        Ok(source)
    }

    /// The minions of the current estate.
    pub fn of_estate(found: &FoundMinions) -> Self {
        MinionSource {
            name: "the minions of this checkout (`mapstack minions` lists them)".into(),
            minions: Minions::of(found.all.iter().map(|one| one.minion.clone())),
            grains: found.given_grains().cloned(),
        }
    }

    /// The minion of an id; the only one there is, if none is named.
    pub fn one(&self, id: Option<&str>) -> Result<Minion, InputError> {
        let id = match id {
            Some(id) => id.to_owned(),
            None => match self.ids()?.as_mut_slice() {
                [only] => std::mem::take(only),
                ids => {
                    let there = if ids.is_empty() {
                        String::new()
                    } else {
                        format!("; {}", listed(ids))
                    };
                    let message = format!(
                        "--minions {}: say which minion is meant with --id NAME{there}",
                        self.name
                    );
                    return Err(InputError::Usage(message));
                }
            },
        };
        match self.minions.minion(&id).map_err(Error::from)? {
            Some(minion) => Ok(minion),
            None => Err(self.missing(&id)),
        }
    }

    /// The selected ids. A glob or an id must select at least one.
    pub fn chosen_ids(&self, chosen: Choice<'_>) -> Result<Vec<String>, InputError> {
        let mut ids = self.ids()?;
        match chosen {
            Choice::All => Ok(ids),
            Choice::Id(id) if ids.iter().any(|known| known == id) => Ok(vec![id.to_owned()]),
            Choice::Id(id) => Err(self.missing(id)),
            Choice::Glob(glob) => {
                let pattern = Fnmatch::new(glob);
                let all = std::mem::take(&mut ids);
                let (matching, others): (Vec<_>, Vec<_>) =
                    all.into_iter().partition(|id| pattern.matches(id));
                if matching.is_empty() {
                    Err(self.no_match(glob, &others))
                } else {
                    Ok(matching)
                }
            }
        }
    }

    /// One of the minions that were listed.
    pub fn read(&self, id: &str) -> Result<Minion, Error> {
        // A file that is removed while others are read counts as empty.
        let minion = self.minions.minion(id)?.unwrap_or_else(|| Minion::new(id));
        match &self.grains {
            Some(given) => given.over(minion),
            None => Ok(minion),
        }
    }

    /// True if it is a master's cache, whose errors name the minion.
    pub fn is_cache(&self) -> bool {
        self.minions.is_cache()
    }

    fn ids(&self) -> Result<Vec<String>, InputError> {
        Ok(self.minions.ids().map_err(Error::from)?)
    }

    fn missing(&self, id: &str) -> InputError {
        if let Some(silent) = self.minions.silent().iter().find(|one| one.id == id) {
            return facts_error(format!("no facts of '{id}': {silent}"));
        }
        let known = self.minions.ids().unwrap_or_default();
        let shown = shortened(id);
        // A text this long is not a mistyped id, and comparing it takes long.
        let near = (shown.len() == id.len())
            .then(|| nearest(id, &known))
            .flatten();
        let is_pattern = id.contains(['*', '?', '['])
            && known.iter().any(|known| Fnmatch::new(id).matches(known));
        let advice = match near {
            _ if is_pattern => {
                "; an id is not a pattern: use --minion-glob where several minions can be selected"
                    .into()
            }
            Some(near) => format!("; did you mean '{near}'?"),
            None => String::new(),
        };
        facts_error(format!(
            "no facts of '{shown}' in {}{advice}",
            self.described()
        ))
    }

    fn no_match(&self, glob: &str, ids: &[String]) -> InputError {
        let there = if ids.is_empty() {
            String::new()
        } else {
            format!("; {}", listed(ids))
        };
        facts_error(format!(
            "no minion matches '{}' in {}{there}",
            shortened(glob),
            self.described()
        ))
    }

    fn described(&self) -> String {
        format!(
            "{}{}",
            if self.minions.is_cache() {
                "the cache "
            } else {
                ""
            },
            self.name
        )
    }
}

/// The minions of built-in platforms that are meant. With an id, the only one has it.
///
/// # Errors
/// A platform that does not exist or that is named twice, and a choice that none meets.
pub fn of_platforms(names: &[String], chosen: Choice<'_>) -> Result<Vec<Minion>, InputError> {
    let found = names.iter().map(|name| named_platforms(name));
    let found = found.collect::<Result<Vec<_>, InputError>>()?.concat();
    let mut minions: Vec<Minion> = found.iter().map(|platform| platform.minion()).collect();
    if let Choice::Id(id) = chosen {
        match &mut minions[..] {
            [minion] => minion.set_id(id),
            several => {
                return Err(InputError::Usage(format!(
                    "--id {id} names one minion, and there are {} platforms",
                    several.len()
                )));
            }
        }
    }
    let ids: Vec<String> = minions.iter().map(|minion| minion.id.to_string()).collect();
    if let Some(twice) = ids
        .iter()
        .enumerate()
        .find_map(|(at, id)| ids[..at].contains(id).then_some(id))
    {
        return Err(InputError::Usage(format!(
            "--platform {twice} is given twice"
        )));
    }
    if let Choice::Glob(glob) = chosen {
        let pattern = Fnmatch::new(glob);
        minions.retain(|minion| pattern.matches(&minion.id.to_string()));
        if minions.is_empty() {
            let message = format!(
                "no minion matches '{}' among the platforms; {}",
                shortened(glob),
                listed(&ids)
            );
            return Err(facts_error(message));
        }
    }
    Ok(minions)
}

/// The platforms of a name, of a shell pattern, or all of them.
fn named_platforms(name: &str) -> Result<Vec<&'static Platform>, InputError> {
    let pattern = match name {
        "all" => Some("*"),
        _ => name.contains(['*', '?', '[']).then_some(name),
    };
    let Some(pattern) = pattern else {
        let found = platforms::find(name).map_err(|error| {
            let end = if error.near.is_empty() { ";" } else { "" };
            InputError::Usage(format!(
                "--platform: {error}{end} `mapstack platforms` lists all"
            ))
        })?;
        return Ok(vec![found]);
    };
    let fnmatch = Fnmatch::new(pattern);
    let is_match = |platform: &&Platform| fnmatch.matches(platform.name);
    let found: Vec<_> = platforms::all().iter().filter(is_match).collect();
    if found.is_empty() {
        let name = shortened(name);
        return Err(InputError::Usage(format!(
            "--platform: no platform matches '{name}'; `mapstack platforms` lists all"
        )));
    }
    Ok(found)
}

/// The first few ids there are.
fn listed(ids: &[String]) -> String {
    let first: Vec<&str> = ids.iter().take(LISTED).map(String::as_str).collect();
    let more = if ids.len() > LISTED {
        format!(", … ({} in all)", ids.len())
    } else {
        String::new()
    };
    format!("there are {}{more}", first.join(", "))
}

fn facts_error(message: String) -> InputError {
    InputError::Data(Error::new(ErrorKind::Facts, message))
}

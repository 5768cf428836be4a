//! Questions about the files that a source definition leads to.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use mapstack_loader::{Fetched, SaltPath};
use mapstack_matcher::{Definition, Matcher, MatcherKind, join, variants};
use mapstack_minion::Part;
use mapstack_value::{Key, Str, Value};

use super::exact::Exact;
use super::probe::Probe;
use super::question::{FactRead, HashedAnswer, InternedQuestion, MinionAnswer};
use crate::snapshot::Listing;

/// The question which paths a definition leads to. It exists only for definitions that read nothing but the minion.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct LayerPaths {
    pub definition: Definition,
    pub config_get_strategy: Exact,
}

/// The question which files exist at the paths of a definition, below the directories of a formula.
#[derive(Debug, Clone)]
pub(crate) struct LayerFiles {
    /// The question for the [paths](LayerPaths).
    paths: Arc<InternedQuestion>,
    directories: Vec<String>,
    /// Answers by saltenv and paths. Many minions have equal paths.
    known: Arc<Mutex<KnownFiles>>,
}

#[derive(Debug)]
struct KnownFiles {
    by_paths: HashMap<(Str, HashedAnswer), HashedAnswer, RandomState>,
    listings: Vec<DirectoryNames>,
    /// The answer of a minion for which no file exists.
    no_files: HashedAnswer,
}

/// The names in a directory.
#[derive(Debug)]
struct DirectoryNames {
    saltenv: Str,
    /// The index of one of the directories of the formula, and the path below it.
    below: usize,
    path: String,
    /// `None` if the file server cannot list the directory reliably.
    listing: Option<Arc<Listing>>,
}

/// Limit on the answers kept for one question. Definitions with different paths for every minion gain nothing from
/// more.
const MAX_KNOWN: usize = 1024;
/// Limit on the size of paths kept as a key. A fact can lead to thousands of paths.
const MAX_KEY_BYTES: usize = 4096;
/// Number of different paths after which listing the directories costs less than looking for each file.
const MIN_KNOWN_FOR_LISTINGS: usize = 16;
const MAX_LISTINGS: usize = 64;

impl PartialEq for LayerFiles {
    fn eq(&self, other: &Self) -> bool {
        self.paths == other.paths && self.directories == other.directories
    }
}

impl Eq for LayerFiles {}

impl Hash for LayerFiles {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.paths, &self.directories).hash(state);
    }
}

fn of_matcher(matcher: &Matcher) -> Option<FactRead> {
    let part = match matcher.kind() {
        MatcherKind::Grains => Some(Part::Grains),
        MatcherKind::Pillar => Some(Part::Pillar),
        MatcherKind::Config => None,
        MatcherKind::Static | MatcherKind::MapData | MatcherKind::CustomData => return None,
    };
    let path = matcher
        .query()
        .split(matcher.delimiter())
        .map(Key::from)
        .collect();
    Some(FactRead { part, path })
}

impl LayerPaths {
    /// The question, or `None` if the definition also reads the merged data or custom data.
    pub fn of(definition: &Definition, config_get_strategy: &Value) -> Option<Self> {
        let of_minion = |matcher: &Matcher| match matcher.kind() {
            MatcherKind::Grains
            | MatcherKind::Pillar
            | MatcherKind::Config
            | MatcherKind::Static => true,
            MatcherKind::MapData | MatcherKind::CustomData => false,
        };
        definition
            .matchers()
            .iter()
            .all(of_minion)
            .then(|| LayerPaths {
                definition: definition.clone(),
                config_get_strategy: Exact(config_get_strategy.clone()),
            })
    }

    /// The facts that the definition reads.
    pub fn reads(&self) -> Vec<FactRead> {
        self.definition
            .matchers()
            .iter()
            .flat_map(of_matcher)
            .collect()
    }

    pub fn answer(&self, probe: &Probe<'_>) -> MinionAnswer {
        let strategy = &self.config_get_strategy.0;
        match probe.run.layer_paths(&self.definition, strategy) {
            Ok(relative) => MinionAnswer::Paths(relative),
            Err(e) => MinionAnswer::Failed(format!("{e:?}")),
        }
    }
}

impl LayerFiles {
    /// The question for the files that `paths` leads to below `directories`.
    pub fn new(paths: Arc<InternedQuestion>, directories: &[String]) -> Self {
        let no_files = HashedAnswer::new(MinionAnswer::Files(Vec::new(), true));
        let known = KnownFiles {
            by_paths: HashMap::default(),
            listings: Vec::new(),
            no_files,
        };
        LayerFiles {
            paths,
            directories: directories.to_vec(),
            known: Arc::new(Mutex::new(known)),
        }
    }

    /// The question for the paths.
    pub fn paths(&self) -> &InternedQuestion {
        &self.paths
    }

    pub fn answer(&self, probe: &Probe<'_>) -> HashedAnswer {
        let paths = probe.ask(&self.paths);
        // An error in the definition is the same for every directory.
        let MinionAnswer::Paths(relative) = paths.answer() else {
            return paths;
        };
        let key = (probe.run.saltenv().clone(), paths.clone());
        let several = {
            let known = self.known();
            if let Some(answer) = known.by_paths.get(&key) {
                return answer.clone();
            }
            (known.by_paths.len() >= MIN_KNOWN_FOR_LISTINGS).then(|| known.no_files.clone())
        };
        if let Some(no_files) = several
            && self.have_none_of(probe, relative)
        {
            return no_files;
        }
        let answer = HashedAnswer::new(self.served(probe, relative));
        let mut known = self.known();
        // Do not keep the answer if a file could not be read: the next attempt can succeed.
        let is_small = key.1.size() < MAX_KEY_BYTES;
        if is_small
            && known.by_paths.len() < MAX_KNOWN
            && matches!(answer.answer(), MinionAnswer::Files(_, true))
        {
            known.by_paths.insert(key, answer.clone());
        }
        answer
    }

    fn known(&self) -> MutexGuard<'_, KnownFiles> {
        // Nothing panics while it holds the lock and the data is incomplete, so a poisoned lock is usable.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True if the listings of directories prove that no file exists at any of the paths.
    fn have_none_of(&self, probe: &Probe<'_>, relative: &[String]) -> bool {
        relative.iter().all(|path| {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
            // The file server normalizes such a path, so its last component is not the name of the file.
            if matches!(name, "" | ".") {
                return false;
            }
            let names = variants(name);
            (0..self.directories.len()).all(|directory| {
                let listing = self.listing(probe, directory, parent);
                listing.is_some_and(|listing| names.iter().all(|name| listing.lacks(name)))
            })
        })
    }

    /// The names in the directory at a path below one of the formula's, if the file server can list them reliably.
    fn listing(&self, probe: &Probe<'_>, below: usize, path: &str) -> Option<Arc<Listing>> {
        let saltenv = probe.run.saltenv();
        {
            let known = self.known();
            let of_directory = |listed: &&DirectoryNames| {
                listed.below == below && listed.path == path && listed.saltenv == *saltenv
            };
            if let Some(listed) = known.listings.iter().find(of_directory) {
                return listed.listing.clone();
            }
            if known.listings.len() >= MAX_LISTINGS {
                return None;
            }
        }
        let directory = join([self.directories.get(below)?, path]);
        let listing = Listing::of(probe.engine.files(), &directory, saltenv).map(Arc::new);
        self.known().listings.push(DirectoryNames {
            saltenv: saltenv.clone(),
            below,
            path: path.to_owned(),
            listing: listing.clone(),
        });
        listing
    }

    /// Look for the files at the paths.
    fn served(&self, probe: &Probe<'_>, relative: &[String]) -> MinionAnswer {
        let (mut there, mut all, mut plain) = (Vec::new(), Vec::new(), true);
        for directory in &self.directories {
            for path in relative {
                let before = there.len();
                for candidate in variants(&join([directory, path])) {
                    match probe
                        .engine
                        .files()
                        .fetch(&SaltPath::from_relative(&candidate), probe.run.saltenv())
                    {
                        Ok(Fetched::Missing) => {}
                        Ok(Fetched::Found { .. }) => there.push(candidate.clone()),
                        // The error message contains the path, so the answer must contain all paths.
                        Ok(Fetched::Refused { .. } | Fetched::Unusable { .. }) | Err(_) => {
                            plain = false;
                        }
                    }
                    all.push(candidate);
                }
                if there.len() > before {
                    // Mark the end of each path: all files of one path are read before the first of them is merged.
                    there.push(String::new());
                }
            }
        }
        if plain {
            MinionAnswer::Files(there, true)
        } else {
            MinionAnswer::Files(all, false)
        }
    }
}

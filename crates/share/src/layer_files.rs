//! Which files a source definition leads to.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use foldhash::fast::RandomState;
use mapstack_loader::{Fetched, Listing, SaltPath};
use mapstack_matcher::{Definition, Matcher, MatcherKind, join, variants};
use mapstack_minion::Part;
use mapstack_value::{Key, Str, Value};

use crate::exact::Exact;
use crate::probe::Probe;
use crate::question::{Answer, FactRead, Posed, Told};

/// The paths a definition leads to, if that takes nothing but the minion.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct LayerPaths {
    pub definition: Definition,
    pub config_get_strategy: Exact,
}

/// The files a definition leads to, below the directories of a formula.
#[derive(Debug, Clone)]
pub(crate) struct LayerFiles {
    /// A question for [paths](LayerPaths).
    paths: Arc<Posed>,
    directories: Vec<String>,
    /// Answers by the paths that led to them, in a saltenv: many minions have the same.
    known: Arc<Mutex<KnownFiles>>,
}

#[derive(Debug)]
struct KnownFiles {
    by_paths: HashMap<(Str, Told), Told, RandomState>,
    /// What directories have, by saltenv and path, where anybody can tell.
    listings: Vec<(Str, String, Option<Arc<Listing>>)>,
    /// The answer of who has no files.
    nothing: Told,
}

/// Answers that are kept for one question. A definition that leads elsewhere for every minion has no use for more.
const MAX_KNOWN: usize = 1024;
/// Paths that take more are not kept: some fact leads to thousands.
const MAX_KEY_BYTES: usize = 4096;
/// Answers after which it is worth knowing what there is at all.
const SEVERAL: usize = 16;
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
    /// The question, if the definition looks at nothing but the minion.
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

    /// What it looks at, in the words of who asks what a fact reaches.
    pub fn reads(&self) -> Vec<FactRead> {
        self.definition
            .matchers()
            .iter()
            .flat_map(of_matcher)
            .collect()
    }

    pub fn answer(&self, probe: &Probe<'_>) -> Answer {
        let strategy = &self.config_get_strategy.0;
        match probe.run.layer_paths(&self.definition, strategy) {
            Ok(relative) => Answer::Paths(relative),
            Err(e) => Answer::Failed(format!("{e:?}")),
        }
    }
}

impl LayerFiles {
    /// The files behind the paths that are the answer to a question, below directories.
    pub fn new(paths: Arc<Posed>, directories: &[String]) -> Self {
        let nothing = Told::new(Answer::Files(Vec::new(), true));
        let known = KnownFiles {
            by_paths: HashMap::default(),
            listings: Vec::new(),
            nothing,
        };
        LayerFiles {
            paths,
            directories: directories.to_vec(),
            known: Arc::new(Mutex::new(known)),
        }
    }

    /// The question for the paths.
    pub fn paths(&self) -> &Posed {
        &self.paths
    }

    pub fn answer(&self, probe: &Probe<'_>) -> Told {
        let paths = probe.ask(&self.paths);
        // What is wrong is wrong for every directory.
        let Answer::Paths(relative) = paths.answer() else {
            return paths;
        };
        let key = (probe.run.saltenv().clone(), paths.clone());
        let several = {
            let known = self.known();
            if let Some(told) = known.by_paths.get(&key) {
                return told.clone();
            }
            (known.by_paths.len() >= SEVERAL).then(|| known.nothing.clone())
        };
        if let Some(nothing) = several
            && self.have_none_of(probe, relative)
        {
            return nothing;
        }
        let told = Told::new(self.served(probe, relative));
        let mut known = self.known();
        // What cannot be read now can be later.
        let is_small = key.1.size() < MAX_KEY_BYTES;
        if is_small
            && known.by_paths.len() < MAX_KNOWN
            && matches!(told.answer(), Answer::Files(_, true))
        {
            known.by_paths.insert(key, told.clone());
        }
        told
    }

    fn known(&self) -> MutexGuard<'_, KnownFiles> {
        // A panic elsewhere leaves nothing half-written here.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether there is surely no file behind any of the paths.
    fn have_none_of(&self, probe: &Probe<'_>, relative: &[String]) -> bool {
        relative.iter().all(|path| {
            let (parent, name) = path.rsplit_once('/').unwrap_or(("", path));
            // A path that ends so stands for files of another name than its own.
            if matches!(name, "" | ".") {
                return false;
            }
            let names = variants(name);
            self.directories.iter().all(|directory| {
                let listing = self.listing(probe, &join([directory, parent]));
                listing.is_some_and(|listing| names.iter().all(|name| listing.lacks(name)))
            })
        })
    }

    /// What a directory has, if anybody can tell.
    fn listing(&self, probe: &Probe<'_>, directory: &str) -> Option<Arc<Listing>> {
        let saltenv = probe.run.saltenv();
        {
            let known = self.known();
            if let Some((.., listing)) = known
                .listings
                .iter()
                .find(|(env, of, _)| env == saltenv && of == directory)
            {
                return listing.clone();
            }
            if known.listings.len() >= MAX_LISTINGS {
                return None;
            }
        }
        let listing = Listing::of(probe.engine.files(), directory, saltenv).map(Arc::new);
        self.known()
            .listings
            .push((saltenv.clone(), directory.to_owned(), listing.clone()));
        listing
    }

    /// Which files there are behind paths.
    fn served(&self, probe: &Probe<'_>, relative: &[String]) -> Answer {
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
                        // What is wrong with a file is told with its name.
                        Ok(Fetched::Refused { .. } | Fetched::Unusable { .. }) | Err(_) => {
                            plain = false;
                        }
                    }
                    all.push(candidate);
                }
                if there.len() > before {
                    // Files of one path are read before any of them is merged.
                    there.push(String::new());
                }
            }
        }
        if plain {
            Answer::Files(there, true)
        } else {
            Answer::Files(all, false)
        }
    }
}

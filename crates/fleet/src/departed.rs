//! States and functions that a later version of Salt no longer has.

use std::collections::{BTreeMap, BTreeSet};

use mapstack::loader::{Fetched, FileServer, LoadError, SaltPath};
use mapstack::minion::SaltVersion;
use mapstack::{Engine, Error, ErrorKind, Home, Result, Survey, home_of};
use mapstack_states::{OwnModules, StateFunction};

use crate::states::{MinionPlan, StateName};

/// Something that Salt had in the version before and no longer has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum DepartedPart {
    /// A function of a state module, such as `mysql_grants.present`.
    State(String),
    /// An argument of one that stays.
    Argument {
        /// The function.
        state: String,
        /// The argument.
        argument: String,
    },
    /// An execution function, such as `mysql.query`.
    Function(String),
}

/// Something that Salt no longer has, with those that use it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Departed {
    /// The thing.
    pub part: DepartedPart,
    /// The package that has it now.
    pub home: Home,
    /// The places that use it, as a file and a line.
    pub places: BTreeSet<String>,
    /// The minions whose states use it, in order. Of functions they are not known.
    pub minions: Vec<String>,
}

/// A use of something that Salt no longer has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct DepartedUse {
    pub part: DepartedPart,
    pub home: Home,
    pub place: String,
}

/// True if modules leave Salt's core between two versions: they did with 3008.
#[must_use]
pub fn modules_leave([before, after]: [SaltVersion; 2]) -> bool {
    let has = |version: SaltVersion| version.behaviour().has_departed_states;
    has(before) && !has(after)
}

impl Departed {
    /// The execution functions that templates of some files use and Salt 3008 no longer has; of the files in some folders, if
    /// any are named. Those that the file server has itself, in `_modules`, do not count.
    ///
    /// # Errors
    /// The files cannot be listed or read.
    ///
    /// ```
    /// use mapstack::{Engine, Home, loader::MemoryFiles};
    /// use mapstack_fleet::Departed;
    /// let files = MemoryFiles::new().file("base", "pool.sls", "{{ salt['zpool.list']() }}");
    /// let engine = Engine::new(files);
    /// let found = Departed::functions(engine.files(), &engine, &[]).unwrap();
    /// assert_eq!(found[0].home, Home::Extension("saltext-zfs"));
    /// assert!(found[0].places.contains("pool.sls:1:4"));
    /// ```
    pub fn functions(
        files: &dyn FileServer,
        engine: &Engine,
        folders: &[String],
    ) -> Result<Vec<Departed>> {
        let own = OwnModules::of(engine, &["_modules/"]);
        let is_match = |path: &String| {
            let folder = path.split('/').next().unwrap_or_default();
            folders.is_empty() || folders.iter().any(|named| named == folder)
        };
        let mut all: BTreeMap<String, Departed> = BTreeMap::new();
        for env in files.envs() {
            let listed = files.list(&env, "").map_err(|e| unreadable(&e))?;
            let listed = listed.into_iter().filter(is_match).collect();
            let survey = Survey::of(listed, |path| {
                let fetched = files.fetch(&SaltPath::from_relative(path), &env);
                Ok::<_, Error>(match fetched.map_err(|e| unreadable(&e))? {
                    Fetched::Found { on_disk, bytes } => {
                        Some((on_disk.display().to_string(), bytes))
                    }
                    _ => None,
                })
            })?;
            for site in survey.calls.iter().chain(&survey.asked) {
                let Some(name) = site.function.as_deref() else {
                    continue;
                };
                let home = home_of(name).filter(|home| *home != Home::Salt);
                let is_own = name
                    .split_once('.')
                    .is_some_and(|(module, function)| own.has(module, function));
                if let Some(home) = home.filter(|_| !is_own) {
                    let new = || Departed {
                        part: DepartedPart::Function(name.to_owned()),
                        home,
                        places: BTreeSet::new(),
                        minions: Vec::new(),
                    };
                    let known = all.entry(name.to_owned()).or_insert_with(new);
                    known.places.insert(site.place.to_string());
                }
            }
        }
        Ok(all.into_values().collect())
    }
}

fn unreadable(error: &LoadError) -> Error {
    Error::new(ErrorKind::File, error.to_string())
}

impl DepartedUse {
    /// Those of the states of a plan, each with its place. Modules that the file server has itself do not count.
    pub fn of_plan(
        plan: &MinionPlan,
        own: &OwnModules,
        place: impl Fn(&StateName) -> String,
    ) -> Vec<Self> {
        let mut found = Vec::new();
        for state in &plan.states {
            let (module, function) = (&*state.name.module, &*state.name.function);
            let Some(known) = StateFunction::named(module, function) else {
                continue;
            };
            if own.has_module(module) {
                continue;
            }
            let name = format!("{module}.{function}");
            let mut add = |part| {
                found.push(DepartedUse {
                    part,
                    home: known.home,
                    place: place(&state.name),
                });
            };
            if known.home != Home::Salt {
                add(DepartedPart::State(name));
                continue;
            }
            let arguments = state.arguments.keys().filter_map(|key| key.as_str());
            for argument in arguments.filter(|name| known.took(name) && !known.takes(name)) {
                add(DepartedPart::Argument {
                    state: name.clone(),
                    argument: argument.to_owned(),
                });
            }
        }
        found
    }
}

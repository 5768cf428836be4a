//! The sls that a file server has.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, PoisonError};

use mapstack::loader::{Fetched, SaltPath};
use mapstack::value::pytext::Fnmatch;
use mapstack::{Engine, sls_name};

/// The sls of each saltenv, by name; listed when they are requested.
pub(crate) struct Available<'e> {
    engine: &'e Engine,
    /// The only saltenvs that there are, beside `base`, if it names any (Salt: the option `env_order`).
    order: Vec<String>,
    listed: Mutex<HashMap<String, std::sync::Arc<SlsNames>>>,
}

/// The sls of a saltenv: their names and paths.
type SlsNames = BTreeMap<String, String>;

impl<'e> Available<'e> {
    pub fn new(engine: &'e Engine, order: Vec<String>) -> Self {
        Available {
            engine,
            order,
            listed: Mutex::default(),
        }
    }

    fn of(&self, saltenv: &str) -> std::sync::Arc<SlsNames> {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(names) = listed.get(saltenv) {
            return names.clone();
        }
        let mut names = SlsNames::new();
        for path in self.engine.list(saltenv, "").unwrap_or_default() {
            if let Some(name) = sls_name(&path) {
                // Of `a.sls` and `a/init.sls`, the first is taken.
                match path.ends_with("/init.sls") {
                    true => drop(names.entry(name).or_insert(path)),
                    false => drop(names.insert(name, path)),
                }
            }
        }
        let names = std::sync::Arc::new(names);
        listed.insert(saltenv.into(), names.clone());
        names
    }

    /// The names that a shell pattern matches (Salt: `fnmatch.filter(self.avail[saltenv], pattern)`).
    pub fn matching(&self, saltenv: &str, pattern: &str) -> Vec<String> {
        let names = self.of(saltenv);
        if !pattern.contains(['*', '?', '[']) {
            let found = names.contains_key(pattern) || self.path(saltenv, pattern).is_some();
            return found.then(|| pattern.to_owned()).into_iter().collect();
        }
        let pattern = Fnmatch::new(pattern);
        let found = names.keys().filter(|name| pattern.matches(name));
        found.cloned().collect()
    }

    /// The listed names that a shell pattern matches.
    pub fn listed(&self, saltenv: &str, pattern: &str) -> Vec<String> {
        let names = self.of(saltenv);
        match pattern.contains(['*', '?', '[']) {
            true => self.matching(saltenv, pattern),
            false => names
                .contains_key(pattern)
                .then(|| pattern.to_owned())
                .into_iter()
                .collect(),
        }
    }

    /// The path of an sls.
    pub fn path(&self, saltenv: &str, name: &str) -> Option<String> {
        let listed = self.of(saltenv).get(name).cloned();
        // A file server can have files that it does not list, and a name leads to a path however it is written (Salt:
        // `Client.get_state`).
        let served = |path: &String| {
            let fetched = self.engine.fetch(&SaltPath::from_relative(path), saltenv);
            matches!(fetched, Ok(Fetched::Found { .. }))
        };
        listed.or_else(|| paths_of(name).into_iter().find(served))
    }

    /// True if Salt has a saltenv (Salt: `saltenv in self.avail`).
    pub fn has_env(&self, saltenv: &str) -> bool {
        let is_ordered = || self.order.is_empty() || self.order.iter().any(|env| env == saltenv);
        let is_served = || self.engine.files().envs().iter().any(|env| env == saltenv);
        saltenv == "base" || is_ordered() && is_served()
    }

    /// True if Salt has a saltenv, or `__env__`, which serves any.
    pub fn has_env_or_any(&self, saltenv: &str) -> bool {
        self.has_env(saltenv) || self.has_env("__env__")
    }
}

/// The paths at which an sls of a name is looked for. With a dot at its end, it can only be that of a folder.
fn paths_of(name: &str) -> Vec<String> {
    let path = name.replace('.', "/");
    let of_folder = path.trim_end_matches('/');
    let mut paths = vec![format!("{of_folder}/init.sls")];
    if of_folder == path {
        paths.insert(0, format!("{path}.sls"));
    }
    paths
}

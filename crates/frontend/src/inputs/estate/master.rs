//! The configuration of a master's that a checkout has, and the one that is made of a checkout.

use std::path::{Path, PathBuf};

use mapstack::Error;
use mapstack::value::{Map, Value};
use mapstack::yaml;
use mapstack_salt_config::{Config, Kind, Surroundings};

use super::folders::Folders;
use super::layout::{Layout, is_trial};
use super::tools::Tools;
use crate::inputs::InputError;
use crate::inputs::project::{FILE, Formula};

/// The configuration in a checkout that says what its master serves: one that a tool names, a file `master`, a folder
/// `master.d`, or the `minion` of a machine without a master. One below a root is something that the estate deploys.
pub fn find_config(
    directory: &Path,
    folders: &Folders,
    layout: &Layout,
    tools: &Tools,
) -> Option<(PathBuf, Config)> {
    let is_below = |path: &Path| {
        let mut roots = layout.states.iter().chain(&layout.pillars);
        roots.any(|root| !root.path.as_os_str().is_empty() && path.starts_with(&root.path))
    };
    let mut found: Vec<PathBuf> = Vec::new();
    for path in &folders.of_salt {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("roster") || is_below(path) {
            continue;
        }
        // The files of `master.d` are read with the file beside the folder, which need not be there.
        let main = match path.parent().filter(|parent| parent.ends_with("master.d")) {
            Some(parent) => parent.with_file_name("master"),
            None => path.clone(),
        };
        if !found.contains(&main) {
            found.push(main);
        }
    }
    let is_minion = |path: &Path| {
        path.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("minion"))
    };
    found.sort_by_key(|path| (is_trial(path), is_minion(path), path.components().count()));
    let named = tools.configs.iter().filter(|path| {
        let real = directory.join(path).canonicalize();
        let home = directory.canonicalize();
        real.is_ok_and(|real| home.is_ok_and(|home| real.starts_with(home)))
    });
    named.cloned().chain(found).find_map(|path| {
        let config = read(directory, &path).ok()?;
        let counts = ["file_roots", "pillar_roots", "ext_pillar", "nodegroups"];
        let says = counts.iter().any(|option| config.is_set(option));
        says.then_some((path, config))
    })
}

/// A configuration of the checkout. What it includes from elsewhere is not read.
///
/// # Errors
/// It cannot be read.
pub fn read(directory: &Path, path: &Path) -> Result<Config, Error> {
    let surroundings = surroundings(directory);
    Config::read(
        &directory.join(path).to_string_lossy(),
        Kind::Master,
        &surroundings,
    )
}

fn surroundings(directory: &Path) -> Surroundings {
    let real = directory.canonicalize().unwrap_or_default();
    let real = real.display().to_string();
    Surroundings {
        directory: real.clone(),
        within: Some(real),
        ..Surroundings::default()
    }
}

/// A checkout as a master's configuration.
pub struct Checkout<'c> {
    /// The checkout.
    pub directory: &'c Path,
    /// The configuration in it.
    pub config: Option<&'c Config>,
    /// The roots of the file server by saltenv.
    pub roots: &'c [(String, PathBuf)],
    /// Those of the pillar.
    pub pillar_roots: &'c [(String, PathBuf)],
    /// Repositories with formulas, behind the roots.
    pub formulas: &'c [Formula],
    /// True if the project's file names the configuration.
    pub is_chosen: bool,
}

impl Checkout<'_> {
    /// The options of the checkout's master, with the checkout's folders for its directories.
    ///
    /// # Errors
    /// A root's name is not Unicode.
    pub fn config(&self) -> Result<Config, InputError> {
        let mut over = Map::new();
        over.insert("file_roots", by_env(self.roots)?);
        if !self.pillar_roots.is_empty() {
            over.insert("pillar_roots", by_env(self.pillar_roots)?);
        }
        // Minions come from the checkout, not from a cache of this machine.
        over.insert("cachedir", "");
        if !self.formulas.is_empty() {
            over.insert("gitfs_remotes", remotes(self.formulas));
            // Branches and tags of a formula are not environments of the estate.
            over.insert("gitfs_disable_saltenv_mapping", true);
            over.insert("fileserver_backend", Value::from_iter(["roots", "git"]));
        } else if !self.is_chosen {
            over.insert("fileserver_backend", Value::from_iter(["roots"]));
        }
        let text = yaml::dump(&over.into(), &yaml::DumpOptions::output());
        let surroundings = surroundings(self.directory);
        let config = match self.config {
            Some(config) => config.clone(),
            None => Config::parse(b"", FILE, Kind::Master)?,
        };
        Ok(config.overridden(text.as_bytes(), FILE, &surroundings)?)
    }
}

#[cfg(feature = "git")]
/// A checkout's configuration with these formulas alone.
///
/// # Errors
/// As for [`Checkout::config`].
pub fn with_formulas(
    config: &Config,
    formulas: &[Formula],
    directory: &Path,
) -> Result<Config, InputError> {
    let over = Map::from_iter([("gitfs_remotes", remotes(formulas))]);
    let text = yaml::dump(&over.into(), &yaml::DumpOptions::output());
    Ok(config
        .clone()
        .overridden(text.as_bytes(), FILE, &surroundings(directory))?)
}

/// Formulas as remotes of gitfs, each at one revision in the saltenv base.
fn remotes(formulas: &[Formula]) -> Value {
    let map = |name: &str, value: Value| -> Value { Map::from_iter([(name, value)]).into() };
    let remote = |formula: &Formula| {
        let reference = formula.reference.as_deref().unwrap_or("HEAD");
        let base = Value::from_iter([map("ref", reference.into())]);
        let envs = Value::from_iter([map("base", base)]);
        let options = Value::from_iter([map("saltenv", envs)]);
        map(&formula.git, options)
    };
    formulas.iter().map(remote).collect()
}

fn by_env(roots: &[(String, PathBuf)]) -> Result<Map, InputError> {
    let mut all = Map::new();
    for (env, _) in roots {
        let own = roots.iter().filter(|(of, _)| of == env);
        let paths: Option<Value> = own
            .map(|(_, path)| path.to_str().map(Value::from))
            .collect();
        let paths = paths.ok_or_else(|| {
            let message = "a root has a name that is not Unicode";
            Error::new(mapstack::ErrorKind::File, message)
        })?;
        all.insert(env.as_str(), paths);
    }
    Ok(all)
}

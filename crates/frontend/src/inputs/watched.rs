//! The files as they are at one moment, again and again.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use mapstack::loader::{FileServer, MemoryFiles, Roots};
use mapstack::value::Value;
use mapstack::value::posixpath::split;
use mapstack::{Error, ErrorKind};
use mapstack_salt_config::Config;

use crate::inputs::compared_directory::on_disk;
use crate::inputs::compared_files::{below_roots, roots_of_pillar};
use crate::inputs::flags::Input;
use crate::inputs::functions::{MemoryOf, engine};
use crate::inputs::minions::pillar_changes;
use crate::inputs::served::roots;
use crate::inputs::states::{Compiling, FilesState, States};
use crate::inputs::{
    Configured, ConfiguredPillars, InputError, Served, WarningSink, deployed, pillars, served,
};

/// The watched directories: the roots that flags name, those of the pillar if pillars are compiled, and the directories
/// of stacked external pillars.
pub struct WatchedDirectories<'i> {
    input: &'i Input,
    config: Option<&'i Config>,
    memory: MemoryOf,
    /// True if the configuration is about pillars alone.
    only_pillars: bool,
    compiling: Option<Compiling>,
    pillar_roots: Vec<(String, PathBuf)>,
    stacks: Vec<PathBuf>,
}

impl<'i> WatchedDirectories<'i> {
    /// The directories that flags and a configuration name.
    ///
    /// # Errors
    /// Roots that cannot be determined, or flags that have no effect.
    pub fn new(
        input: &'i Input,
        config: Option<&'i Config>,
        memory: MemoryOf,
    ) -> Result<Self, InputError> {
        let files = &input.files;
        let compiling = match input.facts.pillar {
            None => pillars::compiling(config, files)?,
            Some(_) => None,
        };
        let served = roots(files, config)?;
        let pillar_roots = compiling.as_ref().map(roots_of_pillar).transpose()?;
        let pillar_roots = pillar_roots.unwrap_or_default();
        let stacks = compiling.as_ref().map(stacks).unwrap_or_default();
        let changes = pillar_changes(&input.facts)?;
        let mirrors = compiling
            .as_ref()
            .map(|config| pillars::mirrors(config, files));
        let mirrors = mirrors.transpose()?.flatten();
        Ok(WatchedDirectories {
            only_pillars: compiling.is_some() && served.is_empty() && config.is_some(),
            compiling: compiling.map(|config| Compiling {
                config,
                changes,
                below_roots: below_roots(&pillar_roots, &served),
                mirrors,
            }),
            input,
            config,
            memory,
            pillar_roots,
            stacks,
        })
    }

    /// True if pillars are compared.
    pub fn has_pillars(&self) -> bool {
        self.compiling.is_some()
    }

    /// The compilers of minions' pillars: from the states, if they are compared.
    pub fn minions_by<'c>(
        &self,
        config: Option<&'c Config>,
        now: Option<&'c ConfiguredPillars>,
    ) -> Configured<'c> {
        match self.has_pillars() {
            true => Configured::later(config),
            false => Configured::new(config, now),
        }
    }

    /// The directories in which a change counts.
    ///
    /// # Errors
    /// As [`Served::new`].
    pub fn directories(
        &self,
        saltenv: &str,
        warn: &dyn WarningSink,
    ) -> Result<Vec<String>, InputError> {
        let mut directories = self
            .served(warn)?
            .map_or_else(Vec::new, |served| served.directories(saltenv));
        let of_pillar = self.pillar_roots.iter().map(|(_, root)| root);
        for directory in of_pillar.chain(&self.stacks).filter(|root| root.is_dir()) {
            let directory = directory.display().to_string();
            if !directories.contains(&directory) {
                directories.push(directory);
            }
        }
        Ok(directories)
    }

    /// True if files are watched of which it is not known whether they are different.
    pub(crate) fn has_stacks(&self) -> bool {
        !self.stacks.is_empty()
    }

    /// The compiler of pillars.
    pub(crate) fn compiling(&self) -> Option<&Compiling> {
        self.compiling.as_ref()
    }

    /// The files as they are now.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn now(&self) -> Result<Arc<FilesState>, InputError> {
        let served = self.served(&pillars::NoWarnings)?;
        let files = frozen(&served.map(|served| served.files).unwrap_or_default())?;
        let follow = served::follows_outside_links(&self.input.files, self.config);
        let of_pillar = self.compiling.as_ref().map(|_| {
            let roots = self.pillar_roots.iter();
            let roots = roots.fold(Roots::new(), |all, (env, root)| all.root(env, root));
            let frozen = frozen(&roots.follow_outside_links(follow))?;
            Ok::<_, InputError>(Arc::new(frozen) as Arc<dyn FileServer>)
        });
        let mounts = self.stacks.iter().map(|at| (at.clone(), on_disk(at)));
        Ok(Arc::new(FilesState {
            engine: deployed::with_roots(
                engine(files, &self.input.functions, self.memory)?,
                &self.input.files,
                self.config,
            ),
            pillar: of_pillar.transpose()?,
            mounts: mounts.collect(),
        }))
    }

    /// Compare two moments.
    ///
    /// # Errors
    /// A file cannot be read.
    pub(crate) fn states(&self, states: [&Arc<FilesState>; 2]) -> Result<States, InputError> {
        let compiled = self.compiling.clone().map(|compiling| (compiling, None));
        States::between(states.map(Arc::clone), compiled)
    }

    fn served(&self, warn: &dyn WarningSink) -> Result<Option<Served>, InputError> {
        match self.only_pillars {
            true => Ok(None),
            false => Served::new(&self.input.files, self.config, None, warn).map(Some),
        }
    }
}

fn frozen(files: &dyn FileServer) -> Result<MemoryFiles, InputError> {
    let frozen = MemoryFiles::copied(files).map_err(|e| Error::new(ErrorKind::File, e.to_string()));
    Ok(frozen?)
}

/// The directories of the config files of stacked external pillars, below which their files lie.
fn stacks(config: &Config) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Some(external) = config.get("ext_pillar") {
        directories(external, &mut found);
    }
    found
}

/// The directories of the paths in a value.
fn directories(value: &Value, found: &mut Vec<PathBuf>) {
    if let Some(text) = value.as_str() {
        let directory = PathBuf::from(split(text).0);
        let is_top = directory == Path::new("/") || directory == Path::new("");
        if !is_top && directory.is_dir() && !found.contains(&directory) {
            found.push(directory);
        }
    }
    let items = value.as_list().into_iter().flatten();
    let values = value.as_map().into_iter().flatten().map(|(_, value)| value);
    for value in items.chain(values) {
        directories(value, found);
    }
}

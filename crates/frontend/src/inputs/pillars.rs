//! The pillars that a configuration compiles.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::absent::Absent;
use mapstack::loader::{Backends, FileServer, Roots, Snapshot};
use mapstack::minion::Minion;
use mapstack::value::{Map, Value};
use mapstack::{Diagnostic, Engine, Error, ErrorKind, UnansweredCall};
use mapstack_fleet::{AnswerRecord, RecordingFileServer, WithPillar};
use mapstack_pillar::{
    Master, PillarReads, PillarRequest, WholePillar, pillar_roots, unknown_order,
};
use mapstack_salt_config::{Config, Kind};

use crate::inputs::configuration;
use crate::inputs::flags::{EngineFlags, FileFlags};
use crate::inputs::functions::{MemoryOf, engine};
use crate::inputs::served::{self, Served};
use crate::inputs::{InputError, WarningSink, deployed};

/// A configuration, and the pillars that it compiles.
#[derive(Clone, Copy, Default)]
pub struct Configured<'c> {
    pub(crate) config: Option<&'c Config>,
    pub(crate) pillars: Option<&'c ConfiguredPillars>,
    /// True if pillars are compiled later, in several states of the files.
    pub(crate) later: bool,
}

impl<'c> Configured<'c> {
    /// Minions have the pillars that these compile, if they are not given with one.
    #[must_use]
    pub fn new(config: Option<&'c Config>, pillars: Option<&'c ConfiguredPillars>) -> Self {
        Configured {
            config,
            pillars,
            later: false,
        }
    }

    /// Minions get their pillars later, unless they are given with one.
    #[must_use]
    pub fn later(config: Option<&'c Config>) -> Self {
        Configured {
            config,
            pillars: None,
            later: true,
        }
    }
}

impl<'c> From<Option<&'c Config>> for Configured<'c> {
    /// Minions have the pillars that they are given with.
    fn from(config: Option<&'c Config>) -> Self {
        Configured {
            config,
            ..Configured::default()
        }
    }
}

/// The directory with the mirrors of git repositories, if external pillars of a configuration need it.
///
/// # Errors
/// The directory is not known.
pub(crate) fn mirrors(config: &Config, files: &FileFlags) -> Result<Option<PathBuf>, InputError> {
    let items = config.get("ext_pillar").and_then(Value::as_list);
    let is_git = |item: &Value| item.as_map().is_some_and(|item| item.contains_key("git"));
    match cfg!(feature = "git") && items.is_some_and(|items| items.iter().any(is_git)) {
        true => configuration::mirrors(files.mirrors.as_deref()).map(Some),
        false => Ok(None),
    }
}

/// A master that finds mirrors below a directory.
pub(crate) fn with_mirrors(master: Master, mirrors: Option<&Path>) -> Master {
    match mirrors {
        #[cfg(feature = "git")]
        Some(mirrors) => master.with_mirrors(mirrors),
        _ => master,
    }
}

/// Compiles pillars as a configuration says.
pub struct ConfiguredPillars {
    master: Master,
    engine: Engine,
    heard: Mutex<Vec<Diagnostic>>,
}

/// File servers in place of directories on the disk.
pub(crate) type Mounts = Vec<(PathBuf, Arc<dyn FileServer>)>;

/// The bytes of results that minions share unless a flag says otherwise.
pub(crate) const SHARED: usize = 64 << 20;

/// Warnings about the pillars of many minions that are kept.
const MAX_WARNINGS: usize = 1000;

impl ConfiguredPillars {
    /// Those of a configuration that sets `pillar_roots` or the external pillar `git`: a master's, or that of a minion
    /// without a master; else those of the project's `pillar_roots`.
    ///
    /// # Errors
    /// The file server cannot be opened, or flags of functions cannot be used.
    pub fn of(
        config: Option<&Config>,
        EngineFlags { files, functions }: EngineFlags<'_>,
        memory: MemoryOf,
        warn: &dyn WarningSink,
    ) -> Result<Option<Self>, InputError> {
        ConfiguredPillars::noted(config, EngineFlags { files, functions }, memory, warn, None)
    }

    /// The same pillars, which can record every access to their files.
    ///
    /// # Errors
    /// As for [`of`](Self::of).
    pub fn noted(
        config: Option<&Config>,
        EngineFlags { files, functions }: EngineFlags<'_>,
        memory: MemoryOf,
        warn: &dyn WarningSink,
        seen: Option<Arc<AnswerRecord>>,
    ) -> Result<Option<Self>, InputError> {
        let Some(config) = compiling(config, files)? else {
            return Ok(None);
        };
        let follow = served::follows_outside_links(files, Some(&config));
        let roots = pillar_roots(config.options()).into_iter().fold(
            Roots::new().follow_outside_links(follow),
            |roots, (env, directory)| roots.root(&env, directory),
        );
        // Nobody named those that are built in.
        let missing = roots.missing_roots().into_iter();
        let missing: Vec<Diagnostic> = missing
            .filter(|_| config.is_set("pillar_roots"))
            .map(|root| {
                let message = format!(
                    "the root {} of the pillar is not a directory",
                    root.display()
                );
                Diagnostic::warning(ErrorKind::File, message)
                    .with_help("it is ignored, as the reference ignores it")
            })
            .collect();
        warn.warn_of(&missing)?;
        // Few pillars look at files of the file server.
        let served = match files.root.is_empty() && !configuration::has_own_roots(Some(&config)) {
            true => Backends::default(),
            false => Served::new(files, Some(&config), None, &NoWarnings)?.files,
        };
        let mirrors = mirrors(&config, files)?;
        let roots = RecordingFileServer::new(roots, "pillar", seen.clone());
        let served = RecordingFileServer::new(served, "files for pillars", seen);
        let engine = engine(Snapshot::new(served), functions, memory)?;
        let engine = deployed::with_roots(engine, files, Some(&config));
        let master = Master::new(
            config,
            Arc::new(Absent::new(Snapshot::new(roots), &functions.absent)),
        );
        let master = master.with_override(functions.pillar_override.clone());
        Ok(Some(ConfiguredPillars {
            master: with_mirrors(master, mirrors.as_deref()).with_memory(SHARED),
            engine,
            heard: Mutex::default(),
        }))
    }

    /// Those of a state of the files.
    ///
    /// # Errors
    /// The directory of mirrors is not known.
    pub(crate) fn of_state(
        engine: Engine,
        pillar: Option<Arc<dyn FileServer>>,
        mounts: Mounts,
        config: Config,
        EngineFlags { files, functions }: EngineFlags<'_>,
    ) -> Result<Self, InputError> {
        let mirrors = mirrors(&config, files)?;
        let pillar = pillar.unwrap_or_else(|| Arc::new(Backends::default()));
        let master = Master::new(config, pillar);
        let master = with_mirrors(master, mirrors.as_deref())
            .with_override(functions.pillar_override.clone());
        let master = mounts
            .into_iter()
            .fold(master, |master, (at, files)| master.mount(at, files));
        Ok(ConfiguredPillars {
            master: master.with_memory(SHARED),
            engine,
            heard: Mutex::default(),
        })
    }

    /// Note what happens in [`compile`](Self::compile), for a trace.
    #[must_use]
    pub fn with_events(mut self, wanted: bool) -> Self {
        self.master = self.master.with_events(wanted);
        self
    }

    /// Let minions share this many bytes of results; see [`Master::with_memory`].
    #[must_use]
    pub fn with_memory(mut self, bytes: usize) -> Self {
        self.master = self.master.with_memory(bytes);
        self
    }

    /// Let files of stacked external pillars lie below these directories, too.
    #[must_use]
    pub fn with_directories(mut self, directories: &[std::path::PathBuf]) -> Self {
        self.master = self.master.with_directories(directories);
        self
    }

    /// The master that compiles the pillars.
    #[must_use]
    pub fn master(&self) -> &Master {
        &self.master
    }

    /// The engine that templates' functions belong to.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// The pillar of a minion, errors and all.
    ///
    /// # Errors
    /// As [`Master::compile`].
    pub fn compile(&self, minion: &Minion) -> Result<WholePillar, Error> {
        self.master
            .compile(&self.engine, minion, &PillarRequest::of(minion))
    }

    /// Note the paths of the files that external pillars read.
    #[must_use]
    pub fn noting_paths(mut self) -> Self {
        self.master = self.master.noting_paths();
        self
    }

    /// Compiles the pillar of a minion with the changes of flags, and reports the files that it uses. A
    /// pillar that the minion was given with stays.
    pub fn noting(
        &self,
        changes: Vec<(String, Value)>,
    ) -> impl Fn(&Minion) -> WithPillar + Sync + '_ {
        move |minion: &Minion| self.noted_of(minion, &changes)
    }

    fn noted_of(&self, minion: &Minion, changes: &[(String, Value)]) -> WithPillar {
        let mut given = WithPillar {
            minion: minion.clone(),
            reads: PillarReads::default(),
            errors: Vec::new(),
        };
        if !minion.pillar.is_empty() {
            return given;
        }
        let ask = PillarRequest::of(minion);
        let (compiled, reads) = self.master.compile_noting(&self.engine, minion, &ask);
        given.reads = reads;
        match compiled {
            Ok(whole) => {
                given.errors = whole.failures();
                given.minion.pillar = whole.data;
            }
            Err(error) => given.errors.push(error),
        }
        for (path, value) in changes {
            if let Err(e) = given.minion.set(path, value.clone()) {
                let error = Error::new(ErrorKind::Facts, e.to_string());
                given.errors.push(error);
            }
        }
        given
    }

    /// The same with how it was made.
    ///
    /// # Errors
    /// As [`Master::compile`].
    pub(crate) fn explain(&self, minion: &Minion) -> Result<WholePillar, Error> {
        self.master
            .explain(&self.engine, minion, &PillarRequest::of(minion))
    }

    /// The pillar of a minion without errors.
    ///
    /// # Errors
    /// The first error of the pillar.
    pub(crate) fn pillar(&self, minion: &Minion) -> Result<Map, Error> {
        let given = |error: Error, count: usize| {
            let more = match count {
                0 | 1 => String::new(),
                count => format!(", the first of {count} errors"),
            };
            error.note(format!("in the pillar of '{}'{more}", minion.id()))
        };
        let pillar = self.compile(minion).map_err(|e| given(e, 1))?;
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        for warning in &pillar.warnings {
            if heard.len() < MAX_WARNINGS && !heard.contains(warning) {
                heard.push(warning.clone());
            }
        }
        let failures = pillar.failures();
        match failures.first() {
            None => Ok(pillar.data),
            Some(first) => Err(given(first.clone(), failures.len())),
        }
    }

    /// Report how many warnings there were about the pillars of many minions: their texts could have secrets of one
    /// minion, which messages about all do not mask.
    ///
    /// # Errors
    /// Warnings are errors here.
    pub fn count_warnings(&self, warn: &dyn WarningSink) -> Result<(), Error> {
        let count = self.take_warnings().len();
        if count == 0 {
            return Ok(());
        }
        let many = if count < MAX_WARNINGS {
            ""
        } else {
            "at least "
        };
        let plural = if count == 1 { "" } else { "s" };
        let message = format!("{many}{count} warning{plural} about the pillars of the minions");
        let help = "`mapstack pillar` with the same configuration shows them";
        warn.warn_of(&[Diagnostic::warning(ErrorKind::Options, message).with_help(help)])
    }

    /// The minions with their pillars, as far as these compile, and the calls in them that nothing answers
    /// ([`Engine::collecting`]).
    ///
    /// # Errors
    /// A pillar that cannot be compiled at all.
    pub(crate) fn lacking(
        self,
        minions: Vec<Minion>,
    ) -> Result<(Vec<Minion>, Vec<UnansweredCall>), Error> {
        let mut with_pillars: Result<Vec<Minion>, Error> = Ok(Vec::new());
        let (_, lacking) = self.engine.collecting(|engine| {
            let compiled = minions.into_iter().map(|minion| {
                let made = self
                    .master
                    .compile(engine, &minion, &PillarRequest::of(&minion))?;
                Ok(Minion {
                    pillar: made.data,
                    ..minion
                })
            });
            with_pillars = compiled.collect();
        });
        Ok((with_pillars?, lacking))
    }

    /// The warnings so far, each once.
    pub fn take_warnings(&self) -> Vec<Diagnostic> {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *heard)
    }
}

/// The configuration that compiles pillars, if there is one: the given one, or that of the project.
///
/// # Errors
/// A root of the project is not text.
pub(crate) fn compiling(
    config: Option<&Config>,
    files: &FileFlags,
) -> Result<Option<Config>, InputError> {
    let own = files
        .project
        .as_ref()
        .and_then(|project| project.estate.as_ref());
    let own = || {
        own.map(|estate| &estate.config)
            .filter(|config| compiles(config))
    };
    Ok(config
        .filter(|config| compiles(config))
        .or_else(own)
        .cloned())
}

/// Warn of pillars whose environments a master of the version that is followed reads in an unknown order, for verbs
/// that do not show the warnings of each compile.
///
/// # Errors
/// Warnings are errors, or a root of the project is not text.
pub(crate) fn warn_of_order(
    config: Option<&Config>,
    EngineFlags { files, functions }: EngineFlags<'_>,
    warn: &dyn WarningSink,
) -> Result<(), InputError> {
    // Of two versions the older one is less sure of the order.
    let [before, after] = functions.versions();
    let version = before.min(after);
    let Some(config) = compiling(config, files)? else {
        return Ok(());
    };
    let is_chosen = config.get("pillarenv").is_some_and(Value::truthy);
    let roots = config.get("pillar_roots").and_then(Value::as_map);
    let envs = roots.map_or(0, Map::len);
    if version.behaviour().environments_keep_their_order || is_chosen || envs < 2 {
        return Ok(());
    }
    let does = format!("goes through the {envs} environments of pillar_roots");
    Ok(warn.warn_of(&[unknown_order(version, &does, "pillars are those")])?)
}

/// True if a configuration compiles pillars from files.
fn compiles(config: &Config) -> bool {
    let is_local = config.get("file_client").and_then(Value::as_str) == Some("local");
    let has_files = config.is_set("pillar_roots") || has_git_pillar(config);
    has_files && (config.kind() == Kind::Master || is_local)
}

/// True if an external pillar is one of git repositories, which have sls of their own.
fn has_git_pillar(config: &Config) -> bool {
    let externals = config.get("ext_pillar").and_then(Value::as_list);
    let is_git = |one: &Value| one.as_map().is_some_and(|one| one.get("git").is_some());
    externals.is_some_and(|externals| externals.iter().any(is_git))
}

/// Hears nothing: what is opened a second time has warned before, or will.
pub struct NoWarnings;

impl WarningSink for NoWarnings {
    fn warn_of(&self, _: &[Diagnostic]) -> Result<(), Error> {
        Ok(())
    }

    fn knows(&self, _: &Minion) {}
}

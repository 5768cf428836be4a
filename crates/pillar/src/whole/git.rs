//! The external pillar `git`: pillars compiled from directories of git repositories (Salt: `salt.pillar.git_pillar`).

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Means, Result};
use mapstack_minion::Minion;
use mapstack_salt_config::fileserver::{PillarDirectory, pillar_remotes};
use mapstack_salt_config::gitfs::GitFs;
use mapstack_value::{Map, Value};

use super::files::PillarFiles;
use super::settings::{CompileSettings, PillarRequest, merging};
use super::{CompileState, PillarCompile};
use crate::compile::Nested;
use crate::config::ExtPillar;
use crate::recipe::PillarPart;
use crate::trace::Events;

/// The mirrors of remotes, and those that are open; minions share them.
#[derive(Default)]
pub(crate) struct Mirrors {
    at: PathBuf,
    opened: Mutex<HashMap<String, PillarFiles>>,
    /// True if there is anything in directories.
    there: Mutex<HashMap<String, bool>>,
}

/// Stands for the environment that is requested.
const DYNAMIC: &str = "__env__";

/// So many directories stay open; minions can ask for many environments.
const MAX_OPENED: usize = 256;

impl PillarCompile<'_> {
    /// The pillars of all remotes, merged in order.
    pub(super) fn git(
        &self,
        one: &ExtPillar,
        options: &Map,
        state: &CompileState,
    ) -> Result<Nested> {
        let mirrors = &self.master.mirrors;
        let (remotes, warnings) = pillar_remotes(options, &one.arguments, &mirrors.at)
            .map_err(|e| e.at(one.place.clone()))?;
        let mut nested = Nested::default();
        let heard = warnings.into_iter().map(|warning| Diagnostic {
            place: one.place.clone(),
            ..warning
        });
        nested.warnings.extend(heard);
        let mut directories = Vec::new();
        for remote in &remotes {
            let directory = remote.directory(options);
            match mirrors.has_files(&directory) {
                Ok(true) => directories.push(directory),
                Ok(false) => nested.warnings.push(nothing_there(&directory, one)),
                Err(e) => return Err(e.at(one.place.clone())),
            }
        }
        let merging = merging(
            &self.settings.value("pillar_source_merging_strategy"),
            &"yaml".into(),
            &self.settings.value("pillar_merge_lists"),
        );
        let from_saltenv = options
            .get("pillarenv_from_saltenv")
            .is_some_and(Value::truthy);
        let mut options = Cow::Borrowed(options);
        let mut first = None;
        for (at, directory) in directories.iter().enumerate() {
            let Some(env) = self.environment(directory, &options) else {
                if let Some(first) = first.filter(|_| !directory.is_mounted) {
                    nested.warnings.push(other_env(directory, first, one));
                }
                continue;
            };
            if from_saltenv && first.is_none() {
                // The compile of a remote sets `pillarenv` in options that those of all others share.
                options.to_mut().insert("pillarenv", env.clone());
                first = Some(directory);
            }
            let (layer, has_top) =
                self.one_remote(&directories, at, &env, &options, state, &mut nested)?;
            if !has_top {
                nested.warnings.push(no_top(directory, one, &self.settings));
            }
            let base = std::mem::take(&mut nested.made);
            let origin = format!("the pillar of {}", directory.shown());
            nested.made = self
                .recipe
                .merge(base, &layer, &merging, &origin)
                .map_err(|e| {
                    let message = format!("{origin} cannot be merged: {e}");
                    Error::new(ErrorKind::Merge, message).at(one.place.clone())
                })?;
        }
        Ok(nested)
    }

    /// The environment of a directory, if it has its turn for this pillar.
    fn environment(&self, directory: &PillarDirectory, options: &Map) -> Option<String> {
        let option = |name: &str| options.get(name).filter(|value| value.truthy());
        let mut env = directory.env.clone();
        if env == DYNAMIC {
            let asked = ["pillarenv", "saltenv", "git_pillar_base"];
            env = asked
                .into_iter()
                .find_map(option)
                .map_or(env, ToString::to_string);
        }
        let is_match = option("pillarenv").is_none_or(|asked| asked.as_str() == Some(&*env));
        (is_match && !directory.is_mounted).then_some(env)
    }

    /// The pillar of one remote, and true if a top file gives it. Its sls can include those of others in the same
    /// environment.
    fn one_remote(
        &self,
        directories: &[PillarDirectory],
        at: usize,
        env: &str,
        options: &Map,
        state: &CompileState,
        nested: &mut Nested,
    ) -> Result<(PillarPart, bool)> {
        let mut roots = vec![&directories[at]];
        if self.settings.is_on("git_pillar_includes") {
            let others = directories.iter().enumerate();
            let others = others.filter(|(index, other)| *index != at && other.env == env);
            roots.extend(others.map(|(_, other)| other));
        }
        let files = self.master.mirrors.files(&roots, env)?;
        let mut options = options.clone();
        let shown: Value = roots.iter().map(|root| Value::from(root.shown())).collect();
        let root: Map = [(env, shown)].into_iter().collect();
        options.insert("pillar_roots", root);
        let inner = self.inner(&options, env, files, state);
        let (state, has_top) = inner.sls_alone()?;
        nested.warnings.extend(state.warnings.clone());
        nested.errors.extend(state.errors.clone());
        nested.events.append(&mut inner.events.all.into_inner());
        Ok((state.data, has_top))
    }

    /// A compile with other options and files for the same minion.
    fn inner(
        &self,
        options: &Map,
        env: &str,
        files: PillarFiles,
        state: &CompileState,
    ) -> PillarCompile<'_> {
        let minion = Minion {
            id: self.settings.id.clone(),
            grains: state.grains.clone(),
            ..self.minion.clone()
        };
        let ask = PillarRequest {
            saltenv: env.into(),
            ..PillarRequest::default()
        };
        let settings = CompileSettings::new(options, &minion, &ask);
        PillarCompile {
            master: self.master,
            // The files of other remotes can be in the same places.
            shared: None,
            engine: self.engine,
            files,
            merging: settings.merging(),
            pillar_override: RefCell::default(),
            extra: Map::new(),
            problem: None,
            minion: Minion {
                id: settings.masters_id.clone(),
                pillar: Map::new(),
                opts: settings.functions.clone(),
                ..minion
            },
            settings,
            recipe: self.recipe.clone(),
            events: Events {
                wanted: self.events.wanted,
                ..Events::default()
            },
        }
    }

    /// The top files' sls alone, with their errors among the data; and true if there is a top file.
    fn sls_alone(&self) -> Result<(CompileState, bool)> {
        let mut state = self.state();
        let run = self.renders(&state);
        let mut top = self.reader(&run).read()?;
        let top_errors = std::mem::take(&mut top.errors);
        let has_top = top.is_there() || !top_errors.is_empty();
        self.top_sls(&run, top, &mut state)?;
        state.errors.extend(top_errors);
        self.add_errors(&mut state);
        Ok((state, has_top))
    }
}

impl Mirrors {
    /// Mirrors below a directory. Nothing is opened yet.
    pub fn new(at: PathBuf) -> Self {
        Mirrors {
            at,
            ..Mirrors::default()
        }
    }

    /// The files of directories as one environment; earlier ones win.
    fn files(&self, roots: &[&PillarDirectory], env: &str) -> Result<PillarFiles> {
        let keys: Vec<String> = roots.iter().map(|root| key(root)).collect();
        let key = format!("{env}\n{}", keys.join("\n"));
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(files) = opened.get(&key) {
            return Ok(files.for_one());
        }
        let remotes = roots.iter().map(|root| root.serving(env)).collect();
        let server =
            GitFs::open(remotes).map_err(|e| Error::new(ErrorKind::File, e.to_string()))?;
        let files = PillarFiles::new(Arc::new(server));
        if opened.len() >= MAX_OPENED {
            opened.clear();
        }
        opened.insert(key, files.for_one());
        Ok(files)
    }

    /// True if there is anything in a directory.
    fn has_files(&self, directory: &PillarDirectory) -> Result<bool> {
        let key = key(directory);
        let there = || self.there.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = there().get(&key) {
            return Ok(*known);
        }
        let files = self.files(&[directory], &directory.env)?;
        let has_files = files.has_any(&directory.env)?;
        let mut there = there();
        if there.len() >= MAX_OPENED {
            there.clear();
        }
        there.insert(key, has_files);
        Ok(has_files)
    }
}

/// The key that tells a directory from others.
fn key(directory: &PillarDirectory) -> String {
    format!("{} {:?}", directory.reference, directory.remote)
}

/// A remote without a top file: its sls are there for those of other remotes at most.
fn no_top(directory: &PillarDirectory, one: &ExtPillar, settings: &CompileSettings) -> Diagnostic {
    let top = settings.value("state_top").to_string();
    let message = format!(
        "the remote '{}' gives nothing: {} has no {}",
        directory.remote.name,
        directory.shown(),
        top.trim_start_matches("salt://")
    );
    let help = "write a top file, or set `root` to the folder that has it; with a `mountpoint`, a remote serves its sls to others";
    Diagnostic {
        place: one.place.clone(),
        ..Diagnostic::warning(ErrorKind::File, message).with_help(help)
    }
}

/// A remote that is not of the environment of the first one, which sets `pillarenv` for all.
fn other_env(directory: &PillarDirectory, first: &PillarDirectory, one: &ExtPillar) -> Diagnostic {
    let message = format!(
        "the remote '{}' gives nothing: its environment is '{}', and `pillarenv_from_saltenv` leaves only '{}', \
         that of the first remote",
        directory.remote.name, directory.env, first.env
    );
    let help = "give the remotes one environment by `env`, or set `pillarenv_from_saltenv: false`";
    Diagnostic {
        place: one.place.clone(),
        ..Diagnostic::warning(ErrorKind::File, message).with_help(help)
    }
}

/// A remote that the reference leaves out, and only logs.
fn nothing_there(directory: &PillarDirectory, one: &ExtPillar) -> Diagnostic {
    let message = format!(
        "the remote '{}' has nothing to read at {}, so it is left out",
        directory.remote.name,
        directory.shown()
    );
    let warning = Diagnostic::warning(ErrorKind::File, message);
    Diagnostic {
        place: one.place.clone(),
        ..warning.with_help(format!(
            "is there such a branch or tag, and such a `root` in it? if it is new, run {}",
            Means::FetchConfigured
        ))
    }
}

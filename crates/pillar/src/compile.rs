//! The fold over external pillars.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use mapstack_loader::FileServer;
use mapstack_merge::{MergeError, Options, Strategy, merge};
use mapstack_minion::Minion;
use mapstack_salt_config::disk::{FileTree, KeptFiles, TreeReads};
use mapstack_value::posixpath::split;
use mapstack_value::{Key, Map, Value};

use super::StackKind;
use super::cache::StackCache;
use super::command::Command;
use super::config::{ExtPillar, ExtPillars, SALTS_OWN};
use super::external::{BuiltIn, ExternalPillarInput, passed};
use super::recipe::{ExternalParts, OwnPillarResult, PillarPart, Recipe};
use super::select::Stores;
use super::stack::Stacking;
use super::trace::{PillarEvent, WholeEvent};
use super::whole::{CompileReads, PillarError, RecordingFiles, merging};
use mapstack::trace::FileRead;
use mapstack::{Engine, MasterSide, Means, PillarCall, PluginAnswer};
use mapstack_diagnostic::{Diagnostic, Distinct, Error, ErrorKind, Result};

/// The data of a minion's external pillars.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Compiled {
    /// The merged data that they return.
    pub external: Map,
    /// That and the pillar they were given, merged as the master does.
    pub merged: Map,
}

/// The external pillars of a master, and what was learnt of their files; shared by every minion and thread.
pub struct Compiler {
    pillars: ExtPillars,
    /// The directories of stacked files, besides those of the config files.
    tree: FileTree,
    mounts: Vec<(PathBuf, Arc<dyn FileServer>)>,
    notes_paths: bool,
    cache: StackCache,
}

impl Default for Compiler {
    fn default() -> Self {
        Compiler::new(ExtPillars::new())
    }
}

impl Compiler {
    /// Nothing is read yet.
    #[must_use]
    pub fn new(pillars: ExtPillars) -> Self {
        let tree = FileTree::new().keeping(&KeptFiles::default());
        Compiler {
            tree: pillars.directories.iter().fold(tree, FileTree::directory),
            mounts: Vec::new(),
            notes_paths: false,
            pillars,
            cache: StackCache::default(),
        }
    }

    /// Let stacked files lie below this directory, too. Those of the config files count anyway.
    pub(crate) fn directory(self, directory: impl AsRef<Path>) -> Self {
        Compiler {
            tree: self.tree.directory(directory),
            ..self
        }
    }

    /// Look for stacked files once, as they do not change, and keep approximately this many bytes of what was found.
    pub(crate) fn finding_once(mut self, max_bytes: usize) -> Self {
        self.tree = self.tree.keeping(&KeptFiles::unchanging(max_bytes));
        self
    }

    /// Take stacked files below a directory from a file server, as [`FileTree::mount`] does.
    #[must_use]
    pub fn mount(mut self, directory: impl AsRef<Path>, files: Arc<dyn FileServer>) -> Self {
        self.mounts.push((directory.as_ref().into(), files));
        self
    }

    /// Note the paths of the files that each run reads.
    pub(crate) fn noting_paths(mut self) -> Self {
        self.notes_paths = true;
        self
    }

    /// The external pillars.
    #[must_use]
    pub fn pillars(&self) -> &ExtPillars {
        &self.pillars
    }

    /// Start on one minion, whose pillar is what the external pillars are given.
    ///
    /// The engine's file server is what functions such as `__salt__['cp.get_file_str']` see.
    #[must_use]
    pub fn run<'c>(&'c self, engine: &'c Engine, minion: &Minion) -> PillarRun<'c> {
        PillarRun {
            extra: passed(&minion.opts).unwrap_or_default(),
            warnings: RefCell::new(self.pillars.warnings().iter().cloned().collect()),
            ..self.start(engine, minion, self.pillars.opts(minion))
        }
    }
}

impl Compiler {
    /// Start on one minion as a part of a whole pillar. The minion has the master's options; `opts` are those of
    /// external pillars.
    pub(crate) fn run_on_master<'c>(
        &'c self,
        engine: &'c Engine,
        minion: &Minion,
        opts: Map,
        side: MasterSide,
    ) -> PillarRun<'c> {
        PillarRun {
            side: Some(side),
            ..self.start(engine, minion, opts)
        }
    }

    /// A run without anything that only some runs have.
    fn start<'c>(&'c self, engine: &'c Engine, minion: &Minion, opts: Map) -> PillarRun<'c> {
        PillarRun {
            engine,
            minion: minion.clone(),
            pillars: &self.pillars,
            tree: &self.tree,
            mounts: &self.mounts,
            stacked: Arc::default(),
            paths: self.notes_paths.then(TreeReads::default),
            cache: &self.cache,
            opts,
            side: None,
            extra: Map::new(),
            #[cfg(feature = "git")]
            git: None,
            nested: RefCell::default(),
            events: RefCell::default(),
            warnings: RefCell::default(),
            failures: RefCell::default(),
            served: RefCell::default(),
            is_explained: Cell::default(),
        }
    }
}

/// The result of an external pillar.
enum ExternalResult {
    Data(OwnPillarResult),
    /// A separate pillar, with the record of its compile.
    #[cfg(feature = "git")]
    Pillar(Nested),
}

impl ExternalResult {
    fn truthy(&self) -> bool {
        match self {
            ExternalResult::Data(own) => own.data.truthy(),
            #[cfg(feature = "git")]
            ExternalResult::Pillar(nested) => nested.made.value.truthy(),
        }
    }
}

/// A pillar that is compiled as a part of another.
#[cfg(feature = "git")]
#[derive(Default)]
pub(crate) struct Nested {
    pub made: PillarPart,
    pub errors: Vec<PillarError>,
    pub warnings: Vec<Diagnostic>,
    pub events: Vec<PillarEvent>,
}

/// The compiler of the external pillar `git`.
#[cfg(feature = "git")]
type Git<'c> = &'c dyn Fn(&ExtPillar) -> Result<Nested>;

/// The work for one minion.
pub struct PillarRun<'c> {
    engine: &'c Engine,
    minion: Minion,
    pillars: &'c ExtPillars,
    tree: &'c FileTree,
    mounts: &'c [(PathBuf, Arc<dyn FileServer>)],
    /// The reads from mounted directories.
    stacked: Arc<CompileReads>,
    /// The notes of files that are found, if they are wanted.
    paths: Option<TreeReads>,
    cache: &'c StackCache,
    opts: Map,
    /// The differences if a master compiles a whole pillar.
    side: Option<MasterSide>,
    /// The values that the minion passes on to external pillars.
    extra: Map,
    /// `None` without a master.
    #[cfg(feature = "git")]
    git: Option<Git<'c>>,
    /// Errors of pillars within this one.
    nested: RefCell<Vec<PillarError>>,
    events: RefCell<Vec<PillarEvent>>,
    warnings: RefCell<Distinct>,
    failures: RefCell<Vec<Error>>,
    /// The reads of functions from the file server.
    served: RefCell<Vec<FileRead>>,
    /// True if the compile is explained: where values come from is recorded.
    is_explained: Cell<bool>,
}

/// External pillars come to something else than a mapping, as the strategy `aggregate` makes lists of what they give.
pub(crate) fn not_a_mapping(external: &Value) -> Error {
    let what = external.kind().described();
    let message = format!("the external pillars come to {what}, not a mapping");
    Error::new(ErrorKind::DataSource, message).help(
        "let each of them give a mapping; pillar_source_merging_strategy says how they are merged",
    )
}

#[cfg(feature = "git")]
impl<'c> PillarRun<'c> {
    /// The same, with what compiles the external pillar `git`.
    pub(crate) fn with_git(self, git: Git<'c>) -> Self {
        PillarRun {
            git: Some(git),
            ..self
        }
    }
}

impl PillarRun<'_> {
    /// The same, noting the classes that external pillars read in [`events`](Self::events).
    #[must_use]
    pub fn tracing(self, wanted: bool) -> Self {
        self.is_explained.set(wanted);
        self
    }

    /// The same, with what the minion passes on to external pillars.
    pub(crate) fn passing(self, extra: Map) -> Self {
        PillarRun { extra, ..self }
    }

    /// Let every external pillar give its data, in order, and merge it (Salt: `Pillar.ext_pillar`).
    ///
    /// # Errors
    /// The first external pillar that fails, unless the caller wants to
    /// [keep going](ExtPillars::keep_going), and data that the master's merge strategy cannot merge.
    pub fn compile(&self) -> Result<Compiled> {
        let first = self.option("ext_pillar_first").truthy();
        let given = self.minion.pillar.clone();
        let mut pillar = Value::Map(if first { Map::new() } else { given.clone() });
        let mut external = Value::map();
        let mut errors: Vec<PillarError> = Vec::new();
        for run in &self.pillars.runs {
            if self.is_excluded(run) {
                continue;
            }
            let data = match self.item(run, &mut pillar, &mut errors)? {
                ExternalResult::Data(own) => own.data,
                #[cfg(feature = "git")]
                ExternalResult::Pillar(nested) => nested.made.value,
            };
            if data.truthy() {
                pillar = self.merge(pillar, &data)?;
                external = self.merge(external, &data)?;
            }
        }
        if first {
            pillar = self.merge(pillar, &given.into())?;
        }
        let finish = |value: Value| {
            let Value::Map(mut map) = value else {
                return Err(not_a_mapping(&value));
            };
            if !errors.is_empty() {
                let texts = errors.iter().map(|error| Value::from(error.text.as_str()));
                map.insert("_errors", texts.collect::<Value>());
            }
            Ok(map)
        };
        Ok(Compiled {
            external: finish(external)?,
            merged: finish(pillar)?,
        })
    }

    /// The data that the last external pillar returns when it is given the minion's pillar, and that pillar with what
    /// changed in it in place, whether it fails or not. Nothing is merged: that is left to a master that calls it.
    ///
    /// ```
    /// use mapstack::{Engine, loader::MemoryFiles, minion::Minion, value::Value};
    /// use mapstack_pillar::{Compiler, ExtPillars};
    /// let compiler = Compiler::new(ExtPillars::new().with_named("nodegroups", Value::map()));
    /// let minion = Minion::parse(b"{id: web1, pillar: {a: 1}}", "m").unwrap().complete();
    /// let engine = Engine::new(MemoryFiles::new());
    /// let (data, pillar) = compiler.run(&engine, &minion).give();
    /// assert_eq!(data.unwrap().repr(), "{'nodegroups': []}");
    /// assert_eq!(Value::from(pillar).repr(), "{'a': 1}");
    /// ```
    pub fn give(&self) -> (Result<Value>, Map) {
        let mut pillar = Value::Map(self.minion.pillar.clone());
        let mut last = Ok(Value::map());
        for one in self.pillars.runs.iter().flatten() {
            match self.returned(one, &mut pillar) {
                Ok(Some(own)) => last = Ok(own.data),
                Ok(None) => {}
                Err(e) => last = Err(e),
            }
        }
        (last, pillar.as_map().cloned().unwrap_or_default())
    }

    /// Let external pillars give their data, in order, and merge it over a pillar. An item that is not one ends them,
    /// and leaves nothing. The second part of the result is the pillar that was given, with what changed in place
    /// before the first data was merged over a copy of it.
    pub(crate) fn fold(
        &self,
        items: &[Result<Vec<ExtPillar>, PillarError>],
        mut pillar: PillarPart,
        recipe: &Recipe,
        errors: &mut Vec<PillarError>,
    ) -> Result<(PillarPart, PillarPart)> {
        self.is_explained
            .set(self.is_explained.get() || recipe.wanted);
        let mut in_place = None;
        for item in items {
            let run = match item {
                Ok(run) => run,
                Err(malformed) => {
                    errors.push(malformed.clone());
                    return Ok((PillarPart::default(), in_place.unwrap_or(pillar)));
                }
            };
            if self.is_excluded(run) {
                continue;
            }
            let before = pillar.clone();
            let given = self.item(run, &mut pillar.value, errors)?;
            let is_there = given.truthy();
            let (own, nested) = match given {
                ExternalResult::Data(own) => (own, None),
                #[cfg(feature = "git")]
                ExternalResult::Pillar(nested) => (OwnPillarResult::default(), Some(nested.made)),
            };
            let (so_far, data) = recipe.external(run.last(), before, &pillar.value, own);
            pillar = so_far;
            if is_there {
                let data = nested.unwrap_or(data);
                let options = self.merging();
                in_place.get_or_insert_with(|| match options.strategy {
                    // It replaces what is there before it copies.
                    Strategy::Overwrite => recipe.replaced(pillar.clone(), &data),
                    _ => pillar.clone(),
                });
                pillar = recipe
                    .merge(pillar, &data, &options, "an external pillar")
                    .map_err(|e| unmergeable(&e))?;
            }
        }
        let in_place = in_place.unwrap_or_else(|| pillar.clone());
        Ok((pillar, in_place))
    }

    /// The events so far, in order.
    pub fn events(&self) -> Vec<PillarEvent> {
        self.events.borrow().clone()
    }

    /// The warnings so far, each once.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.warnings.borrow().iter().cloned().collect()
    }

    /// The failures that it went on after, in order; the list `_errors` of the pillar has them as text.
    pub fn failures(&self) -> Vec<Error> {
        self.failures.borrow().clone()
    }

    /// The reads of functions from the file server.
    pub(crate) fn take_served(&self) -> Vec<FileRead> {
        self.served.take()
    }

    /// Errors of pillars within this one.
    pub(crate) fn take_nested(&self) -> Vec<PillarError> {
        self.nested.take()
    }

    /// The reads from mounted directories.
    pub(crate) fn take_stacked(&self) -> Vec<FileRead> {
        self.stacked.taken().pillar
    }

    /// The files that were found, if they are noted.
    pub(crate) fn take_paths(&self) -> BTreeSet<PathBuf> {
        self.paths.as_ref().map(TreeReads::take).unwrap_or_default()
    }

    /// The files of an external pillar below some directories.
    fn tree<'d>(&self, directories: impl IntoIterator<Item = &'d str>) -> FileTree {
        // The first that is mounted counts, and these note what is read.
        let mounted = self
            .mounts
            .iter()
            .fold(self.tree.clone(), |tree, (directory, server)| {
                let noting = RecordingFiles {
                    server: server.clone(),
                    reads: self.stacked.clone(),
                };
                tree.mount(directory, Arc::new(noting))
            });
        let mut tree = mounted.deploying(self.engine.deployed());
        if let Some(paths) = &self.paths {
            tree = tree.noting(paths);
        }
        directories.into_iter().fold(tree, FileTree::directory)
    }

    /// One item of `ext_pillar`. Where it names several external pillars, the reference calls all of
    /// them and takes what the last one returns that does not fail.
    fn item(
        &self,
        run: &[ExtPillar],
        pillar: &mut Value,
        errors: &mut Vec<PillarError>,
    ) -> Result<ExternalResult> {
        let mut data = ExternalResult::Data(Value::map().into());
        let mut before: Option<&ExtPillar> = None;
        for one in run {
            let given = self.external(one, pillar);
            if let Ok(Some(ExternalResult::Data(own))) = &given {
                let classes = own.parts.classes(&one.name);
                self.events
                    .borrow_mut()
                    .extend(classes.map(PillarEvent::from));
            }
            if self.side.is_some() {
                let event = WholeEvent::External {
                    name: one.name.clone(),
                    place: one.place.clone(),
                    problem: match &given {
                        Ok(Some(_)) => None,
                        Ok(None) => Some("its name is unknown".into()),
                        Err(e) => Some(e.diagnostic().message.clone()),
                    },
                };
                self.events.borrow_mut().push(event.into());
            }
            match given {
                Ok(Some(own)) => {
                    if let Some(lost) = before.filter(|_| data.truthy()) {
                        self.warn_of_loss(lost, one);
                    }
                    (data, before) = (own, Some(one));
                }
                Ok(None) => {}
                Err(e) if self.pillars.keep_going || self.side.is_some() => {
                    let text = format!("Failed to load ext_pillar {}: {e}", one.name);
                    self.failures.borrow_mut().push(e.clone());
                    errors.push(PillarError::new(text, e));
                }
                Err(e) => return Err(e),
            }
        }
        Ok(data)
    }

    fn warn_of_loss(&self, lost: &ExtPillar, kept: &ExtPillar) {
        let message = format!(
            "what '{}' returns is lost: '{}' is in the same item",
            lost.name, kept.name
        );
        let warning = Diagnostic::warning(ErrorKind::Options, message);
        let help = "only the last of an item counts; give each its own `-`";
        self.warn(Diagnostic {
            place: lost.place.clone(),
            ..warning.with_help(help)
        });
    }

    /// The result of one external pillar; `None` for one that does not exist.
    fn external(&self, one: &ExtPillar, pillar: &mut Value) -> Result<Option<ExternalResult>> {
        #[cfg(feature = "git")]
        if let Some(git) = self.git.filter(|_| one.name == "git") {
            let mut nested = git(one)?;
            self.events.borrow_mut().append(&mut nested.events);
            self.nested.borrow_mut().append(&mut nested.errors);
            nested
                .warnings
                .drain(..)
                .for_each(|warning| self.warn(warning));
            return Ok(Some(ExternalResult::Pillar(nested)));
        }
        Ok(self.returned(one, pillar)?.map(ExternalResult::Data))
    }

    /// The data of one external pillar; `None` for one that does not exist.
    fn returned(&self, one: &ExtPillar, pillar: &mut Value) -> Result<Option<OwnPillarResult>> {
        if let Some(kind) = one.kind {
            return self.stacked(one, kind, pillar).map(Some);
        }
        if let Some(given) = self.stubbed(one, pillar)? {
            return Ok(Some(given));
        }
        if self.side.is_some()
            && let Some(given) = self.of_tree(one, pillar)?
        {
            return Ok(given);
        }
        if let Some(command) = Command::named(&one.name) {
            let run = self.run_for(&self.minion_with(pillar), self.side.clone());
            let data = command.run(&run, one);
            self.end(&run);
            return data.map(|data| Some(data.into()));
        }
        if let Some(built_in) = BuiltIn::named(&one.name) {
            return self.built_in(one, built_in, pillar).map(Some);
        }
        if self.side.is_some() && SALTS_OWN.contains(&one.name.as_str()) {
            let message = format!("the external pillar '{}' is not built in", one.name);
            let error = Error::new(ErrorKind::Unsupported, message).at(one.place.clone());
            return Err(error.help(format!(
                "{}, or leave it out with the option exclude_ext_pillar",
                how_to_give(&one.name)
            )));
        }
        self.leave_out(one, None, None);
        Ok(None)
    }

    /// The data that a stub gives for an external pillar.
    fn stubbed(&self, one: &ExtPillar, pillar: &mut Value) -> Result<Option<OwnPillarResult>> {
        let run = self.run_for(&self.minion_with(pillar), self.side.clone());
        let name = stub_name(&one.name);
        let answer = run.stubbed(&name);
        self.end(&run);
        match answer.map_err(|error| error.at(one.place.clone()))? {
            None => Ok(None),
            Some(data @ Value::Map(_)) => Ok(Some(data.into())),
            Some(other) => {
                let kind = other.kind().described();
                let message = format!("the stub of '{name}' returns {kind}, not a mapping");
                Err(Error::new(ErrorKind::Facts, message).at(one.place.clone()))
            }
        }
    }

    /// Leave an external pillar out, with a warning.
    fn leave_out(&self, one: &ExtPillar, why: Option<&str>, help: Option<String>) {
        let run = self.run_for(&self.minion, None);
        run.lack_answer(&stub_name(&one.name));
        self.end(&run);
        let why = why.map(|why| format!(": {why}")).unwrap_or_default();
        let message = format!("the external pillar '{}' is left out{why}", one.name);
        let warning = Diagnostic::warning(ErrorKind::Unsupported, message);
        self.warn(Diagnostic {
            place: one.place.clone(),
            ..warning.with_help(help.unwrap_or_else(|| how_to_give(&one.name)))
        });
    }

    /// The data of an external pillar of the tree; none where the tree has none of that name. What it needs and is not
    /// here makes it one that does not exist.
    fn of_tree(
        &self,
        one: &ExtPillar,
        pillar: &mut Value,
    ) -> Result<Option<Option<OwnPillarResult>>> {
        let side = self.side.clone().map(|side| MasterSide {
            opts: self.opts.clone(),
            ..side
        });
        let run = self.run_for(&self.minion_with(pillar), side);
        let answer = run.tree_ext_pillar(PillarCall {
            name: one.name.as_str().into(),
            minion_id: run.given_id(),
            pillar: pillar.clone(),
            given: one.arguments.clone(),
            extra: self.extra.clone(),
        });
        self.end(&run);
        match answer {
            Ok(PluginAnswer::None) => Ok(None),
            Ok(PluginAnswer::Missing(why)) => {
                self.leave_out(one, why.as_deref(), None);
                Ok(Some(None))
            }
            Ok(PluginAnswer::Value(value, changed)) => {
                let changed = changed.into_iter().find(|(number, _)| *number == 1);
                if let Some((_, changed)) = changed {
                    *pillar = changed;
                }
                Ok(Some(Some(value.into())))
            }
            Err(error) if error.kind == mapstack_pyobject::ErrorKind::Undefined => {
                self.leave_out(one, Some(&error.message), None);
                Ok(Some(None))
            }
            Err(error) if error.kind == mapstack_pyobject::ErrorKind::Absent => {
                self.leave_out(one, Some(&error.message), error.help.clone());
                Ok(Some(None))
            }
            Err(error) => {
                let place = error.place.as_ref().and_then(|place| {
                    Some(format!(" in {}:{}", place.template.as_ref()?, place.line()))
                });
                let message = format!("{}{}", error.message, place.unwrap_or_default());
                let failed = Error::new(ErrorKind::Template, message);
                Err(failed.at(one.place.clone()))
            }
        }
    }

    /// The data of an external pillar that follows from files and options.
    fn built_in(
        &self,
        one: &ExtPillar,
        built_in: BuiltIn,
        pillar: &mut Value,
    ) -> Result<OwnPillarResult> {
        let side = self.side.clone().map(|side| match built_in {
            BuiltIn::Saltclass => side,
            _ => MasterSide {
                opts: self.opts.clone(),
                ..side
            },
        });
        let minion = match built_in {
            // Its templates see the pillar before external pillars.
            BuiltIn::FileTree => self.minion.clone(),
            _ => self.minion_with(pillar),
        };
        let run = self.run_for(&minion, side);
        let data = built_in.data(&ExternalPillarInput {
            one,
            run: &run,
            opts: &self.opts,
            extra: &self.extra,
            tree: &|directory| self.tree([directory]),
            is_explained: self.is_explained.get(),
            cache: self.cache,
        });
        self.end(&run);
        match built_in {
            BuiltIn::Saltclass => *pillar = run.current_pillar().into(),
            // It decrypts in place.
            BuiltIn::Decrypted(_) => {
                if let Ok(own) = &data {
                    *pillar = own.data.clone();
                }
            }
            _ => {}
        }
        data
    }

    /// The minion with the pillar so far.
    fn minion_with(&self, pillar: &Value) -> Minion {
        Minion {
            pillar: pillar.as_map().cloned().unwrap_or_default(),
            ..self.minion.clone()
        }
    }

    /// A run for templates and functions of an external pillar.
    fn run_for(&self, minion: &Minion, side: Option<MasterSide>) -> mapstack::Run<'_> {
        match side {
            Some(side) if side.facts.is_some() => {
                let facts = [minion.grains.clone(), minion.pillar.clone()];
                let minion = Minion {
                    pillar: Map::new(),
                    ..minion.clone()
                };
                let facts = Some(facts);
                let side = MasterSide { facts, ..side };
                self.engine.run_on_master(&minion, side)
            }
            Some(side) => self.engine.run_on_master(minion, side),
            None => {
                let run = self.engine.run(minion);
                let role = self.opts.get("__role").and_then(Value::as_str);
                match role {
                    Some("minion") => run,
                    _ => run.on_another_machine(),
                }
            }
        }
    }

    /// Keep what a run read and warned of.
    fn end(&self, run: &mapstack::Run<'_>) {
        self.served.borrow_mut().extend(run.file_reads());
        run.warnings()
            .into_iter()
            .for_each(|warning| self.warn(warning));
    }

    /// The data of stacked files. Templates may change the pillar they see in place.
    fn stacked(
        &self,
        one: &ExtPillar,
        kind: StackKind,
        pillar: &mut Value,
    ) -> Result<OwnPillarResult> {
        let minion = self.minion_with(pillar);
        let stores = Stores {
            pillar: minion.pillar.clone().into(),
            grains: minion.grains.clone().into(),
            opts: self.opts.clone().into(),
        };
        let chosen = stores.config_files(one, kind)?;
        let tree = self.tree(chosen.iter().map(|config| split(&config.path).0));
        let run = self.run_for(&minion, self.side.clone());
        let stacking = Stacking {
            run: &run,
            cache: self.cache,
            kind,
            tree: &tree,
            opts: &self.opts,
            events: &self.events,
            aliases: RefCell::default(),
            done: self.is_explained.get().then(RefCell::default),
        };
        let result = stacking.stack(&chosen);
        self.end(&run);
        *pillar = run.current_pillar().into();
        let done = stacking.done.map(RefCell::into_inner);
        Ok(OwnPillarResult {
            data: result?.into(),
            parts: done.map_or(ExternalParts::Unknown, ExternalParts::Stacked),
        })
    }

    fn is_excluded(&self, run: &[ExtPillar]) -> bool {
        let excluded = self.option("exclude_ext_pillar");
        let first = run.first().map(|one| Value::from(one.name.as_str()));
        first.is_some_and(|name| {
            excluded
                .as_list()
                .is_some_and(|names| names.contains(&name))
        })
    }

    fn merge(&self, base: Value, data: &Value) -> Result<Value> {
        merge(base, data, &self.merging()).map_err(|e| unmergeable(&e))
    }

    /// The options by which the master merges external pillars.
    fn merging(&self) -> Options {
        let options = merging(
            &self.option("pillar_source_merging_strategy"),
            &self.option("renderer"),
            &self.option("pillar_merge_lists"),
        );
        if let Some(unknown) = options.strategy.warning() {
            let message = format!("option pillar_source_merging_strategy: {unknown}");
            self.warn(Diagnostic::warning(ErrorKind::Options, message));
        }
        options
    }

    fn option(&self, name: &str) -> Value {
        self.opts.get(&Key::from(name)).cloned().unwrap_or_default()
    }

    fn warn(&self, warning: Diagnostic) {
        self.warnings.borrow_mut().insert(warning);
    }
}

/// The name by which a stub answers for an external pillar.
fn stub_name(pillar: &str) -> String {
    format!("ext_pillar.{pillar}")
}

/// The help for passing the data of an external pillar.
fn how_to_give(pillar: &str) -> String {
    format!(
        "put `{}: {{return: {{KEY: VALUE}}}}` in a file for {}, with its result",
        stub_name(pillar),
        Means::Stub
    )
}

fn unmergeable(e: &MergeError) -> Error {
    let message = format!("the external pillars' data cannot be merged: {e}");
    Error::new(ErrorKind::Merge, message).help("see the option pillar_source_merging_strategy")
}

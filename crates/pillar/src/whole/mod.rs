//! The whole pillar of a minion as its master compiles it (Salt: `salt.pillar.Pillar`).
//!
//! [`top`] finds the sls that top files give the minion, [`sls`] renders them with what they include and merges them,
//! and the external pillars of `ext_pillar` come before or after. [`settings`] has the options of one compile, and
//! [`files`] the pillar's own file server.

mod decrypt;
mod defaults;
mod errors;
mod files;
#[cfg(feature = "git")]
mod git;
mod python;
mod reads;
mod renders;
mod settings;
mod sls;
mod top;
mod views;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::Arc;

use indexmap::IndexSet;
use mapstack::{Engine, secrets::is_ciphertext};
use mapstack_diagnostic::{Diagnostic, Distinct, Error, ErrorKind, Result};
use mapstack_loader::FileServer;
use mapstack_merge::Options;
use mapstack_minion::Minion;
use mapstack_salt_config::{Config, OptionPlace};
use mapstack_value::{Key, List, Map, Value, sent};

pub use self::errors::{Fault, PillarError};
use self::files::PillarFiles;
pub use self::files::pillar_roots;
pub(crate) use self::python::items as python_items;
pub use self::reads::PillarReads;
pub(crate) use self::reads::{CompileReads, RecordingFiles};
use self::renders::{Renders, SharedRenders};
use self::settings::CompileSettings;
pub(crate) use self::settings::merging;
pub use self::settings::{PillarRequest, overridden};
use self::sls::SlsReader;
pub use self::top::unknown_order;
use self::top::{Top, TopMatches, TopReader};
use self::views::Views;
use crate::compile::{Compiler, PillarRun, not_a_mapping};
use crate::config::{ExtPillar, ExtPillarPlaces};
use crate::external::unasked;
use crate::recipe::{PillarLayer, PillarPart, PillarRecipe, Recipe};
use crate::trace::{Events, PillarEvent};

/// A master that compiles pillars: its options, its pillar's files, and results that minions share. It can be used
/// from several threads.
///
/// ```
/// use std::sync::Arc;
/// use mapstack::{Engine, loader::MemoryFiles, minion::Minion};
/// use mapstack_pillar::{Master, PillarRequest};
/// use mapstack_salt_config::{Config, Kind};
///
/// let config = Config::parse(b"pillar_roots: {base: [/srv/pillar]}\n", "master", Kind::Master).unwrap();
/// let files = MemoryFiles::new()
///     .file("base", "top.sls", "base: {'web*': [web], 'G@os:Debian': [debian]}\n")
///     .file("base", "web.sls", "include: [common]\nrole: web\n")
///     .file("base", "common.sls", "role: none\nid: {{ grains.id }}\n")
///     .file("base", "debian.sls", "pkg: apache2\n");
/// let master = Master::new(config, Arc::new(files));
/// let minion = Minion::parse(b"{id: web1, grains: {os: Debian}}", "web1.yaml").unwrap().complete();
/// let pillar = master.compile(&Engine::new(MemoryFiles::new()), &minion, &PillarRequest::default()).unwrap();
/// assert_eq!(pillar.data.get("role").unwrap().as_str(), Some("web"));
/// assert_eq!(pillar.data.get("pkg").unwrap().as_str(), Some("apache2"));
/// assert!(pillar.errors.is_empty());
/// ```
pub struct Master {
    config: Config,
    files: PillarFiles,
    external: Compiler,
    #[cfg(feature = "git")]
    mirrors: git::Mirrors,
    wants_events: bool,
    shared: Option<SharedRenders>,
    pillar_override: Map,
}

/// A pillar, with its errors, its warnings and the steps of the compile.
#[derive(Debug, Clone, Default)]
pub struct WholePillar {
    /// The pillar. Errors are in its list `_errors`, as the reference words them.
    pub data: Map,
    /// The errors that the pillar keeps.
    pub errors: Vec<PillarError>,
    /// The warnings.
    pub warnings: Vec<Diagnostic>,
    /// The events, in order, if the master [notes](Master::with_events) it.
    pub events: Vec<PillarEvent>,
    /// The steps of the compile, if it is from [`Master::explain`].
    pub recipe: Option<PillarRecipe>,
    /// The keys of values that are ciphertext, because nothing is decrypted here.
    pub encrypted: Vec<String>,
}

impl WholePillar {
    /// The errors for display: each once, even if the pillar has it twice because an sls counts twice.
    ///
    /// ```
    /// # use mapstack_pillar::WholePillar;
    /// assert!(WholePillar::default().failures().is_empty());
    /// ```
    #[must_use]
    pub fn failures(&self) -> Vec<Error> {
        let distinct: IndexSet<&Error> = self.errors.iter().map(|error| &error.error).collect();
        let mut failures: Vec<Error> = distinct.into_iter().cloned().collect();
        failures.extend(self.given_errors().filter(|_| self.errors.is_empty()));
        failures
    }

    /// The failure of a list `_errors` that an sls or an external pillar sets: state runs test the list, whatever its
    /// source.
    fn given_errors(&self) -> Option<Error> {
        let given = self.data.get("_errors").filter(|given| given.truthy())?;
        let first = match given {
            Value::List(items) => items.iter().next().unwrap_or(given),
            other => other,
        };
        let message =
            format!("the pillar itself gives `_errors`, with which no state run begins: {first}");
        Some(Error::new(ErrorKind::File, message))
    }
}

impl Master {
    /// A master with a configuration, whose pillar's files a file server has: each saltenv of `pillar_roots` is one
    /// of its saltenvs. Nothing is read yet.
    #[must_use]
    pub fn new(config: Config, files: Arc<dyn FileServer>) -> Self {
        Master {
            files: PillarFiles::new(files),
            external: Compiler::default(),
            #[cfg(feature = "git")]
            mirrors: git::Mirrors::default(),
            wants_events: false,
            shared: None,
            pillar_override: Map::new(),
            config,
        }
    }

    /// Set a pillar that overrides the compiled one, as `pillar=` of a command line does, for requests without an override
    /// of their own.
    ///
    /// ```
    /// use mapstack::{Engine, loader::MemoryFiles, minion::Minion, value::Map};
    /// use mapstack_pillar::{Master, PillarRequest};
    /// use mapstack_salt_config::{Config, Kind};
    /// let files = MemoryFiles::new().file("base", "top.sls", "base: {'*': [a]}").file("base", "a.sls", "{a: 1, b: 2}");
    /// let config = Config::parse(b"pillar_roots: {base: [/srv/pillar]}", "master", Kind::Master).unwrap();
    /// let master = Master::new(config, std::sync::Arc::new(files)).with_override(Map::from_iter([("b", 3)]));
    /// let made = master.compile(&Engine::new(MemoryFiles::new()), &Minion::new("web1"), &PillarRequest::default()).unwrap();
    /// assert_eq!(made.data.get("b").unwrap().repr(), "3");
    /// ```
    #[must_use]
    pub fn with_override(mut self, pillar: Map) -> Self {
        self.pillar_override = pillar;
        self
    }

    /// Let files of stacked external pillars lie below these directories, too.
    #[must_use]
    pub fn with_directories<P: AsRef<std::path::Path>>(
        self,
        directories: impl IntoIterator<Item = P>,
    ) -> Self {
        let directories = directories.into_iter();
        Master {
            external: directories.fold(self.external, Compiler::directory),
            ..self
        }
    }

    /// Take files of stacked external pillars below a directory from the saltenv `base` of a file server, and not
    /// from the disk: how a work tree was at a revision.
    #[must_use]
    pub fn mount(self, directory: impl AsRef<std::path::Path>, files: Arc<dyn FileServer>) -> Self {
        Master {
            external: self.external.mount(directory, files),
            ..self
        }
    }

    /// Note the paths of the files that external pillars read, in [`PillarReads::on_disk`].
    #[must_use]
    pub fn noting_paths(self) -> Self {
        Master {
            external: self.external.noting_paths(),
            ..self
        }
    }

    /// Read remotes of the external pillar `git` from their mirrors below a directory.
    #[cfg(feature = "git")]
    #[must_use]
    pub fn with_mirrors(self, directory: impl Into<std::path::PathBuf>) -> Self {
        let mirrors = git::Mirrors::new(directory.into());
        Master { mirrors, ..self }
    }

    /// Note what happens, for a trace.
    #[must_use]
    pub fn with_events(mut self, wanted: bool) -> Self {
        self.wants_events = wanted;
        self
    }

    /// Share results between minions: the render of an sls, if it reads the same facts of them, and the first parts of
    /// merged pillars. `bytes` is the approximate limit; with 0, nothing is shared. Pillars and warnings do not change.
    ///
    /// The files of the pillar, stacked ones included, must not change afterwards. Only compiles with the engine of the
    /// first one share.
    #[must_use]
    pub fn with_memory(mut self, bytes: usize) -> Self {
        self.shared = (bytes > 0).then(|| SharedRenders::new(bytes / 4 * 3));
        if bytes > 0 {
            self.external = self.external.finding_once(bytes / 4);
        }
        self
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The pillar's files.
    #[must_use]
    pub fn files(&self) -> &dyn FileServer {
        self.files.as_given()
    }

    /// Compile the pillar of a minion from its id, its grains and its request. Functions read from the
    /// engine's file server.
    ///
    /// # Errors
    /// An error that ends a compile in the reference, such as an unknown matcher, or a limit. Anything else is an
    /// error that the pillar [keeps](WholePillar::errors).
    pub fn compile(
        &self,
        engine: &Engine,
        minion: &Minion,
        ask: &PillarRequest,
    ) -> Result<WholePillar> {
        self.compile_noting(engine, minion, ask).0
    }

    /// [`compile`](Self::compile), and the files that it read, even if it failed.
    pub fn compile_noting(
        &self,
        engine: &Engine,
        minion: &Minion,
        ask: &PillarRequest,
    ) -> (Result<WholePillar>, PillarReads) {
        let work = self.work(engine, minion, ask, false);
        let reads = work.files.reads().clone();
        (work.pillar(), reads.taken())
    }

    /// [`compile`](Self::compile), with the steps in [`WholePillar::recipe`]: they tell where values come from.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    pub fn explain(
        &self,
        engine: &Engine,
        minion: &Minion,
        ask: &PillarRequest,
    ) -> Result<WholePillar> {
        self.work(engine, minion, ask, true).pillar()
    }

    fn work<'w>(
        &'w self,
        engine: &'w Engine,
        minion: &Minion,
        ask: &PillarRequest,
        explained: bool,
    ) -> PillarCompile<'w> {
        let minion = &*engine.with_tree_grains(minion);
        let arrives = |data: &Map| match is_sent(self.config.options()) {
            true => arrived(data),
            false => data.clone(),
        };
        let minion = &Minion {
            grains: arrives(&minion.grains),
            ..minion.clone()
        };
        let settings = CompileSettings::new(self.config.options(), minion, ask);
        let over = match ask.pillar_override.is_empty() {
            true => &self.pillar_override,
            false => &ask.pillar_override,
        };
        let recipe = Rc::new(Recipe::new(explained));
        let shared = self.shared.as_ref().filter(|_| !explained);
        PillarCompile {
            master: self,
            shared: shared.filter(|shared| shared.is_for(engine)),
            files: self.files.for_one(),
            engine,
            merging: settings.merging(),
            pillar_override: RefCell::new(overriding(&recipe, over)),
            extra: arrives(&ask.extra_minion_data),
            problem: ask.problem.clone(),
            minion: Minion {
                id: settings.masters_id.clone(),
                grains: minion.grains.clone(),
                pillar: Map::new(),
                opts: settings.functions.clone(),
                sources: minion.sources.clone(),
            },
            settings,
            recipe,
            events: Events {
                wanted: self.wants_events || explained,
                ..Events::default()
            },
        }
    }
}

/// True if the options are a master's: then grains and the pillar are sent between it and the minion.
fn is_sent(options: &Map) -> bool {
    options.get("__role").and_then(Value::as_str) != Some("minion")
}

/// Data after it was sent.
fn arrived(data: &Map) -> Map {
    match sent(&data.clone().into()) {
        Some(Value::Map(arrived)) => arrived,
        _ => data.clone(),
    }
}

/// One compile.
struct PillarCompile<'w> {
    master: &'w Master,
    /// The state that minions share; `None` for a compile that is explained, and for one within another.
    shared: Option<&'w SharedRenders>,
    engine: &'w Engine,
    files: PillarFiles,
    settings: CompileSettings,
    merging: Options,
    /// The values that override the pillar. External pillars that come first can change it in place.
    pillar_override: RefCell<PillarPart>,
    /// The values that the minion passes on to external pillars.
    extra: Map,
    /// The reason for which the minion cannot ask for a pillar.
    problem: Option<String>,
    /// The minion with the master's options and id, as functions see it.
    minion: Minion,
    events: Events,
    recipe: Rc<Recipe>,
}

/// The state of a compile.
#[derive(Default)]
struct CompileState {
    data: PillarPart,
    grains: Map,
    /// The data that templates and targets see, if it differs from that of functions.
    views: Option<Views>,
    errors: Vec<PillarError>,
    /// Errors of nested pillars; the data has them already.
    nested: Vec<PillarError>,
    warnings: Distinct,
}

impl CompileState {
    /// The pillar so far.
    fn map(&self) -> Map {
        self.data.value.as_map().cloned().unwrap_or_default()
    }

    fn hear(&mut self, warnings: Vec<Diagnostic>) {
        self.warnings.extend(warnings);
    }
}

impl PillarCompile<'_> {
    fn pillar(self) -> Result<WholePillar> {
        let state = self.compiled()?;
        self.finished(state)
    }

    fn compiled(&self) -> Result<CompileState> {
        let mut state = self.state();
        if let Some(problem) = &self.problem {
            return Err(unasked(problem));
        }
        if let Some(problem) = &self.settings.ends {
            let place = self.master.config.settings("ext_pillar").last();
            let error = Error::new(ErrorKind::Options, problem.as_str());
            return Err(error
                .at(place.map(OptionPlace::place))
                .help("write it as `- stack: /path/to/stack.cfg`"));
        }
        for refusal in &self.settings.refusals {
            let warning = Diagnostic::warning(ErrorKind::Options, refusal.as_str());
            state.hear(vec![warning]);
        }
        if let Some(unknown) = self.merging.strategy.warning() {
            let message = format!("option pillar_source_merging_strategy: {unknown}");
            state.hear(vec![Diagnostic::warning(ErrorKind::Options, message)]);
        }
        let run = self.renders(&state);
        run.run().check_default_renderers()?;
        let mut top = self.reader(&run).read()?;
        let top_errors = std::mem::take(&mut top.errors);
        if self.settings.is_on("ext_pillar_first") {
            self.keep(&run, &mut state)?;
            self.external_first(top, &mut state)?;
        } else {
            self.external_last(&run, top, &mut state)?;
        }
        state.errors.extend(top_errors);
        Ok(state)
    }

    /// Merge the sls of top files, then the external pillars over them.
    fn external_last(&self, run: &Renders<'_>, top: Top, state: &mut CompileState) -> Result<()> {
        self.top_sls(run, top, state)?;
        let mut pillar = state.data.clone();
        let external = self.external(&mut pillar, state)?;
        if self.behaviour().keeps_pillar_of_malformed_items {
            state.data = pillar;
            self.update(state, &self.updating(external)?);
        } else if external.value.as_map().is_some() {
            state.data = external;
        } else {
            return Err(self.not_a_mapping(&external.value));
        }
        Ok(())
    }

    /// The data of external pillars as a mapping. A merge strategy can make a list of it, whose pairs `dict.update` takes.
    fn updating(&self, external: PillarPart) -> Result<PillarPart> {
        let Value::List(items) = &external.value else {
            return Ok(external);
        };
        let pairs = items.iter().map(pair).collect::<Option<Map>>();
        let map = pairs.ok_or_else(|| self.not_a_mapping(&external.value))?;
        Ok(self.recipe.layer(map.into(), PillarLayer::Unknown))
    }

    /// The error that ends the compile if the result of external pillars is not a mapping.
    fn not_a_mapping(&self, external: &Value) -> Error {
        let place = self.master.config.settings("ext_pillar").last();
        not_a_mapping(external).at(place.map(OptionPlace::place))
    }

    /// The top files' sls.
    fn top_sls(&self, run: &Renders<'_>, mut top: Top, state: &mut CompileState) -> Result<()> {
        let matches = self.matches(run, &mut top, state)?;
        let pillar = self.sls(run, &top, &matches, state)?;
        self.keep(run, state)?;
        self.update(state, &pillar);
        Ok(())
    }

    /// Merge the external pillars, whose data matchers and templates see, then the sls of top files over them.
    fn external_first(&self, mut top: Top, state: &mut CompileState) -> Result<()> {
        let is_given = !self.is_overridden();
        let mut pillar = self.overriding();
        let external = self.external(&mut pillar, state)?;
        if is_given {
            self.pillar_override.replace(pillar);
        }
        let external = match self.behaviour() {
            does if does.ignores_external_lists => external,
            does => match (self.updating(external.clone())?, does.functions_share_facts) {
                (made, true) => made,
                // Templates see a list of pairs as a mapping; the pillar ignores it.
                (_, false) => external,
            },
        };
        self.update(state, &external);
        state.show_external();
        let run = self.renders(state);
        let matches = self.matches(&run, &mut top, state)?;
        let pillar = self.sls(&run, &top, &matches, state)?;
        self.keep(&run, state)?;
        let pillar = self.merged(state.data.clone(), &pillar)?;
        self.update(state, &pillar);
        Ok(())
    }

    /// The values that override the pillar.
    fn overriding(&self) -> PillarPart {
        self.pillar_override.borrow().clone()
    }

    fn is_overridden(&self) -> bool {
        self.pillar_override.borrow().value.truthy()
    }

    fn update(&self, state: &mut CompileState, pillar: &PillarPart) {
        state.data = self.recipe.update(std::mem::take(&mut state.data), pillar);
    }

    /// A pillar that templates may have changed in place.
    fn changed(&self, before: PillarPart, now: Map) -> PillarPart {
        let now = Value::Map(now);
        match before.value.is_same(&now) {
            true => before,
            false => self.recipe.layer(now, PillarLayer::Unknown),
        }
    }

    /// The renders of templates that see the pillar so far.
    fn renders(&self, state: &CompileState) -> Renders<'_> {
        let shared = self.shared.filter(|_| state.can_share());
        Renders::new(self.run(state), shared, self.files.reads().clone())
    }

    /// Keep what templates changed in the pillar and the grains, and the warnings of their runs.
    fn keep(&self, renders: &Renders<'_>, state: &mut CompileState) -> Result<()> {
        let mut served = IndexSet::new();
        for run in renders.runs() {
            let changed = |e: Box<mapstack_pyobject::Error>| {
                Error::new(ErrorKind::Template, e.to_string())
                    .note("templates of the pillar changed the facts to this")
            };
            run.sync_facts().map_err(changed)?;
            state.grains = run.minion().grains.clone();
            match (&mut state.views, run.facts_of_templates().map_err(changed)?) {
                (Some(views), Some(now)) => views.templates = now,
                _ => {
                    let before = std::mem::take(&mut state.data);
                    state.data = self.changed(before, run.current_pillar());
                }
            }
            state.hear(run.warnings());
            served.extend(run.file_reads());
        }
        let served = served.into_iter().collect();
        self.files.reads().note_served(served);
        Ok(())
    }

    fn reader<'t, 'e>(&'t self, renders: &'t Renders<'e>) -> TopReader<'t, 'e> {
        TopReader {
            renders,
            files: &self.files,
            settings: &self.settings,
            events: &self.events,
        }
    }

    /// The sls of a minion, merged over what overrides the pillar.
    fn sls(
        &self,
        renders: &Renders<'_>,
        top: &Top,
        matches: &TopMatches,
        state: &mut CompileState,
    ) -> Result<PillarPart> {
        let reader = SlsReader {
            renders,
            merges: self.shared.map(|shared| &shared.merges),
            files: &self.files,
            settings: &self.settings,
            merging: &self.merging,
            ignored: top.ignored(),
            events: &self.events,
            recipe: &self.recipe,
            visits: Cell::new(0),
            named_at: &|env, sls| top.place_of(matches, env, sls),
        };
        let order = match self.behaviour().env_order_orders_merges {
            true => self.settings.value("env_order"),
            false => Value::None,
        };
        let ordered = matches.ordered(&order);
        let (pillar, errors) = reader.fold(&ordered, self.overriding())?;
        state.errors.extend(top.of_texts(matches, errors));
        Ok(pillar)
    }

    /// The external pillars over a pillar, which they can change in place.
    fn external(&self, pillar: &mut PillarPart, state: &mut CompileState) -> Result<PillarPart> {
        let Some(given) = self.settings.templates.get("ext_pillar") else {
            return Ok(pillar.clone());
        };
        let settings = self.master.config.settings("ext_pillar");
        let Value::List(items) = given else {
            state
                .errors
                .push(malformed(given, settings, "`ext_pillar` must be a list"));
            return Ok(pillar.clone());
        };
        let mut base = pillar.clone();
        let is_copied = self.is_overridden();
        if is_copied {
            base = self.merged(base, &self.overriding())?;
        }
        let items = external_items(items, settings)?;
        let mut opts = self.settings.templates.clone();
        opts.insert("id", self.settings.masters_id.clone());
        let minion = Minion {
            grains: state.grains.clone(),
            pillar: state.map(),
            ..self.minion.clone()
        };
        let side = self.side_of_external(state);
        #[cfg(feature = "git")]
        let (given, seen) = (opts.clone(), &*state);
        #[cfg(feature = "git")]
        let git = |one: &ExtPillar| self.git(one, &given, seen);
        let run: PillarRun<'_> = self
            .master
            .external
            .run_on_master(self.engine, &minion, opts, side)
            .passing(self.extra.clone())
            .tracing(self.events.wanted);
        #[cfg(feature = "git")]
        let run = run.with_git(&git);
        let mut errors = Vec::new();
        let folded = run.fold(&items, base, &self.recipe, &mut errors);
        let folded = folded.map(|(folded, given)| {
            // Overrides of the pillar were merged over a copy: only the copy can have changed.
            if !is_copied {
                *pillar = given;
            }
            folded
        });
        let (events, warnings) = (run.events(), run.warnings());
        let paths = run.take_paths();
        let (nested, served, stacked) = (run.take_nested(), run.take_served(), run.take_stacked());
        state.errors.extend(errors);
        state.nested.extend(nested);
        for event in events {
            self.events.add(|| event);
        }
        state.hear(warnings);
        let reads = self.files.reads();
        reads.note_served(served);
        reads.note_stacked(stacked);
        reads.note_external(paths);
        reads.end_file(true);
        folded
    }

    fn merged(&self, base: PillarPart, layer: &PillarPart) -> Result<PillarPart> {
        let merged = self.recipe.merge(base, layer, &self.merging, PART);
        merged.map_err(|e| {
            let message = format!("{PART} cannot be merged: {e}");
            Error::new(ErrorKind::Merge, message)
                .help("see the option pillar_source_merging_strategy")
        })
    }

    /// Add what comes last: the master's options, the errors, and what overrides everything.
    fn finished(self, mut state: CompileState) -> Result<WholePillar> {
        if self.settings.is_on("pillar_opts") {
            let options = self.shown_options(&mut state);
            self.add_entry(&mut state, "master", options.into(), PillarLayer::Options);
        }
        self.add_errors(&mut state);
        if self.is_overridden() {
            state.data = self.merged(std::mem::take(&mut state.data), &self.overriding())?;
        }
        self.decrypt(&mut state)?;
        if is_sent(&self.settings.functions)
            && let Some(value) = sent(&state.data.value)
        {
            state.data = self.recipe.in_form(&state.data, value);
        }
        self.recipe.ends_with(&state.data);
        state.hear(self.recipe.take_warnings());
        let data = state.map();
        let encrypted = encrypted(&data);
        Ok(WholePillar {
            data,
            errors: state.errors.into_iter().chain(state.nested).collect(),
            warnings: state.warnings.into_iter().collect(),
            events: self.events.all.into_inner(),
            recipe: self.recipe.taken(|| self.files.reads().shown()),
            encrypted,
        })
    }

    /// Decrypt what the option `decrypt_pillar` names. Its errors follow those that the pillar has.
    fn decrypt(&self, state: &mut CompileState) -> Result<()> {
        if !self.settings.is_on("decrypt_pillar") {
            return Ok(());
        }
        let place = self.master.config.settings("decrypt_pillar").last();
        let place = place.map(OptionPlace::place);
        let run = self.run(state);
        let (value, errors) =
            decrypt::decrypted(&run, &self.settings, &state.data.value, place.as_ref())?;
        state.hear(run.warnings());
        let before = std::mem::take(&mut state.data);
        state.data = self.recipe.changed(before, &value, PillarLayer::Unknown);
        if !errors.is_empty() {
            state.errors.extend(errors);
            self.add_errors(state);
        }
        Ok(())
    }

    fn add_errors(&self, state: &mut CompileState) {
        if !state.errors.is_empty() {
            let texts = state.errors.iter().map(|error| error.text.as_str());
            let texts = Value::from_iter(texts);
            self.add_entry(state, "_errors", texts, PillarLayer::Unknown);
        }
    }

    fn add_entry(
        &self,
        state: &mut CompileState,
        key: &str,
        value: Value,
        layer: fn(Value) -> PillarLayer,
    ) {
        let entry: Map = [(key, value)].into_iter().collect();
        let entry = self.recipe.layer(entry.into(), layer);
        self.update(state, &entry);
    }
}

/// The values that override a pillar, by the command that asks for it.
fn overriding(recipe: &Recipe, over: &Map) -> PillarPart {
    recipe.layer(over.clone().into(), PillarLayer::Override)
}

/// An item of `ext_pillar`, or an error that the pillar keeps.
type ExternalItem = std::result::Result<Vec<ExtPillar>, PillarError>;

/// The items of `ext_pillar` up to the first with an error that the pillar keeps.
fn external_items(items: &List, settings: &[OptionPlace]) -> Result<Vec<ExternalItem>> {
    let mut known = Vec::new();
    for item in items.iter() {
        let item = external_item(item, settings)?;
        let is_last = item.is_err();
        known.push(item);
        if is_last {
            break;
        }
    }
    Ok(known)
}

fn external_item(item: &Value, settings: &[OptionPlace]) -> Result<ExternalItem> {
    match item {
        Value::Map(entries) if entries.is_empty() => Err(malformed(
            item,
            settings,
            "an item of `ext_pillar` must name an external pillar",
        )
        .error),
        Value::Map(entries) => Ok(Ok(ExtPillarPlaces(settings).run(item, entries))),
        other => Ok(Err(malformed(
            other,
            settings,
            "an item of `ext_pillar` must be a mapping",
        ))),
    }
}

fn malformed(value: &Value, settings: &[OptionPlace], rule: &str) -> PillarError {
    let message = format!("{rule}, not {}", value.kind().described());
    let listed = ExtPillarPlaces(settings);
    let item = listed
        .find(value)
        .map(|(setting, marks)| setting.place_of(marks.mark()));
    let place = item.or_else(|| settings.last().map(OptionPlace::place));
    let error = Error::new(ErrorKind::Options, message)
        .at(place)
        .help("write it as `- stack: /path/to/stack.cfg`");
    PillarError::new("The \"ext_pillar\" option is malformed", error)
}

/// An item that `dict.update` takes for a key and its value.
fn pair(item: &Value) -> Option<(Key, Value)> {
    match item {
        Value::List(items) => match &**items {
            [key, value] => Some((Key::try_from(key).ok()?, value.clone())),
            _ => None,
        },
        Value::Map(map) => {
            let keys: Vec<&Key> = map.keys().collect();
            let [key, value] = keys[..] else { return None };
            Some((key.clone(), value.to_value()))
        }
        Value::Str(text) => {
            let chars: Vec<char> = text.chars().collect();
            let [key, value] = chars[..] else { return None };
            Some((Key::from(key.to_string()), value.to_string().into()))
        }
        _ => None,
    }
}

/// The keys of values that are messages of PGP or boxes of NaCl.
fn encrypted(pillar: &Map) -> Vec<String> {
    let mut found = Vec::new();
    find_in_map(pillar, &mut Vec::new(), &mut found);
    found
}

/// The name of a part in messages about merging it.
const PART: &str = "a part of the pillar";

/// A step of the path to a value. Few pillars have ciphertext, so steps become text only where some is found.
#[derive(Clone, Copy)]
enum PathPart<'v> {
    Key(&'v Key),
    Index(usize),
}

impl fmt::Display for PathPart<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathPart::Key(key) => key.fmt(f),
            PathPart::Index(index) => index.fmt(f),
        }
    }
}

fn find_in_map<'v>(map: &'v Map, path: &mut Vec<PathPart<'v>>, found: &mut Vec<String>) {
    for (key, value) in map {
        path.push(PathPart::Key(key));
        find_ciphertext(value, path, found);
        path.pop();
    }
}

fn find_ciphertext<'v>(value: &'v Value, path: &mut Vec<PathPart<'v>>, found: &mut Vec<String>) {
    match value {
        Value::Str(text) if is_ciphertext(text) => {
            let path: Vec<String> = path.iter().map(ToString::to_string).collect();
            found.push(path.join(":"));
        }
        Value::Map(map) => find_in_map(map, path, found),
        Value::List(items) => {
            for (index, item) in items.iter().enumerate() {
                path.push(PathPart::Index(index));
                find_ciphertext(item, path, found);
                path.pop();
            }
        }
        _ => {}
    }
}

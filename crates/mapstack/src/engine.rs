//! The engine, which many minions share, and the run of one minion.

use std::any::{Any, TypeId};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexSet;
use mapstack_loader::{Deployed, Fetched, FileServer, LoadError, SaltPath, Tree};
use mapstack_matcher::Definition;
use mapstack_minion::{Minion, Part, SaltVersion};
use mapstack_render::jinja::{Busy, Limits, RunBudget, Spent, Syntax, Taint, TemplateCache};
use mapstack_render::sandbox::Interpreter;
use mapstack_render::{DictRef, Obj, Sweep, changes, salt_object, spend_apart};
use mapstack_value::{Map, Str, Value};
use mapstack_yaml::Skeleton;

use crate::built_in::BuiltIn;
use crate::by_text::ByText;
use crate::facts::Facts;
use crate::files::unreadable;
use crate::hooks::{Hooks, Slot};
use crate::layer_file::LayerFile;
use crate::master_side::MasterSide;
use crate::skeleton_cache::SkeletonCache;
use crate::sls_data::Data;
use crate::trace::{Asked, DataStage, Event, FileRead, FileReadKind, RequestOutcome};
use mapstack_diagnostic::redact::Policy;
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result};
use mapstack_functions::{
    Collected, Endless, Functions, KnownMinions, Stubs, TreeMemo, Unanswered,
};

/// A file server, and caches of what runs read from it. Minions and threads share an engine.
///
/// ```no_run
/// use mapstack::{DataOptions, Engine, loader::Roots, minion::Minion};
/// let engine = Engine::new(Roots::new().root("base", "/srv/salt"));
/// let minion = Minion::from_path("web1.yaml").unwrap().complete();
/// let mapdata = engine.run(&minion).data("openssh", &DataOptions::default()).unwrap();
/// println!("{mapdata}");
/// ```
pub struct Engine {
    pub(crate) files: Box<dyn FileServer>,
    deployed: Deployed,
    /// The files behind deployed paths.
    pub(crate) deployed_files: Tree,
    pub(crate) limits: Limits,
    pub(crate) stubs: Stubs,
    pub(crate) salt_version: SaltVersion,
    pub(crate) policy: Policy,
    pub(crate) built_in: BuiltIn,
    pub(crate) functions: Vec<Box<dyn Functions>>,
    /// The calls that nothing answers, if runs go on without their answers.
    pub(crate) collected: Option<Collected>,
    pub(crate) templates: TemplateCache,
    layers: ByText<Arc<LayerFile>>,
    pub(crate) skeletons: SkeletonCache,
    pub(crate) sls_skeletons: SkeletonCache,
    /// The documents that sls rendered to.
    pub(crate) documents: ByText<Data>,
    pub(crate) definitions: ByText<Arc<Definition>>,
    /// The default arguments of `map.data` by formula.
    pub(crate) arguments: ByText<Map>,
    /// Minions whose grains the tree's modules computed.
    pub(crate) minions: KnownMinions<FileRead>,
    /// Functions of the tree that do not end.
    pub(crate) endless: Endless,
    /// Data of other crates, by type.
    extensions: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl Engine {
    /// An engine over a file server. The public constructor, `Engine::new`, is next to the list of built-in
    /// functions.
    pub(crate) fn with_built_in(files: Box<dyn FileServer>, built_in: BuiltIn) -> Self {
        Engine {
            files,
            deployed: Deployed::new(),
            deployed_files: Tree::new(),
            built_in,
            limits: Limits::default(),
            stubs: Stubs::default(),
            salt_version: SaltVersion::default(),
            policy: Policy::default(),
            functions: Vec::new(),
            collected: None,
            templates: TemplateCache::default(),
            layers: ByText::new(MAX_LAYERS),
            definitions: ByText::new(MAX_DEFINITIONS),
            arguments: ByText::new(MAX_DEFINITIONS),
            minions: KnownMinions::default(),
            skeletons: SkeletonCache::new(Skeleton::parse),
            sls_skeletons: SkeletonCache::new(Skeleton::parse_rendered),
            documents: ByText::new(MAX_LAYERS),
            endless: Endless::default(),
            extensions: Mutex::default(),
        }
    }

    /// Limit what the templates of one run may use in total. Time and memory count from the start of the run.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Set the folders of deployed paths, wherever templates, options and functions name one.
    ///
    /// ```
    /// use mapstack::{Engine, loader::{Deployed, MemoryFiles}, minion::Minion};
    /// let dir = tempfile::tempdir().unwrap();
    /// std::fs::write(dir.path().join("motd"), "be kind").unwrap();
    /// let template = "x: {{ salt['cp.get_file_str']('/srv/files/motd') }}\n";
    /// let engine = Engine::new(MemoryFiles::new().file("base", "web.sls", template))
    ///     .with_deployed(Deployed::new().folder("/srv/files", dir.path()).unwrap());
    /// let sls = engine.run(&Minion::new("web1").complete()).sls("web.sls").unwrap();
    /// assert_eq!(sls.repr(), "{'x': 'be kind'}");
    /// ```
    #[must_use]
    pub fn with_deployed(mut self, deployed: Deployed) -> Self {
        self.deployed_files = deployed.tree();
        self.deployed = deployed;
        self
    }

    /// The folders of deployed paths.
    #[must_use]
    pub fn deployed(&self) -> &Deployed {
        &self.deployed
    }

    /// Set which values are secret by themselves, for the runs that follow secrets.
    #[must_use]
    pub fn with_policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// The values that are secret by themselves.
    #[must_use]
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// Follow another version of Salt than the latest, where versions differ in pillars and targets.
    #[must_use]
    pub fn with_salt_version(mut self, version: SaltVersion) -> Self {
        self.salt_version = version;
        self
    }

    /// The version of Salt that is followed.
    #[must_use]
    pub fn salt_version(&self) -> SaltVersion {
        self.salt_version
    }

    /// Set stubs, which take precedence over every function, built in or not.
    #[must_use]
    pub fn with_stubs(mut self, stubs: Stubs) -> Self {
        self.stubs = stubs;
        self
    }

    /// Add functions for calls that are not built in. Functions that were added earlier take precedence.
    ///
    /// ```
    /// use mapstack::{Call, CallError, DataOptions, Engine, Functions, loader::MemoryFiles, minion::Minion, value::Value};
    ///
    /// struct Doubled;
    ///
    /// impl Functions for Doubled {
    ///     fn has(&self, name: &str) -> bool {
    ///         name == "my.doubled"
    ///     }
    ///     fn has_module(&self, module: &str) -> bool {
    ///         module == "my"
    ///     }
    ///     fn call(&self, call: &Call) -> Option<Result<Value, CallError>> {
    ///         let [text] = match call.bind(["text"]) {
    ///             Ok(bound) => bound,
    ///             Err(e) => return Some(Err(e)),
    ///         };
    ///         Some(Ok(format!("{0}{0}", text.unwrap_or_default()).into()))
    ///     }
    /// }
    ///
    /// let layer = "values: {x: {{ salt['my.doubled']('ab') }}}";
    /// let files = MemoryFiles::new().file("base", "f/parameters/defaults.yaml", layer);
    /// let engine = Engine::new(files).with_functions(Doubled);
    /// let mapdata = engine.run(&Minion::new("web1").complete()).data("f", &DataOptions::default()).unwrap();
    /// assert_eq!(mapdata.as_map().unwrap().get("x").unwrap().as_str(), Some("abab"));
    /// ```
    #[must_use]
    pub fn with_functions(mut self, functions: impl Functions + 'static) -> Self {
        self.functions.push(Box::new(functions));
        self
    }

    /// The file server.
    #[must_use]
    pub fn files(&self) -> &dyn FileServer {
        &*self.files
    }

    /// The paths of all files of a saltenv below a prefix, sorted, each once.
    ///
    /// # Errors
    /// A directory cannot be read.
    ///
    /// ```
    /// use mapstack::{Engine, loader::MemoryFiles};
    /// let engine = Engine::new(MemoryFiles::new().file("base", "web/init.sls", ""));
    /// assert_eq!(engine.list("base", "web/").unwrap(), ["web/init.sls"]);
    /// ```
    pub fn list(&self, saltenv: &str, prefix: &str) -> Result<Vec<String>> {
        self.files.list(saltenv, prefix).map_err(|e| {
            let message = format!("cannot list salt://{prefix} of saltenv {saltenv}: {e}");
            Error::new(ErrorKind::File, message)
        })
    }

    /// The first file behind a path.
    ///
    /// # Errors
    /// There is a file, and it cannot be read.
    pub fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched> {
        unreadable(path, self.files.fetch(path, saltenv))
    }

    /// Collect the calls that nothing answers, all at once: where one would end a run, the runs of `work` continue with a
    /// placeholder for its answer. Their results are of no use, and `work` must drop them.
    ///
    /// Further calls can depend on answers, so they may be missing until these are given.
    ///
    /// ```
    /// use mapstack::{Engine, loader::MemoryFiles, minion::Minion, stub_file};
    /// let sls = "{% for disk in salt['disk.usage']() %}{{ salt['cmd.run']('df /') }}{% endfor %}";
    /// let engine = Engine::new(MemoryFiles::new().file("base", "web.sls", sls));
    /// let (_, lacking) = engine.collecting(|engine| {
    ///     let _ = engine.run(&Minion::new("web1").complete()).sls("web.sls");
    /// });
    /// let names: Vec<_> = lacking.iter().map(|one| &*one.call.name).collect();
    /// assert_eq!(names, ["disk.usage", "cmd.run"]);
    /// assert!(stub_file(&lacking).contains("- args: [df /]"));
    /// ```
    pub fn collecting(mut self, work: impl FnOnce(&Engine)) -> (Self, Vec<Unanswered>) {
        self.collected = Some(Collected::default());
        work(&self);
        let collected = self.collected.take().unwrap_or_default();
        (self, collected.taken())
    }

    /// The limits on the templates of one run.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The part of the budget of the whole run that is used up, if one is.
    pub fn spent(&self) -> Option<Spent> {
        self.limits.run.and_then(RunBudget::spent)
    }

    /// Start a run for one minion, in the saltenv of its `saltenv` option or in `base`.
    pub fn run(&self, minion: &Minion) -> Run<'_> {
        Run::new(self, minion, None)
    }

    /// Start a run with hooks that observe it from its start.
    pub fn run_with_hooks<'e>(&'e self, minion: &Minion, hooks: Rc<dyn Hooks + 'e>) -> Run<'e> {
        Run::new(self, minion, Some(hooks))
    }

    /// Data that another crate keeps for the lifetime of the engine: one value of each type, made when it is first
    /// requested.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// use mapstack::{Engine, loader::MemoryFiles};
    /// #[derive(Default)]
    /// struct Runs(AtomicUsize);
    /// let engine = Engine::new(MemoryFiles::new());
    /// engine.extension::<Runs>().0.fetch_add(1, Ordering::Relaxed);
    /// assert_eq!(engine.extension::<Runs>().0.load(Ordering::Relaxed), 1);
    /// ```
    pub fn extension<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        // Nothing panics while it holds the lock and the map is incomplete, so a poisoned lock is usable.
        let mut extensions = self
            .extensions
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let found = extensions
            .entry(TypeId::of::<T>())
            .or_insert_with(|| Arc::<T>::default());
        // The value under a type's id has that type, so the cast succeeds.
        found.clone().downcast().unwrap_or_default()
    }

    /// The parsed content of a data source with this text, which can be the output of a template.
    pub(crate) fn parsed_layer(
        &self,
        text: &str,
        parse: impl FnOnce() -> crate::Result<LayerFile>,
    ) -> crate::Result<Arc<LayerFile>> {
        if let Some(found) = self.layers.get(text) {
            return Ok(found);
        }
        let layer = Arc::new(parse()?);
        self.layers.put(text, layer.clone());
        Ok(layer)
    }
}

/// Limit on the texts of data sources whose parsed content is cached; the content takes about ten times as much
/// memory. The texts have no natural limit, because templates can print something else for every minion.
const MAX_LAYERS: usize = 8 << 20;
/// Limit on the cached source definitions, and on the cached names of formulas.
const MAX_DEFINITIONS: usize = 1 << 20;
/// Typical number of files that a run looks for.
const USUAL_READS: usize = 32;

/// The work for one minion.
///
/// Each run has its own grains, pillar and options. Later layers of the same run see the changes that a template
/// makes in them, as in the reference; other runs do not.
pub struct Run<'e> {
    pub(crate) engine: &'e Engine,
    pub(crate) saltenv: Str,
    pub(crate) facts: Facts<'e>,
    pub(crate) live: Live,
    pub(crate) syntax: Syntax,
    pub(crate) strict: bool,
    /// The paths on disk of the `salt://` paths that were read.
    pub(crate) on_disk: RefCell<HashMap<String, PathBuf, foldhash::fast::RandomState>>,
    pub(crate) stage: Cell<DataStage>,
    pub(crate) depth: Cell<usize>,
    /// True if hooks trace the template of a map.
    pub(crate) traced: Cell<bool>,
    /// The count of changes to containers at the last time that [`follow_facts`](Run::follow_facts) compared the
    /// facts.
    followed: Cell<u64>,
    /// True if the results depend on anything other than files and facts.
    pub(crate) outside_inputs: Cell<bool>,
    /// The hooks that observe the run.
    pub(crate) hooks: Slot<'e>,
    /// The differences if the templates are a master's.
    pub(crate) master: Option<MasterSide>,
    /// Functions run on a machine that is not the minion's.
    pub(crate) is_elsewhere: bool,
    /// The limits on the templates of the run, with times counted from its start.
    pub(crate) limits: Limits,
    /// The entry of this run in the budget of the command, while the run lasts.
    pub(crate) busy: Option<Busy<'static>>,
    /// Remaining steps of the templates.
    pub(crate) fuel: Cell<u64>,
    /// Remaining steps for following what templates change in the facts. How many it takes depends on which facts
    /// earlier templates turned into objects, so on which of them were rendered and which were answered from memory:
    /// the templates do not pay for it.
    pub(crate) following: Cell<u64>,
    /// The interpreter of templates in Mako and Python.
    pub(crate) interpreter: Interpreter,
    /// The values that files have set for each other; all runs of one compile share it.
    pub(crate) stateconf: Rc<crate::stateconf::Memory>,
    /// The memory about the modules that the tree ships.
    pub(crate) tree: TreeMemo,
    pub(crate) definition: RefCell<Option<Str>>,
    /// The secrets, if the run tracks them.
    pub(crate) taint: OnceCell<Taint>,
    events: RefCell<Vec<Event>>,
    /// Every access to the file server, in order, without duplicates.
    reads: RefCell<IndexSet<FileRead, foldhash::fast::RandomState>>,
    pub(crate) warnings: RefCell<Vec<Diagnostic>>,
    /// The last field, because fields are dropped in order: by then, only containers that hold themselves are left
    /// for the sweep to free.
    _sweep: Sweep,
}

/// The minion's facts as objects that templates can change.
pub(crate) struct Live {
    pub grains: Obj,
    pub pillar: Obj,
    /// The grains and the pillar of templates, if functions have others.
    pub(crate) apart: Option<Apart>,
    /// Made on first use, and filled on first access: it has hundreds of entries.
    pub(crate) opts: OnceCell<Obj>,
    pub salt: Obj,
}

/// Facts of templates that functions do not see.
pub(crate) struct Apart {
    /// The grains and the pillar as they were given.
    pub given: [Map; 2],
    /// The same as templates have them.
    pub live: [Obj; 2],
}

impl Live {
    /// The grains and the pillar of templates.
    pub(crate) fn of_templates(&self) -> [&Obj; 2] {
        match &self.apart {
            Some(apart) => apart.live.each_ref(),
            None => [&self.grains, &self.pillar],
        }
    }
}

impl<'e> Run<'e> {
    fn new(engine: &'e Engine, minion: &Minion, hooks: Option<Rc<dyn Hooks + 'e>>) -> Self {
        let known = engine.known_minion(minion);
        let grains = known.as_ref().map(|known| known.minion(minion));
        let minion = grains.as_ref().unwrap_or(minion);
        let live = |part: Part, facts: &Map| Run::live_dict(hooks.as_deref(), part, facts);
        let live = Live {
            grains: live(Part::Grains, &minion.grains),
            pillar: live(Part::Pillar, &minion.pillar),
            apart: None,
            opts: OnceCell::new(),
            salt: salt_object(),
        };
        // The hooks are set at the end. Every run reads these options, so not reporting them is safe.
        let option = |name: &str| minion.option_named(name).unwrap_or_default();
        let saltenv = match option("saltenv") {
            Value::Str(env) if !env.is_empty() => env,
            _ => "base".into(),
        };
        let slot = Slot::default();
        let run = Run {
            engine,
            saltenv,
            facts: Facts::new(minion.clone(), slot.clone()),
            live,
            syntax: Syntax::default(),
            strict: !option("allow_undefined").truthy(),
            on_disk: RefCell::default(),
            stage: Cell::new(DataStage::Layers),
            depth: Cell::new(0),
            traced: Cell::new(false),
            followed: Cell::new(changes()),
            outside_inputs: Cell::new(false),
            hooks: slot,
            master: None,
            is_elsewhere: false,
            limits: engine.limits.restarted(),
            busy: engine
                .limits
                .run
                .map(|run| run.busy_with(minion.id().to_string())),
            fuel: Cell::new(engine.limits.fuel),
            following: Cell::new(engine.limits.fuel),
            interpreter: Interpreter::new(),
            stateconf: Rc::default(),
            tree: TreeMemo::default(),
            definition: RefCell::default(),
            taint: OnceCell::new(),
            events: RefCell::default(),
            reads: RefCell::default(),
            warnings: RefCell::default(),
            _sweep: Sweep::default(),
        };
        let syntax = run.jinja_options("jinja_env");
        run.hooks.replace(hooks);
        if let Some(known) = known {
            run.note_reads(&known.reads);
            for warning in &known.made.warnings {
                // It may be about this minion alone.
                run.note_outside_input();
                run.warn(warning.clone());
            }
        }
        Run { syntax, ..run }
    }

    /// Use another saltenv than the minion's.
    #[must_use]
    pub fn with_saltenv(mut self, saltenv: impl Into<Str>) -> Self {
        self.saltenv = saltenv.into();
        self
    }

    /// The settings of Salt's `jinja_env` or `jinja_sls_env`, and of two older options that apply to both.
    pub(crate) fn jinja_options(&self, option: &str) -> Syntax {
        let behaviour = self.engine.salt_version.behaviour();
        let mut syntax = Syntax {
            ignores_header: !behaviour.reads_jinja_headers,
            ..Syntax::default()
        };
        let env = self.option(option).as_map().cloned().unwrap_or_default();
        for (name, value) in &env {
            if let Err(problem) = syntax.set(&name.to_string().to_lowercase(), value) {
                self.warn(Diagnostic::warning(
                    ErrorKind::Options,
                    format!("option {option}: {problem}"),
                ));
            }
        }
        for (option, setting) in [
            ("jinja_trim_blocks", "trim_blocks"),
            ("jinja_lstrip_blocks", "lstrip_blocks"),
        ] {
            if self.option(option).truthy() {
                // `set` knows both names, so it cannot fail.
                let _ = syntax.set(setting, &Value::Bool(true));
            }
        }
        syntax
    }

    /// The variable `opts` of templates.
    pub(crate) fn live_opts(&self) -> Obj {
        let make = || {
            let facts = self.facts.unchanged().clone();
            let content = move || facts.options();
            let reader = || self.hooks.get()?.fact_reader(Part::Opts);
            Obj::Dict(match reader() {
                Some(reader) => DictRef::lazy_tracked(content, reader),
                None => DictRef::lazy(content),
            })
        };
        self.live.opts.get_or_init(make).clone()
    }

    /// Note that the results depend on something other than files and facts.
    pub(crate) fn note_outside_input(&self) {
        self.outside_inputs.set(true);
    }

    /// The warnings so far, without duplicates.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.warnings.borrow().clone()
    }

    /// The files, values and paths that the run has requested so far, in order.
    pub fn events(&self) -> Vec<Event> {
        self.events.borrow().clone()
    }

    /// Add a warning, unless the same warning is present.
    pub fn warn(&self, warning: Diagnostic) {
        let mut warnings = self.warnings.borrow_mut();
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// The files accessed so far, in order and without duplicates, including those that templates load and functions
    /// read.
    pub fn file_reads(&self) -> Vec<FileRead> {
        self.reads.borrow().iter().cloned().collect()
    }

    pub(crate) fn note_read(&self, saltenv: &str, path: &str, kind: FileReadKind) {
        // Nearly all reads are in the run's own saltenv, whose text can be shared.
        let saltenv = if *saltenv == *self.saltenv {
            self.saltenv.clone()
        } else {
            saltenv.into()
        };
        let mut reads = self.reads.borrow_mut();
        if reads.is_empty() {
            reads.reserve(USUAL_READS);
        }
        reads.insert(FileRead {
            saltenv,
            path: path.into(),
            kind,
        });
    }

    /// Add accesses to files that were made elsewhere on behalf of the run.
    pub fn note_reads(&self, reads: &[FileRead]) {
        self.reads.borrow_mut().extend(reads.iter().cloned());
    }

    /// Add the access to a file, with its outcome.
    pub(crate) fn note_fetched(
        &self,
        saltenv: &str,
        path: &SaltPath,
        fetched: &Result<Fetched, LoadError>,
    ) {
        let found = matches!(fetched, Ok(Fetched::Found { .. }));
        let kind = if found {
            FileReadKind::Found
        } else {
            FileReadKind::Absent
        };
        self.note_read(path.saltenv().unwrap_or(saltenv), path.as_str(), kind);
    }

    pub(crate) fn record(&self, asked: Asked) {
        let event = Event {
            stage: self.stage.get(),
            definition: self.definition.borrow().clone(),
            asked,
        };
        let mut events = self.events.borrow_mut();
        if events.is_empty() {
            events.reserve(USUAL_READS);
        }
        events.push(event);
    }

    /// The files that were found in a range of events.
    pub(crate) fn files_found(&self, events: Range<usize>) -> Vec<String> {
        let all = self.events.borrow();
        let hits = all
            .get(events)
            .into_iter()
            .flatten()
            .filter_map(|event| match &event.asked {
                Asked::File {
                    outcome: RequestOutcome::Hit(on_disk),
                    ..
                } => Some(on_disk.display().to_string()),
                _ => None,
            });
        hits.collect()
    }

    /// True if a file was found since an event.
    pub(crate) fn has_found_files(&self, since: usize) -> bool {
        let is_hit = |event: &Event| {
            matches!(
                event.asked,
                Asked::File {
                    outcome: RequestOutcome::Hit(_),
                    ..
                }
            )
        };
        self.events.borrow().iter().skip(since).any(is_hit)
    }

    pub(crate) fn event_count(&self) -> usize {
        self.events.borrow().len()
    }

    /// A copy of the present grains or pillar that its user can change without affecting the run.
    pub(crate) fn copied_facts(&self, root: Part) -> Obj {
        let facts = self.facts.unchanged();
        let (live, known) = match root {
            Part::Pillar => (&self.live.pillar, &facts.pillar),
            Part::Grains | Part::Opts => (&self.live.grains, &facts.grains),
        };
        match self.frozen(live) {
            Ok(Value::Map(now)) if now.ptr_eq(known) => {
                Run::live_dict(self.hooks.get().as_deref(), root, known)
            }
            _ => {
                // Facts that contain something other than data cannot be copied.
                live.to_value().map_or_else(|_| live.clone(), Obj::from)
            }
        }
    }

    /// [`sync_facts`](Run::sync_facts) before a function call in a template. There are many such calls, so it
    /// compares only if a template has changed anything since the last time, and if the facts were accessed at all.
    /// It ignores facts that are not data; they become an error when the template ends.
    pub(crate) fn follow_facts(&self) {
        let now = changes();
        if self.followed.replace(now) == now {
            return;
        }
        let is_untouched = |live: &Obj| matches!(live, Obj::Dict(dict) if dict.is_untouched());
        if !(is_untouched(&self.live.grains) && is_untouched(&self.live.pillar)) {
            let _ = self.sync_facts();
        }
    }

    /// The data that live facts are now. This is not paid by the template that runs.
    pub(crate) fn frozen(&self, live: &Obj) -> mapstack_render::Result<Value> {
        spend_apart(self.limits, &self.following, || live.to_value_unread())
    }

    /// Apply the changes that templates made in the live facts to the facts that look-ups see.
    ///
    /// # Errors
    /// The facts contain something other than data.
    pub fn sync_facts(&self) -> mapstack_render::Result<()> {
        let changed = |live: &Obj, known: &Map| -> mapstack_render::Result<Option<Map>> {
            match self.frozen(live)? {
                Value::Map(map) if !map.ptr_eq(known) => Ok(Some(map)),
                _ => Ok(None),
            }
        };
        let (grains, pillar) = {
            let facts = self.facts.unchanged();
            (
                changed(&self.live.grains, &facts.grains)?,
                changed(&self.live.pillar, &facts.pillar)?,
            )
        };
        self.facts.replace(grains, pillar);
        self.facts_of_templates().map(drop)
    }
}

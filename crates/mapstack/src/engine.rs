//! The engine, which many minions share, and the run of one minion.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use mapstack_loader::{Fetched, FileServer, LoadError, SaltPath};
use mapstack_matcher::Definition;
use mapstack_minion::{Minion, SaltVersion};
use mapstack_salt_config::disk::{Deployed, FileTree};
use mapstack_salt_jinja::{Limits, RunBudget, SpentResource, TemplateCache};
use mapstack_value::Map;
use mapstack_yaml::Skeleton;

use crate::built_in::BuiltIn;
use crate::by_text::ByText;
use crate::file::unreadable;
use crate::hooks::Hooks;
use crate::layer_file::LayerFile;
use crate::run::Run;
use crate::skeleton_cache::SkeletonCache;
use crate::sls_data::Data;
use crate::trace::FileRead;
use mapstack_diagnostic::redact::Policy;
use mapstack_diagnostic::{Error, ErrorKind, Result};
use mapstack_functions::{
    Endless, Functions, KnownMinions, Stubs, UnansweredCall, UnansweredCalls,
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
    pub(crate) deployed_files: FileTree,
    pub(crate) limits: Limits,
    pub(crate) stubs: Stubs,
    pub(crate) salt_version: SaltVersion,
    pub(crate) policy: Policy,
    pub(crate) built_in: BuiltIn,
    pub(crate) functions: Vec<Box<dyn Functions>>,
    /// The calls that nothing answers, if runs go on without their answers.
    pub(crate) collected: Option<UnansweredCalls>,
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
            deployed_files: FileTree::new(),
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
        unreadable(path, self.served(path, saltenv))
    }

    /// The first file at a path, as the version of Salt reads the URL of the path.
    pub(crate) fn served(
        &self,
        path: &SaltPath,
        saltenv: &str,
    ) -> std::result::Result<Fetched, LoadError> {
        if path.is_slashed() && !self.salt_version.behaviour().urls_take_off_slashes {
            let reason = "before Salt 3008, a URL with three slashes finds no file".into();
            return Ok(Fetched::Refused { reason });
        }
        self.files.fetch(path, saltenv)
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
    pub fn collecting(mut self, work: impl FnOnce(&Engine)) -> (Self, Vec<UnansweredCall>) {
        self.collected = Some(UnansweredCalls::default());
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
    pub fn spent(&self) -> Option<SpentResource> {
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

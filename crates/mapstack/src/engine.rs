//! What many minions share, and the run of one.

use std::any::{Any, TypeId};
use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;
use std::ops::Range;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexSet;
use mapstack_loader::{Fetched, FileServer, LoadError, SaltPath};
use mapstack_matcher::Definition;
use mapstack_minion::{Minion, Part};
use mapstack_render::jinja::{Limits, Syntax, Taint, TemplateCache};
use mapstack_render::{DictRef, Obj, Sweep, changes, salt_object};
use mapstack_value::{Map, Str, Value};

use crate::built_in::BuiltIn;
use crate::by_text::ByText;
use crate::calls::Functions;
use crate::facts::Facts;
use crate::hooks::{Hooks, Slot};
use crate::layer_file::LayerFile;
use crate::moulds::Moulds;
use crate::stubs::Stubs;
use crate::trace::{Asked, Event, FileRead, FileReadKind, Outcome, Stage};
use mapstack_diagnostic::{Diagnostic, ErrorKind};

/// A file server and what was learnt from it; shared by every minion and thread.
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
    pub(crate) limits: Limits,
    pub(crate) stubs: Stubs,
    pub(crate) built_in: BuiltIn,
    pub(crate) functions: Vec<Box<dyn Functions>>,
    pub(crate) templates: TemplateCache,
    layers: ByText<Arc<LayerFile>>,
    pub(crate) moulds: Moulds,
    pub(crate) definitions: ByText<Arc<Definition>>,
    /// The arguments of `map.data` where none is given, by formula.
    pub(crate) arguments: ByText<Map>,
    /// What others keep beside it, by type.
    kept: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl Engine {
    /// An engine over a file server. `Engine::new` stands beside the functions that it starts with.
    pub(crate) fn with_built_in(files: Box<dyn FileServer>, built_in: BuiltIn) -> Self {
        Engine {
            files,
            built_in,
            limits: Limits::default(),
            stubs: Stubs::default(),
            functions: Vec::new(),
            templates: TemplateCache::default(),
            layers: ByText::new(MAX_LAYERS),
            definitions: ByText::new(MAX_DEFINITIONS),
            arguments: ByText::new(MAX_DEFINITIONS),
            moulds: Moulds::default(),
            kept: Mutex::default(),
        }
    }

    /// What the templates of one run may spend, all together. Time and memory count from the start of the run.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Answers that come before every function, built in or not.
    #[must_use]
    pub fn with_stubs(mut self, stubs: Stubs) -> Self {
        self.stubs = stubs;
        self
    }

    /// Add functions for calls that are not built in; those added earlier are asked first.
    #[must_use]
    pub fn with_functions(mut self, functions: impl Functions + 'static) -> Self {
        self.functions.push(Box::new(functions));
        self
    }

    /// Where its files come from.
    #[must_use]
    pub fn files(&self) -> &dyn FileServer {
        &*self.files
    }

    /// What the templates of one run may spend.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Start a run for one minion, in the minion's `saltenv` option or `base`.
    pub fn run(&self, minion: &Minion) -> Run<'_> {
        Run::new(self, minion, None)
    }

    /// The same, watched by hooks from its start.
    pub fn run_with_hooks<'e>(&'e self, minion: &Minion, hooks: Rc<dyn Hooks + 'e>) -> Run<'e> {
        Run::new(self, minion, Some(hooks))
    }

    /// What somebody keeps beside the engine, for as long as it lives: one value of each type, made when it is first
    /// asked for.
    ///
    /// ```
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    /// use mapstack::{Engine, loader::MemoryFiles};
    /// #[derive(Default)]
    /// struct Runs(AtomicUsize);
    /// let engine = Engine::new(MemoryFiles::new());
    /// engine.kept::<Runs>().0.fetch_add(1, Ordering::Relaxed);
    /// assert_eq!(engine.kept::<Runs>().0.load(Ordering::Relaxed), 1);
    /// ```
    pub fn kept<T: Any + Default + Send + Sync>(&self) -> Arc<T> {
        // A panic elsewhere leaves nothing half-written here.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let found = kept
            .entry(TypeId::of::<T>())
            .or_insert_with(|| Arc::<T>::default());
        // What is there under a type's name is of that type.
        found.clone().downcast().unwrap_or_default()
    }

    /// The parsed form of a data source's text, rendered or not.
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

/// The most text of data sources that is kept in parsed form, which takes some ten times as much. What
/// templates print can differ for every minion, so the texts have no bound.
const MAX_LAYERS: usize = 8 << 20;
/// The same of source definitions, and of formulas' names.
const MAX_DEFINITIONS: usize = 1 << 20;
/// Files that a run of a formula looks for, as a rule.
const USUAL_READS: usize = 32;

/// The work for one minion.
///
/// A run has its own view of grains, pillar and options: what a template changes in them is seen
/// by later layers of the run, as in the reference, and nowhere else.
pub struct Run<'e> {
    pub(crate) engine: &'e Engine,
    pub(crate) saltenv: Str,
    pub(crate) facts: Facts<'e>,
    pub(crate) live: Live,
    pub(crate) syntax: Syntax,
    pub(crate) strict: bool,
    /// Where each `salt://` path that was read lies on disk.
    pub(crate) on_disk: RefCell<HashMap<String, PathBuf, foldhash::fast::RandomState>>,
    pub(crate) stage: Cell<Stage>,
    pub(crate) depth: Cell<usize>,
    /// How many changes to containers there had been when the facts were looked at last for a function.
    followed: Cell<u64>,
    /// Whether the results are a function of something else than files and facts.
    pub(crate) own: Cell<bool>,
    /// What watches the run, if anything does.
    pub(crate) hooks: Slot<'e>,
    /// What the templates of the run may spend, all together, counted from its start.
    pub(crate) limits: Limits,
    /// Steps that they may still spend.
    pub(crate) fuel: Cell<u64>,
    pub(crate) definition: RefCell<Option<Str>>,
    /// What is secret, if anybody follows that.
    pub(crate) taint: OnceCell<Taint>,
    events: RefCell<Vec<Event>>,
    /// Every look at the file server, in order, each once.
    reads: RefCell<IndexSet<FileRead, foldhash::fast::RandomState>>,
    pub(crate) warnings: RefCell<Vec<Diagnostic>>,
    /// Behind all else: what the run's templates made is gone by then, but for what holds itself.
    _sweep: Sweep,
}

/// The minion's facts as objects that templates can change.
pub(crate) struct Live {
    pub grains: Obj,
    pub pillar: Obj,
    /// Made when first asked for, and filled when first looked at: it has hundreds of entries.
    pub(crate) opts: OnceCell<Obj>,
    pub salt: Obj,
}

impl<'e> Run<'e> {
    fn new(engine: &'e Engine, minion: &Minion, hooks: Option<Rc<dyn Hooks + 'e>>) -> Self {
        let live = |part: Part, facts: &Map| Run::live_dict(hooks.as_deref(), part, facts);
        let live = Live {
            grains: live(Part::Grains, &minion.grains),
            pillar: live(Part::Pillar, &minion.pillar),
            opts: OnceCell::new(),
            salt: salt_object(),
        };
        // What is looked at before the hooks are in their place is looked at by every run.
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
            stage: Cell::new(Stage::Layers),
            depth: Cell::new(0),
            followed: Cell::new(changes()),
            own: Cell::new(false),
            hooks: slot,
            limits: engine.limits.restarted(),
            fuel: Cell::new(engine.limits.fuel),
            definition: RefCell::default(),
            taint: OnceCell::new(),
            events: RefCell::default(),
            reads: RefCell::default(),
            warnings: RefCell::default(),
            _sweep: Sweep::default(),
        };
        let syntax = run.jinja_options("jinja_env");
        run.hooks.replace(hooks);
        Run { syntax, ..run }
    }

    /// Use another saltenv.
    #[must_use]
    pub fn with_saltenv(mut self, saltenv: impl Into<Str>) -> Self {
        self.saltenv = saltenv.into();
        self
    }

    /// Salt's `jinja_env` or `jinja_sls_env`, and the two older options that count for both.
    pub(crate) fn jinja_options(&self, option: &str) -> Syntax {
        let mut syntax = Syntax::default();
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
                // Both names are known to `set`.
                let _ = syntax.set(setting, &Value::Bool(true));
            }
        }
        syntax
    }

    /// The `opts` variable of templates.
    pub(crate) fn live_opts(&self) -> Obj {
        let make = || {
            let facts = self.facts.unchanged().clone();
            let content = move || facts.options();
            let reader = || self.hooks.get()?.fact_reader(Part::Opts);
            Obj::Dict(match reader() {
                Some(reader) => DictRef::lazy_watched(content, reader),
                None => DictRef::lazy(content),
            })
        };
        self.live.opts.get_or_init(make).clone()
    }

    /// From now on the results are nobody else's: they come from outside.
    pub(crate) fn make_own(&self) {
        self.own.set(true);
    }

    /// What was worth a warning so far, each once.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.warnings.borrow().clone()
    }

    /// What was asked for so far, in order.
    pub fn events(&self) -> Vec<Event> {
        self.events.borrow().clone()
    }

    /// Add a warning, unless it is there already.
    pub fn warn(&self, warning: Diagnostic) {
        let mut warnings = self.warnings.borrow_mut();
        if !warnings.contains(&warning) {
            warnings.push(warning);
        }
    }

    /// The files that were looked at so far, those that templates load and functions read included, in
    /// order, each once.
    pub fn file_reads(&self) -> Vec<FileRead> {
        self.reads.borrow().iter().cloned().collect()
    }

    pub(crate) fn note_read(&self, saltenv: &str, path: &str, kind: FileReadKind) {
        // The run's own saltenv is that of nearly all.
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

    /// Note what was looked at elsewhere, on behalf of the run.
    pub(crate) fn note_reads(&self, reads: &[FileRead]) {
        self.reads.borrow_mut().extend(reads.iter().cloned());
    }

    /// Note what came of asking for a file's content.
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

    /// The files found in some of the events.
    pub(crate) fn files_found(&self, events: Range<usize>) -> Vec<String> {
        let all = self.events.borrow();
        let hits = all
            .get(events)
            .into_iter()
            .flatten()
            .filter_map(|event| match &event.asked {
                Asked::File {
                    outcome: Outcome::Hit(on_disk),
                    ..
                } => Some(on_disk.display().to_string()),
                _ => None,
            });
        hits.collect()
    }

    /// Whether a file was found since an event.
    pub(crate) fn has_found_files(&self, since: usize) -> bool {
        let is_hit = |event: &Event| {
            matches!(
                event.asked,
                Asked::File {
                    outcome: Outcome::Hit(_),
                    ..
                }
            )
        };
        self.events.borrow().iter().skip(since).any(is_hit)
    }

    pub(crate) fn event_count(&self) -> usize {
        self.events.borrow().len()
    }

    /// A copy of the grains or the pillar as they are now, for who may change it alone.
    pub(crate) fn copied_facts(&self, root: Part) -> Obj {
        let facts = self.facts.unchanged();
        let (live, known) = match root {
            Part::Pillar => (&self.live.pillar, &facts.pillar),
            Part::Grains | Part::Opts => (&self.live.grains, &facts.grains),
        };
        match live.to_value_unread() {
            Ok(Value::Map(now)) if now.ptr_eq(known) => {
                Run::live_dict(self.hooks.get().as_deref(), root, known)
            }
            _ => {
                // What was put into facts can be the stack.
                self.data_is_read();
                // What is no data cannot be copied.
                live.to_value().map_or_else(|_| live.clone(), Obj::from)
            }
        }
    }

    /// The same as [`sync_facts`](Run::sync_facts) before a template's call of a function, of which there are many: only
    /// if a template has changed anything since the last time, and the facts have been taken apart at all. What is not
    /// data in them is an error when the template is done.
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

    /// Take over what templates changed in the live facts.
    ///
    /// # Errors
    /// Something in them is not data.
    pub fn sync_facts(&self) -> mapstack_render::Result<()> {
        let changed = |live: &Obj, known: &Map| -> mapstack_render::Result<Option<Map>> {
            match live.to_value_unread()? {
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
        Ok(())
    }
}

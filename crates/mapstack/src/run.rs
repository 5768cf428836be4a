//! The run of one minion.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use mapstack_diagnostic::{Diagnostic, ErrorKind, Result};
use mapstack_functions::TreeMemo;
use mapstack_loader::{Fetched, LoadError, SaltPath};
use mapstack_minion::{Minion, Part};
use mapstack_pyobject::{DictRef, Obj, Sweep, changes, spend_apart};
use mapstack_salt_jinja::{Syntax, Taint, salt_object};
use mapstack_sandbox::Interpreter;
use mapstack_value::{Map, Str, Value};

use crate::allowance::Allowance;
use crate::engine::Engine;
use crate::facts::Facts;
use crate::hooks::{Hooks, Slot};
use crate::journal::Journal;
use crate::master_side::MasterSide;
use crate::trace::{Event, FileRead, FileReadKind};

/// The work for one minion.
///
/// Each run has its own grains, pillar and options. Later layers of the same run see the changes that a template
/// makes in them, as in the reference; other runs do not.
pub struct Run<'e> {
    pub(crate) engine: &'e Engine,
    pub(crate) saltenv: Str,
    pub(crate) facts: Facts<'e>,
    pub(crate) live: LiveFacts,
    pub(crate) jinja: JinjaSettings,
    pub(crate) observed: RunObservers<'e>,
    /// The differences if the templates are a master's.
    pub(crate) master: Option<MasterSide>,
    /// Functions run on a machine that is not the minion's.
    pub(crate) is_elsewhere: bool,
    pub(crate) allowance: Allowance,
    /// The interpreter of templates in Mako and Python.
    pub(crate) interpreter: Interpreter,
    /// The values that files have set for each other; all runs of one compile share it.
    pub(crate) stateconf: Rc<crate::stateconf::Memory>,
    /// The memory about the modules that the tree ships.
    pub(crate) tree: TreeMemo,
    pub(crate) journal: Journal,
    /// The last field, because fields are dropped in order: by then, only containers that hold themselves are left
    /// for the sweep to free.
    _sweep: Sweep,
}

/// The settings of a run's Jinja.
pub(crate) struct JinjaSettings {
    pub syntax: Syntax,
    /// True if an undefined variable is an error.
    pub strict: bool,
}

/// The observers of a run.
pub(crate) struct RunObservers<'e> {
    /// The hooks that observe the run.
    pub hooks: Slot<'e>,
    /// True if hooks trace the template of a map.
    pub traced: Cell<bool>,
    /// The secrets, if the run tracks them.
    pub taint: OnceCell<Taint>,
}

/// The minion's facts as objects that templates can change.
pub(crate) struct LiveFacts {
    pub grains: Obj,
    pub pillar: Obj,
    /// The grains and the pillar of templates, if functions have others.
    pub(crate) apart: Option<TemplateOnlyFacts>,
    /// Made on first use, and filled on first access: it has hundreds of entries.
    pub(crate) opts: OnceCell<Obj>,
    pub salt: Obj,
    /// The count of changes to containers at the last time that [`follow_facts`](Run::follow_facts) compared the
    /// facts.
    followed: Cell<u64>,
}

/// Facts of templates that functions do not see.
pub(crate) struct TemplateOnlyFacts {
    /// The grains and the pillar as they were given.
    pub given: [Map; 2],
    /// The same as templates have them.
    pub live: [Obj; 2],
}

impl LiveFacts {
    /// The grains and the pillar of templates.
    pub(crate) fn of_templates(&self) -> [&Obj; 2] {
        match &self.apart {
            Some(apart) => apart.live.each_ref(),
            None => [&self.grains, &self.pillar],
        }
    }
}

impl<'e> Run<'e> {
    pub(crate) fn new(
        engine: &'e Engine,
        minion: &Minion,
        hooks: Option<Rc<dyn Hooks + 'e>>,
    ) -> Self {
        let known = engine.known_minion(minion);
        let grains = known.as_ref().map(|known| known.minion(minion));
        let minion = grains.as_ref().unwrap_or(minion);
        let live = |part: Part, facts: &Map| Run::live_dict(hooks.as_deref(), part, facts);
        let live = LiveFacts {
            grains: live(Part::Grains, &minion.grains),
            pillar: live(Part::Pillar, &minion.pillar),
            apart: None,
            opts: OnceCell::new(),
            salt: salt_object(),
            followed: Cell::new(changes()),
        };
        // The hooks are set at the end. Every run reads these options, so not reporting them is safe.
        let option = |name: &str| minion.option_named(name).unwrap_or_default();
        let saltenv = match option("saltenv") {
            Value::Str(env) if !env.is_empty() => env,
            _ => "base".into(),
        };
        let slot = Slot::default();
        let mut run = Run {
            engine,
            saltenv,
            facts: Facts::new(minion.clone(), slot.clone()),
            live,
            jinja: JinjaSettings {
                syntax: Syntax::default(),
                strict: !option("allow_undefined").truthy(),
            },
            observed: RunObservers {
                hooks: slot,
                traced: Cell::new(false),
                taint: OnceCell::new(),
            },
            master: None,
            is_elsewhere: false,
            allowance: Allowance::new(&engine.limits, minion),
            interpreter: Interpreter::new(),
            stateconf: Rc::default(),
            tree: TreeMemo::default(),
            journal: Journal::default(),
            _sweep: Sweep::default(),
        };
        run.jinja.syntax = run.jinja_options("jinja_env");
        run.observed.hooks.replace(hooks);
        if let Some(known) = known {
            run.note_reads(&known.reads);
            for warning in &known.made.warnings {
                // It may be about this minion alone.
                run.note_outside_input();
                run.warn(warning.clone());
            }
        }
        run
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
            let reader = || self.observed.hooks.get()?.fact_reader(Part::Opts);
            Obj::Dict(match reader() {
                Some(reader) => DictRef::lazy_tracked(content, reader),
                None => DictRef::lazy(content),
            })
        };
        self.live.opts.get_or_init(make).clone()
    }

    /// Note that the results depend on something other than files and facts.
    pub(crate) fn note_outside_input(&self) {
        self.journal.has_outside_inputs.set(true);
    }

    /// The warnings so far, without duplicates.
    pub fn warnings(&self) -> Vec<Diagnostic> {
        self.journal.warnings.borrow().iter().cloned().collect()
    }

    /// Add a warning, unless the same warning is present.
    pub fn warn(&self, warning: Diagnostic) {
        self.journal.warn(warning);
    }

    /// The files, values and paths that the run has requested so far, in order.
    pub fn events(&self) -> Vec<Event> {
        self.journal.events.borrow().clone()
    }

    /// The files accessed so far, in order and without duplicates, including those that templates load and functions
    /// read.
    pub fn file_reads(&self) -> Vec<FileRead> {
        self.journal.reads.borrow().iter().cloned().collect()
    }

    pub(crate) fn note_read(&self, saltenv: &str, path: &str, kind: FileReadKind) {
        // Nearly all reads are in the run's own saltenv, whose text can be shared.
        let saltenv = if *saltenv == *self.saltenv {
            self.saltenv.clone()
        } else {
            saltenv.into()
        };
        self.journal.note_read(FileRead {
            saltenv,
            path: path.into(),
            kind,
        });
    }

    /// Add accesses to files that were made elsewhere on behalf of the run.
    pub fn note_reads(&self, reads: &[FileRead]) {
        self.journal
            .reads
            .borrow_mut()
            .extend(reads.iter().cloned());
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

    /// A copy of the present grains or pillar that its user can change without affecting the run.
    pub(crate) fn copied_facts(&self, root: Part) -> Obj {
        let facts = self.facts.unchanged();
        let (live, known) = match root {
            Part::Pillar => (&self.live.pillar, &facts.pillar),
            Part::Grains | Part::Opts => (&self.live.grains, &facts.grains),
        };
        match self.frozen(live) {
            Ok(Value::Map(now)) if now.ptr_eq(known) => {
                Run::live_dict(self.observed.hooks.get().as_deref(), root, known)
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
        if self.live.followed.replace(now) == now {
            return;
        }
        let is_untouched = |live: &Obj| matches!(live, Obj::Dict(dict) if dict.is_untouched());
        if !(is_untouched(&self.live.grains) && is_untouched(&self.live.pillar)) {
            let _ = self.sync_facts();
        }
    }

    /// The data that live facts are now. This is not paid by the template that runs.
    pub(crate) fn frozen(&self, live: &Obj) -> mapstack_pyobject::Result<Value> {
        spend_apart(self.allowance.limits, &self.allowance.following, || {
            live.to_value_unread()
        })
    }

    /// Apply the changes that templates made in the live facts to the facts that look-ups see.
    ///
    /// # Errors
    /// The facts contain something other than data.
    pub fn sync_facts(&self) -> mapstack_pyobject::Result<()> {
        let changed = |live: &Obj, known: &Map| -> mapstack_pyobject::Result<Option<Map>> {
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

//! The modules that the tree ships, for the functions of a run.

use std::borrow::Cow;
use std::sync::Arc;

use mapstack_diagnostic::Diagnostic;
use mapstack_functions::{
    Endless, KnownMinion, OPTS_OF_FUNCTIONS, PillarCall, PluginAnswer, TreeAnswer, TreeContext,
    TreeMemo, may_be_in_tree, tree_call, tree_ext_pillar, tree_grains, tree_has, tree_has_module,
    tree_top,
};
use mapstack_loader::SaltPath;
use mapstack_minion::Minion;
use mapstack_pyobject::{CallArgs, DictRef, Error, Obj, Result};
use mapstack_salt_jinja::{Limits, Vm};
use mapstack_sandbox::Interpreter;
use mapstack_value::{Map, Str, Value};

use crate::engine::Engine;
use crate::host::RunHost;
use crate::run::Run;
use crate::trace::FileRead;

impl TreeContext for RunHost<'_, '_> {
    fn module_text(
        &self,
        path: &str,
        saltenv: &str,
    ) -> mapstack_diagnostic::Result<Option<Arc<str>>> {
        let asked = SaltPath::from_relative(path);
        let file = self.run.fetch_from(&asked, saltenv)?;
        file.map(|file| Ok(file.unmarked()?.into())).transpose()
    }

    fn module_files(
        &self,
        saltenv: &str,
        directory: &str,
    ) -> mapstack_diagnostic::Result<Vec<String>> {
        self.run.list_files(saltenv, directory)
    }

    fn module_envs(&self, all: bool) -> Vec<Str> {
        let base = Str::from("base");
        // A master that copies the modules for itself takes those of one saltenv.
        if self.run.master.is_some() {
            return vec![base];
        }
        let mut envs = vec![self.run.saltenv.clone()];
        let others = match all {
            true => self.run.engine.files.envs(),
            false => Vec::new(),
        };
        for env in std::iter::once(base).chain(others.into_iter().map(Str::from)) {
            if !envs.contains(&env) {
                envs.push(env);
            }
        }
        envs
    }

    fn extension(
        &self,
        kind: &str,
        file: &str,
    ) -> mapstack_diagnostic::Result<Option<(String, Arc<str>)>> {
        let directory = self.run.option("extension_modules");
        let Some(directory) = directory.as_str().filter(|_| self.run.master.is_some()) else {
            return Ok(None);
        };
        let path = format!("{directory}/{kind}/{file}");
        let file = self.run.file_on_machine(&path)?;
        file.map(|file| Ok((path, file.unmarked()?.into())))
            .transpose()
    }

    fn is_stubbed(&self, name: &str) -> bool {
        use mapstack_functions::Functions as _;
        self.run.engine.stubs.has(name)
    }

    fn is_built_in(&self, name: &str) -> bool {
        self.run.engine.built_in.find(name).is_some()
    }

    fn is_answered_elsewhere(&self, name: &str) -> bool {
        self.others().any(|functions| functions.has(name))
    }

    fn module_fact(&self, name: &str) -> Result<Value> {
        match name {
            "__grains__" => self.run.live.grains.to_value(),
            "__pillar__" => self.run.live.pillar.to_value(),
            // A master's functions see its own options, and templates those that it makes for the minion.
            OPTS_OF_FUNCTIONS if self.run.master.is_some() => {
                let facts = self.run.facts.unchanged().clone();
                Obj::Dict(DictRef::lazy(move || facts.options())).to_value()
            }
            _ => self.run.live_opts().to_value(),
        }
    }

    fn interpreter(&self) -> &Interpreter {
        &self.run.interpreter
    }

    fn limits(&self) -> Limits {
        self.run.allowance.limits
    }

    fn tree_memo(&self) -> &TreeMemo {
        &self.run.tree
    }

    fn endless(&self) -> &Endless {
        &self.run.engine.endless
    }
}

impl RunHost<'_, '_> {
    /// True if the tree ships a function; `None` if it ships no module of that name.
    pub(crate) fn tree_has(&self, name: &str) -> Option<bool> {
        may_be_in_tree(self, name)
            .then(|| self.run.on_vm(|vm| tree_has(self, vm, name)))
            .flatten()
    }

    /// True if the tree ships a module.
    pub(crate) fn tree_has_module(&self, module: &str) -> bool {
        may_be_in_tree(self, module) && self.run.on_vm(|vm| tree_has_module(self, vm, module))
    }

    /// Let the modules of the tree answer a call.
    pub(crate) fn ask_tree(&self, vm: &Vm<'_>, name: &str, args: &CallArgs) -> Option<Result<Obj>> {
        let answer = match tree_call(self, vm, name, args) {
            Ok(TreeAnswer::None) => return None,
            Ok(answer) => answer,
            Err(error) => {
                self.run.note_outside_input();
                return Some(Err(self.with_advice(error, name, args)));
            }
        };
        if matches!(answer, TreeAnswer::Missing) && self.run.engine.collected.is_some() {
            vm.note_missing_function(&name.into());
        }
        // Python can read the clock, which no record of the run has.
        self.run.note_outside_input();
        Some(self.of_tree(answer, name, args))
    }

    /// The result of a call of the tree's code.
    pub(crate) fn of_tree(&self, answer: TreeAnswer, name: &str, args: &CallArgs) -> Result<Obj> {
        match answer {
            TreeAnswer::Value(value, has_read_secrets) => {
                if let Some(taint) = self.run.taint().filter(|_| has_read_secrets) {
                    taint.add(&value);
                }
                Ok(Obj::from(value))
            }
            TreeAnswer::Missing | TreeAnswer::None => self
                .call(name, args)
                .and_then(|call| self.lacks_answer(call)),
        }
    }

    /// Advise that the answer of a function of the tree may be written down.
    pub(crate) fn with_advice(
        &self,
        mut error: Box<Error>,
        name: &str,
        args: &CallArgs,
    ) -> Box<Error> {
        if error.kind == mapstack_pyobject::ErrorKind::Undefined
            && error.help.is_none()
            && let Ok(call) = self.call(name, args)
        {
            error.help = Some(self.advice(&call));
        }
        error
    }
}

impl Run<'_> {
    /// Let an external pillar of the tree give its data (`salt://_pillar`, and the option `extension_modules`).
    ///
    /// # Errors
    /// It raises or reaches a limit. An error of the kind [`Undefined`](mapstack_pyobject::ErrorKind::Undefined) says that
    /// it needs something that does not exist.
    pub fn tree_ext_pillar(&self, call: PillarCall) -> Result<PluginAnswer> {
        let host = RunHost::new(self);
        self.of_plugin(self.on_vm(|vm| tree_ext_pillar(&host, vm, call)))
    }

    /// Let a master top of the tree give the sls of a minion, which has these options and grains (`salt://_tops`, and
    /// the option `extension_modules`).
    ///
    /// # Errors
    /// As [`Self::tree_ext_pillar`].
    pub fn tree_top(&self, name: &str, facts: [Value; 2]) -> Result<PluginAnswer> {
        let host = RunHost::new(self);
        self.of_plugin(self.on_vm(|vm| tree_top(&host, vm, name, facts)))
    }

    /// Check the answer of a module of the tree for reads that no record has.
    fn of_plugin(&self, answer: Result<PluginAnswer>) -> Result<PluginAnswer> {
        if !matches!(answer, Ok(PluginAnswer::None)) {
            self.note_outside_input();
        }
        answer
    }

    /// The options as modules of the tree see them, with the grains and the pillar.
    ///
    /// # Errors
    /// They are not data.
    pub fn opts_of_templates(&self) -> Result<Value> {
        self.live_opts().to_value()
    }

    /// Work with a render that has no template.
    pub(crate) fn on_vm<T>(&self, work: impl FnOnce(&Vm<'_>) -> T) -> T {
        let host = RunHost::new(self);
        let vm = Vm::new(&mapstack_salt_jinja::Request {
            limits: self.allowance.limits,
            fuel: Some(&self.allowance.fuel),
            ..mapstack_salt_jinja::request("", &host)
        });
        work(&vm)
    }
}

impl Engine {
    /// A minion with all its grains. For a built-in platform, modules of the tree (`salt://_grains`) compute
    /// the grains that the platform lacks. Runs do this themselves; call it before looking at grains
    /// elsewhere.
    ///
    /// ```no_run
    /// use mapstack::{Engine, loader::Roots, minion::platforms};
    /// let engine = Engine::new(Roots::new().root("base", "/srv/salt"));
    /// let minion = platforms::find("debian-12").unwrap().minion();
    /// println!("{:?}", engine.with_tree_grains(&minion).grains.get("role"));
    /// ```
    pub fn with_tree_grains<'m>(&self, minion: &'m Minion) -> Cow<'m, Minion> {
        match self.known_minion(minion) {
            Some(known) => Cow::Owned(known.minion(minion)),
            None => Cow::Borrowed(minion),
        }
    }

    /// Warnings about the grains that modules of the tree do not compute for a minion.
    #[must_use]
    pub fn warnings_of_grains(&self, minion: &Minion) -> Vec<Diagnostic> {
        let known = self.known_minion(minion);
        known.map_or_else(Vec::new, |known| known.made.warnings.clone())
    }

    /// The grains of a minion whose platform has the others.
    pub(crate) fn known_minion(&self, minion: &Minion) -> Option<Arc<KnownMinion<FileRead>>> {
        let platform = minion.platform();
        if platform.is_none() && !minion.has_tree_grains() {
            return None;
        }
        let known = self.minions.find(minion);
        let (Some(platform), None) = (platform, &known) else {
            return known;
        };
        let given = Minion {
            pillar: Map::new(),
            ..minion.clone()
        };
        // The run takes these grains as complete.
        let seen = given
            .clone()
            .with_tree_grains(given.grains.clone(), Vec::new());
        let run = self.run(&seen);
        let host = RunHost::new(&run);
        let mut made = run.on_vm(|vm| tree_grains(&host, vm, &given, platform, &self.stubs));
        made.warnings.splice(..0, run.warnings());
        let known = Arc::new(KnownMinion {
            given,
            made,
            reads: run.file_reads(),
        });
        self.minions.keep(known.clone());
        Some(known)
    }
}

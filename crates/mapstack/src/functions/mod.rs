//! The execution functions that templates can call, under their names in Salt: those of [`mapstack_functions`], and
//! those that need the engine.

mod jinja;
mod map;
mod renderer;

use std::cell::Ref;

use mapstack_diagnostic::Diagnostic;
use mapstack_functions::{Context, Flow, is_for_masters, is_given_all, why_not_in_pillar};
use mapstack_loader::{Fetched, FileServer, SaltPath};
use mapstack_minion::{ConfigGet, Minion, Part, PillarGet, SaltVersion};
use mapstack_pyobject::{CallArgs, Obj, Result};
use mapstack_salt_jinja::Vm;
use mapstack_value::{Map, Str, Value};

use crate::built_in::{BuiltIn, RunFunction};
use crate::engine::Engine;
use crate::file::unreadable;
use crate::run::Run;

/// The functions that need the engine.
const BUILT_IN: BuiltIn = BuiltIn(&[jinja::TABLE, map::TABLE, renderer::TABLE]);

impl Engine {
    /// An engine over a file server, with the built-in functions.
    pub fn new(files: impl FileServer + 'static) -> Self {
        Engine::with_built_in(Box::new(files), BUILT_IN)
    }
}

impl Run<'_> {
    /// The built-in function that answers a call, if one can do so where the run is.
    pub(crate) fn built_in(&self, name: &str, args: &CallArgs) -> Option<RunFunction> {
        let is_unknown = (is_for_masters(name) && self.master.is_none())
            || (self.why_not_in_pillar(name).is_some() && !is_given_all(name, args));
        self.engine.built_in.find(name).filter(|_| !is_unknown)
    }

    /// True if the templates are those of a pillar.
    pub(crate) fn is_in_pillar(&self) -> bool {
        self.master.is_some() || self.is_elsewhere
    }

    /// Why a function has no answer in the templates of this run, because they are those of a pillar.
    pub(crate) fn why_not_in_pillar(&self, name: &str) -> Option<&'static str> {
        match self.is_in_pillar() {
            true => why_not_in_pillar(name, !self.is_elsewhere),
            false => None,
        }
    }
}

impl Context for Run<'_> {
    fn id(&self) -> Value {
        self.facts.id()
    }

    fn grain(&self, key: &str) -> Option<Value> {
        self.facts.grain(key)
    }

    fn has_grain(&self, key: &str) -> bool {
        self.facts.has_grain(key)
    }

    fn below(&self, part: Part, first: &str) -> Map {
        self.facts.below(part, first)
    }

    fn facts(&self) -> Ref<'_, Minion> {
        self.facts.all()
    }

    fn option(&self, name: &str) -> Value {
        Run::option(self, name)
    }

    fn pillar_get(&self, key: &Value, query: &PillarGet) -> mapstack_diagnostic::Result<Value> {
        Run::pillar_get(self, key, query)
    }

    fn config_get(
        &self,
        key: &Value,
        query: &ConfigGet,
    ) -> mapstack_diagnostic::Result<Option<Value>> {
        Run::config_get(self, key, query)
    }

    fn salt_version(&self) -> SaltVersion {
        self.engine.salt_version()
    }

    fn pillar_of_targets(&self) -> Option<Value> {
        self.master.as_ref()?.pillar_of_targets.clone()
    }

    fn pillar_of_functions(&self) -> Option<Value> {
        let own = self.master.as_ref()?.pillar_of_functions.clone();
        own.or_else(|| self.pillar_of_targets())
    }

    fn grains(&self) -> &Obj {
        &self.live.grains
    }

    fn pillar(&self) -> &Obj {
        &self.live.pillar
    }

    fn opts(&self) -> Obj {
        // A master's functions see its own options, and templates those that it makes for the minion.
        match &self.master {
            Some(_) => Obj::from(self.facts.all().options()),
            None => self.live_opts(),
        }
    }

    fn is_elsewhere(&self) -> bool {
        self.is_elsewhere
    }

    fn traverse(&self, data: &Obj, key: &Value, delimiter: &str) -> Result<Option<Obj>> {
        self.traverse_live(data, key, delimiter)
    }

    fn saltenv(&self) -> Str {
        self.saltenv.clone()
    }

    fn envs(&self) -> Vec<String> {
        self.engine.files.envs()
    }

    fn fetch(&self, path: &SaltPath, saltenv: &str) -> mapstack_diagnostic::Result<Fetched> {
        let fetched = self.engine.served(path, saltenv);
        self.note_fetched(saltenv, path, &fetched);
        unreadable(path, fetched)
    }

    fn fetch_of_pillar(
        &self,
        path: &SaltPath,
        saltenv: &str,
    ) -> mapstack_diagnostic::Result<Option<Fetched>> {
        let Some(master) = &self.master else {
            return Ok(None);
        };
        unreadable(path, master.pillar_files.fetch(path, saltenv)).map(Some)
    }

    fn on_machine(
        &self,
        path: &str,
    ) -> mapstack_diagnostic::Result<Option<mapstack_functions::OnMachine>> {
        Run::on_machine(self, path)
    }

    fn unanswered(&self, vm: &Vm<'_>, name: &str, args: &CallArgs) -> Result<Obj> {
        let host = crate::host::RunHost::new(self);
        let call = host.call(name, args)?;
        if self.engine.collected.is_some() {
            vm.note_missing_function(&call.name);
        }
        host.lacks_answer(call)
    }

    fn list(&self, saltenv: &str, directory: &str) -> mapstack_diagnostic::Result<Vec<String>> {
        self.list_files(saltenv, directory)
    }

    fn text_file(&self, path: &str) -> mapstack_diagnostic::Result<Option<(String, String)>> {
        let file = self.fetch_template(path)?;
        file.map(|file| Ok((file.shown.clone(), file.text()?.into())))
            .transpose()
    }

    fn warn(&self, warning: Diagnostic) {
        Run::warn(self, warning);
    }

    fn is_followed(&self) -> bool {
        self.is_traced()
    }

    fn flows(&self, flow: Flow<'_>) {
        if self.is_traced()
            && let Some(hooks) = self.observed.hooks.get()
            && let Some(values) = hooks.values()
        {
            values.flowed(flow);
        }
    }

    fn call(&self, vm: &Vm<'_>, name: &str, args: CallArgs) -> Option<Result<Obj>> {
        Some(self.built_in(name, &args)?.call(self, vm, args))
    }

    fn help(&self, name: &str) -> String {
        self.engine.built_in.help(name)
    }
}

#[cfg(test)]
mod checks {
    use super::*;

    #[test]
    fn no_name_is_given_twice() {
        let mut names: Vec<&str> = BUILT_IN.all().map(|(name, _)| name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), count);
        assert!(names.iter().all(|name| name.contains('.')));
    }

    #[test]
    fn the_handbook_lists_every_function() {
        let handbook = include_str!("../../../../docs/functions.md");
        let rows = handbook
            .lines()
            .map(|line| line.split(" | ").collect::<Vec<_>>());
        let rows = rows
            .filter(|row| row[0].starts_with("| `"))
            .collect::<Vec<_>>();
        let listed = |state: &str| -> Vec<&str> {
            let of_state = rows.iter().filter(|row| row.get(1) == Some(&state));
            of_state
                .map(|row| row[0].trim_matches(|c: char| "|` ".contains(c)))
                .collect()
        };
        let mut names: Vec<&str> = BUILT_IN.all().map(|(name, _)| name).collect();
        names.sort_unstable();
        assert_eq!(listed("done"), names);
        assert!(
            listed("absent")
                .iter()
                .all(|name| BUILT_IN.find(name).is_none())
        );
        let reasons = rows.iter().filter(|row| row.get(1) == Some(&"absent"));
        assert!(reasons.clone().count() > 0 && reasons.clone().all(|row| row[2].len() > 5));
    }
}

//! The calls of [`Hooks`] in a run, and the methods of a run for observers.

use std::cell::Ref;
use std::rc::Rc;

use mapstack_diagnostic::{Diagnostic, Result};
use mapstack_matcher::{Definition, Matcher, PathRules, Paths};
use mapstack_merge::{MergeError, Options, merge};
use mapstack_minion::{Minion, Part};
use mapstack_pyobject::{DictRef, Obj};
use mapstack_salt_jinja::Edit;
use mapstack_value::{Map, Str, Value};

use crate::file::File;
use crate::hooks::{
    Edits, Hooks, MergedKind, MergedLayer, SourcePaths, StrategyOrigin, ValueHooks, tracer,
};
use crate::run::Run;
use crate::source::{MatcherData, fetch, paths, texts};
use crate::text::Text;
use crate::trace::FileReadKind;

impl<'e> Run<'e> {
    /// Run `work` with other hooks, and restore the previous ones afterwards.
    ///
    /// The hooks observe only `work`, without the accesses of templates to facts. To observe these, hooks must be
    /// present from the start, as with [`Engine::run_with_hooks`](crate::Engine::run_with_hooks).
    pub fn with_hooks<T>(&self, hooks: Rc<dyn Hooks + 'e>, work: impl FnOnce() -> T) -> T {
        let before = self.observed.hooks.replace(Some(hooks));
        let result = work();
        self.observed.hooks.replace(before);
        result
    }

    /// The engine of the run.
    pub fn engine(&self) -> &'e crate::Engine {
        self.engine
    }

    /// Report to the observer of values, if there is one and this is the outermost call.
    pub(crate) fn report(&self, report: impl FnOnce(&dyn ValueHooks)) {
        if self.is_outermost()
            && let Some(hooks) = self.observed.hooks.get()
            && let Some(values) = hooks.values()
        {
            report(values);
        }
    }

    /// True if values are observed, and this is the outermost call.
    pub(crate) fn has_observed_values(&self) -> bool {
        let hooks = || self.observed.hooks.get();
        self.is_outermost() && hooks().is_some_and(|hooks| hooks.values().is_some())
    }

    /// Report what a template exports, from whichever call.
    pub(crate) fn report_export(&self, object: &Obj, value: &Value) {
        if let Some(hooks) = self.observed.hooks.get()
            && let Some(values) = hooks.values()
        {
            values.exported(object, value);
        }
    }

    fn is_outermost(&self) -> bool {
        // A map that is traced calls `map.data` from its template.
        self.allowance.depth.get() == 1 + usize::from(self.observed.traced.get())
    }

    /// True if hooks trace the template that runs. Templates of nested calls are not traced.
    pub(crate) fn is_traced(&self) -> bool {
        self.observed.traced.get() && self.allowance.depth.get() == 1
    }

    /// Run the template of a map, traced if the hooks do so.
    pub(crate) fn traced<T>(&self, work: impl FnOnce() -> T) -> T {
        let hooks = self.observed.hooks.get();
        self.observed
            .traced
            .set(hooks.is_some_and(|hooks| tracer(&*hooks).is_some()));
        let result = work();
        self.observed.traced.set(false);
        result
    }

    /// Evaluate a definition to paths. Also returns whether hooks record which of the files are missing.
    pub(crate) fn observed_paths<T>(
        &self,
        source: &SourcePaths<'_>,
        evaluate: impl FnOnce() -> Result<T>,
    ) -> Result<(T, bool)> {
        let hooks = self
            .observed
            .hooks
            .get()
            .filter(|hooks| hooks.before_paths(source));
        let found = evaluate();
        let Some(hooks) = hooks else {
            return found.map(|found| (found, false));
        };
        for directory in hooks.after_paths(source, found.is_ok()) {
            self.note_read(&self.saltenv, &format!("{directory}/"), FileReadKind::List);
        }
        found.map(|found| (found, true))
    }

    /// Merge a layer. `describe` runs only if hooks observe values.
    pub(crate) fn merge_layer<'l>(
        &self,
        base: Value,
        values: &'l Value,
        options: &'l Options,
        describe: impl FnOnce() -> (MergedKind<'l>, StrategyOrigin),
    ) -> Result<Value, MergeError> {
        self.report(|hooks| {
            let (kind, chosen) = describe();
            let layer = MergedLayer {
                kind,
                facts: &self.facts.unchanged(),
                values,
                options,
                chosen,
            };
            hooks.merging(self.journal.moment(), &layer);
        });
        merge(base, values, options)
    }

    /// Report the changes that a template made in place.
    pub(crate) fn report_edits(&self, file: &File, before: &Value, now: &Value, edits: Vec<Edit>) {
        self.report(|hooks| {
            let place = |edit: Edit| (self.place_in_template(edit.place, file), edit.after);
            let whole = Text::plain(file, file.text().unwrap_or_default()).place(0);
            let edits = Edits {
                file,
                before,
                now,
                statements: edits.into_iter().map(place).collect(),
                whole,
            };
            hooks.edited(self.journal.moment(), edits);
        });
    }

    /// Facts as a dict that templates can change, whose reads are reported to hooks.
    pub(crate) fn live_dict(hooks: Option<&(dyn Hooks + 'e)>, part: Part, facts: &Map) -> Obj {
        match hooks.and_then(|hooks| hooks.fact_reader(part)) {
            Some(reader) => Obj::Dict(DictRef::tracked(facts.clone(), reader, Vec::new())),
            None => Obj::from(facts.clone()),
        }
    }
}

/// Methods for crates that observe runs or share their results.
impl Run<'_> {
    /// The minion's present facts. The read is not reported to hooks.
    pub fn minion(&self) -> Ref<'_, Minion> {
        self.facts.unchanged()
    }

    /// The saltenv of the run.
    pub fn saltenv(&self) -> &Str {
        &self.saltenv
    }

    /// True if the results depend on anything other than files and facts: on functions from outside, or on templates
    /// in Mako, Python or Tera.
    pub fn has_outside_inputs(&self) -> bool {
        self.journal.has_outside_inputs.get()
    }

    /// The steps that templates have used so far.
    pub fn spent(&self) -> u64 {
        self.engine
            .limits
            .fuel
            .saturating_sub(self.allowance.fuel.get())
    }

    /// The steps that templates may still use.
    pub fn steps_left(&self) -> u64 {
        self.allowance.fuel.get()
    }

    /// True if the templates are a master's.
    pub fn is_on_master(&self) -> bool {
        self.master.is_some()
    }

    /// The options that templates were given.
    pub fn template_options(&self) -> Map {
        match &self.master {
            Some(side) => side.opts.clone(),
            None => self.facts.unchanged().options(),
        }
    }

    /// True if the options that templates see are unchanged.
    pub fn has_given_options(&self) -> bool {
        match self.live.opts.get() {
            Some(Obj::Dict(opts)) if !opts.is_pending() => {
                let given = Value::Map(self.template_options());
                Obj::Dict(opts.clone())
                    .to_value_unread()
                    .is_ok_and(|now| now.is_same(&given))
            }
            _ => true,
        }
    }

    /// True if the grains and the pillar of templates are unchanged, if functions have others.
    pub fn has_given_facts_of_templates(&self) -> bool {
        match self.facts_of_templates() {
            Ok(Some(now)) => self.live.apart.as_ref().is_some_and(|apart| {
                let is_same = |(now, given): (&Map, &Map)| {
                    now.ptr_eq(given) || Value::from(now.clone()).is_same(&given.clone().into())
                };
                now.iter().zip(&apart.given).all(is_same)
            }),
            Ok(None) => true,
            Err(_) => false,
        }
    }

    /// The number of [warnings](Run::warnings) so far.
    pub fn warning_count(&self) -> usize {
        self.journal.warnings.borrow().len()
    }

    /// Remove the warnings after the first `behind` from the run, and return them.
    pub fn take_warnings(&self, behind: usize) -> Vec<Diagnostic> {
        let mut warnings = self.journal.warnings.borrow_mut();
        let behind = behind.min(warnings.len());
        warnings.split_off(behind).into_iter().collect()
    }

    /// The paths that a definition leads to, for a definition that reads only the minion. Empty if a matcher finds
    /// nothing.
    ///
    /// # Errors
    /// A matcher cannot be looked up, or leads to too many paths.
    pub fn layer_paths(
        &self,
        definition: &Definition,
        config_get_strategy: &Value,
    ) -> Result<Vec<String>> {
        let nothing = Value::None;
        let around = MatcherData {
            stack: &nothing,
            custom_data: &nothing,
            config_get_strategy,
        };
        match paths(self, definition, &around, PathRules::LAYERS)? {
            Paths::Relative(relative) => Ok(relative),
            Paths::Absent(_) => Ok(Vec::new()),
        }
    }

    /// The texts that a matcher finds, as parts of paths, if `data` is the data merged so far. Empty if it finds
    /// nothing.
    ///
    /// # Errors
    /// The matcher cannot be looked up.
    pub fn matched_texts(
        &self,
        matcher: &Matcher,
        data: &Value,
        custom_data: &Value,
        config_get_strategy: &Value,
    ) -> Result<Vec<String>> {
        let around = MatcherData {
            stack: data,
            custom_data,
            config_get_strategy,
        };
        let found = fetch(self, matcher, &around)?;
        Ok(found.map(|found| texts(&found.value)).unwrap_or_default())
    }
}

//! Where a run calls its [`Hooks`], and what it has to say to those who watch it.

use std::cell::Ref;
use std::rc::Rc;

use mapstack_diagnostic::{Diagnostic, Result};
use mapstack_matcher::{Definition, Matcher};
use mapstack_merge::{MergeError, Options, merge};
use mapstack_minion::{Minion, Part};
use mapstack_render::jinja::Edit;
use mapstack_render::{DictRef, Obj};
use mapstack_value::{Map, Str, Value};

use crate::engine::Run;
use crate::file::File;
use crate::hooks::{
    Chosen, Edits, Hooks, LayerTemplate, MergedKind, MergedLayer, Moment, SourcePaths,
};
use crate::render::Stage as RenderStage;
use crate::source::{PathRules, Paths, Surroundings, fetch, paths, texts};
use crate::text::Text;
use crate::trace::FileReadKind;

impl<'e> Run<'e> {
    /// Do work that hooks watch; those that the run has are put back afterwards.
    ///
    /// Only what happens in `work` is watched, and not the looks of templates into facts: for those the hooks have to
    /// be there from the start, as [`Engine::run_with_hooks`](crate::Engine::run_with_hooks) puts them.
    pub fn watched_by<T>(&self, hooks: Rc<dyn Hooks + 'e>, work: impl FnOnce() -> T) -> T {
        let before = self.hooks.replace(Some(hooks));
        let result = work();
        self.hooks.replace(before);
        result
    }

    /// Who follows where values come from: the hooks, if they do, in the outermost call. What templates make by
    /// further calls is theirs.
    pub(crate) fn follower(&self) -> Option<Rc<dyn Hooks + 'e>> {
        if self.depth.get() != 1 {
            return None;
        }
        self.hooks.get().filter(|hooks| hooks.follows_values())
    }

    /// Which part of the work is done.
    pub(crate) fn moment(&self) -> Moment {
        Moment {
            stage: self.stage.get(),
            definition: self.definition.borrow().clone(),
        }
    }

    /// Something looks at values of the data so far.
    pub(crate) fn data_is_read(&self) {
        if let Some(hooks) = self.hooks.get() {
            hooks.data_read();
        }
    }

    /// The data so far as an object that templates can change, and whether its reads are watched.
    pub(crate) fn live_data(&self, data: &Value) -> (Obj, bool) {
        let reader = || self.hooks.get()?.data_reader();
        match reader() {
            None => (Obj::from(data.clone()), false),
            Some(reader) => {
                let live = match data {
                    Value::Map(map) => Obj::Dict(DictRef::watched(map.clone(), reader, Vec::new())),
                    other => Obj::from(other.clone()),
                };
                (live, true)
            }
        }
    }

    /// Evaluate a definition to paths; and whether hooks know which of the files are missing.
    pub(crate) fn watched_paths<T>(
        &self,
        source: &SourcePaths<'_>,
        evaluate: impl FnOnce() -> Result<T>,
    ) -> Result<(T, bool)> {
        let hooks = self.hooks.get().filter(|hooks| hooks.before_paths(source));
        let found = evaluate();
        let Some(hooks) = hooks else {
            return found.map(|found| (found, false));
        };
        for directory in hooks.after_paths(source, found.is_ok()) {
            self.note_read(&self.saltenv, &format!("{directory}/"), FileReadKind::List);
        }
        found.map(|found| (found, true))
    }

    /// Run the template of a layer.
    pub(crate) fn watched_template<T>(&self, path: &str, render: impl FnOnce() -> T) -> T {
        let hooks = self.hooks.get().filter(|_| self.is_layer_of_formula());
        if let Some(hooks) = &hooks {
            hooks.before_template(path);
        }
        let result = render();
        if let Some(hooks) = &hooks {
            hooks.after_template();
        }
        result
    }

    /// Merge a layer. What it is is only asked where somebody follows.
    pub(crate) fn merge_layer<'l>(
        &self,
        base: Value,
        values: &'l Value,
        options: &'l Options,
        describe: impl FnOnce() -> (MergedKind<'l>, Chosen),
    ) -> Result<Value, MergeError> {
        if options.compares_values() {
            self.data_is_read();
        }
        if let Some(hooks) = self.follower() {
            let (kind, chosen) = describe();
            let layer = MergedLayer {
                kind,
                facts: &self.facts.unchanged(),
                values,
                options,
                chosen,
            };
            hooks.merging(self.moment(), &layer);
        }
        merge(base, values, options, &mut ())
    }

    /// Report what a template changed in place.
    pub(crate) fn report_edits(
        &self,
        file: &File,
        (before, now): (&Value, &Value),
        edits: Vec<Edit>,
    ) {
        let Some(hooks) = self.follower() else {
            return;
        };
        let place = |edit: Edit| (self.place_in_template(edit.place, file), edit.after);
        let whole = Text::plain(file, file.text().unwrap_or_default()).place(0);
        let edits = Edits {
            file,
            before,
            now,
            statements: edits.into_iter().map(place).collect(),
            whole,
        };
        hooks.edited(self.moment(), edits);
    }

    /// Facts as a dict that templates can change; hooks can see what is read.
    pub(crate) fn live_dict(hooks: Option<&(dyn Hooks + 'e)>, part: Part, facts: &Map) -> Obj {
        match hooks.and_then(|hooks| hooks.fact_reader(part)) {
            Some(reader) => Obj::Dict(DictRef::watched(facts.clone(), reader, Vec::new())),
            None => Obj::from(facts.clone()),
        }
    }
}

/// What those who watch runs, or remember what came of them, need to know of one.
impl Run<'_> {
    /// The minion's facts as they are now. This look is not reported to hooks.
    pub fn minion(&self) -> Ref<'_, Minion> {
        self.facts.unchanged()
    }

    /// What it shares with other runs.
    pub fn engine(&self) -> &crate::Engine {
        self.engine
    }

    /// The saltenv that files are looked for in.
    pub fn saltenv(&self) -> &Str {
        &self.saltenv
    }

    /// Whether the results are a function of something else than files and facts: of functions from outside, or of
    /// templates in Mako, Python or Tera.
    pub fn is_own(&self) -> bool {
        self.own.get()
    }

    /// Steps that templates have taken so far.
    pub fn spent(&self) -> u64 {
        self.engine.limits.fuel.saturating_sub(self.fuel.get())
    }

    /// Whether templates see the options as they were given.
    pub fn has_given_options(&self) -> bool {
        match self.live.opts.get() {
            Some(Obj::Dict(opts)) if !opts.is_pending() => {
                let given = Value::Map(self.facts.unchanged().options());
                Obj::Dict(opts.clone())
                    .to_value_unread()
                    .is_ok_and(|now| now.is_same(&given))
            }
            _ => true,
        }
    }

    /// How many [warnings](Run::warnings) there are so far.
    pub fn warning_count(&self) -> usize {
        self.warnings.borrow().len()
    }

    /// Take the warnings behind the first few out of the run's record.
    pub fn take_warnings(&self, behind: usize) -> Vec<Diagnostic> {
        let mut warnings = self.warnings.borrow_mut();
        let behind = behind.min(warnings.len());
        warnings.split_off(behind)
    }

    /// The paths that a definition leads to, if it looks at nothing but the minion; none where a matcher finds
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
        let around = Surroundings {
            stack: &nothing,
            custom_data: &nothing,
            config_get_strategy,
        };
        match paths(self, definition, &around, PathRules::LAYERS)? {
            Paths::Relative(relative) => Ok(relative),
            Paths::Absent(_) => Ok(Vec::new()),
        }
    }

    /// The texts that a matcher finds when `data` is the data so far, as parts of paths; none if it finds nothing.
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
        let around = Surroundings {
            stack: data,
            custom_data,
            config_get_strategy,
        };
        let found = fetch(self, matcher, &around)?;
        Ok(found.map(|found| texts(&found.value)).unwrap_or_default())
    }

    /// What the template of a layer prints, given the data so far, which it may change.
    ///
    /// # Errors
    /// The template fails.
    pub fn print_layer<'f>(
        &self,
        template: &LayerTemplate<'f>,
        data: &mut Value,
    ) -> Result<Text<'f>> {
        let source = template.file.text()?.into();
        let stage = RenderStage::Layer(template);
        self.called(|| self.render(template.file, &source, &stage, data))
    }
}

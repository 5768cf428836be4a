//! `map.stack`: merges layers from left to right.

use std::cell::RefCell;
use std::sync::Arc;

use mapstack_diagnostic::nearest;
use mapstack_matcher::{Definition, MatcherKind, Mode, PathRules, Paths, join, variants};
use mapstack_merge::{self as merge, Aliases};
use mapstack_minion::builtin;
use mapstack_value::{Path, Value};

use crate::aliases::parted_aliases;
use crate::hooks::{LayerTemplate, MergedKind, SourcePaths, StrategyOrigin};
use crate::options::{StackOptions, iterate, or};
use crate::run::Run;
use crate::source::{MatcherData, MatcherValue, fetch, fetch_layer, paths, pop_options, texts};
use crate::trace::{DataStage, TracedRequest};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Place, Result};

/// The arguments of a fold, without the minion.
pub(crate) struct Fold<'f> {
    pub tpldir: &'f str,
    pub tplroot: &'f str,
    pub parameter_dirs: Vec<String>,
    pub custom_data: Value,
    pub config_get_strategy: Value,
    pub merge_strategy: Value,
    pub merge_lists: Value,
    /// True if the caller gave the strategy. Otherwise it is the built-in default.
    pub default_is_given: bool,
    /// The mappings that layers so far have at several places by YAML anchors.
    pub aliases: RefCell<Aliases>,
}

impl Fold<'_> {
    /// The place that a layer's strategy comes from. `own` is the place in the layer, if the layer sets it.
    fn chosen(&self, own: Option<Option<Place>>) -> StrategyOrigin {
        match own {
            Some(place) => StrategyOrigin::Layer(place),
            None if self.default_is_given => StrategyOrigin::Default,
            None => StrategyOrigin::BuiltIn,
        }
    }
}

/// Maximum nesting of `map.data` calls in templates that `map.data` renders.
const MAX_NESTING: usize = 32;

impl Run<'_> {
    /// `map.stack(tpldir, sources, …)`.
    ///
    /// # Errors
    /// An invalid definition, template, file, argument or merge.
    pub fn stack(&self, tpldir: &str, sources: &Value, options: &StackOptions) -> Result<Value> {
        self.called(|| self.stacked(tpldir, sources, options))
    }

    /// Run a call of a map function. Templates can nest such calls.
    pub(crate) fn called<T>(&self, call: impl FnOnce() -> Result<T>) -> Result<T> {
        let what = "map functions call each other through templates";
        self.nested(
            what,
            "a template must not ask for the configuration it is part of",
            || {
                let outer = self.journal.definition.replace(None);
                let result = call();
                self.journal.definition.replace(outer);
                result
            },
        )
    }

    /// Run `work`, in which templates can start the same kind of work again.
    ///
    /// # Errors
    /// A limit error if the nesting is too deep, or the error of `work`.
    pub(crate) fn nested<T>(
        &self,
        what: &str,
        help: &str,
        work: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if self.allowance.depth.get() >= MAX_NESTING {
            let message = format!("{what} more than {MAX_NESTING} levels deep");
            return Err(Error::new(ErrorKind::Limit, message).help(help));
        }
        self.allowance.depth.set(self.allowance.depth.get() + 1);
        let result = work();
        self.allowance.depth.set(self.allowance.depth.get() - 1);
        result
    }

    /// `map.stack` as part of the current call.
    pub(crate) fn stacked(
        &self,
        tpldir: &str,
        sources: &Value,
        options: &StackOptions,
    ) -> Result<Value> {
        let tplroot = tplroot(tpldir);
        let directories = match &options.parameter_dirs {
            None | Some(Value::None) => {
                vec!["parameters".to_string(), format!("{tplroot}/parameters")]
            }
            Some(given) => directories(given)?,
        };
        let falsy_to_map = |value: Option<&Value>| {
            value
                .filter(|v| v.truthy())
                .cloned()
                .unwrap_or_else(Value::map)
        };
        let fold = Fold {
            tpldir,
            tplroot,
            parameter_dirs: directories,
            custom_data: falsy_to_map(options.custom_data.as_ref()),
            config_get_strategy: or(options.config_get_strategy.as_ref(), Value::None),
            merge_strategy: options
                .default_merge_strategy
                .clone()
                .filter(Value::truthy)
                .unwrap_or("smart".into()),
            default_is_given: options
                .default_merge_strategy
                .as_ref()
                .is_some_and(Value::truthy),
            merge_lists: options
                .default_merge_lists
                .clone()
                .filter(|v| !v.is_none())
                .unwrap_or(false.into()),
            aliases: RefCell::default(),
        };
        self.fold(
            &fold,
            sources,
            falsy_to_map(options.default_values.as_ref()),
        )
    }

    /// Apply the sources in order.
    fn fold(&self, fold: &Fold<'_>, sources: &Value, mut stack: Value) -> Result<Value> {
        self.report(|hooks| hooks.fold_begins(self.journal.moment(), &stack));
        let result = self.fold_all(fold, sources, &mut stack);
        self.journal.definition.replace(None);
        result.map(|()| stack)
    }

    fn fold_all(&self, fold: &Fold<'_>, sources: &Value, stack: &mut Value) -> Result<()> {
        for (index, source) in iterate(sources, "`sources`")?.iter().enumerate() {
            let Value::Str(text) = source else {
                let message = format!(
                    "source {} is {}, not a source definition",
                    index + 1,
                    source.kind().described()
                );
                return Err(Error::new(ErrorKind::Definition, message)
                    .help("definitions are strings such as \"Y!G@os\""));
            };
            self.journal.definition.replace(Some(text.clone()));
            let definition = self.layer_definition(text)?;
            if definition.leads_to_files() {
                self.apply_files(fold, &definition, stack)?;
            } else {
                self.apply_values(fold, &definition, stack)
                    .map_err(|e| e.note(format!("while applying the source {text}")))?;
            }
        }
        Ok(())
    }

    /// Parse a source definition, once for all runs.
    fn layer_definition(&self, text: &str) -> Result<Arc<Definition>> {
        let known = &self.engine.definitions;
        if let Some(definition) = known.get(text) {
            return Ok(definition);
        }
        let definition = Arc::new(parse(text, Mode::Layer)?);
        known.put(text, definition.clone());
        Ok(definition)
    }

    /// Apply a definition that leads to files.
    fn apply_files(
        &self,
        fold: &Fold<'_>,
        definition: &Definition,
        stack: &mut Value,
    ) -> Result<()> {
        let evaluate =
            |around: &MatcherData<'_>| paths(self, definition, around, PathRules::LAYERS);
        let source = SourcePaths {
            definition,
            directories: &fold.parameter_dirs,
            config_get_strategy: &fold.config_get_strategy,
            stage: self.journal.stage.get(),
            formula: (self.allowance.depth.get() == 1).then_some(fold.tplroot),
        };
        let (found, known_missing) =
            self.observed_paths(&source, || self.evaluate(fold, definition, stack, evaluate))?;
        let relative = match found {
            Paths::Relative(relative) => relative,
            Paths::Absent(matcher) => {
                let query = Some(matcher.query().to_owned());
                self.journal.record(TracedRequest::NoPaths { query });
                return Ok(());
            }
        };
        if relative.is_empty() {
            self.journal.record(TracedRequest::NoPaths { query: None });
        }
        for directory in &fold.parameter_dirs {
            for path in &relative {
                self.apply_path(fold, &join([directory, path]), known_missing, stack)?;
            }
        }
        Ok(())
    }

    /// Apply a path with its variants. All variants are rendered before the first is merged.
    fn apply_path(
        &self,
        fold: &Fold<'_>,
        path: &str,
        known_missing: bool,
        stack: &mut Value,
    ) -> Result<()> {
        let mut files = Vec::new();
        for candidate in variants(path) {
            files.push(self.fetch_candidate(&candidate, known_missing)?);
        }
        let mut layers = Vec::new();
        for file in files.iter().flatten() {
            let template = LayerTemplate {
                file,
                tpldir: fold.tpldir,
                tplroot: fold.tplroot,
                custom_data: &fold.custom_data,
            };
            layers.push((self.load_layer(&template, stack)?, file));
        }
        for ((layer, text), file) in layers {
            let Some(values) = &layer.values else {
                continue;
            };
            let options = self.merge_options(
                fold,
                layer.strategy.as_ref(),
                layer.merge_lists.as_ref(),
                &file.shown,
            );
            let describe = || {
                let positions = layer.positions(text.as_str());
                let own = layer
                    .strategy
                    .is_some()
                    .then(|| positions.strategy.map(|mark| text.place_of_mark(mark)));
                let kind = MergedKind::File {
                    file,
                    text: &text,
                    marks: &positions.values,
                };
                (kind, fold.chosen(own))
            };
            self.warn_of_aliases(fold, stack, values, &options, &file.shown);
            fold.aliases.borrow_mut().add(&layer.aliases);
            let base = std::mem::take(stack);
            *stack = self
                .merge_layer(base, values, &options, describe)
                .map_err(|e| {
                    Error::new(ErrorKind::Merge, format!("`values` cannot be merged: {e}"))
                        .at(text.place_of_value("values"))
                })?;
        }
        Ok(())
    }

    /// Apply a definition that is data itself.
    fn apply_values(
        &self,
        fold: &Fold<'_>,
        definition: &Definition,
        stack: &mut Value,
    ) -> Result<()> {
        let layer = self.evaluate(fold, definition, stack, |around| {
            self.chain(fold, definition, around)
        })?;
        self.journal.record(TracedRequest::Value {
            found: layer.is_some(),
        });
        let Some(layer) = layer else { return Ok(()) };
        let origin = definition.to_string();
        let options = self.merge_options(
            fold,
            layer.strategy.as_ref(),
            layer.merge_lists.as_ref(),
            &origin,
        );
        let describe = || {
            let kind = MergedKind::Value {
                definition,
                config_get_strategy: &fold.config_get_strategy,
            };
            (kind, fold.chosen(layer.strategy.is_some().then_some(None)))
        };
        self.warn_of_aliases(fold, stack, &layer.value, &options, &origin);
        let base = std::mem::take(stack);
        *stack = self.merge_layer(base, &layer.value, &options, describe).map_err(|e| {
            let error = Error::new(ErrorKind::Merge, format!("the value of {origin} cannot be merged: {e}"));
            match built_in_option(definition) {
                Some(name) => error.help(format!(
                    "every minion has an option '{name}', which hides configuration of that name; use I@{name} for the pillar"
                )),
                None => error.help(
                    "a source that is not a path must be a mapping; to read files named after it, prefix it with Y!",
                ),
            }
        })?;
        Ok(())
    }

    /// The value of a raw definition with several matchers: each further matcher selects keys of the value so far
    /// (saltext-formula: `Renderer.render`).
    fn chain(
        &self,
        fold: &Fold<'_>,
        definition: &Definition,
        around: &MatcherData<'_>,
    ) -> Result<Option<MatcherValue>> {
        let mut matchers = definition.matchers().iter();
        let Some(mut layer) = matchers
            .next()
            .map_or(Ok(None), |first| fetch_layer(self, first, around))?
        else {
            return Ok(None);
        };
        for matcher in matchers {
            let keys = match matcher.kind() {
                MatcherKind::Static => vec![matcher.query().to_string()],
                _ => match fetch(self, matcher, around)? {
                    Some(found) => texts(&found.value),
                    None => return Ok(None),
                },
            };
            let origin = definition.to_string();
            let options = self.merge_options(
                fold,
                layer.strategy.as_ref(),
                layer.merge_lists.as_ref(),
                &origin,
            );
            let mut picked = Value::map();
            for key in keys {
                let path = Path::split(&key, ":")
                    .map_err(|e| Error::new(ErrorKind::Lookup, e.to_string()))?;
                let item = mapstack_yaml::traverse(&layer.value, &path).unwrap_or_else(Value::map);
                picked = merge::merge(picked, &item, &options).map_err(|e| {
                    Error::new(
                        ErrorKind::Merge,
                        format!("'{key}' of {origin} cannot be merged: {e}"),
                    )
                })?;
            }
            layer.value = picked;
        }
        Ok(Some(layer))
    }

    /// Evaluate a definition, and remove the merge options that its matchers find in the stack.
    fn evaluate<T>(
        &self,
        fold: &Fold<'_>,
        definition: &Definition,
        stack: &mut Value,
        evaluate: impl FnOnce(&MatcherData<'_>) -> Result<T>,
    ) -> Result<T> {
        self.report(|hooks| hooks.source_begins());
        let (custom_data, config_get_strategy) = (&fold.custom_data, &fold.config_get_strategy);
        let around = MatcherData {
            stack,
            custom_data,
            config_get_strategy,
        };
        let found = evaluate(&around)?;
        pop_options(definition, stack);
        if definition
            .matchers()
            .iter()
            .any(|matcher| matcher.kind() == MatcherKind::MapData)
        {
            self.report(|hooks| hooks.data_reduced(stack));
        }
        Ok(found)
    }

    /// Warn where a layer changes one place of a mapping that an earlier layer has at several places.
    fn warn_of_aliases(
        &self,
        fold: &Fold<'_>,
        stack: &Value,
        values: &Value,
        options: &merge::Options,
        origin: &str,
    ) {
        let aliases = fold.aliases.borrow();
        if aliases.is_empty() {
            return;
        }
        for parted in aliases.parted(stack, values, options) {
            self.warn(parted_aliases(&parted, origin));
        }
    }

    /// The merge options of a layer, with the defaults of the fold.
    fn merge_options(
        &self,
        fold: &Fold<'_>,
        strategy: Option<&Value>,
        merge_lists: Option<&Value>,
        origin: &str,
    ) -> merge::Options {
        let strategy = strategy.unwrap_or(&fold.merge_strategy);
        let merge_lists = merge_lists.unwrap_or(&fold.merge_lists);
        let options = merge::Options::new(strategy, merge_lists);
        if let Some(message) = options.strategy.warning() {
            let warning = Diagnostic::warning(ErrorKind::Merge, format!("{origin}: {message}"));
            self.warn(
                match nearest(&strategy.to_string(), merge::Strategy::names()) {
                    Some(near) => warning.with_help(format!("did you mean '{near}'?")),
                    None => warning,
                },
            );
        }
        let appends = matches!(
            options.strategy,
            merge::Strategy::Smart | merge::Strategy::Recurse
        );
        if let Some(warning) = text_for_true(merge_lists).filter(|_| appends) {
            self.warn(Diagnostic::warning(
                ErrorKind::Merge,
                format!("{origin}: {warning}"),
            ));
        }
        options
    }
}

/// The warning about a `merge_lists` that is text and does not read as true. Salt goes by Python's truth, so it is true;
/// the library of the Salt project's formulas takes it for false.
fn text_for_true(merge_lists: &Value) -> Option<String> {
    let text = merge_lists.as_str().filter(|text| !text.is_empty())?;
    let reads_as_true = ["true", "yes", "on", "1"].contains(&&*text.to_lowercase());
    (!reads_as_true).then(|| {
        format!(
            "merge_lists is the text {}, which counts as true: lists are appended; \
             write true or false without quotes",
            merge_lists.repr()
        )
    })
}

/// The option that a `C` matcher finds on every minion, because Salt's built-in options take precedence over grains
/// and pillar.
fn built_in_option(definition: &Definition) -> Option<&str> {
    let first = definition
        .matchers()
        .first()
        .filter(|m| m.kind() == MatcherKind::Config)?;
    builtin::options()
        .contains_key(first.query())
        .then_some(first.query())
}

/// The text before the first slash.
pub(crate) fn tplroot(tpldir: &str) -> &str {
    tpldir.split('/').next().unwrap_or_default()
}

/// Convert an argument to parameter directories.
///
/// # Errors
/// The argument is not iterable, or an item is not text.
pub fn directories(given: &Value) -> Result<Vec<String>> {
    let items = iterate(given, "`parameter_dirs`")?;
    items
        .iter()
        .map(|item| match item {
            Value::Str(text) => Ok(text.to_string()),
            falsy if !falsy.truthy() => Ok(String::new()),
            other => {
                let what = other.kind().described();
                Err(Error::new(
                    ErrorKind::Options,
                    format!("an item of `parameter_dirs` is {what}, not a path"),
                ))
            }
        })
        .collect()
}

/// Parse a source definition, with an error of this crate.
///
/// # Errors
/// As [`Definition::parse`].
pub fn parse(text: &str, mode: Mode) -> Result<Definition> {
    Definition::parse(text, mode).map_err(|e| {
        let span = e.span();
        let place = Place {
            file: "source definition".into(),
            source: text.into(),
            start: span.start,
            end: span.end,
        };
        let error = Error::new(ErrorKind::Definition, e.to_string()).at(Some(place));
        match e.help() {
            Some(help) => error.help(help),
            None => error,
        }
    })
}

/// Run `work`, with its events attributed to a stage.
pub(crate) fn in_stage<T>(run: &Run<'_>, stage: DataStage, work: impl FnOnce() -> T) -> T {
    let before = run.journal.stage.replace(stage);
    let result = work();
    run.journal.stage.set(before);
    result
}

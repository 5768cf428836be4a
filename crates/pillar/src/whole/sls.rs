//! Rendering the sls of a pillar with what they include (Salt: `Pillar.render_pillar`, `render_pstate`).

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use mapstack::{File, PillarSls, RenderedSls};
use mapstack_diagnostic::{Error, ErrorKind, Place, Result};
use mapstack_merge::{Options, Strategy};
use mapstack_value::{Extent, Key, MapKind, Path, Value};

use super::defaults::variables;
use super::errors::{Fault, PillarError};
use super::files::{PillarFiles, SlsFile};
use super::renders::{Render, Renders, YamlPlaces};
use super::settings::CompileSettings;
use crate::cache::MergeCache;
use crate::recipe::{PillarLayer, PillarPart, Recipe, RecipeStep, SlsReason};
use crate::trace::{Events, SlsOutcome, WholeEvent};

/// The values that an sls gives to the one that includes it.
enum IncludeValues {
    /// Its own data alone. That is one object for all that include it: what one of them overwrites in it, all see.
    Own,
    /// A new object, merged of its data and what it includes.
    Merged(PillarPart),
}

impl IncludeValues {
    /// The data as it is now.
    fn data(&self, sls: &str, known: &SlsCache) -> PillarPart {
        match self {
            IncludeValues::Own => known.states.get(sls).cloned().flatten().unwrap_or_default(),
            IncludeValues::Merged(made) => made.clone(),
        }
    }
}

/// The data of an sls that is to be merged.
struct SlsLayer {
    given: IncludeValues,
    sls: String,
    /// The key that its data goes to.
    key: Option<String>,
}

impl SlsLayer {
    fn new(given: IncludeValues, sls: &str, key: Option<String>) -> Self {
        SlsLayer {
            given,
            sls: sls.into(),
            key,
        }
    }
}

/// Remember what an sls gives.
fn remembered(known: &mut SlsCache, sls: &str, state: Option<PillarPart>) -> Option<IncludeValues> {
    let given = state.as_ref().map(|_| IncludeValues::Own);
    known.states.insert(sls.into(), state);
    given
}

/// The reader of the sls of one minion.
pub(crate) struct SlsReader<'t, 'e> {
    pub renders: &'t Renders<'e>,
    /// Merges that minions share.
    pub merges: Option<&'t MergeCache>,
    pub files: &'t PillarFiles,
    pub settings: &'t CompileSettings,
    pub merging: &'t Options,
    /// Sls that may be missing, by saltenv.
    pub ignored: &'t HashMap<Key, Vec<String>>,
    pub events: &'t Events,
    pub recipe: &'t Recipe,
    pub visits: Cell<usize>,
    /// Finds the place in the top files that names an sls of the minion.
    pub named_at: &'t dyn Fn(&Key, &str) -> Option<Place>,
}

/// Includes nest this deep at most.
const MAX_DEPTH: usize = 100;

/// So often an sls is included in one compile at most.
const MAX_VISITS: usize = 100_000;

/// The rendered sls of a saltenv.
#[derive(Default)]
struct SlsCache {
    /// The data of each without what it includes; `None` for one that failed.
    states: HashMap<String, Option<PillarPart>>,
    /// Those whose pipe ends in text, which is a stream (Python: `io.StringIO`).
    streams: HashSet<String>,
}

/// The data of an sls, and its errors.
struct SlsData {
    given: Option<IncludeValues>,
    errors: Vec<PillarError>,
}

/// An sls whose turn it is.
struct PendingSls<'a> {
    sls: &'a str,
    saltenv: &'a Key,
    defaults: &'a Value,
    included_by: Option<&'a str>,
    /// Finds the place that names it.
    named_at: &'a dyn Fn() -> Option<Place>,
    /// The name in the top file by which it is reached.
    pattern: &'a str,
    /// The sls that include each other on the way to it.
    through: &'a [String],
    depth: usize,
}

/// An include, as far as it is understood.
struct Include {
    pattern: String,
    key: Option<String>,
}

impl SlsReader<'_, '_> {
    /// Merge the sls of the saltenvs over a pillar, in order.
    pub fn fold(
        &self,
        matches: &[(&Key, &Vec<String>)],
        mut pillar: PillarPart,
    ) -> Result<(PillarPart, Vec<PillarError>)> {
        let mut errors = Vec::new();
        for (saltenv, patterns) in matches {
            let mut known = SlsCache::default();
            for (sls, pattern) in self.expanded(saltenv, patterns, &mut errors)? {
                let asked = PendingSls {
                    sls: &sls,
                    saltenv,
                    defaults: &Value::None,
                    included_by: None,
                    named_at: &|| (self.named_at)(saltenv, pattern),
                    pattern,
                    through: &[],
                    depth: 0,
                };
                let outcome = self.sls(&asked, &mut known)?;
                errors.extend(outcome.errors);
                let data = outcome.given.map(|given| given.data(&sls, &known));
                if let Some(data) = data.filter(|data| data.value.as_map().is_some()) {
                    pillar = self.merge(pillar, &data, &sls)?;
                }
            }
        }
        Ok((pillar, errors))
    }

    /// The sls that patterns of a top file match, each with its pattern. A pattern without matches is itself the name.
    fn expanded<'p>(
        &self,
        saltenv: &Key,
        patterns: &'p [String],
        errors: &mut Vec<PillarError>,
    ) -> Result<Vec<(String, &'p str)>> {
        let env = saltenv.as_str().filter(|env| self.is_known(env));
        let mut all = Vec::new();
        for pattern in patterns {
            let found = match env {
                Some(env) => self.names(pattern, env)?,
                None => {
                    let first = patterns.first().map_or("", String::as_str);
                    let place = (self.named_at)(saltenv, first);
                    errors.push(no_environment(saltenv, place));
                    Vec::new()
                }
            };
            if found.is_empty() {
                all.push((pattern.clone(), pattern.as_str()));
            } else {
                all.extend(found.into_iter().map(|name| (name, pattern.as_str())));
            }
            self.visit(all.len())?;
        }
        Ok(all)
    }

    fn is_known(&self, env: &str) -> bool {
        self.settings.envs().iter().any(|known| known == env)
    }

    /// The sls of an environment that a pattern means.
    fn names(&self, pattern: &str, env: &str) -> Result<Vec<String>> {
        if !self.settings.has_roots(env) {
            return Ok(Vec::new());
        }
        self.renders
            .run()
            .spend(1 + self.files.names(env)?.len() / 8)?;
        self.files.matching(pattern, env)
    }

    /// Count the times that sls are included.
    fn visit(&self, times: usize) -> Result<()> {
        self.visits.set(self.visits.get() + times);
        if self.visits.get() <= MAX_VISITS {
            return Ok(());
        }
        let message = format!("the pillar includes sls more than {MAX_VISITS} times");
        Err(Error::new(ErrorKind::Limit, message)
            .help("includes by pattern that include each other multiply"))
    }

    fn sls(&self, asked: &PendingSls<'_>, known: &mut SlsCache) -> Result<SlsData> {
        if asked.depth > MAX_DEPTH {
            let sls = asked.sls;
            let message =
                format!("includes of the pillar nest deeper than {MAX_DEPTH}, at '{sls}'");
            return Err(Error::new(ErrorKind::Limit, message));
        }
        let mut errors = Vec::new();
        let env = asked.saltenv.as_str();
        let env = env.filter(|env| self.settings.has_roots(env));
        let version = self.renders.run().engine().salt_version();
        let found = env.map(|env| self.files.sls(asked.sls, env, version));
        let Some(found) = found.transpose()?.flatten() else {
            return Ok(self.missing(asked, known));
        };
        let render = self.render(asked, &found.file)?;
        let rendered = render.result.as_ref();
        let is_good = |data: &Value| data.as_map().is_some() || !data.truthy();
        let is_good = rendered.is_ok_and(|data| is_good(&data.value));
        self.files.reads().end_file(is_good);
        let state = match rendered {
            Ok(rendered) => Some(self.made(asked, &found, rendered)),
            Err(e) if e.kind() == ErrorKind::Limit => return Err(e.clone()),
            Err(e) => {
                errors.push(self.failed(asked, e.clone()));
                None
            }
        };
        let is_text = rendered.is_ok_and(|rendered| rendered.is_text);
        if is_text {
            known.streams.insert(asked.sls.into());
        }
        let value = state.as_ref().map(|made| &made.value);
        self.note(asked, Some(&found), outcome(value));
        let includes = match value {
            Some(Value::Map(map)) => map.get("include").cloned(),
            Some(other) if other.truthy() || is_text => {
                errors.push(no_mapping(asked, other, render.place()));
                None
            }
            _ => None,
        };
        let Some(includes) = includes else {
            let given = remembered(known, asked.sls, state);
            return Ok(SlsData { given, errors });
        };
        let Value::List(includes) = includes else {
            errors.push(no_list(asked, &includes, render.place()));
            let given = remembered(known, asked.sls, state);
            return Ok(SlsData { given, errors });
        };
        let mut own = state.unwrap_or_default();
        if let Value::Map(map) = &own.value {
            own.value = render.own(map).into();
        }
        known.states.insert(asked.sls.into(), Some(own));
        let given = self.included(asked, &found, &includes, &render, known, &mut errors)?;
        Ok(SlsData {
            given: Some(given),
            errors,
        })
    }

    fn render(&self, asked: &PendingSls<'_>, file: &File) -> Result<Render> {
        let variables = match variables(asked.defaults) {
            Ok(variables) => variables,
            Err(e) => return Ok(Render::failed(e)),
        };
        self.renders.render(PillarSls {
            file,
            saltenv: asked.saltenv.as_str().unwrap_or_default(),
            sls: asked.sls,
            variables: &variables,
        })
    }

    /// Note that an sls includes another one that was rendered before.
    fn note_again(&self, by: &PendingSls<'_>, sls: &str) {
        self.events.add(|| WholeEvent::Sls {
            sls: sls.into(),
            saltenv: by.saltenv.to_string(),
            path: None,
            included_by: Some(by.sls.into()),
            outcome: SlsOutcome::Again,
        });
    }

    /// The data of an sls with what it includes: before its own, unless the option says that it overrides that.
    fn included(
        &self,
        asked: &PendingSls<'_>,
        found: &SlsFile,
        includes: &[Value],
        render: &Render,
        known: &mut SlsCache,
        errors: &mut Vec<PillarError>,
    ) -> Result<IncludeValues> {
        let overrides = self.settings.is_on("pillar_includes_override_sls");
        let (mut layers, mut overridden) = (Vec::new(), None);
        let through = asked.through.iter().cloned();
        let through: Vec<String> = through.chain([asked.sls.into()]).collect();
        let mut defaults = asked.defaults.clone();
        // The reference reports the errors of the last sls that it rendered again for each that it does not.
        let mut last: Vec<PillarError> = Vec::new();
        let places = YamlPlaces::default();
        for (index, item) in includes.iter().enumerate() {
            let named_at = || places.find(render, &include_path(index, item));
            let include = read_include(item, &mut defaults)
                .map_err(|message| no_include(asked, &message, render.place()))?;
            for name in self.candidates(&include.pattern, asked, found)? {
                self.visit(1)?;
                let given = match known.states.get(&name) {
                    Some(known) => {
                        self.note_again(asked, &name);
                        known.as_ref().map(|_| IncludeValues::Own)
                    }
                    None => {
                        let next = PendingSls {
                            sls: &name,
                            defaults: &defaults,
                            included_by: Some(asked.sls),
                            named_at: &named_at,
                            through: &through,
                            depth: asked.depth + 1,
                            ..*asked
                        };
                        let outcome = self.sls(&next, known)?;
                        last = outcome.errors;
                        outcome.given
                    }
                };
                let is_stream = known.streams.contains(&name);
                let is_truthy =
                    |given: &IncludeValues| is_stream || given.data(&name, known).value.truthy();
                if let Some(given) = given.filter(is_truthy) {
                    let layer = SlsLayer::new(given, &name, include.key.clone());
                    if overrides {
                        let so_far = overridden.take().unwrap_or(IncludeValues::Own);
                        let layers = vec![SlsLayer::new(so_far, asked.sls, None), layer];
                        overridden = Some(self.stacked(layers, known)?);
                    } else {
                        layers.push(layer);
                    }
                }
                errors.extend(last.iter().cloned());
            }
        }
        if overrides {
            return Ok(overridden.unwrap_or(IncludeValues::Own));
        }
        layers.push(SlsLayer::new(IncludeValues::Own, asked.sls, None));
        self.stacked(layers, known)
    }

    /// Merge the data of sls, in order.
    fn stacked(&self, layers: Vec<SlsLayer>, known: &mut SlsCache) -> Result<IncludeValues> {
        if let [first, second, ..] = &layers[..]
            && self.merging.strategy == Strategy::Overwrite
            && matches!((&first.given, &first.key), (IncludeValues::Own, None))
        {
            let second = self.placed(second, known);
            self.overwrite(known, &first.sls, &second);
        }
        let mut layers = layers.into_iter();
        let first = match layers.next() {
            Some(first) if layers.len() > 0 => first,
            only => return Ok(only.map_or(IncludeValues::Own, |only| only.given)),
        };
        let base = self.placed(&first, known);
        let merged = layers.try_fold(base, |base, layer| {
            if self.merging.strategy == Strategy::List && layer.key.is_none() {
                read_stream(&base, &layer.sls, known);
            }
            self.merge(base, &self.placed(&layer, known), &layer.sls)
        })?;
        Ok(IncludeValues::Merged(merged))
    }

    /// The strategy `overwrite` of the reference overwrites in the base itself, which is what a second include gives.
    fn overwrite(&self, known: &mut SlsCache, name: &str, layer: &PillarPart) {
        let Some(Some(base)) = known.states.get_mut(name) else {
            return;
        };
        let (Value::Map(map), Some(overlay)) = (&mut base.value, layer.value.as_map()) else {
            return;
        };
        for (key, value) in overlay {
            if map.contains_key(key) {
                map.insert(key.clone(), value.clone());
            }
        }
        base.id = self.recipe.add(|| RecipeStep::Put {
            base: base.id,
            layer: layer.id,
            keys: overlay.keys().cloned().collect(),
        });
    }

    /// The sls that an include matches (Salt: the two look-ups of `render_pstate`): its name without leading dots, and
    /// the name beside the sls that includes it. A pattern without matches is itself the name.
    fn candidates(
        &self,
        pattern: &str,
        asked: &PendingSls<'_>,
        found: &SlsFile,
    ) -> Result<Vec<String>> {
        let env = asked.saltenv.as_str().unwrap_or_default();
        let mut names = self.names(&pattern.trim_start_matches('.').replace('/', "."), env)?;
        let relative = pattern.strip_prefix('.').map(|rest| {
            let parts: Vec<&str> = asked.sls.split('.').collect();
            let above = if found.is_init {
                &parts[..]
            } else {
                &parts[..parts.len().saturating_sub(1)]
            };
            above
                .iter()
                .copied()
                .chain([rest])
                .collect::<Vec<_>>()
                .join(".")
        });
        let pattern = relative.unwrap_or_else(|| pattern.to_owned());
        names.extend(self.names(&pattern, env)?);
        if names.is_empty() {
            names.push(pattern);
        }
        Ok(names)
    }

    /// An sls that does not exist.
    fn missing(&self, asked: &PendingSls<'_>, known: &mut SlsCache) -> SlsData {
        let PendingSls { sls, saltenv, .. } = asked;
        let mut outcome = SlsData {
            given: None,
            errors: Vec::new(),
        };
        let may_miss = self
            .ignored
            .get(*saltenv)
            .is_some_and(|names| names.iter().any(|name| name == sls));
        let has_roots = saltenv
            .as_str()
            .is_some_and(|env| self.settings.has_roots(env));
        self.note(
            asked,
            None,
            if may_miss {
                SlsOutcome::MayMiss
            } else {
                SlsOutcome::Missing
            },
        );
        if may_miss {
            return outcome;
        }
        if !has_roots {
            let message =
                format!("the sls '{sls}' cannot be found: saltenv '{saltenv}' has no pillar_roots");
            let warning = mapstack_diagnostic::Diagnostic::warning(ErrorKind::File, message);
            self.renders.run().warn(warning.with_help(
                "a top file names the saltenv; each has its own directories in the option pillar_roots",
            ));
            return outcome;
        }
        let text = format!(
            "Specified SLS '{sls}' in environment '{saltenv}' is not available on the salt master"
        );
        let fault = Fault::Missing {
            sls: (*sls).into(),
            saltenv: saltenv.to_string(),
            included_by: asked.included_by.map(Into::into),
        };
        let error = PillarError::new(text, self.no_sls(asked));
        outcome.errors.push(error.about(fault));
        // Variables are bound before the file is opened.
        let state = match variables(asked.defaults) {
            Ok(_) => Some(PillarPart::default()),
            Err(e) => {
                outcome.errors.push(self.failed(asked, e));
                None
            }
        };
        outcome.given = remembered(known, sls, state);
        outcome
    }

    fn no_sls(&self, asked: &PendingSls<'_>) -> Error {
        let PendingSls { sls, saltenv, .. } = asked;
        let by = asked
            .included_by
            .map(|by| format!(", which '{by}' includes"))
            .unwrap_or_default();
        let message = format!("the pillar has no sls '{sls}' in saltenv '{saltenv}'{by}");
        let error = Error::new(ErrorKind::File, message).at((asked.named_at)());
        let env = saltenv.as_str().unwrap_or_default();
        let names = self.files.names(env).ok();
        let near = names
            .as_ref()
            .and_then(|names| mapstack::nearest(sls, names.iter()));
        match near {
            Some(near) => error.help(format!("did you mean '{near}'?")),
            None => error.help(format!(
                "there is neither {0}.sls nor {0}/init.sls; if it lives elsewhere, add it to `absent` in .mapstack.yaml",
                sls.replace('.', "/")
            )),
        }
    }

    /// The error of an sls that does not render.
    fn failed(&self, asked: &PendingSls<'_>, error: Error) -> PillarError {
        let sls = asked.sls;
        let is_safe = self.settings.templates.get("pillar_safe_render_error");
        let text = if is_safe.is_none_or(Value::truthy) {
            format!("Rendering SLS '{sls}' failed. Please see master log for details.")
        } else {
            let message = &error.diagnostic().message;
            format!("Rendering SLS '{sls}' failed, render error:\n{message}")
        };
        let error = match self.looks_into_pillar(&error) {
            true => error.help(
                "sls do not see the pillar that they make: load the value from a file (`import_yaml`), or pass it by \
                 `defaults` of an include",
            ),
            false => error,
        };
        PillarError::new(text, error.note(format!("while rendering the sls '{sls}'")))
            .about(Fault::Failed { sls: sls.into() })
    }

    /// True if what an error is about was looked up in the pillar, which is empty then.
    fn looks_into_pillar(&self, error: &Error) -> bool {
        let diagnostic = error.diagnostic();
        let place = diagnostic.place.as_ref();
        let said = place.and_then(|place| place.source.get(place.start..place.end));
        error.kind() == ErrorKind::Undefined
            && !self.settings.is_on("ext_pillar_first")
            && said.is_some_and(|said| said.starts_with("pillar[") || said.starts_with("pillar."))
    }

    fn merge(&self, base: PillarPart, layer: &PillarPart, sls: &str) -> Result<PillarPart> {
        self.renders
            .run()
            .spend(1 + Extent::of(&layer.value).values)?;
        self.recipe
            .warn_of_aliases(&base, layer, self.merging, || origin(sls));
        let (Some(merges), Value::Map(under), Value::Map(over)) =
            (self.merges, &base.value, &layer.value)
        else {
            return self.merged(base, layer, sls);
        };
        let under = match under.is_empty() && under.kind() == MapKind::Dict {
            true => merges.empty(),
            false => under.clone(),
        };
        if let Some(known) = merges.merged(&under, over) {
            let (value, id) = (Value::Map(known), base.id);
            return Ok(PillarPart { value, id });
        }
        // A base that something else has as well would be copied.
        let under = merges.wants(&under, over).then_some(under);
        let made = self.merged(base, layer, sls)?;
        if let (Some(under), Value::Map(result)) = (under, &made.value) {
            merges.keep(&under, over, result);
        }
        Ok(made)
    }

    fn merged(&self, base: PillarPart, layer: &PillarPart, sls: &str) -> Result<PillarPart> {
        let merged = self.recipe.merge_values(base, layer, self.merging);
        merged.map_err(|e| {
            let message = format!("{} cannot be merged: {e}", origin(sls));
            Error::new(ErrorKind::Merge, message)
                .help("an sls is a mapping; see also the option pillar_source_merging_strategy")
        })
    }

    /// The data of an sls, as a layer of the pillar.
    fn made(&self, asked: &PendingSls<'_>, found: &SlsFile, rendered: &RenderedSls) -> PillarPart {
        let value = rendered.value.clone();
        if rendered.has_aliases {
            self.recipe.add_aliases(&value);
        }
        let id = self.recipe.add(|| {
            let top = SlsReason::Top {
                saltenv: asked.saltenv.clone(),
                sls: asked.pattern.into(),
            };
            let includes = asked.through.iter().cloned().map(SlsReason::Include);
            RecipeStep::Layer(Box::new(PillarLayer::Sls {
                sls: asked.sls.into(),
                saltenv: asked.saltenv.to_string(),
                file: found.file.clone(),
                value: value.clone(),
                text: rendered.text.clone(),
                reached: includes.rev().chain([top]).collect(),
            }))
        });
        PillarPart { value, id }
    }

    /// The data of a layer as it is now, where it goes.
    fn placed(&self, layer: &SlsLayer, known: &SlsCache) -> PillarPart {
        let data = layer.given.data(&layer.sls, known);
        self.below(layer.key.as_deref(), data)
    }

    /// Data below the keys of a path with colons.
    fn below(&self, key: Option<&str>, data: PillarPart) -> PillarPart {
        let Some(key) = key else {
            return data;
        };
        let path: Vec<Key> = key.split(':').map(Key::from).collect();
        let id = self.recipe.add(|| RecipeStep::Below {
            inside: data.id,
            path: path.clone(),
        });
        let below = |data, step: Key| Value::Map([(step, data)].into_iter().collect());
        PillarPart {
            value: path.into_iter().rev().fold(data.value, below),
            id,
        }
    }

    fn note(&self, asked: &PendingSls<'_>, found: Option<&SlsFile>, outcome: SlsOutcome) {
        self.events.add(|| WholeEvent::Sls {
            sls: asked.sls.into(),
            saltenv: asked.saltenv.to_string(),
            path: found.map(|found| found.file.shown.clone()),
            included_by: asked.included_by.map(Into::into),
            outcome,
        });
    }
}

/// The strategy `list` looks for each key of the base in the layer. In a stream that reads lines until one is the key:
/// the first key finds its line or reads to the end, and nothing is left for the others, nor for a later merge.
fn read_stream(base: &PillarPart, sls: &str, known: &mut SlsCache) {
    let first = base.value.as_map().and_then(|map| map.keys().next());
    if let Some(key) = first
        && known.streams.contains(sls)
        && let Some(Some(stream)) = known.states.get_mut(sls)
    {
        let text = stream.value.as_str().unwrap_or_default();
        if !text
            .split_inclusive('\n')
            .any(|line| key.as_str() == Some(line))
        {
            stream.value = Value::List(Default::default());
        }
    }
}

/// The name of an sls as a part of a merge.
fn origin(sls: &str) -> String {
    format!("the sls '{sls}'")
}

fn outcome(state: Option<&Value>) -> SlsOutcome {
    match state {
        None => SlsOutcome::Failed,
        Some(Value::Map(map)) => SlsOutcome::Read(map.len()),
        Some(other) => SlsOutcome::NoMapping(other.kind().described()),
    }
}

/// The path to an item of `include`, or to its key.
fn include_path(index: usize, item: &Value) -> Path {
    let path = [Key::from("include"), Key::of_index(index)];
    let name = item.as_map().and_then(|map| map.keys().next());
    path.into_iter().chain(name.cloned()).collect()
}

/// Read an include. `defaults` are those of the last include that had some.
fn read_include(item: &Value, defaults: &mut Value) -> std::result::Result<Include, String> {
    let name = |name: &Value| match name {
        Value::Str(name) => Ok(name.to_string()),
        other => Err(format!(
            "an include must be the name of an sls, not {}",
            other.kind().described()
        )),
    };
    let Value::Map(map) = item else {
        return Ok(Include {
            pattern: name(item)?,
            key: None,
        });
    };
    let Some((key, details)) = map.iter().next() else {
        return Err("an include is an empty mapping".into());
    };
    let Value::Map(details) = details else {
        return Err(format!(
            "the include '{key}' must have a mapping below it, not {}",
            details.kind().described()
        ));
    };
    *defaults = details.get("defaults").cloned().unwrap_or_else(Value::map);
    let below = match details.get("key") {
        Some(Value::Str(key)) if !key.is_empty() => Some(key.to_string()),
        Some(other) if other.truthy() => {
            return Err(format!(
                "the `key` of the include '{key}' must be text, not {}",
                other.kind().described()
            ));
        }
        _ => None,
    };
    Ok(Include {
        pattern: name(&key.to_value())?,
        key: below,
    })
}

fn no_environment(saltenv: &Key, place: Option<Place>) -> PillarError {
    let text = format!("No matching pillar environment for environment '{saltenv}' found");
    let message = format!(
        "a top file of the pillar names the saltenv '{saltenv}', which has no pillar_roots"
    );
    let error = Error::new(ErrorKind::Options, message).at(place);
    PillarError::new(
        text,
        error
            .help("add its directories to the option pillar_roots, or take it out of the top file"),
    )
    .about(Fault::Top)
}

fn no_mapping(asked: &PendingSls<'_>, value: &Value, place: Option<Place>) -> PillarError {
    let sls = asked.sls;
    let message = format!(
        "the sls '{sls}' renders to {}, not a mapping",
        value.kind().described()
    );
    PillarError::new(
        format!("SLS '{sls}' does not render to a dictionary"),
        Error::new(ErrorKind::DataSource, message).at(place),
    )
    .about(Fault::Shape { sls: sls.into() })
}

fn no_include(asked: &PendingSls<'_>, message: &str, place: Option<Place>) -> Error {
    let message = format!("{message}, in '{}'", asked.sls);
    let help = "an include is the name of an sls, or that name with `defaults` and `key` below it";
    Error::new(ErrorKind::DataSource, message)
        .at(place)
        .help(help)
}

fn no_list(asked: &PendingSls<'_>, includes: &Value, place: Option<Place>) -> PillarError {
    let sls = asked.sls;
    let message = format!(
        "`include` of the sls '{sls}' must be a list, not {}",
        includes.kind().described()
    );
    let error = Error::new(ErrorKind::DataSource, message)
        .at(place)
        .help("write one sls a line, each behind a dash");
    PillarError::new(
        format!("Include Declaration in SLS '{sls}' is not formed as a list"),
        error,
    )
    .about(Fault::Shape { sls: sls.into() })
}

//! The high data of a minion (Salt: `render_highstate` and `render_state`).

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;

use indexmap::IndexMap;
use mapstack::minion::{Minion, SaltVersion};
use mapstack_diagnostic::Error;
use mapstack_pyobject::{Budget, DictRef, Limits, Obj};
use mapstack_value::Value;

use crate::compile::declare::OfSls;
use crate::compile::python::described;
use crate::compile::refusal::{CompileEnd, Result, exception};
use crate::compile::work::MinionCompile as Compile;
use crate::compile::{
    CompileOptions, Compiler, LowDataError, LowState, Refusal, RefusalKind, limit_reached,
};
use crate::gather::{DEPTH, IncludingSls, stacked};
use crate::render::{GotSls, MinionRenders, SlsFile};
use crate::{GatheredStates, Gatherer, OwnModules, Top, included, watches};

/// The states that are requested.
#[derive(Debug, Clone, Copy)]
pub enum RequestedStates<'w> {
    /// Those that top files give.
    Highstate,
    /// Those of some sls.
    Sls {
        /// The saltenv of the sls.
        saltenv: &'w str,
        /// The names, which may be shell patterns.
        names: &'w [String],
    },
}

/// The states of a minion as a state run has them; see [`HighData::settled`].
#[derive(Debug, Clone)]
pub struct SettledStates {
    /// The states: all, or as far as the run gets.
    pub states: Value,
    /// The reasons for which a state run refuses them.
    pub refusals: Vec<Refusal>,
}

/// The high data of a minion, as far as it could be made.
#[derive(Debug, Default)]
pub struct HighData {
    /// The sls that top files give, if they were requested; an error where they cannot be used.
    pub top: Option<Result<Top, Error>>,
    /// The sls, in the order in which they are rendered.
    pub sls: Vec<GotSls>,
    /// The states by ID, with the lists `__extend__` and `__exclude__`. Containers that YAML shares share their storage.
    pub data: Value,
    /// The reasons for which Salt refuses the states.
    pub refusals: Vec<Refusal>,
    /// The state modules of the file server.
    pub own: Arc<OwnModules>,
    /// The minion with the facts as sls left them, if one changed them in place. Templates of files see these.
    pub changed: Option<Minion>,
    /// The limits of compiling the states.
    pub limits: Limits,
    /// The version of Salt whose rules count.
    pub version: SaltVersion,
}

/// The number of the first state without an order.
const FIRST_ORDER: i64 = 10_000;

/// The sls that are requested, or shell patterns of them, by saltenv.
pub(crate) type RequestedSls = IndexMap<String, Vec<String>>;

/// The sls that top files give.
pub(crate) fn matches_of(top: &Result<Top, Error>) -> RequestedSls {
    let entries = top.iter().flat_map(|top| &top.entries);
    let names = entries.map(|(env, entries)| {
        let names = entries.iter().map(|entry| entry.sls.clone());
        (env.clone(), names.collect())
    });
    names.collect()
}

impl<'e> Gatherer<'e> {
    /// The high data of a minion.
    ///
    /// ```
    /// use mapstack::{Engine, loader::MemoryFiles, minion::Minion};
    /// use mapstack_states::{Gatherer, TopOptions, RequestedStates};
    /// let files = MemoryFiles::new()
    ///     .file("base", "top.sls", "base: {'*': [web]}")
    ///     .file("base", "web.sls", "nginx: pkg.installed");
    /// let engine = Engine::new(files);
    /// let gatherer = Gatherer::new(&engine, TopOptions::default());
    /// let high = gatherer.high(&Minion::new("web1").complete(), RequestedStates::Highstate);
    /// assert_eq!(
    ///     high.data.repr(),
    ///     "{'nginx': {'__sls__': 'web', '__env__': 'base', 'pkg': ['installed', {'order': 10000}]}}"
    /// );
    /// ```
    #[must_use]
    pub fn high(&self, minion: &Minion, wanted: RequestedStates<'_>) -> HighData {
        self.high_of(minion, wanted, &GatheredStates::default())
    }

    /// The high data of a minion for which sls were gathered. These are not rendered again, nor are its top files.
    #[must_use]
    pub fn high_of(
        &self,
        minion: &Minion,
        wanted: RequestedStates<'_>,
        gathered: &GatheredStates,
    ) -> HighData {
        let (matches, top) = self.matches(minion, wanted, gathered);
        let renders = self.renders.of(minion).knowing(&gathered.sls);
        HighData {
            top,
            ..self.built(renders, &matches)
        }
    }

    /// The high data of sls, of which no top file is known.
    pub(crate) fn high_of_matches(&self, minion: &Minion, matches: &RequestedSls) -> HighData {
        self.built(self.renders.of(minion), matches)
    }

    /// The sls that are requested, and the top files if these name them.
    pub(crate) fn matches(
        &self,
        minion: &Minion,
        wanted: RequestedStates<'_>,
        gathered: &GatheredStates,
    ) -> (RequestedSls, Option<Result<Top, Error>>) {
        match wanted {
            RequestedStates::Sls { saltenv, names } => {
                ([(saltenv.to_owned(), names.to_vec())].into(), None)
            }
            RequestedStates::Highstate => {
                let known = gathered.top.clone();
                let top = known.unwrap_or_else(|| self.top(minion));
                (matches_of(&top), Some(top))
            }
        }
    }

    /// The high data of sls, without top files.
    fn built<'b>(&'b self, renders: MinionRenders<'b, 'e>, matches: &RequestedSls) -> HighData {
        let budget = Budget::new(self.limits(), None);
        self.building(&budget, renders, matches, |mut high, states| {
            high.data = match states.to_value() {
                Ok(data) => data,
                Err(error) => {
                    let refusal = Refusal::new(RefusalKind::Exception, error.message);
                    high.refusals.push(refusal);
                    Value::map()
                }
            };
            high
        })
    }

    /// Make the high data of sls, and do something with it while it is made of Python's objects.
    pub(crate) fn building<'b, T>(
        &'b self,
        budget: &'b Budget<'b>,
        renders: MinionRenders<'b, 'e>,
        matches: &'b RequestedSls,
        then: impl FnOnce(HighData, Obj) -> T,
    ) -> T {
        let mut building = Building {
            gatherer: self,
            renders,
            compile: Compile {
                budget,
                behaviour: self.engine().salt_version().behaviour(),
                refusals: Vec::new(),
            },
            matches,
            done: HashSet::new(),
            sls: Vec::new(),
            order: Cell::new(FIRST_ORDER),
        };
        let built = building.build();
        let states = built.unwrap_or_else(|stop| {
            let refusal = match stop {
                CompileEnd::Exception(why) => format!("Salt ends here: {why}"),
                CompileEnd::Limit(error) => error.message,
            };
            building
                .compile
                .refuse(Refusal::new(RefusalKind::Exception, refusal));
            DictRef::new(Default::default())
        });
        let high = HighData {
            refusals: building.compile.refusals,
            sls: building.sls,
            own: self.own_modules().clone(),
            changed: building.renders.changed_minion(),
            limits: self.limits(),
            version: self.engine().salt_version(),
            ..HighData::default()
        };
        then(high, Obj::Dict(states))
    }
}

impl HighData {
    /// The same, if its top files can be used.
    ///
    /// # Errors
    /// They cannot.
    pub fn with_usable_top(mut self) -> Result<Self, Error> {
        match self.top.take_if(|top| top.is_err()) {
            Some(Err(error)) => Err(error),
            _ => Ok(self),
        }
    }

    /// The minion as templates of files see it: with the facts as sls left them.
    #[must_use]
    pub fn minion_of_files<'m>(&'m self, given: &'m Minion) -> &'m Minion {
        self.changed.as_ref().unwrap_or(given)
    }

    /// The states as they run, or the reasons for which a state run refuses them.
    ///
    /// # Errors
    /// The limits were reached.
    pub fn low(&self, minion: &Minion) -> Result<Result<Vec<LowState>, Vec<Refusal>>, Error> {
        self.compiled(&Obj::from_shared(&self.data), minion)
    }

    /// The states as a state run has them: extended, with the requisites that others give them, without those that are
    /// excluded.
    ///
    /// # Errors
    /// The limits were reached.
    pub fn settled(&self, minion: &Minion) -> Result<SettledStates, Error> {
        let high = Obj::from_shared(&self.data);
        let refusals = self.compiled(&high, minion)?.err().unwrap_or_default();
        let states = high.to_value().map_err(|e| limit_reached(&e))?;
        Ok(SettledStates { states, refusals })
    }

    /// True if a state module does something about what it watches: one of the file server takes the place of Salt's.
    #[must_use]
    pub fn watches(&self, module: &str) -> bool {
        let own = self.own.watches(module);
        own.unwrap_or_else(|| watches(module, self.version))
    }

    /// The options of compiling this high data for a minion.
    pub fn compile_options<'o>(
        &self,
        minion: &Minion,
        watches: &'o dyn Fn(&str) -> bool,
    ) -> CompileOptions<'o> {
        CompileOptions {
            watches,
            version: self.version,
            rendered: self.sls.iter().map(|sls| sls.name.clone()).collect(),
            ..CompileOptions::of(minion)
        }
    }

    fn compiled(
        &self,
        high: &Obj,
        minion: &Minion,
    ) -> Result<Result<Vec<LowState>, Vec<Refusal>>, Error> {
        let budget = Budget::new(self.limits, None);
        let watches = |module: &str| self.watches(module);
        let options = self.compile_options(minion, &watches);
        let compiler = Compiler::new(options, &budget).after(self.refusals.clone());
        match compiler.low(high) {
            Ok(states) => Ok(Ok(states)),
            Err(LowDataError::Refused(refusals)) => Ok(Err(refusals)),
            Err(LowDataError::Limit(error)) => Err(limit_reached(&error)),
        }
    }
}

/// High data that is being made.
struct Building<'b, 'e> {
    gatherer: &'b Gatherer<'e>,
    renders: MinionRenders<'b, 'e>,
    compile: Compile<'b>,
    matches: &'b RequestedSls,
    done: HashSet<(String, String)>,
    sls: Vec<GotSls>,
    order: Cell<i64>,
}

/// The sls that are to be rendered, in quotes.
fn named(sls: &[String]) -> String {
    let quoted = sls.iter().map(|sls| format!("'{sls}'"));
    quoted.collect::<Vec<_>>().join(", ")
}

/// An sls to be rendered.
#[derive(Clone, Copy)]
struct QueuedSls<'n> {
    saltenv: &'n str,
    name: &'n str,
    included_by: Option<&'n str>,
    depth: usize,
}

impl Building<'_, '_> {
    fn build(&mut self) -> Result<DictRef> {
        let high = DictRef::new(Default::default());
        for (saltenv, patterns) in self.matches {
            if !self.gatherer.available.has_env_or_any(saltenv) {
                let message = format!(
                    "{} of the saltenv '{saltenv}', which has no root",
                    named(patterns)
                );
                self.compile
                    .refuse(Refusal::new(RefusalKind::UnknownSaltenv, message));
                continue;
            }
            for pattern in patterns {
                let mut names = self.gatherer.available.listed(saltenv, pattern);
                if names.is_empty() {
                    names.push(pattern.clone());
                }
                for name in names {
                    if self.done.contains(&(saltenv.clone(), name.clone())) {
                        continue;
                    }
                    let next = QueuedSls {
                        saltenv,
                        name: &name,
                        included_by: None,
                        depth: 0,
                    };
                    let states = self.render(next)?;
                    self.compile.merge(&high, &states)?;
                }
            }
        }
        self.compile.clean_extensions(&high)?;
        Ok(high)
    }

    fn refuse(&mut self, kind: RefusalKind, sls: &str, message: String) {
        self.compile.refuse(Refusal::new(kind, message).of_sls(sls));
    }

    /// The states of an sls and of those that it includes.
    fn render(&mut self, next: QueuedSls<'_>) -> Result<DictRef> {
        let nothing = DictRef::new(Default::default());
        let QueuedSls { saltenv, name, .. } = next;
        let Some(path) = self.gatherer.available.path(saltenv, name) else {
            let message = match next.included_by {
                Some(by) => {
                    format!("'{by}' includes '{name}', which is not in saltenv '{saltenv}'")
                }
                None => format!("the sls '{name}' is not in saltenv '{saltenv}'"),
            };
            let by = next.included_by.unwrap_or(name).to_owned();
            self.refuse(RefusalKind::MissingSls, &by, message);
            return Ok(nothing);
        };
        self.done.insert((saltenv.to_owned(), name.to_owned()));
        let rendered = self.renders.rendered(&SlsFile::new(saltenv, &path, name));
        self.sls.push(GotSls {
            saltenv: saltenv.to_owned(),
            name: name.to_owned(),
            path: path.clone(),
            included_by: next.included_by.map(str::to_owned),
            rendered: rendered.clone(),
        });
        let data = match &rendered.data {
            Ok(data) => data,
            Err(error) => {
                let message = format!("the sls '{name}' could not be rendered");
                let mut refusal = Refusal::new(RefusalKind::RenderFailed, message).of_sls(name);
                refusal.cause = Some(error.clone());
                self.compile.refuse(refusal);
                return Ok(nothing);
            }
        };
        if !data.truthy() {
            return Ok(nothing);
        }
        let data = Obj::from_shared(data);
        let Obj::Dict(states) = &data else {
            let message = format!("the sls '{name}' gives {}, not a mapping", described(&data));
            self.refuse(RefusalKind::SlsNotMapping, name, message);
            return Ok(nothing);
        };
        for include in self.compile.declare(states, OfSls { name, saltenv })? {
            self.include(states, &include, &path, next)?;
        }
        self.compile.number(states, &self.order)?;
        Ok(states.clone())
    }

    /// Add the states of what an entry of `include` names.
    fn include(
        &mut self,
        states: &DictRef,
        entry: &Obj,
        path: &str,
        next: QueuedSls<'_>,
    ) -> Result<()> {
        let (env, wanted) = match entry {
            Obj::Dict(entry) => match entry.entry_at(entry.len().wrapping_sub(1)) {
                Some((env, wanted)) => (env.to_string(), wanted),
                None => return exception("an entry of 'include' is an empty mapping"),
            },
            wanted => (next.saltenv.to_owned(), wanted.clone()),
        };
        let shown = described(&wanted);
        if !self.gatherer.available.has_env_or_any(&env) {
            let message =
                format!("{shown} is included from the saltenv '{env}', which has no root");
            self.refuse(RefusalKind::UnknownSaltenv, next.name, message);
            return Ok(());
        }
        let Some(name) = wanted.as_str() else {
            return exception(format!("'include' names {shown}, not text"));
        };
        let entry = Value::from(&**name);
        let Some((_, name)) = included(
            IncludingSls {
                name: next.name,
                path,
            },
            &entry,
        ) else {
            let message = format!("'{name}' leads above the root");
            self.refuse(RefusalKind::IncludeAboveRoot, next.name, message);
            return Ok(());
        };
        let Some(from) = self.one_saltenv(&env, &name, next) else {
            return Ok(());
        };
        // Patterns are looked up in the saltenv of the sls that includes.
        let mut names = self.gatherer.available.listed(next.saltenv, &name);
        if names.is_empty() {
            names.push(name);
        }
        for name in names {
            if self.done.contains(&(from.clone(), name.clone())) {
                continue;
            }
            let inner = QueuedSls {
                saltenv: &from,
                name: &name,
                included_by: Some(next.name),
                depth: next.depth + 1,
            };
            if inner.depth > DEPTH {
                return exception(format!("sls include each other {DEPTH} deep"));
            }
            // What is wrong with the sls comes behind what is wrong with both together.
            let before = self.compile.refusals.len();
            let more = stacked(|| self.render(inner))?;
            let of_inner = self.compile.refusals.split_off(before);
            if self.compile.behaviour.states_name_what_includes_them {
                self.compile.mark_included(&more, next.name)?;
            }
            self.compile.merge(states, &more)?;
            self.compile.refusals.extend(of_inner);
        }
        Ok(())
    }

    /// The saltenv of an include; an error if it could be none or several.
    fn one_saltenv(&mut self, env: &str, name: &str, next: QueuedSls<'_>) -> Option<String> {
        let resolved = self.resolved(env, name);
        let (kind, message) = match &resolved[..] {
            [one] => return Some(one.clone()),
            several if several.iter().any(|one| one == next.saltenv) => {
                return Some(next.saltenv.to_owned());
            }
            [] => (
                RefusalKind::MissingInclude,
                format!("'{name}' is included, and not in saltenv '{env}'"),
            ),
            several => {
                let several = several.join("', '");
                let message = format!("'{name}' is included, and in the saltenvs '{several}'");
                (RefusalKind::AmbiguousInclude, message)
            }
        };
        self.refuse(kind, next.name, message);
        None
    }

    /// The saltenvs in which an include is looked for.
    fn resolved(&self, env: &str, name: &str) -> Vec<String> {
        let has = |env: &str| !self.gatherer.available.listed(env, name).is_empty();
        match env {
            "_xenv" => {
                let envs = self.matches.keys().filter(|env| has(env));
                envs.cloned().collect()
            }
            env => {
                let is_there = self.matches.contains_key(env) || has(env);
                is_there.then(|| env.to_owned()).into_iter().collect()
            }
        }
    }
}

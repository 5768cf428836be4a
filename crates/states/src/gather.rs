//! The sls of a minion, with those that they include (Salt: `render_highstate` and `render_state`).

use std::cell::RefCell;
use std::sync::{Arc, OnceLock};

use mapstack::Engine;
use mapstack::minion::Minion;
use mapstack::secrets::Secrets;
use mapstack_diagnostic::Error;
use mapstack_pillar::MasterTops;
use mapstack_pyobject::{Limits, Spender};
use mapstack_value::Value;

use crate::available::Available;
use crate::exhausting::Exhausting;
use crate::options::TopOptions;
use crate::own_modules::OwnModules;
use crate::render::{GotSls, MinionRenders, Renders, SlsFile};
use crate::runs::Compiled;
use crate::shared::SharedByRenders;
use crate::top::{Top, TopReader};

/// A problem because of which a minion gets no states.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GatherProblem {
    /// The problem.
    pub kind: ProblemKind,
    /// The saltenv.
    pub saltenv: String,
    /// The sls that was not found.
    pub sls: String,
    /// The target of a top file, or the sls, that names it.
    pub named_by: String,
}

/// The kind of a problem with the name of an sls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProblemKind {
    /// A top file names an sls that does not exist.
    MissingOfTop,
    /// An sls includes an sls that does not exist.
    MissingInclude,
}

/// The states of a minion.
#[derive(Debug, Default)]
pub struct GatheredStates {
    /// The sls that the top files give, or the error in them.
    pub top: Option<Result<Top, Error>>,
    /// The sls, in the order in which they are rendered.
    pub sls: Vec<GotSls>,
    /// The problems.
    pub problems: Vec<GatherProblem>,
}

/// Finds the sls of minions, which share rendered sls.
pub struct Gatherer<'e> {
    engine: &'e Engine,
    options: TopOptions,
    master_tops: MasterTops,
    pub(crate) available: Available<'e>,
    /// The state modules of the file server, once they are requested.
    own: OnceLock<Arc<OwnModules>>,
    pub(crate) renders: Renders<'e>,
    pub(crate) compiles: SharedByRenders<Compiled>,
    /// True if compiled states have their low data.
    pub(crate) keeps_low: bool,
    notes_facts: bool,
}

/// The depth to which sls may include each other before the rest is left out. Each sls is rendered once, so
/// this is only a bound on the depth.
pub(crate) const DEPTH: usize = 1_000;

impl<'e> Gatherer<'e> {
    /// A gatherer of the sls on an engine's file server.
    #[must_use]
    pub fn new(engine: &'e Engine, options: TopOptions) -> Self {
        Gatherer {
            engine,
            master_tops: MasterTops::new(&options.all),
            available: Available::new(engine, options.env_order.clone()),
            own: OnceLock::new(),
            options,
            renders: Renders::new(engine),
            compiles: SharedByRenders::default(),
            keeps_low: false,
            notes_facts: false,
        }
    }

    /// Keep the low data of states in [`Compiled::low`].
    #[must_use]
    pub fn keeping_low(mut self) -> Self {
        self.keeps_low = true;
        self
    }

    /// Record the facts that renders and top files depend on.
    #[must_use]
    pub fn noting_facts(mut self) -> Self {
        self.renders = self.renders.noting_facts();
        self.notes_facts = true;
        self
    }

    /// Skip an sls for further minions once it reached a limit for two: to report the mistake, two minions
    /// are enough.
    #[must_use]
    pub fn giving_up(mut self) -> Self {
        self.renders.exhausting = Some(Exhausting::default());
        self
    }

    /// The secrets that no error may contain.
    #[must_use]
    pub fn secrets(mut self, secrets: Secrets) -> Self {
        self.renders.secrets = secrets;
        self
    }

    /// The state modules of the file server.
    #[must_use]
    pub fn own_modules(&self) -> &Arc<OwnModules> {
        let made = || Arc::new(OwnModules::of(self.engine, &["_states/"]));
        self.own.get_or_init(made)
    }

    /// The sls of a minion, from its top files.
    #[must_use]
    pub fn gather(&self, minion: &Minion) -> GatheredStates {
        let mut gathered = GatheredStates::default();
        let top = self.top(minion);
        if let Ok(top) = &top {
            let mut work = MinionGather::new(self, minion);
            for (env, entries) in &top.entries {
                for entry in entries {
                    let names = self.available.matching(env, &entry.sls);
                    if names.is_empty() {
                        gathered.problems.push(GatherProblem {
                            kind: ProblemKind::MissingOfTop,
                            saltenv: env.clone(),
                            sls: entry.sls.clone(),
                            named_by: entry.target.clone(),
                        });
                    }
                    for name in names {
                        work.add(&mut gathered, env, &name, None, 0);
                    }
                }
            }
        }
        gathered.top = Some(top);
        gathered
    }

    /// The sls that top files give a minion.
    ///
    /// # Errors
    /// The top files cannot be used.
    pub fn top(&self, minion: &Minion) -> Result<Top, Error> {
        let reader = TopReader {
            engine: self.engine,
            options: &self.options,
            available: &self.available,
            minion,
            master_tops: &self.master_tops,
            renders: RefCell::new(self.renders.of(minion)),
            texts: RefCell::default(),
            notes_facts: self.notes_facts,
        };
        reader.read()
    }

    /// An sls and the sls that it includes, for a minion whose top files need not name it.
    #[must_use]
    pub fn alone(&self, minion: &Minion, saltenv: &str, name: &str) -> GatheredStates {
        let mut gathered = GatheredStates::default();
        MinionGather::new(self, minion).add(&mut gathered, saltenv, name, None, 0);
        gathered
    }

    /// The path of the top files of states.
    #[must_use]
    pub fn top_path(&self) -> &str {
        &self.options.state_top
    }

    /// The engine whose file server has the sls.
    #[must_use]
    pub fn engine(&self) -> &'e Engine {
        self.engine
    }

    /// The limits of compiling states: those of templates, since both are work on objects for one minion.
    pub(crate) fn limits(&self) -> Limits {
        self.engine.limits().of(Spender::StateCompiler)
    }

    /// All sls of the file server: the saltenv and the name of each.
    #[must_use]
    pub fn all(&self) -> Vec<(String, String)> {
        let envs = self.engine.files().envs().into_iter();
        let names = envs.flat_map(|env| {
            let names = self.available.matching(&env, "*").into_iter();
            names.map(move |name| (env.clone(), name))
        });
        names.collect()
    }

    /// The names of the listed sls that a shell pattern matches.
    #[must_use]
    pub fn listed(&self, saltenv: &str, pattern: &str) -> Vec<String> {
        self.available.listed(saltenv, pattern)
    }

    /// The path of an sls on the file server.
    #[must_use]
    pub fn path(&self, saltenv: &str, name: &str) -> Option<String> {
        self.available.path(saltenv, name)
    }
}

/// Gathers the sls of one minion.
struct MinionGather<'w, 'e> {
    gatherer: &'w Gatherer<'e>,
    renders: MinionRenders<'w, 'e>,
    done: std::collections::HashSet<(String, String)>,
}

impl<'w, 'e> MinionGather<'w, 'e> {
    fn new(gatherer: &'w Gatherer<'e>, minion: &'w Minion) -> Self {
        MinionGather {
            gatherer,
            renders: gatherer.renders.of(minion),
            done: std::collections::HashSet::new(),
        }
    }

    fn add(
        &mut self,
        gathered: &mut GatheredStates,
        saltenv: &str,
        name: &str,
        from: Option<&str>,
        depth: usize,
    ) {
        let is_new = self.done.insert((saltenv.to_owned(), name.to_owned()));
        if !is_new || depth > DEPTH {
            return;
        }
        let Some(path) = self.gatherer.available.path(saltenv, name) else {
            return;
        };
        let rendered = self.renders.rendered(&SlsFile::new(saltenv, &path, name));
        gathered.sls.push(GotSls {
            saltenv: saltenv.to_owned(),
            name: name.to_owned(),
            path: path.clone(),
            included_by: from.map(str::to_owned),
            rendered: rendered.clone(),
        });
        let Ok(Value::Map(states)) = &rendered.data else {
            return;
        };
        let includes = states.get("include").and_then(Value::as_list);
        for entry in includes.unwrap_or_default() {
            let Some((env, wanted)) = included(IncludingSls { name, path: &path }, entry) else {
                continue;
            };
            let is_any = env.as_deref() == Some("_xenv");
            let env = env
                .filter(|_| !is_any)
                .unwrap_or_else(|| saltenv.to_owned());
            let names = self.gatherer.available.matching(&env, &wanted);
            // The saltenv of `_xenv` depends on all sls of the minion.
            if names.is_empty() && !is_any {
                gathered.problems.push(GatherProblem {
                    kind: ProblemKind::MissingInclude,
                    saltenv: env.clone(),
                    sls: wanted.clone(),
                    named_by: name.to_owned(),
                });
            }
            for inner in names {
                stacked(|| self.add(gathered, &env, &inner, Some(name), depth + 1));
            }
        }
    }
}

/// Do work that recurses through includes, which can be as deep as there are files.
pub(crate) fn stacked<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 << 10, 2 << 20, work)
}

/// An sls that includes others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncludingSls<'s> {
    /// The name.
    pub name: &'s str,
    /// The path of its file, relative to the root.
    pub path: &'s str,
}

/// The saltenv, if any, and the sls that an entry of an `include` names; `None` if it is above the root.
///
/// ```
/// use mapstack_states::{IncludingSls, included};
/// let name = |sls, path, entry: &str| included(IncludingSls { name: sls, path }, &entry.into()).map(|(_, name)| name);
/// assert_eq!(name("a", "a/init.sls", ".b").as_deref(), Some("a.b"));
/// assert_eq!(name("a.b", "a/b.sls", ".c").as_deref(), Some("a.c"));
/// assert_eq!(name("a.b", "a/b/init.sls", "..c").as_deref(), Some("a.c"));
/// assert_eq!(name("a.b.c", "a/b/c.sls", "..d").as_deref(), Some("a.d"));
/// assert_eq!(name("a.b", "a/b.sls", "x.y").as_deref(), Some("x.y"));
/// assert_eq!(name("a", "a.sls", "..b"), None);
/// ```
#[must_use]
pub fn included(sls: IncludingSls<'_>, entry: &Value) -> Option<(Option<String>, String)> {
    let (saltenv, name) = match entry {
        Value::Map(map) => {
            let (saltenv, name) = map.iter().next_back()?;
            (Some(saltenv.to_string()), name)
        }
        name => (None, name),
    };
    let name = name.as_str()?;
    let dots = name.len() - name.trim_start_matches('.').len();
    if dots == 0 {
        return Some((saltenv, name.to_owned()));
    }
    let mut parts: Vec<&str> = sls.name.split('.').collect();
    if sls.path == "init.sls" || sls.path.ends_with("/init.sls") {
        parts.push("init");
    }
    let kept = parts.len().checked_sub(dots)?;
    parts.truncate(kept);
    parts.push(&name[dots..]);
    Some((saltenv, parts.join(".")))
}

//! Master tops: sls that a master gives its minions beside those of top files (Salt: `master_tops`).

use std::collections::BTreeMap;
use std::sync::Arc;

use indexmap::IndexMap;
use mapstack::{Engine, MasterSide, Means, PluginAnswer, Run};
use mapstack_diagnostic::{Diagnostic, Error, ErrorKind, Result, Severity};
use mapstack_loader::MemoryFiles;
use mapstack_merge::{Options, merge};
use mapstack_minion::Minion;
use mapstack_pyobject::ErrorKind as RenderErrorKind;
use mapstack_salt_config::disk::FileTree;
use mapstack_value::{Map, Value};

use crate::cache::StackCache;
use crate::config::ExtPillar;
use crate::external::{BuiltIn, ExternalPillarInput};

/// The master tops that a master's options name. Minions share what is read for them.
///
/// ```
/// use mapstack::{Engine, loader::MemoryFiles, minion::Minion, yaml};
/// use mapstack_pillar::MasterTops;
/// let text = "def top(opts, grains):\n    return {'base': [opts['id'] + '.role']}\n";
/// let files = MemoryFiles::new().file("base", "_tops/own.py", text);
/// let options = yaml::load("master_tops: {own: {}}").unwrap();
/// let tops = MasterTops::new(options.as_map().unwrap());
/// let given = tops.of(&Engine::new(files), &Minion::new("web1").complete());
/// # if given.warnings.is_empty() { // without the program of Python there is a warning instead
/// assert_eq!(given.sls["base"], ["web1.role"]);
/// # }
/// ```
#[derive(Default)]
pub struct MasterTops {
    options: Map,
    cache: StackCache,
}

impl std::fmt::Debug for MasterTops {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names = self.named().into_keys().collect::<Vec<_>>();
        f.debug_tuple("MasterTops").field(&names).finish()
    }
}

/// The sls that master tops give a minion.
#[derive(Debug, Clone, Default)]
pub struct TopsGiven {
    /// The sls by saltenv.
    pub sls: IndexMap<String, Vec<String>>,
    /// Why a master top gave nothing. A master logs it, and goes on with the others.
    pub warnings: Vec<Diagnostic>,
}

/// Salt's own that read an inventory: the key of the pillar that has its result, and the list of sls in there.
const OF_CLASSES: [(&str, BuiltIn, &str, &str); 2] = [
    ("reclass", BuiltIn::Reclass, "__reclass__", "applications"),
    ("saltclass", BuiltIn::Saltclass, "__saltclass__", "states"),
];

impl MasterTops {
    /// The master tops of these options of a master.
    #[must_use]
    pub fn new(options: &Map) -> Self {
        MasterTops {
            options: options.clone(),
            cache: StackCache::default(),
        }
    }

    /// The sls for a minion, which knows its grains.
    #[must_use]
    pub fn of(&self, engine: &Engine, minion: &Minion) -> TopsGiven {
        let mut given = TopsGiven::default();
        let mut merged = Value::from(Map::new());
        for (name, arguments) in self.named() {
            let one = MasterTopQuestion {
                tops: self,
                engine,
                minion,
                name,
                arguments,
            };
            let together = one.answer(&mut given.warnings).and_then(|answer| {
                let options = Options {
                    merge_lists: true,
                    ..Options::default()
                };
                let Value::Map(_) = answer else {
                    let what = answer.kind().described();
                    return Err(one.wrong(&format!("it returned {what}, not a mapping")));
                };
                merge(merged.clone(), &answer, &options)
                    .map_err(|e| one.wrong(&format!("its result cannot be merged: {e}")))
            });
            match together {
                Ok(all) => merged = all,
                Err(error) => given.warnings.push(Diagnostic {
                    severity: Severity::Warning,
                    ..error.diagnostic().clone()
                }),
            }
        }
        given.sls = by_saltenv(&merged);
        given
    }

    /// The names and arguments, in the order in which Salt's loader finds them.
    fn named(&self) -> BTreeMap<&str, &Value> {
        let named = self.options.get("master_tops").and_then(Value::as_map);
        let named = named.into_iter().flatten();
        named
            .filter_map(|(name, arguments)| Some((name.as_str()?, arguments)))
            .collect()
    }
}

fn by_saltenv(merged: &Value) -> IndexMap<String, Vec<String>> {
    let by_env = merged.as_map().into_iter().flatten();
    let names = |listed: &Value| {
        let items = listed.as_list().unwrap_or_default().iter();
        items.map(ToString::to_string).collect()
    };
    by_env
        .map(|(env, listed)| (env.to_string(), names(listed)))
        .collect()
}

/// A question to one master top.
struct MasterTopQuestion<'a> {
    tops: &'a MasterTops,
    engine: &'a Engine,
    minion: &'a Minion,
    name: &'a str,
    arguments: &'a Value,
}

impl MasterTopQuestion<'_> {
    fn answer(&self, warnings: &mut Vec<Diagnostic>) -> Result<Value> {
        let opts = self.engine.run(self.minion).opts_of_templates();
        let opts = opts.map_err(|e| self.wrong(&e.message))?;
        let run = self.run(opts.as_map().cloned().unwrap_or_default());
        let answer = self.asked(&run, &opts);
        warnings.extend(run.warnings());
        answer
    }

    fn asked(&self, run: &Run<'_>, opts: &Value) -> Result<Value> {
        if let Some(answer) = run.stubbed(&self.stub())? {
            return Ok(answer);
        }
        let grains = Value::from(self.minion.grains.clone());
        match run.tree_top(self.name, [opts.clone(), grains]) {
            Ok(PluginAnswer::Value(value, _)) => return Ok(value),
            Ok(PluginAnswer::Missing(why)) => {
                return Err(self.missing(run, why.as_deref().unwrap_or("it does not load")));
            }
            Ok(PluginAnswer::None) => {}
            Err(e) if matches!(e.kind, RenderErrorKind::Undefined | RenderErrorKind::Absent) => {
                return Err(self.missing(run, &e.message));
            }
            Err(e) => return Err(self.wrong(&e.message)),
        }
        match OF_CLASSES.iter().find(|(name, ..)| *name == self.name) {
            Some((_, built_in, about, listed)) => {
                self.of_classes(run, *built_in, opts, about, listed)
            }
            None => Err(self.missing(run, "it is not built in")),
        }
    }

    /// The run in which a master asks: with the master's options, and an empty pillar.
    fn run(&self, opts: Map) -> Run<'_> {
        let minion = Minion {
            opts: self.tops.options.clone(),
            pillar: Map::new(),
            ..self.minion.clone()
        };
        let side = MasterSide {
            minion_id: self.minion.id(),
            opts,
            pillar_files: Arc::new(MemoryFiles::new()),
            facts: None,
            opts_have_pillar: false,
            pillar_of_targets: None,
            pillar_of_functions: None,
        };
        self.engine.run_on_master(&minion, side)
    }

    /// The states of an inventory, which gives the pillar `about` as well.
    fn of_classes(
        &self,
        run: &Run<'_>,
        built_in: BuiltIn,
        opts: &Value,
        about: &str,
        listed: &str,
    ) -> Result<Value> {
        let one = ExtPillar {
            name: self.name.into(),
            kind: None,
            arguments: match built_in {
                BuiltIn::Saltclass => [self.with_path()].into_iter().collect(),
                _ => self.arguments.clone(),
            },
            place: None,
        };
        let given = built_in.data(&ExternalPillarInput {
            one: &one,
            run,
            // Only an external pillar finds the inventory by the option file_roots.
            opts: &match built_in {
                BuiltIn::Saltclass => opts.as_map().cloned().unwrap_or_default(),
                _ => Map::new(),
            },
            extra: &Map::new(),
            tree: &|directory| {
                let tree = FileTree::new().deploying(self.engine.deployed());
                tree.directory(directory)
            },
            is_explained: false,
            cache: &self.tops.cache,
        })?;
        let about = given
            .data
            .as_map()
            .and_then(|data| data.get(about)?.as_map());
        let of = |name: &str| about.and_then(|about| about.get(name)).cloned();
        let env = of("environment").unwrap_or_default().to_string();
        let states = of(listed).unwrap_or_else(|| Value::from(Vec::<Value>::new()));
        Ok(Map::from_iter([(env, states)]).into())
    }

    fn with_path(&self) -> Value {
        let mut arguments = self.arguments.as_map().cloned().unwrap_or_default();
        if !arguments.contains_key("path") {
            arguments.insert("path", "/srv/saltclass");
        }
        arguments.into()
    }

    fn stub(&self) -> String {
        format!("master_tops.{}", self.name)
    }

    fn missing(&self, run: &Run<'_>, why: &str) -> Error {
        run.lack_answer(&self.stub());
        let help = format!(
            "put `{}: {{return: {{base: [SLS]}}}}` in a file for {}, with its result",
            self.stub(),
            Means::Stub
        );
        self.wrong(why).help(help)
    }

    fn wrong(&self, why: &str) -> Error {
        let message = format!(
            "the sls of the master top '{}' are missing: {why}",
            self.name
        );
        Error::new(ErrorKind::Options, message)
    }
}

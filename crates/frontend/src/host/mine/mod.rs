//! The mine in a Salt master's cache as an answer to calls out of templates.
//!
//! `salt['mine.get'](tgt, fun, tgt_type)` in the templates of a minion, and `salt['saltutil.runner']('mine.get', …)` in those
//! of a master, are answered from the files that the master keeps of its minions. No request goes over the network, and
//! without a cache there is no answer.
//!
//! ```rust,no_run
//! use mapstack::{Engine, loader::Backends};
//! use mapstack_frontend::host::mine::Mine;
//!
//! let mine = Mine::open("/var/cache/salt/master").unwrap().expect("a master's cache");
//! let engine = Engine::new(Backends::default()).with_functions(mine);
//! ```
//!
//! # Known differences
//!
//! - Targets mean the minions with grains in the cache. The reference takes those whose keys it accepted.
//! - The option `mine_get` of a master, which permits minions to ask, does not count. Callers that read options have to warn of it.
//! - Results of several functions are in the order in which these are named.

mod targets;

use std::collections::HashSet;
use std::path::Path;

use mapstack::minion::ReadError;
use mapstack::minion::cache::Cache;
use mapstack::value::{Map, Value};
use mapstack::{Call, CallError, Functions};

use self::targets::Targets;

/// The function that reads the mine on minions.
const GET: &str = "mine.get";

/// The function that runs runners on masters.
const RUNNER: &str = "saltutil.runner";

/// Marks an entry that limits who may read it.
const LIMITED: &str = "__saltmine_acl__";

/// The key of such an entry's data.
const DATA: &str = "__data__";

/// The mine of a master's minions. Each file is read when it is requested.
///
/// ```
/// use mapstack_frontend::host::mine::Mine;
/// assert!(Mine::open("/nonexistent").unwrap().is_none());
/// ```
pub struct Mine {
    cache: Cache,
    targets: Targets,
}

impl Mine {
    /// The mine in a master's `cachedir`; `None` if the directory is not a master's cache with
    /// minions.
    ///
    /// # Errors
    /// A directory cannot be listed.
    pub fn open(directory: impl AsRef<Path>) -> Result<Option<Self>, ReadError> {
        let cache = Cache::open(directory)?;
        Ok(cache.map(|cache| Mine {
            cache,
            targets: Targets::default(),
        }))
    }

    /// The data of functions in the mines of a target's minions.
    fn data(&self, asked: &MineCall) -> Result<Value, CallError> {
        let mut found = Map::new();
        for minion in self.targets.ids(&self.cache, &asked.target, &asked.kind)? {
            let mine = self.cache.mine(minion).map_err(|e| unreadable(&e))?;
            for function in &asked.functions {
                let Some(entry) = mine.get(function.as_str()) else {
                    continue;
                };
                let Some(data) = self.permitted(entry, asked.by.as_deref())? else {
                    continue;
                };
                if !asked.is_list {
                    found.insert(minion, data);
                    continue;
                }
                if let Some(Value::Map(of_function)) = found.get_mut(function.as_str()) {
                    of_function.insert(minion, data);
                    continue;
                }
                let mut of_function = Map::new();
                of_function.insert(minion, data);
                found.insert(function.as_str(), of_function);
            }
        }
        if asked.leaves_out_own
            && let Some(own) = &asked.by
        {
            found.shift_remove(own.as_str());
        }
        Ok(found.into())
    }

    /// The data of an entry, if the minion that asks may have it. A master is not a minion, so limited data is not for it.
    fn permitted(&self, entry: &Value, by: Option<&str>) -> Result<Option<Value>, CallError> {
        let Some(limited) = entry.as_map().filter(|map| map.contains_key(LIMITED)) else {
            return Ok(Some(entry.clone()));
        };
        let data = limited.get(DATA).cloned().unwrap_or_default();
        let Some(target) = limited.get("allow_tgt") else {
            return Ok(Some(data));
        };
        let kind = match limited.get("allow_tgt_type") {
            None => "glob".into(),
            Some(kind) => kind.to_string(),
        };
        let may = self.targets.mean(&self.cache, target, &kind, by)?;
        Ok(may.then_some(data))
    }
}

/// The function and arguments of a call.
struct MineCall {
    target: Value,
    functions: Vec<String>,
    /// True if the functions are keys of the result.
    is_list: bool,
    kind: String,
    leaves_out_own: bool,
    /// The minion that asks; `None` for a master.
    by: Option<String>,
}

impl MineCall {
    /// The arguments of `mine.get`; `None` for functions that are neither text nor a list, which gives an empty result.
    fn of(
        [target, functions, kind, leaves_out]: [Option<Value>; 4],
        by: Option<String>,
    ) -> Result<Option<Self>, CallError> {
        let (Some(target), Some(functions)) = (target, functions) else {
            let message = "mine.get() needs a target and a function";
            return Err(CallError::python("TypeError", message));
        };
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let (mut functions, is_list): (Vec<String>, _) = match &functions {
            Value::Str(names) => {
                let names: Vec<String> = names.split(',').map(str::to_owned).collect();
                let is_list = names.iter().any(|name| *name != names[0]);
                (names, is_list)
            }
            Value::List(names) => (names.iter().filter_map(text).collect(), true),
            _ => return Ok(None),
        };
        let mut seen = HashSet::new();
        functions.retain(|name| seen.insert(name.clone()));
        let kind = kind.map_or_else(|| "glob".into(), |kind| kind.to_string());
        Ok(Some(MineCall {
            target,
            functions,
            is_list,
            kind: match kind.to_lowercase().as_str() {
                // Patterns could be used to guess secrets.
                "pillar" => "pillar_exact".into(),
                "compound" => "compound_pillar_exact".into(),
                _ => kind,
            },
            leaves_out_own: leaves_out.is_some_and(|value| value.truthy()),
            by,
        }))
    }
}

impl Functions for Mine {
    fn has(&self, name: &str) -> bool {
        name == GET || name == RUNNER
    }

    fn has_module(&self, module: &str) -> bool {
        module == "mine"
    }

    fn call(&self, call: &Call) -> Option<Result<Value, CallError>> {
        let asked = match (&*call.name, call.on_master) {
            (GET, true) => Err(on_master()),
            (GET, false) => call
                .bind(["tgt", "fun", "tgt_type", "exclude_minion"])
                .and_then(|bound| MineCall::of(bound, Some(call.minion.to_string()))),
            (RUNNER, true) => run(call)?,
            _ => return None,
        };
        let data = |asked: Option<MineCall>| match asked {
            Some(asked) => self.data(&asked),
            None => Ok(Value::map()),
        };
        Some(asked.and_then(data))
    }
}

/// The arguments of a master's call of the runner; `None` for another runner.
fn run(call: &Call) -> Option<Result<Option<MineCall>, CallError>> {
    let mut named = call.kwargs.clone();
    let mut args = call.args.iter().cloned();
    let name = args.next().or_else(|| named.shift_remove("name"))?;
    if name.as_str() != Some(GET) {
        return None;
    }
    let given = args.next().or_else(|| named.shift_remove("arg"));
    let more = args.next().or_else(|| named.shift_remove("kwarg"));
    if args.next().is_some() {
        let message = "only `arg` and `kwarg` of saltutil.runner are known for mine.get";
        return Some(Err(CallError::new(message)));
    }
    if let Some(Value::Map(more)) = more {
        named = more.into_iter().chain(named).collect();
    }
    let inner = Call {
        name: GET.into(),
        args: given.map_or_else(Vec::new, |given| match given {
            Value::List(args) => args.to_vec(),
            one => vec![one],
        }),
        kwargs: named,
        ..call.clone()
    };
    let bound = inner.bind(["tgt", "fun", "tgt_type"]);
    Some(
        bound.and_then(|[target, functions, kind]| {
            MineCall::of([target, functions, kind, None], None)
        }),
    )
}

fn on_master() -> CallError {
    let message = "mine.get gives nothing in a pillar: a master looks into its own data store, and not into the mine";
    CallError::new(message).with_help(
        "ask the mine by salt['saltutil.runner']('mine.get', tgt=…, fun=…); a stub for mine.get gives what the \
         master gives",
    )
}

fn unreadable(error: &ReadError) -> CallError {
    CallError::new(format!("the mine cannot be read: {error}"))
}

//! States that their functions cannot run: the function does not exist, or it does not take what it is given.

use std::collections::BTreeSet;

use mapstack::Place;
use mapstack::value::{Key, Value};
use mapstack_states::compile::{LowState, is_of_every_state};
use mapstack_states::{Home, OwnModules, Places, StateFunction, homes};

/// The reason for which a function cannot run a state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Misused {
    /// No state module has the name.
    Module,
    /// The state module has no such function.
    Function,
    /// Salt 3008 lacks it; an extension or an older version has it.
    Elsewhere(Home),
    /// The function does not take an argument.
    Argument(String),
    /// The function lacks an argument.
    Missing(String),
}

/// States of an sls that a function cannot run.
#[derive(Debug, Clone)]
pub(crate) struct Misuse {
    pub why: Misused,
    pub module: String,
    pub function: String,
    pub sls: String,
    /// The path of the sls.
    pub path: String,
    /// The place of the first of them.
    pub place: Option<Place>,
    /// The runs for which it is so.
    pub runs: BTreeSet<usize>,
    /// Their IDs, each with the path of its sls.
    pub ids: BTreeSet<(String, String)>,
}

/// The identity of a misuse: the reason, the function, and the sls, which makes no difference where all of a state module
/// is elsewhere.
pub(crate) type MisuseKey = (Misused, String, String, String);

impl Misuse {
    pub fn key(&self) -> MisuseKey {
        let (function, path) = match self.is_of_module() {
            true => Default::default(),
            false => (self.function.clone(), self.path.clone()),
        };
        (self.why.clone(), self.module.clone(), function, path)
    }

    /// True if no function of the state module could be run.
    pub fn is_of_module(&self) -> bool {
        match self.why {
            Misused::Module => true,
            Misused::Elsewhere(_) | Misused::Function => !is_of_salt(&self.module),
            _ => false,
        }
    }

    /// True if a state of an sls lacks an argument.
    pub fn is_missing_in(&self, sls: &str) -> bool {
        matches!(self.why, Misused::Missing(_)) && self.sls == sls
    }

    /// Add the same of other runs, or of another sls.
    pub fn join(&mut self, other: Misuse, runs: &[usize]) {
        self.runs.extend(runs);
        if other.path < self.path {
            (self.sls, self.path, self.place) = (other.sls, other.path, other.place);
        }
        self.ids.extend(other.ids);
    }
}

/// True if Salt 3008 has a state module of a name.
pub(crate) fn is_of_salt(module: &str) -> bool {
    homes(module).any(|home| home == Home::Salt)
}

/// A state as its function gets it.
pub(crate) struct Call {
    sls: String,
    id: String,
    module: String,
    function: String,
    arguments: BTreeSet<String>,
    /// True if the arguments are complete.
    is_whole: bool,
}

/// The states of low data.
pub(crate) fn calls_of_low(states: &[LowState]) -> Vec<Call> {
    let call = |state: &LowState| {
        let text = |name| Some(state.chunk.get_str(name)?.as_str()?.to_string());
        Some(Call {
            sls: text("__sls__")?,
            id: text("__id__")?,
            module: text("state")?,
            function: text("fun")?,
            arguments: state.chunk.keys().iter().map(ToString::to_string).collect(),
            is_whole: true,
        })
    };
    states.iter().filter_map(call).collect()
}

/// The states of high data that is refused, without what extends it and what may be refused for its form.
pub(crate) fn calls_of_high(high: &Value) -> Vec<Call> {
    let mut calls = Vec::new();
    let bodies = high.as_map().into_iter().flat_map(|high| high.iter());
    let is_part = |id: &Key| matches!(id.as_str(), Some("include" | "exclude" | "extend"));
    for (id, body) in bodies.filter(|(id, _)| !is_part(id)) {
        let Some(body) = body.as_map() else {
            continue;
        };
        let sls = body.get("__sls__").and_then(Value::as_str);
        let modules = body.iter().filter_map(|(module, args)| {
            let module = module.as_str().filter(|name| !name.starts_with("__"))?;
            Some((module, args.as_list()?))
        });
        for (module, args) in modules {
            let mut functions = args.iter().filter_map(Value::as_str);
            let (Some(function), None) = (functions.next(), functions.next()) else {
                continue;
            };
            let given = args.iter().filter_map(Value::as_map);
            let given = given.flat_map(|arg| arg.keys().map(ToString::to_string));
            calls.push(Call {
                sls: sls.unwrap_or_default().to_owned(),
                id: id.to_string(),
                module: module.to_owned(),
                function: function.to_owned(),
                arguments: given.filter(|name| name != "names").collect(),
                is_whole: false,
            });
        }
    }
    calls
}

/// The calls of a saltenv's sls that functions cannot take, one by one.
pub(crate) fn misuses(
    calls: &[Call],
    own: &OwnModules,
    places: &Places<'_>,
    saltenv: &str,
) -> Vec<Misuse> {
    let of = |call: &Call| {
        let sls = places.sls(&call.sls, None);
        let sls = sls.filter(|sls| sls.saltenv == saltenv)?;
        let at = |argument: Option<&str>| {
            let declared = format!("{}.{}", call.module, call.function);
            let of = |state: &str| {
                let keys = [Some(&*call.id), Some(state), argument];
                places.place(sls, &keys.into_iter().flatten().collect::<Vec<_>>())
            };
            // The one that is farther down names more.
            let found = [of(&call.module), of(&declared)].into_iter().flatten();
            found.max_by_key(|place| place.start)
        };
        let misuse = |why: Misused| Misuse {
            place: match &why {
                Misused::Argument(name) => at(Some(name)),
                _ => at(None),
            },
            why,
            module: call.module.clone(),
            function: call.function.clone(),
            sls: call.sls.clone(),
            path: sls.path.clone(),
            runs: BTreeSet::new(),
            ids: [(sls.path.clone(), call.id.clone())].into(),
        };
        Some(
            call.misused(own)
                .into_iter()
                .map(misuse)
                .collect::<Vec<_>>(),
        )
    };
    calls.iter().filter_map(of).flatten().collect()
}

impl Call {
    /// The reasons for which the function cannot take it.
    fn misused(&self, own: &OwnModules) -> Vec<Misused> {
        if own.has(&self.module, &self.function) {
            return Vec::new();
        }
        let is_own = own.has_module(&self.module);
        let Some(function) = StateFunction::named(&self.module, &self.function) else {
            let is_known = is_own || homes(&self.module).next().is_some();
            return vec![match is_known {
                true => Misused::Function,
                false => Misused::Module,
            }];
        };
        // The tree's module can take the place of Salt's.
        if is_own {
            return Vec::new();
        }
        let elsewhere = (function.home != Home::Salt).then_some(Misused::Elsewhere(function.home));
        let is_extra =
            |name: &&String| !(*name == "name" || is_of_every_state(name) || function.takes(name));
        let extra = self.arguments.iter().filter(is_extra);
        let extra = extra.cloned().map(Misused::Argument);
        let is_missing =
            |name: &&str| self.is_whole && *name != "name" && !self.arguments.contains(*name);
        let missing = function.required().filter(is_missing);
        let missing = missing.map(|name| Misused::Missing(name.to_owned()));
        elsewhere.into_iter().chain(extra).chain(missing).collect()
    }
}

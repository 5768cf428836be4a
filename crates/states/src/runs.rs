//! The states of minions as they run, as data that threads share.

use mapstack::minion::Minion;
use mapstack_diagnostic::Error;
use mapstack_pyobject::Obj;
use mapstack_value::Value;

use crate::compile::{LowState, Requisite};
use crate::render::{GotSls, SlsData};

/// The states of minions as they run, or why they do not.
#[derive(Debug, Default)]
pub struct Compiled {
    /// The sls, in the order in which they are rendered.
    pub sls: Vec<GotSls>,
    /// The states in the order in which they run. There are none if Salt refuses them.
    pub states: Vec<RunningState>,
    /// The low data of the states, if the gatherer keeps it ([`Gatherer::keeping_low`](crate::Gatherer::keeping_low)).
    pub low: Vec<Value>,
    /// Beside each chunk of low data, how it runs.
    pub runs: Vec<LowRun>,
    /// The reasons for which Salt refuses the states, with their places.
    pub errors: Vec<Error>,
    /// The minion with the facts as sls left them, if one changed them in place. Templates of files see these.
    pub changed: Option<Minion>,
}

/// A state that runs.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunningState {
    /// The ID.
    pub id: String,
    /// The function, such as `pkg.installed`.
    pub function: String,
    /// The name that the function gets.
    pub name: String,
    /// The sls.
    pub sls: String,
    /// The saltenv of the sls.
    pub saltenv: String,
    /// The packages, if it is about packages.
    pub packages: Vec<String>,
}

impl RunningState {
    pub(crate) fn of(state: &LowState) -> Self {
        let object = |name: &str| state.chunk.get_str(name).unwrap_or_default();
        let text = |name: &str| {
            let value = object(name);
            let text = value.as_str().map(ToString::to_string);
            text.unwrap_or_else(|| format!("{value:?}"))
        };
        let module = text("state");
        let packages = match &*module {
            "pkg" => packages([object("pkgs"), object("sources"), object("name")]),
            _ => Vec::new(),
        };
        RunningState {
            id: text("__id__"),
            function: format!("{module}.{}", text("fun")),
            name: text("name"),
            sls: text("__sls__"),
            saltenv: text("__env__"),
            packages,
        }
    }
}

/// The packages of the first argument that says any: a list of names, each with its version or its file or without, or
/// a name.
fn packages(arguments: [Obj; 3]) -> Vec<String> {
    let names = |argument: Obj| -> Vec<String> {
        match argument.to_value().unwrap_or_default() {
            Value::List(items) => items
                .iter()
                .flat_map(|item| match item {
                    Value::Map(one) => one.keys().map(ToString::to_string).collect(),
                    name => vec![name.to_string()],
                })
                .collect(),
            Value::None => Vec::new(),
            name => vec![name.to_string()],
        }
    };
    let mut found = arguments.into_iter().map(names);
    found.find(|names| !names.is_empty()).unwrap_or_default()
}

/// The way in which a chunk of low data runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LowRun {
    /// The positions of states that come before it by a requisite.
    pub after: Vec<(usize, Requisite)>,
    /// True if it runs in test mode here, since another state has it as `prereq`.
    pub is_test: bool,
    /// True if its state module does something about what it watches.
    pub watches: bool,
}

impl LowRun {
    pub(crate) fn of(state: &LowState, watches: &dyn Fn(&str) -> bool) -> Self {
        let module = state.chunk.get_str("state").unwrap_or_default();
        LowRun {
            after: state.after.clone(),
            is_test: state.is_test,
            watches: module.as_str().is_some_and(|module| watches(module)),
        }
    }
}

impl Compiled {
    /// The approximate size in bytes.
    pub(crate) fn size(&self) -> usize {
        let of_state = |state: &RunningState| {
            let texts = [&state.id, &state.function, &state.name, &state.sls];
            size_of::<RunningState>() + texts.iter().map(|text| text.len()).sum::<usize>()
        };
        let states: usize = self.states.iter().map(of_state).sum();
        let of_render = |rendered: &SlsData| match &rendered.data {
            Ok(data) => 48 * mapstack_value::weight(data),
            Err(_) => 1024,
        };
        let sls = self.sls.iter();
        let sls: usize = sls.map(|sls| 512 + of_render(&sls.rendered)).sum();
        let low: usize = self
            .low
            .iter()
            .map(|chunk| 48 * mapstack_value::weight(chunk))
            .sum();
        states + sls + low + 2048 * self.errors.len()
    }
}

//! The origins of states: of each argument, in the sls that wrote it, and of what templates printed there.

mod file;
mod traced;
mod written;

use mapstack::Engine;
use mapstack_diagnostic::{Diagnostic, Place};
use mapstack_minion::{FactPlaces, Minion};
use mapstack_states::compile::Refusal;
use mapstack_states::{HighData, SettledStates};
use mapstack_value::{Key, Map, Value};

pub use file::{FileLines, explain_file};

use crate::flow::TracerFindings;
use crate::layers::Reason;
use crate::states::traced::TracedSls;
use crate::states::written::{Argument, WrittenArguments};
use crate::tree::{At, Claim, HistoryStep, Node};
use crate::{Lineage, Secrets};

/// The states of a minion, with the origins of their arguments.
#[derive(Debug)]
pub struct ExplainedStates {
    /// The arguments: by ID, by function, by name. Requisites that others gave a state are among its own.
    pub data: Value,
    /// The origins of the data.
    pub lineage: Lineage,
    /// The states, in the order of the data.
    pub states: Vec<StateOrigin>,
    /// The reasons for which a state run refuses the states of the minion, of which the data is a part then.
    pub refusals: Vec<Refusal>,
    /// The warnings of templates that were followed.
    pub warnings: Vec<Diagnostic>,
}

/// The origin of a state.
#[derive(Debug, Clone, PartialEq)]
pub struct StateOrigin {
    /// The ID.
    pub id: Key,
    /// The function, such as `pkg.installed`.
    pub function: String,
    /// The sls that declares it.
    pub sls: String,
    /// The saltenv of the sls.
    pub saltenv: String,
    /// The place of the ID.
    pub place: Option<Place>,
    /// The chain by which the minion gets the sls: the sls that includes it, the one that includes that, and so on, up to the entries
    /// of top files.
    pub reasons: Vec<Reason>,
    /// Its requisites.
    pub requisites: Vec<RequisiteOrigin>,
}

/// The origin of a requisite.
#[derive(Debug, Clone, PartialEq)]
pub struct RequisiteOrigin {
    /// The argument, such as `require`.
    pub argument: String,
    /// The state module and the ID or name of the other state, as they are written.
    pub state: (String, String),
    /// The place where it is written.
    pub place: Option<Place>,
    /// The ID and argument, such as `require_in`, that add the requisite, if another state does.
    pub given_by: Option<(Key, String)>,
}

/// The states of a minion with the origins of their arguments: those of some IDs, or all. The high data comes with what it
/// settles to ([`HighData::settled`]).
///
/// ```
/// use mapstack::{Engine, loader::MemoryFiles, minion::Minion, value::Key};
/// use mapstack_lineage::explain_states;
/// use mapstack_states::{Gatherer, TopOptions, RequestedStates};
/// let files = MemoryFiles::new()
///     .file("base", "top.sls", "base: {'*': [web]}")
///     .file("base", "map.jinja", "{% set port = 80 %}")
///     .file("base", "web.sls", "{% from 'map.jinja' import port %}\nsite:\n  http.query:\n    - port: {{ port }}\n");
/// let engine = Engine::new(files);
/// let minion = Minion::new("web1").complete();
/// let high = Gatherer::new(&engine, TopOptions::default()).high(&minion, RequestedStates::Highstate);
/// let settled = high.settled(&minion).unwrap();
/// let explained = explain_states(&engine, &minion, &high, settled, &[]);
/// let port = explained.lineage.at(&["site", "http.query", "port"].map(Key::from)).unwrap();
/// assert_eq!(port.spot.to_string(), "web.sls:4:13");
/// assert_eq!(port.printed[0].spot.to_string(), "map.jinja:1:15");
/// ```
#[must_use]
pub fn explain_states<'x>(
    engine: &'x Engine,
    minion: &'x Minion,
    high: &'x HighData,
    settled: SettledStates,
    only: &[Key],
) -> ExplainedStates {
    StatesExplainer::new(engine, minion, high, settled).states(only)
}

/// Explains the states and files of a minion, for several questions: each sls is followed once.
pub struct StatesExplainer<'x> {
    engine: &'x Engine,
    minion: &'x Minion,
    traced: TracedSls<'x>,
    written: WrittenArguments,
    states: Value,
    refusals: Vec<Refusal>,
}

impl<'x> StatesExplainer<'x> {
    /// An explainer of high data, which comes with what it settles to ([`HighData::settled`]).
    #[must_use]
    pub fn new(
        engine: &'x Engine,
        minion: &'x Minion,
        high: &'x HighData,
        SettledStates { states, refusals }: SettledStates,
    ) -> Self {
        StatesExplainer {
            engine,
            minion,
            traced: TracedSls::new(engine, minion, high),
            written: WrittenArguments::of(&high.sls),
            states,
            refusals,
        }
    }

    /// The states with the origins of their arguments, as [`explain_states`] says: those of some IDs, or all.
    pub fn states(&mut self, only: &[Key]) -> ExplainedStates {
        let states = self.states.clone();
        let mut explaining = self.explaining();
        let (mut data, mut node) = (Map::new(), Node::default());
        for (id, body) in states.as_map().into_iter().flatten() {
            if !(only.is_empty() || only.contains(id)) || is_internal(id) {
                continue;
            }
            let Some(body) = body.as_map() else { continue };
            let (value, inside, key) = explaining.state(id, body);
            data.insert(id.clone(), value);
            node.set(id, inside, key);
        }
        let states = explaining.states;
        self.explained(data, node, states)
    }

    fn explaining(&mut self) -> Explaining<'_, 'x> {
        Explaining {
            traced: &mut self.traced,
            written: &self.written,
            states: Vec::new(),
            requisites: Vec::new(),
        }
    }

    /// The places found for some data with its origins.
    fn explained(&self, data: Map, node: Node, states: Vec<UnplacedState>) -> ExplainedStates {
        let data = Value::Map(data);
        let done = self.traced.done().clone();
        let traced = TracerFindings {
            layers: done.layers,
            node,
            printed: Default::default(),
            texts: done.texts,
        };
        let secrets = Secrets {
            texts: done.secrets,
            policy: self.engine.policy().clone(),
        };
        let facts = FactPlaces::new(self.minion);
        let lineage = Lineage::of_map(traced, data.clone(), facts, secrets);
        let shown = |path: &str| match done.shown.get(path) {
            Some(shown) => shown.clone(),
            None => format!("{}{path}", crate::flow::SERVED),
        };
        let placed = |state: UnplacedState| state.placed(&lineage);
        ExplainedStates {
            states: states.into_iter().map(placed).collect(),
            data,
            lineage: lineage.with_shown(&shown),
            refusals: self.refusals.clone(),
            warnings: done.warnings,
        }
    }
}

fn is_internal(key: &Key) -> bool {
    key.as_str().is_some_and(|key| key.starts_with("__"))
}

/// A part of the data with its origins, and the claim on its key.
type ClaimedOrigins = (Value, Node, Option<Claim>);

/// The states that are explained so far.
struct Explaining<'e, 'x> {
    traced: &'e mut TracedSls<'x>,
    written: &'e WrittenArguments,
    states: Vec<UnplacedState>,
    /// The requisites of the state that is being explained.
    requisites: Vec<(RequisiteOrigin, Vec<Key>)>,
}

/// A state with the paths of its requisites in the data, whose places are found at the end.
struct UnplacedState {
    state: StateOrigin,
    requisites: Vec<(RequisiteOrigin, Vec<Key>)>,
}

impl UnplacedState {
    fn placed(self, lineage: &Lineage) -> StateOrigin {
        let place = |spot| match spot {
            crate::ValuePosition::File { place, .. } => Some(place),
            _ => None,
        };
        let requisites = self.requisites.into_iter();
        let requisites = requisites.map(|(requisite, path)| RequisiteOrigin {
            place: lineage.at(&path).and_then(|known| place(known.spot)),
            ..requisite
        });
        let id = lineage.at(std::slice::from_ref(&self.state.id));
        StateOrigin {
            place: id.and_then(|known| place(known.key?)),
            requisites: requisites.collect(),
            ..self.state
        }
    }
}

impl Explaining<'_, '_> {
    /// The functions of an ID.
    fn state(&mut self, id: &Key, body: &Map) -> ClaimedOrigins {
        let text = |mark: &str| body.get(mark).and_then(Value::as_str).unwrap_or_default();
        let own = self.traced.number(text("__env__"), text("__sls__"));
        let declared = own.and_then(|sls| self.traced.claim(sls, std::slice::from_ref(id)));
        let key = own.and_then(|sls| self.traced.key(sls, &[], id));
        let (mut data, mut nodes) = (Map::new(), Vec::new());
        for (module, args) in body.iter().filter(|(module, _)| !is_internal(module)) {
            let items = args.as_list().unwrap_or_default();
            let function = items.iter().find_map(Value::as_str);
            let name = match function {
                Some(function) => format!("{module}.{function}"),
                None => module.to_string(),
            };
            let state = IdFunction {
                id,
                module,
                name: Key::from(&*name),
                key: key.as_ref(),
            };
            let (value, inside) = self.arguments(&state, items, declared.as_ref());
            let at = own.and_then(|sls| {
                let written = self.written.function(sls, id, module)?.clone();
                self.traced.key(sls, std::slice::from_ref(id), &written)
            });
            nodes.push((state.name.clone(), inside, at.or(key.clone())));
            data.insert(state.name.clone(), value);
            self.states.push(UnplacedState {
                state: StateOrigin {
                    id: id.clone(),
                    function: name,
                    sls: text("__sls__").to_owned(),
                    saltenv: text("__env__").to_owned(),
                    place: None,
                    reasons: own.map(|sls| self.traced.reasons(sls)).unwrap_or_default(),
                    requisites: Vec::new(),
                },
                requisites: std::mem::take(&mut self.requisites),
            });
        }
        let (data, mut node) = self.container(data, declared.as_ref());
        for (name, inside, at) in nodes {
            node.set(&name, inside, at);
        }
        (data, node, key)
    }

    /// A mapping that is not written like this, near a place.
    fn container(&mut self, map: Map, near: Option<&Claim>) -> (Value, Node) {
        let value = Value::Map(map);
        let claim = match near {
            Some(near) => Claim {
                at: near.at.nearby(),
                ..near.over(&value)
            },
            None => self.traced.unknown(&value),
        };
        (value, Node::whole(claim))
    }

    /// The arguments of a function by name.
    fn arguments(
        &mut self,
        state: &IdFunction<'_>,
        items: &[Value],
        near: Option<&Claim>,
    ) -> (Value, Node) {
        let entries = || items.iter().filter_map(Value::as_map).flatten();
        let is_name = |name: &Key| matches!(name.as_str(), Some("name" | "names"));
        let is_named = entries().any(|(name, _)| is_name(name));
        let (mut all, mut nodes) = (Map::new(), Vec::new());
        if !is_named {
            // The ID is the name.
            let name = state.id.to_value();
            let own = state.key.map(|key| Node::whole(key.over(&name)));
            all.insert("name", name);
            nodes.push((Key::from("name"), own, None));
        }
        for (name, value) in entries() {
            let is_added = name.as_str() == Some("order")
                && self
                    .written
                    .arguments(state.id, state.module, name)
                    .is_empty();
            match (all.get(name), value) {
                _ if is_added => {}
                // Each list of a requisite counts.
                (Some(Value::List(known)), Value::List(more)) if is_requisite(name) => {
                    let both: Value = known.iter().chain(&**more).cloned().collect();
                    all.insert(name.clone(), both);
                }
                _ => drop(all.insert(name.clone(), value.clone())),
            }
        }
        for (name, value) in all.iter().skip(nodes.len()) {
            let (node, key) = self.argument(state, name, value);
            nodes.push((name.clone(), Some(node), key));
        }
        let (data, mut node) = self.container(all, near);
        for (name, inside, key) in nodes {
            if let Some(inside) = inside {
                node.set(&name, inside, key);
            }
        }
        (data, node)
    }

    /// The origins of an argument, and those of its name.
    fn argument(
        &mut self,
        state: &IdFunction<'_>,
        name: &Key,
        value: &Value,
    ) -> (Node, Option<Claim>) {
        let written = self.written;
        let own = written.arguments(state.id, state.module, name);
        let same = own.iter().rev().find(|one| one.value.is_same(value));
        let same = same.or_else(|| written.used(state.id, state.module, name, value));
        let first = same.or(own.first()).cloned();
        let key = first.as_ref().and_then(|one| self.traced.key_at(one));
        let node = match (same.cloned(), value) {
            (Some(one), _) => self.replaced(&one, own),
            (None, Value::List(items)) => Some(self.list(state, name, items)),
            (None, _) => None,
        };
        if is_requisite(name) {
            self.note_requisites(state, name, value);
        }
        let node = node.unwrap_or_else(|| Node::whole(self.traced.unknown(value)));
        (node, key)
    }

    /// The origins of an argument, with what it replaced in the same state.
    fn replaced(&mut self, one: &Argument, own: &[Argument]) -> Option<Node> {
        let before = own
            .iter()
            .take_while(|other| other.path != one.path || other.sls != one.sls);
        let mut node: Option<Node> = None;
        for argument in before.chain([one]) {
            let next = self.traced.node(argument)?;
            node = Some(match node {
                Some(old) => old.then(next, HistoryStep::Replaced),
                None => next,
            });
        }
        node
    }

    /// The origins of a list that several sls or states made.
    fn list(&mut self, state: &IdFunction<'_>, name: &Key, items: &[Value]) -> Node {
        let own = self
            .written
            .arguments(state.id, state.module, name)
            .to_vec();
        let mut pool: Vec<(Value, Option<Node>)> = Vec::new();
        for one in &own {
            for (index, item) in one.value.as_list().into_iter().flatten().enumerate() {
                pool.push((item.clone(), self.traced.node(&one.inside(index))));
            }
        }
        let mut nodes = Vec::new();
        for item in items {
            let known = pool.iter().position(|(known, _)| known.is_same(item));
            let node = match known {
                Some(at) => pool.swap_remove(at).1,
                None => {
                    let given = self.written.given(state.id, name, item);
                    given.and_then(|given| {
                        let node = self.traced.node(&given.argument)?;
                        // It is written there, the other way round.
                        Some(Node::whole(node.claim()?.over(item)))
                    })
                }
            };
            nodes.push(node.unwrap_or_else(|| Node::whole(self.traced.unknown(item))));
        }
        let whole: Value = items.iter().cloned().collect();
        let owner = own.first().and_then(|one| self.traced.node(one));
        let owner = owner.as_ref().and_then(Node::claim).cloned();
        let owner = owner.or_else(|| nodes.first().and_then(Node::claim).cloned());
        let claim = match owner {
            Some(owner) => owner.over(&whole),
            None => self.traced.unknown(&whole),
        };
        Node::list(claim, nodes)
    }

    /// Note the requisites of a list.
    fn note_requisites(&mut self, state: &IdFunction<'_>, name: &Key, value: &Value) {
        for (index, item) in value.as_list().into_iter().flatten().enumerate() {
            let other = match item {
                Value::Map(one) => one
                    .iter()
                    .next()
                    .map(|(module, name)| (module.to_string(), name.to_string())),
                text => Some(("id".to_owned(), text.to_string())),
            };
            let Some(other) = other else { continue };
            let own = self.written.arguments(state.id, state.module, name).iter();
            let mut own = own.filter_map(|one| one.value.as_list()).flatten();
            let given = match own.any(|known| known.is_same(item)) {
                true => None,
                false => self.written.given(state.id, name, item),
            };
            let requisite = RequisiteOrigin {
                argument: name.to_string(),
                state: other,
                place: None,
                given_by: given.map(|given| (given.id.clone(), given.name.to_string())),
            };
            let steps = [state.id, &state.name, name].map(Key::clone);
            let path = steps.into_iter().chain([Key::of_index(index)]).collect();
            self.requisites.push((requisite, path));
        }
    }
}

/// A function of an ID.
struct IdFunction<'s> {
    id: &'s Key,
    module: &'s Key,
    /// The function with its module.
    name: Key,
    /// The claim on the ID.
    key: Option<&'s Claim>,
}

fn is_requisite(name: &Key) -> bool {
    name.as_str()
        .is_some_and(mapstack_states::compile::is_requisite)
}

/// A claim on a value of unknown origin.
fn unknown(layer: usize, value: &Value) -> Claim {
    Claim {
        layer,
        value: value.clone(),
        at: At::Unknown,
    }
}

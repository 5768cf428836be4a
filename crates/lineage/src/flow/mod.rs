//! Follows values through a template that computes a formula's configuration: from the literals, files and facts they
//! come from, through variables, containers, methods, filters and functions, to the result.
//!
//! Containers are known by their identity ([`objects`]); scalars have none, so their origins go with the operands of
//! expressions and with variables. What an operation that is not known here returns counts as computed by it, and the
//! result is checked at the end: an origin whose value is not the value in the result is not known.

mod documents;
mod expression;
mod filters;
mod functions;
mod merging;
mod methods;
mod objects;
mod sources;
mod tracer;

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use foldhash::fast::RandomState;
use mapstack::hooks::{Edits, Hooks, MergedLayer, Moment};
use mapstack_diagnostic::Place;
use mapstack_functions::Flow;
use mapstack_matcher::Matcher;
use mapstack_minion::Minion;
use mapstack_render::Obj;
use mapstack_render::jinja::{Table, Tracer};
use mapstack_value::{Extent, Key, Str, Value};

use crate::bounds::MAX_VALUES;
use crate::layers::Layer;
use crate::tracker::{Follower, Texts};
use crate::tree::{At, Claim, Node};
use documents::Dumps;
use objects::{Objects, is_container};
use sources::{Sources, shown};

pub(crate) use merging::{merged, stacked};
pub(crate) use sources::SERVED;

/// The hooks that follow the values of a map.
pub(crate) struct ValueTracer {
    state: RefCell<State>,
    /// Follows the calls of `map.data` in the template.
    folds: Follower,
    result: RefCell<Option<Traced>>,
}

/// The state at a moment of the render.
pub(crate) struct State {
    minion: Minion,
    sources: Sources,
    objects: Objects,
    /// The origins of scalars in variables.
    variables: HashMap<(Table, Str), Operand, RandomState>,
    /// What the expressions being evaluated have read, innermost last.
    operands: Vec<Operand>,
    /// What the function that was called last said about its result.
    answer: Option<Operand>,
    dumps: Dumps,
    printed: Printed,
    texts: Texts,
    /// The layers of nested folds, which are listed even if another layer replaced all of their values.
    folded: BTreeSet<usize>,
}

/// The texts that tags printed, by the source and the offset of the tag; empty if a tag printed different things.
pub(crate) type Printed = HashMap<(Arc<str>, usize), Vec<At>>;

/// A value that an expression read, and its origins if it is a scalar.
#[derive(Clone)]
struct Operand {
    value: Obj,
    node: Option<Node>,
}

/// The findings of a tracer.
pub(crate) struct Traced {
    pub layers: Vec<Layer>,
    pub node: Node,
    pub printed: Printed,
    /// The texts of the layers of nested folds.
    pub texts: Texts,
}

impl ValueTracer {
    pub fn new(minion: Minion) -> Self {
        ValueTracer {
            state: RefCell::new(State {
                minion,
                sources: Sources::default(),
                objects: Objects::default(),
                variables: HashMap::default(),
                operands: Vec::new(),
                answer: None,
                dumps: Dumps::default(),
                printed: Printed::new(),
                texts: Texts::new(),
                folded: BTreeSet::new(),
            }),
            folds: Follower::new(),
            result: RefCell::default(),
        }
    }

    /// The origins of the result, once there is one.
    pub fn take(&self) -> Option<Traced> {
        self.result.take()
    }

    fn finish(&self, object: &Obj, data: &Value) -> Traced {
        let state = &mut *self.state.borrow_mut();
        let unknown = state.sources.unknown();
        let mut node = match Extent::of(data).values {
            // A few aliases can stand for more values than anyone can look at.
            values if values > MAX_VALUES => whole(unknown, data.clone(), At::Unknown),
            _ => state.objects.node(object).unwrap_or_default(),
        };
        node.verify(data, unknown);
        let mut used = std::mem::take(&mut state.folded);
        node.renumber(&mut |layer| {
            used.insert(layer);
            layer
        });
        let numbers: HashMap<usize, usize> = used.into_iter().zip(0..).collect();
        node.renumber(&mut |layer| numbers.get(&layer).copied().unwrap_or_default());
        let texts = std::mem::take(&mut state.texts).into_iter();
        let layers = std::mem::take(&mut state.sources).into_layers();
        Traced {
            layers: layers
                .into_iter()
                .enumerate()
                .filter(|(number, _)| numbers.contains_key(number))
                .map(|(_, layer)| layer)
                .collect(),
            node,
            printed: std::mem::take(&mut state.printed),
            texts: texts
                .filter_map(|(layer, text)| Some((*numbers.get(&layer)?, text)))
                .collect(),
        }
    }
}

impl State {
    /// The origins of an operand.
    fn node(&self, operand: &Operand) -> Option<Node> {
        match is_container(&operand.value) {
            true => self.objects.node(&operand.value),
            false => operand.node.clone(),
        }
    }

    /// The layer of a template.
    fn template(&mut self, place: &mapstack_render::TemplatePlace) -> usize {
        self.sources
            .file(place.template.as_deref().unwrap_or("template"))
    }
}

/// The data of an object, with nothing in place of what is not data.
fn data(object: &Obj) -> Value {
    object
        .to_value_lossy()
        .map_or(Value::None, |(value, _)| value)
}

/// A place in a template as a place in a file.
fn in_file(place: &mapstack_render::TemplatePlace) -> Place {
    Place {
        file: shown(place.template.as_deref().unwrap_or("template")),
        source: place.source.clone(),
        start: place.span.start as usize,
        end: place.span.end as usize,
    }
}

impl Hooks for ValueTracer {
    fn follows_values(&self) -> bool {
        true
    }

    fn tracer(&self) -> Option<&dyn Tracer> {
        Some(self)
    }

    fn exported(&self, object: &Obj, data: &Value) {
        // A mapping of several variables was not made by the template.
        let mut state = self.state.borrow_mut();
        if !state.objects.knows(object) {
            let unknown = state.sources.unknown();
            let node = whole(unknown, data.clone(), At::Unknown);
            state.objects.insert(object, node);
        }
        drop(state);
        *self.result.borrow_mut() = Some(self.finish(object, data));
    }

    fn flowed(&self, flow: Flow<'_>) {
        self.flow(flow);
    }

    fn fold_begins(&self, moment: Moment, data: &Value) {
        self.folds.fold_begins(moment, data);
    }

    fn source_begins(&self) {
        self.folds.source_begins();
    }

    fn matcher_found(&self, matcher: &Matcher, found: &Value) {
        self.folds.matcher_found(matcher, found);
    }

    fn data_reduced(&self, data: &Value) {
        self.folds.data_reduced(data);
    }

    fn merging(&self, moment: Moment, layer: &MergedLayer<'_>) {
        self.folds.merging(moment, layer);
    }

    fn fold_ends(&self, moment: Moment, before: &Value, now: &Value) {
        self.folds.fold_ends(moment, before, now);
    }

    fn fold_is_under(&self, key: &str) {
        self.folds.fold_is_under(key);
    }

    fn edited(&self, moment: Moment, edits: Edits<'_>) {
        self.folds.edited(moment, edits);
    }
}

/// The path of a fact as a matcher writes it.
fn query(path: &[Key]) -> String {
    let steps: Vec<String> = path.iter().map(Key::to_string).collect();
    steps.join(":")
}

/// A value that has one origin.
fn whole(layer: usize, value: Value, at: At) -> Node {
    Node::whole(Claim { layer, value, at })
}

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
mod lines;
mod merging;
mod methods;
mod objects;
mod parts;
mod prints;
mod sls;
mod sources;
mod tracer;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use foldhash::fast::RandomState;
use mapstack::hooks::{Edits, Hooks, MergedLayer, Moment, ValueHooks};
use mapstack_diagnostic::Place;
use mapstack_functions::Flow;
use mapstack_matcher::Matcher;
use mapstack_minion::Minion;
use mapstack_pyobject::{Obj, TemplatePlace, spend, spend_apart};
use mapstack_salt_jinja::{Limits, Table, Tracer};
use mapstack_value::{Extent, Key, Str, Value};

use crate::bounds::MAX_VALUES;
use crate::layers::Layer;
use crate::tracker::{Follower, LayerTexts};
use crate::tree::{At, Claim, Node};
use documents::Dumps;
use objects::{Objects, is_container};
use prints::TagTexts;
use sources::{Sources, shown};

pub(crate) use lines::{Printing, TemplateVariables, TracedLines, line_ranges};
pub(crate) use merging::{merged, over, stacked};
pub(crate) use sources::SERVED;

/// Limit on the steps through the origins of a result. They can be more than its values, which have histories.
const MAX_STEPS: u64 = 20 * MAX_VALUES as u64;

/// Steps between two looks at the clock and the memory.
const CHECK_EVERY: u64 = 4096;

/// The hooks that follow the values of a map.
pub(crate) struct ValueTracer {
    state: RefCell<TracerState>,
    limits: Limits,
    /// The steps that are left for following values. The render does not pay for them, but its time and its memory
    /// limit them as well.
    left: Cell<u64>,
    /// Why values were not followed to the end.
    ended: RefCell<Option<String>>,
    /// Follows the calls of `map.data` in the template.
    folds: Follower,
    result: RefCell<Option<TracerFindings>>,
}

/// The state at a moment of the render.
pub(crate) struct TracerState {
    minion: Minion,
    sources: Sources,
    objects: Objects,
    /// The origins of scalars in variables.
    variables: HashMap<(Table, Str), Operand, RandomState>,
    /// The values that the expressions being evaluated have read, innermost last.
    operands: Vec<Operand>,
    /// The origin of the result of the last function that was called.
    answer: Option<Operand>,
    dumps: Dumps,
    printed: PrintedTexts,
    /// All that tags printed, if the text of the template counts.
    prints: Option<TagTexts>,
    texts: LayerTexts,
    /// The variables that the template gets.
    given: TemplateVariables,
    /// Those that are scalars, once the render has begun.
    given_scalars: HashMap<Str, Operand, RandomState>,
    /// The layers of nested folds, which are listed even if another layer replaced all of their values.
    folded: BTreeSet<usize>,
}

/// The new numbers of the sources that the result names.
type Numbers = HashMap<usize, usize>;

/// The texts that tags printed, by the source and the offset of the tag; empty if a tag printed different things.
pub(crate) type PrintedTexts = HashMap<Tag, Vec<At>>;

/// A tag of a template: its source and its offset there.
#[derive(Debug, Clone)]
pub(crate) struct Tag {
    source: Arc<str>,
    start: usize,
}

impl Tag {
    pub fn new(source: &Arc<str>, start: usize) -> Self {
        Tag {
            source: source.clone(),
            start,
        }
    }

    fn of(place: &TemplatePlace) -> Self {
        Tag::new(&place.source, place.span.start as usize)
    }
}

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        let is_source = || Arc::ptr_eq(&self.source, &other.source) || self.source == other.source;
        self.start == other.start && is_source()
    }
}

impl Eq for Tag {}

impl Hash for Tag {
    /// Without the bytes of the source: each of its tags would take time for all of it.
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.source.len(), self.start).hash(state);
    }
}

/// A value that an expression read, and its origins if it is a scalar.
#[derive(Clone)]
struct Operand {
    value: Obj,
    node: Option<Node>,
}

/// The findings of a tracer.
pub(crate) struct TracerFindings {
    pub layers: Vec<Layer>,
    pub node: Node,
    pub printed: PrintedTexts,
    /// The texts of the layers of nested folds.
    pub texts: LayerTexts,
}

impl ValueTracer {
    /// A tracer that spends on values what a render may spend on templates.
    pub fn new(minion: Minion, limits: &Limits) -> Self {
        ValueTracer {
            state: RefCell::new(TracerState::new(minion)),
            limits: limits.restarted(),
            left: Cell::new(limits.fuel),
            ended: RefCell::default(),
            folds: Follower::new(),
            result: RefCell::default(),
        }
    }

    /// The same tracer, for a template whose text is read.
    pub fn with_prints(self) -> Self {
        self.state.borrow_mut().prints = Some(TagTexts::default());
        self
    }

    /// The same tracer, for a template that gets variables whose origins are known. Their layers have the numbers that
    /// they have in this list.
    pub fn with_given(self, given: TemplateVariables, layers: Vec<Layer>) -> Self {
        {
            let state = &mut *self.state.borrow_mut();
            state.sources.add(layers);
            state.given = given;
        }
        self
    }

    /// Why values were not followed to the end, if they were not.
    pub fn ended(&self) -> Option<String> {
        self.ended.borrow().clone()
    }

    /// Follow a step of the render, unless the steps for it are used up.
    fn follow(&self, step: impl FnOnce(&mut TracerState)) {
        let before = self.left.get();
        if before == 0 {
            return;
        }
        spend_apart(self.limits, &self.left, || {
            let _ = spend(1);
            step(&mut self.state.borrow_mut());
        });
        let now = self.left.get();
        if now == 0 {
            self.end(format!("it takes more than {} steps", self.limits.fuel));
        } else if before / CHECK_EVERY != now / CHECK_EVERY
            && let Err(error) = self.limits.check(0)
        {
            self.end(error.message);
        }
    }

    /// Stop following values, and forget those that were followed.
    fn end(&self, why: String) {
        self.left.set(0);
        let state = &mut *self.state.borrow_mut();
        *state = TracerState::new(std::mem::take(&mut state.minion));
        *self.ended.borrow_mut() = Some(why);
    }

    /// The origins of the result, once there is one.
    pub fn take(&self) -> Option<TracerFindings> {
        self.result.take()
    }

    /// The findings about a result whose origins are made from the state.
    fn finish(&self, data: &Value, node: impl FnOnce(&mut TracerState) -> Node) -> TracerFindings {
        // A few aliases can expand to more values than anyone can read.
        let is_readable = Extent::of(data).values <= MAX_VALUES;
        let left = Cell::new(MAX_STEPS);
        let found = spend_apart(self.limits.restarted(), &left, || {
            let state = &mut *self.state.borrow_mut();
            is_readable.then(|| {
                let node = node(state);
                state.origins(node, data)
            })
        });
        if left.get() == 0 {
            self.end(format!("its values have more than {MAX_STEPS} origins"));
        }
        let state = &mut *self.state.borrow_mut();
        let (node, numbers) = match found.filter(|_| left.get() > 0) {
            Some(found) => found,
            None => state.without_origins(data),
        };
        let texts = std::mem::take(&mut state.texts).into_iter();
        let layers = std::mem::take(&mut state.sources).into_layers();
        TracerFindings {
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

impl TracerState {
    fn new(minion: Minion) -> Self {
        TracerState {
            minion,
            sources: Sources::default(),
            objects: Objects::default(),
            variables: HashMap::default(),
            operands: Vec::new(),
            answer: None,
            dumps: Dumps::default(),
            printed: PrintedTexts::new(),
            prints: None,
            texts: LayerTexts::new(),
            given: TemplateVariables::new(),
            given_scalars: HashMap::default(),
            folded: BTreeSet::new(),
        }
    }

    /// The origins of the result, and which sources they name, with their new numbers.
    fn origins(&mut self, mut node: Node, data: &Value) -> (Node, Numbers) {
        node.verify(data, self.sources.unknown());
        let mut used = std::mem::take(&mut self.folded);
        node.renumber(&mut |layer| {
            used.insert(layer);
            layer
        });
        let numbers: Numbers = used.into_iter().zip(0..).collect();
        node.renumber(&mut |layer| numbers.get(&layer).copied().unwrap_or_default());
        (node, numbers)
    }

    /// As [`origins`](Self::origins), for a result of which they are not known.
    fn without_origins(&mut self, data: &Value) -> (Node, Numbers) {
        let mut used = std::mem::take(&mut self.folded);
        let unknown = self.sources.unknown();
        used.insert(unknown);
        let numbers: Numbers = used.into_iter().zip(0..).collect();
        let own = numbers.get(&unknown).copied().unwrap_or_default();
        (whole(own, data.clone(), At::Unknown), numbers)
    }

    /// The origins of an operand as it is now.
    fn node(&self, operand: &Operand) -> Option<Node> {
        match is_container(&operand.value) {
            true => self.objects.node(&operand.value),
            false => operand.node.clone(),
        }
    }

    /// The origins of an operand that becomes part of another value, or that value itself.
    fn moved(&mut self, operand: &Operand) -> Option<Node> {
        if !is_container(&operand.value) {
            return operand.node.clone();
        }
        self.objects.renew_value(&operand.value);
        self.objects.moved(&operand.value)
    }

    /// The claim on an operand.
    fn claim(&self, operand: &Operand) -> Option<Claim> {
        match is_container(&operand.value) {
            true => self.objects.claim(&operand.value).cloned(),
            false => operand.node.as_ref()?.claim().cloned(),
        }
    }

    /// The layer of a template.
    fn template(&mut self, place: &mapstack_pyobject::TemplatePlace) -> usize {
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
fn in_file(place: &mapstack_pyobject::TemplatePlace) -> Place {
    Place {
        file: shown(place.template.as_deref().unwrap_or("template")),
        source: place.source.clone(),
        start: place.span.start as usize,
        end: place.span.end as usize,
    }
}

impl Hooks for ValueTracer {
    fn values(&self) -> Option<&dyn ValueHooks> {
        Some(self)
    }
}

impl ValueHooks for ValueTracer {
    fn tracer(&self) -> Option<&dyn Tracer> {
        Some(self)
    }

    fn exported(&self, object: &Obj, data: &Value) {
        // A mapping of several variables was not made by the template.
        self.follow(|state| {
            if !state.objects.knows(object) {
                let unknown = state.sources.unknown();
                let node = whole(unknown, data.clone(), At::Unknown);
                state.objects.insert(object, node);
            }
        });
        let node = |state: &mut TracerState| state.objects.node(object).unwrap_or_default();
        *self.result.borrow_mut() = Some(self.finish(data, node));
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

/// True if an operation computed a value, or it is not known where it comes from.
fn is_computed(at: &At) -> bool {
    matches!(at, At::Computed(..) | At::Unknown)
}

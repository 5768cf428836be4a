//! The origins of the results of functions.

use mapstack_functions::Flow;
use mapstack_minion::Part;
use mapstack_pyobject::{DictRef, Obj};
use mapstack_value::{Key, Value};

use super::documents::Document;
use super::merging::merged;
use super::objects::is_container;
use super::{Operand, TracerState, ValueTracer, data, query, whole};
use crate::in_config::in_config;
use crate::layers::MatchedValue;
use crate::tree::{At, HistoryStep, Node};

/// The letter of matchers by that part of the facts.
fn kind_of(part: Part) -> &'static str {
    match part {
        Part::Grains => "G",
        Part::Pillar => "I",
        Part::Opts => "C",
    }
}

impl ValueTracer {
    /// A function moves values.
    pub(super) fn flow(&self, flow: Flow<'_>) {
        if let Flow::Folded { is } = flow {
            return self.folded(is);
        }
        self.follow(|state| state.flow(flow));
    }

    /// Take over the layers of a nested fold.
    fn folded(&self, is: &Obj) {
        let mut tracker = self.folds.take();
        let (layers, texts) = tracker.take_layers();
        let mut node = tracker.into_tree();
        self.follow(|state| {
            let count = layers.len();
            let first = state.sources.add(layers);
            state.folded.extend(first..first + count);
            node.renumber(&mut |layer| first + layer);
            let texts = texts.into_iter();
            state
                .texts
                .extend(texts.map(|(layer, text)| (first + layer, text)));
            state.objects.insert(is, node);
        });
    }
}

impl TracerState {
    fn merges(&mut self, base: &Obj, overlay: &Obj, options: &mapstack_merge::Options) -> Node {
        let over = self.known(overlay);
        let mut under = self.known(base);
        // An empty mapping that a function begins with belongs to what is merged first.
        let begins = !self.objects.knows(base) && data(base) == Value::map();
        if let (true, Some(claim)) = (begins, over.claim()) {
            under = whole(claim.layer, Value::map(), claim.at.clone());
        }
        merged(&data(base), under, &data(overlay), &over, options)
    }

    fn flow(&mut self, flow: Flow<'_>) {
        match flow {
            Flow::Entry { of, at, is } => {
                let of = Operand {
                    value: of.clone(),
                    node: None,
                };
                let node = self.entry(&of, at, is);
                self.answers(is, node);
            }
            Flow::Copy { of, is } => {
                let node = match is_container(of) {
                    true => self.objects.node(of),
                    false => self.operand_like(of),
                };
                self.answers(is, node);
            }
            Flow::Default { is } => {
                let node = self.operand_like(is);
                self.answers(is, node);
            }
            Flow::Update { into, at, from } => self.takes_over(into, at, from),
            Flow::Join { into, at, from, is } => self.joins(into, at, from, is),
            Flow::Merge {
                base,
                overlay,
                options,
                is,
            } => {
                let node = self.merges(base, overlay, options);
                self.answers(is, Some(node));
            }
            Flow::Fact { part, path, is } => {
                self.fact(kind_of(part), path, At::Fact(Some(part), path.to_vec()), is);
            }
            Flow::Config { path, query, is } => {
                let at = in_config(&self.minion, path, query);
                self.fact("C", path, at, is);
            }
            Flow::Picked { matcher, found, is } => self.picked(matcher, found, is),
            Flow::Read { path, text, is } => {
                let document = Document {
                    path: path.into(),
                    text,
                    map: None,
                };
                let layer = self.sources.file(path);
                let node = document.node(layer, &data(is), &self.dumps);
                self.answers(is, Some(node));
            }
            Flow::Folded { .. } => {}
        }
    }

    /// The origins of a container, which may not be known.
    fn known(&mut self, object: &Obj) -> Node {
        match self.objects.node(object) {
            Some(node) => node,
            None => whole(self.sources.unknown(), data(object), At::Unknown),
        }
    }

    /// Remember the origins of what a function is about to return.
    fn answers(&mut self, is: &Obj, node: Option<Node>) {
        if !is_container(is) {
            self.answer = Some(Operand {
                value: is.clone(),
                node,
            });
        } else if !self.objects.knows(is)
            && let Some(node) = node
        {
            self.objects.insert(is, node);
        }
    }

    /// The origins of an argument. If several equal ones have different origins, they are not known.
    fn operand_like(&self, value: &Obj) -> Option<Node> {
        if is_container(value) {
            return self.objects.node(value);
        }
        // The arguments of the call are the last operands.
        let mut alike = self
            .operands
            .iter()
            .rev()
            .filter(|operand| operand.value.is_same(value));
        alike.next()?.node.clone()
    }

    fn takes_over(&mut self, into: &DictRef, at: &Key, from: &DictRef) {
        let (into, from) = (Obj::Dict(into.clone()), Obj::Dict(from.clone()));
        let Obj::Dict(entries) = &from else { return };
        let Some(value) = entries.get(at) else { return };
        let key = self.objects.key(&from, at);
        let node = self.objects.child_now(&from, at, &value);
        self.put(&into, at, node, key);
    }

    fn joins(&mut self, into: &DictRef, at: &Key, from: &DictRef, is: &Obj) {
        let Some(value) = from.get(at) else { return };
        let old = into.get(at).unwrap_or_default();
        let (into, from) = (Obj::Dict(into.clone()), Obj::Dict(from.clone()));
        let base = self.objects.child_now(&into, at, &old).unwrap_or_default();
        // The items keep their own histories; that of the list is its own.
        let items_before = base.clone().without_past();
        let overlay = self
            .objects
            .child_now(&from, at, &value)
            .unwrap_or_default();
        let by = overlay.claim().map_or(0, |claim| claim.layer);
        let theirs: Vec<Value> = data(&value).as_list().unwrap_or_default().to_vec();
        let length = data(&old).as_list().map_or(0, <[Value]>::len);
        let item = |(index, item): (usize, &Value)| {
            if index < length {
                return items_before
                    .child(&Key::of_index(index))
                    .unwrap_or_default();
            }
            let own = theirs.iter().position(|known| known.is_same(item));
            own.and_then(|own| overlay.child(&Key::of_index(own)))
                .unwrap_or_default()
        };
        let items = data(is)
            .as_list()
            .unwrap_or_default()
            .iter()
            .enumerate()
            .map(item)
            .collect();
        let mut joined = base.clone();
        joined.become_list(items, by, HistoryStep::Joined);
        self.objects.insert(is, joined.clone());
        if let Some(known) = self.objects.get_mut(&into) {
            known.renew(at, joined);
        }
    }

    /// A value of the facts, and the path that was requested.
    fn fact(&mut self, kind: &str, path: &[Key], at: At, is: &Obj) {
        let value = data(is);
        let layer = self
            .sources
            .fact(format!("{kind}@{}", query(path)), value.clone());
        self.answers(is, Some(whole(layer, value, at)));
    }

    /// A fact picked a value from a table.
    fn picked(&mut self, matcher: &str, found: &Value, is: &Obj) {
        let because = MatchedValue {
            matcher: matcher.into(),
            found: found.clone(),
        };
        let sources = &mut self.sources;
        let mut number = |layer| sources.picked(layer, &because);
        match is_container(is) {
            true => {
                self.objects
                    .each_inside(is, &mut |node| node.renumber(&mut number));
            }
            false => {
                if let Some(node) = self.answer.as_mut().and_then(|answer| answer.node.as_mut()) {
                    node.renumber(&mut number);
                }
            }
        }
    }
}

//! Operands and variables.

use mapstack_minion::Part;
use mapstack_pyobject::{DictRef, Obj, TemplatePlace};
use mapstack_salt_jinja::{BoundName, Evaluated, Names, SourceMap, Table, Tracer, python};
use mapstack_value::{Key, Str, Value};

use super::documents::Document;
use super::objects::is_container;
use super::prints::TagTexts;
use super::{Operand, Tag, TracerState, ValueTracer, data, whole};
use crate::tree::{At, Claim, Node};

impl Tracer for ValueTracer {
    fn starts(&self, variables: &Names) {
        self.follow(|state| {
            for (name, part) in [
                ("grains", Part::Grains),
                ("pillar", Part::Pillar),
                ("opts", Part::Opts),
            ] {
                if let Some(facts @ Obj::Dict(_)) = variables.get(name) {
                    let layer = state.sources.fact(part.name().into(), Value::None);
                    let known = match part {
                        Part::Grains => state.minion.grains.clone(),
                        Part::Pillar => state.minion.pillar.clone(),
                        Part::Opts => state.minion.options(),
                    };
                    let at = At::Fact(Some(part), Vec::new());
                    state.objects.insert(facts, whole(layer, known.into(), at));
                }
            }
            state.take_given(variables);
        });
    }

    fn begin(&self) -> usize {
        self.state.borrow().operands.len()
    }

    fn forget(&self, from: usize) {
        self.state.borrow_mut().operands.truncate(from);
    }

    fn computed(&self, from: usize, by: &Evaluated<'_>, value: &Obj) {
        self.follow(|state| {
            let operands = state.operands.split_off(from.min(state.operands.len()));
            let node = state.evaluated(by, &operands, value);
            state.operands.push(Operand {
                value: value.clone(),
                node,
            });
        });
    }

    fn reads(&self, value: &Obj) {
        let (value, node) = (value.clone(), None);
        self.follow(|state| state.operands.push(Operand { value, node }));
    }

    fn takes(&self, container: &Obj, index: usize, item: &Obj) {
        self.follow(|state| {
            let node = state.taken(container, index, item);
            state.operands.push(Operand {
                value: item.clone(),
                node,
            });
        });
    }

    fn bound(&self, table: Table, name: &Str, value: &Obj) {
        self.follow(|state| {
            let last = state.operands.last();
            let known = last.filter(|last| last.value.is_same(value)).cloned();
            state.bind(table, name, value, known);
        });
    }

    fn passed(&self, operand: usize, table: Table, name: &Str, value: &Obj) {
        self.follow(|state| {
            let given = state.operands.get(operand);
            let known = given.filter(|given| given.value.is_same(value)).cloned();
            state.bind(table, name, value, known);
        });
    }

    fn imported(&self, from: BoundName<'_>, to: BoundName<'_>, value: &Obj) {
        self.follow(|state| {
            let known = state.variable(from.table, from.name, value);
            let known = known.map(|node| Operand {
                value: value.clone(),
                node: Some(node),
            });
            state.bind(to.table, to.name, value, known);
        });
    }

    fn printed(&self, by: &TemplatePlace, value: &Obj) {
        self.follow(|state| {
            let Some(last) = state.operands.last() else {
                return;
            };
            if is_container(value)
                && let Some(node) = state.objects.node(value)
                && let Ok(text) = python::to_str(value)
            {
                state.dumps.insert(&text, data(value), node);
            }
            if let Some(prints) = &mut state.prints {
                let node = match is_container(value) {
                    true => state.objects.node(value),
                    false => last.node.clone().filter(|_| last.value.is_same(value)),
                };
                prints.add(by, value, node);
            }
            let node = last.node.as_ref().filter(|_| last.value.is_same(value));
            let inputs: Vec<At> = match node.and_then(|node| node.claim()) {
                Some(claim) => vec![claim.at.clone()],
                None => Vec::new(),
            };
            let tag = Tag::of(by);
            let is_new = !state.printed.contains_key(&tag);
            let known = state.printed.entry(tag).or_default();
            if is_new {
                *known = inputs;
            } else {
                // A tag in a loop prints several values, and the text does not tell which one this is.
                known.clear();
            }
        });
    }

    fn captures(&self) -> usize {
        let state = self.state.borrow();
        state.prints.as_ref().map_or(0, TagTexts::opened)
    }

    fn captured(&self, from: usize, text: &Str, map: &SourceMap) {
        self.follow(|state| {
            if let Some(prints) = &mut state.prints {
                prints.finished(from, text, map);
            }
        });
    }

    fn loaded(&self, template: &TemplatePlace, text: &str, map: &SourceMap, value: &Obj) {
        self.follow(|state| {
            let document = Document::printed(template, text, map);
            let layer = state.sources.file(&document.path);
            let node = document.node(layer, &data(value), &state.dumps);
            let node = match is_container(value) {
                true => {
                    state.objects.insert(value, node);
                    None
                }
                false => Some(node),
            };
            state.operands.push(Operand {
                value: value.clone(),
                node,
            });
        });
    }
}

impl TracerState {
    fn bind(&mut self, table: Table, name: &Str, value: &Obj, known: Option<Operand>) {
        let known = known.unwrap_or_else(|| Operand {
            value: value.clone(),
            node: None,
        });
        self.variables.insert((table, name.clone()), known);
    }

    /// Note the origins of the variables that the template gets.
    fn take_given(&mut self, variables: &Names) {
        for (name, value, node) in std::mem::take(&mut self.given) {
            let Some(object) = variables.get(&name) else {
                continue;
            };
            if !data(object).is_same(&value) {
                continue;
            }
            match is_container(object) {
                true => self.objects.insert(object, node),
                false => {
                    let operand = Operand {
                        value: object.clone(),
                        node: Some(node),
                    };
                    self.given_scalars.insert(name, operand);
                }
            }
        }
    }

    /// The origins of a scalar that the template gets as a variable.
    pub(super) fn given(&self, name: &Str, value: &Obj) -> Option<Node> {
        let known = self.given_scalars.get(name)?;
        known.node.clone().filter(|_| known.value.is_same(value))
    }

    /// The origins of a scalar in a variable.
    pub(super) fn variable(&self, table: Table, name: &Str, value: &Obj) -> Option<Node> {
        let known = self.variables.get(&(table, name.clone()))?;
        known.node.clone().filter(|_| known.value.is_same(value))
    }

    /// The origins of an item that a loop or an assignment takes out of a container.
    fn taken(&mut self, container: &Obj, index: usize, item: &Obj) -> Option<Node> {
        // A view gives new pairs; what they hold is known by the dict.
        if let Obj::Native(_) | Obj::Iter(_) = container {
            let value = data(item);
            let is_it = |known: &(Value, Node)| known.0.is_same(&value);
            let own = self.objects.given(container, index).filter(is_it);
            let own = own.or_else(|| self.objects.pool(container).into_iter().find(is_it));
            let (_, node) = own?;
            if is_container(item) && !self.objects.knows(item) {
                self.objects.insert(item, node.clone());
            }
            return Some(node);
        }
        if let Obj::Dict(dict) = container {
            let key = dict.key_at(index)?;
            let claim = self.objects.key(container, &key)?;
            return (data(item).is_same(&claim.value)).then(|| Node::whole(claim));
        }
        self.objects.child(container, &Key::of_index(index), item)
    }

    /// The origins of the pairs, values or keys of a dict, in order.
    pub(super) fn parts(&mut self, dict: &DictRef, part: &str) -> Vec<Node> {
        let object = Obj::Dict(dict.clone());
        let entries = dict.entries();
        let part_of = |state: &mut TracerState, (key, value): &(Key, Obj)| {
            let key_node = state.objects.key(&object, key).map(Node::whole);
            let node = state.objects.child(&object, key, value).unwrap_or_default();
            match part {
                "keys" => key_node.unwrap_or_default(),
                "values" => node,
                _ => {
                    let pair = Value::Tuple([key.to_value(), data(value)].into());
                    let claim = key_node.as_ref().and_then(|node| node.claim().cloned());
                    let claim = claim.or_else(|| node.claim().cloned());
                    match claim {
                        Some(claim) => Node::list(
                            Claim {
                                value: pair,
                                ..claim
                            },
                            vec![key_node.unwrap_or_default(), node],
                        ),
                        None => Node::default(),
                    }
                }
            }
        };
        entries.iter().map(|entry| part_of(self, entry)).collect()
    }
}

//! Filters that move values.

use mapstack_pyobject::Obj;
use mapstack_salt_jinja::{Evaluated, ast::Args};
use mapstack_value::{Key, Path, Value};

use super::objects::is_container;
use super::parts::{TextPart, moved, of_dump};
use super::{Operand, TracerState, data};
use crate::tree::Node;

/// Filters that keep the items of their input, or some of them, in some order.
const REARRANGING: &[&str] = &[
    "list",
    "sort",
    "unique",
    "reverse",
    "select",
    "reject",
    "selectattr",
    "rejectattr",
    "union",
    "difference",
    "intersect",
    "symmetric_difference",
    "flatten",
    "compact",
];

impl TracerState {
    /// The item that a filter picks from its input.
    fn one_of(&mut self, input: &Obj, item: &Obj, last: bool) -> Option<Node> {
        if self.objects.knows(item) {
            return None;
        }
        let is = data(item);
        let pool = self.objects.pool(input);
        let mut found = pool.into_iter().filter(|(known, _)| known.is_same(&is));
        let found = if last { found.last() } else { found.next() };
        found.map(|(_, node)| node)
    }

    /// The result of a filter. The first operand is its input.
    pub(super) fn filter(
        &mut self,
        by: &Evaluated<'_>,
        name: &str,
        args: &Args,
        operands: &[Operand],
        value: &Obj,
    ) -> Option<Node> {
        let input = operands.first()?;
        match name {
            "default" | "d" => {
                let is_input =
                    !matches!(input.value, Obj::Undefined(_)) && input.value.is_same(value);
                let chosen = match is_input {
                    true => Some(input),
                    false => TracerState::argument(args, operands, 0, "default_value"),
                };
                self.moved(chosen.filter(|chosen| chosen.value.is_same(value))?)
            }
            "traverse" => self.traversed(args, operands, value),
            "json" | "tojson" | "yaml" | "yaml_dquote" | "yaml_squote" => {
                self.written(input, value);
                None
            }
            "load_json" | "load_yaml" => {
                let text = input.value.as_str()?;
                self.dumps.find(text, &data(value))
            }
            _ if REARRANGING.contains(&name) => match value {
                Obj::Iter(_) => {
                    let pool = self.objects.pool(&input.value);
                    let nodes = pool.into_iter().map(|(_, node)| node).collect();
                    self.view(by, operands, nodes, value);
                    None
                }
                Obj::Dict(_) => None,
                _ => self.rearranged(by, operands, value),
            },
            "dictsort" | "items" => {
                let Obj::Dict(dict) = &input.value else {
                    return None;
                };
                let nodes = self.parts(dict, "items");
                if matches!(value, Obj::List(_)) {
                    let known = |node: Node| Some((node.claim()?.value.clone(), node.clone()));
                    let pool = nodes.into_iter().map(known).collect();
                    return self.picked_from(by, operands, pool, value);
                }
                self.view(by, operands, nodes, value);
                None
            }
            "first" | "last" | "min" | "max" | "random" => {
                self.one_of(&input.value, value, name == "last")
            }
            "join" => {
                self.joined(input, value);
                None
            }
            // These often change nothing.
            "string" | "trim" | "int" | "float" | "bool" | "to_bool" | "safe" | "escape" | "e"
                if input.value.is_same(value) =>
            {
                self.moved(input)
            }
            _ => None,
        }
    }

    /// Data was written as a text.
    fn written(&mut self, input: &Operand, value: &Obj) {
        if let (Some(text), Some(node)) = (value.as_str(), self.node(input)) {
            if let Some(prints) = &mut self.prints {
                prints.add_made(text, of_dump(text, &node));
            }
            self.dumps.insert(text, data(&input.value), node);
        }
    }

    /// The items of a list are parts of the text that they were joined to.
    fn joined(&mut self, input: &Operand, value: &Obj) {
        let (Some(prints), Some(text)) = (&mut self.prints, value.as_str()) else {
            return;
        };
        let (mut parts, mut from) = (Vec::new(), 0);
        for (item, node) in self.objects.pool(&input.value) {
            let Value::Str(item) = item else {
                return;
            };
            let whole = [TextPart::whole(&item, node)];
            let Some((part, end)) = moved(&item, &whole, text, from) else {
                return;
            };
            parts.extend(part);
            from = end;
        }
        prints.add_made(text, parts);
    }

    /// The value at a path, or the default.
    fn traversed(&mut self, args: &Args, operands: &[Operand], value: &Obj) -> Option<Node> {
        let input = operands.first()?;
        let default = TracerState::argument(args, operands, 1, "default");
        let by = TracerState::argument(args, operands, 2, "delimiter");
        let by = by.and_then(|by| by.value.as_str().cloned());
        let key = &TracerState::argument(args, operands, 0, "key")?.value;
        let steps: Vec<Key> = match key {
            Obj::Str(text) => {
                let path = Path::split(text, by.as_deref().unwrap_or(":")).ok()?;
                path.steps().iter().map(|step| step.0.clone()).collect()
            }
            _ => return None,
        };
        let (mut here, mut node) = (input.value.clone(), None);
        for step in steps {
            let next = match &here {
                Obj::Dict(dict) => dict.get(&step),
                Obj::List(list) => step
                    .to_string()
                    .parse()
                    .ok()
                    .and_then(|index: usize| list.get(index)),
                _ => None,
            };
            let Some(next) = next else {
                return default
                    .filter(|default| default.value.is_same(value))
                    .and_then(|default| self.moved(default));
            };
            let step = match &here {
                Obj::List(_) => Key::of_index(step.to_string().parse().ok()?),
                _ => step,
            };
            let outer = Operand {
                value: here,
                node: None,
            };
            node = self.entry(&outer, &step, &next);
            here = next;
        }
        if is_container(&here) && !self.objects.knows(&here) {
            return None;
        }
        node.filter(|_| here.is_same(value))
    }
}

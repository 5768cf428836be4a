//! Calls: methods of Python's containers, functions of the template's environment, macros.

use mapstack_pyobject::{DictRef, ListRef, Obj};
use mapstack_salt_jinja::{
    Evaluated,
    ast::{Args, Expr, ExprKind},
    python::hash_key,
};
use mapstack_value::{Key, Value};

use super::expression::called_name;
use super::objects::is_container;
use super::{Operand, TracerState, data};
use crate::tree::{Claim, Node, entry};

impl TracerState {
    /// The result of a call. The first operand is the object of the method, or what is called.
    pub(super) fn call(
        &mut self,
        by: &Evaluated<'_>,
        callee: &Expr,
        args: &Args,
        operands: &[Operand],
        value: &Obj,
    ) -> Option<Node> {
        let answer = self.answer.take();
        if let Some(answer) = answer.filter(|answer| answer.value.is_same(value)) {
            return answer.node;
        }
        if let (ExprKind::Attr(_, name), Some(object)) = (&callee.kind, operands.first()) {
            match &object.value {
                Obj::Dict(dict) => {
                    return self.dict_method(by, dict, name, args, operands, value);
                }
                Obj::List(list) => return self.list_method(by, list, name, operands, value),
                _ => {}
            }
        }
        match called_name(callee) {
            Some("dict") => self.new_dict(by, args, operands, value),
            _ => None,
        }
    }

    /// `dict.update(…)`. The first operand is the dict.
    fn update_by(&mut self, dict: &Obj, args: &Args, operands: &[Operand]) -> Option<()> {
        for source in operands.get(1..=args.positional.len())? {
            self.update(dict, source);
        }
        let named = operands.get(1 + args.positional.len()..)?;
        for ((name, _), given) in args.named.iter().zip(named) {
            let node = self.moved(given);
            self.put(dict, &Key::from(&**name), node, None);
        }
        let star = args.star_star.as_ref().and(operands.last())?;
        self.update(dict, star);
        Some(())
    }

    fn dict_method(
        &mut self,
        by: &Evaluated<'_>,
        dict: &DictRef,
        name: &str,
        args: &Args,
        operands: &[Operand],
        value: &Obj,
    ) -> Option<Node> {
        let object = operands.first()?;
        let first = TracerState::argument(args, operands, 0, "key");
        let default = TracerState::argument(args, operands, 1, "default");
        let key = || first.and_then(|first| hash_key(&first.value).ok());
        match name {
            "get" if dict.contains(&key()?) => self.entry(object, &key()?, value),
            "get" => default.and_then(|default| self.moved(default)),
            "pop" => {
                let key = key()?;
                let Some(node) = self.entry(object, &key, value) else {
                    return default
                        .filter(|default| default.value.is_same(value))
                        .and_then(|default| self.moved(default));
                };
                let layer = self.template(&by.place);
                if let Some(known) = self.objects.get_mut(&object.value) {
                    known.remove(&key, layer);
                }
                Some(node)
            }
            "setdefault" => {
                let key = key()?;
                match self.entry(object, &key, value) {
                    Some(node) => Some(node),
                    None => {
                        let node = default.and_then(|default| self.moved(default));
                        let at = first.and_then(|first| first.node.as_ref()?.claim().cloned());
                        self.put(&object.value, &key, node.clone(), at);
                        node
                    }
                }
            }
            "update" => {
                self.update_by(&object.value, args, operands);
                None
            }
            "copy" => self.objects.moved(&object.value),
            "keys" | "values" | "items" => {
                let nodes = self.parts(dict, name);
                self.view(by, operands, nodes, value);
                None
            }
            _ => None,
        }
    }

    /// The entries of a source replace those of a dict.
    pub(super) fn update(&mut self, into: &Obj, source: &Operand) {
        match &source.value {
            from @ Obj::Dict(entries) => {
                for (key, value) in entries.entries() {
                    let at = self.objects.key(from, &key);
                    let node = self.objects.child(from, &key, &value);
                    self.put(into, &key, node, at);
                }
            }
            // Pairs.
            pairs => {
                for (pair, node) in self.objects.pool(pairs) {
                    if let Some((_, key)) = entry(&pair, &Key::from(0))
                        && let Ok(key) = Key::try_from(key)
                    {
                        let at = node
                            .child(&Key::from(0))
                            .and_then(|key| key.claim().cloned());
                        self.put(into, &key, node.child(&Key::from(1)), at);
                    }
                }
            }
        }
    }

    /// The items of an iterator or a view.
    pub(super) fn view(
        &mut self,
        by: &Evaluated<'_>,
        operands: &[Operand],
        nodes: Vec<Node>,
        value: &Obj,
    ) {
        let given = |node: &Node| {
            node.claim()
                .map_or(Value::None, |claim| claim.value.clone())
        };
        let values: Value = nodes.iter().map(given).collect();
        let derived = self.derived(by, operands, &Obj::None);
        if let Some(claim) = derived.claim() {
            let owner = Claim {
                value: values,
                ..claim.clone()
            };
            self.objects.insert(value, Node::list(owner, nodes));
        }
    }

    fn list_method(
        &mut self,
        by: &Evaluated<'_>,
        list: &ListRef,
        name: &str,
        operands: &[Operand],
        value: &Obj,
    ) -> Option<Node> {
        let object = operands.first()?;
        match name {
            "copy" => self.objects.moved(&object.value),
            "append" if self.appended(by, list, operands) => None,
            "append" | "extend" | "insert" | "remove" | "reverse" | "sort" | "clear" => {
                self.relisted(by, list, operands);
                None
            }
            "pop" => {
                let before = self.last_items(&object.value);
                let node = before
                    .iter()
                    .flatten()
                    .find(|known| known.0.is_same(&data(value)))
                    .map(|(_, node)| node.clone());
                self.relisted(by, list, operands);
                node
            }
            _ => None,
        }
    }

    /// The items of a list as they were when it was last looked at.
    fn last_items(&mut self, list: &Obj) -> Vec<Option<(Value, Node)>> {
        let Some(node) = self.objects.get_mut(list) else {
            return Vec::new();
        };
        let length = node
            .claim()
            .and_then(|claim| claim.value.as_list())
            .map_or(0, <[Value]>::len);
        let items = (0..node.items().unwrap_or(length)).map(|index| {
            let item = node.child(&Key::of_index(index))?;
            let value = item.claim()?.value.clone();
            Some((value, item))
        });
        items.collect()
    }

    /// An item was appended to a list whose other items are known; false if it is not certain that they are.
    fn appended(&mut self, by: &Evaluated<'_>, list: &ListRef, operands: &[Operand]) -> bool {
        let [object, item] = operands else {
            return false;
        };
        let known = self.objects.get_mut(&object.value);
        if known.and_then(|known| known.items()) != list.len().checked_sub(1) {
            return false;
        }
        let node = match self.moved(item) {
            Some(node) => node,
            None => self.derived(by, operands, &item.value),
        };
        if let Some(known) = self.objects.get_mut(&object.value) {
            known.push(node);
        }
        true
    }

    /// A list was changed: its items are those of before, and those of the operands.
    fn relisted(&mut self, by: &Evaluated<'_>, list: &ListRef, operands: &[Operand]) {
        let Some((object, given)) = operands.split_first() else {
            return;
        };
        let mut pool = self.last_items(&object.value);
        for operand in given {
            if let Some(node) = self.moved(operand) {
                pool.push(Some((data(&operand.value), node)));
            }
            pool.extend(self.objects.pool(&operand.value).into_iter().map(Some));
        }
        let now = Obj::List(list.clone());
        if let Some(node) = self.picked_from(by, operands, pool, &now) {
            let past = self
                .objects
                .get_mut(&object.value)
                .map(|known| std::mem::take(&mut known.past));
            let owner = self
                .objects
                .get_mut(&object.value)
                .and_then(|known| known.claim().cloned());
            let mut node = node;
            node.past = past.unwrap_or_default();
            if let Some(owner) = owner {
                node.own(Claim {
                    value: data(&now),
                    ..owner
                });
            }
            self.objects.insert(&object.value, node);
        }
    }

    /// `dict(other, key=value)`.
    fn new_dict(
        &mut self,
        by: &Evaluated<'_>,
        args: &Args,
        operands: &[Operand],
        value: &Obj,
    ) -> Option<Node> {
        if !is_container(value) {
            return None;
        }
        let derived = self.derived(by, &[], value);
        let owner = derived.claim()?.clone();
        // Its entries are put into an empty one.
        let empty = Claim {
            value: Value::map(),
            ..owner.clone()
        };
        self.objects.insert(value, Node::whole(empty));
        let others = operands.get(1..=args.positional.len())?;
        for source in others {
            self.update(value, source);
        }
        let named = operands.get(1 + args.positional.len()..)?;
        for ((name, _), given) in args.named.iter().zip(named) {
            let node = self.moved(given);
            self.put(value, &Key::from(&**name), node, None);
        }
        self.objects.get_mut(value)?.own(owner);
        None
    }
}

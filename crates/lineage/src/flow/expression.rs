//! The effect of each kind of expression on the origins of its operands.

use mapstack_pyobject::{Obj, spend};
use mapstack_salt_jinja::{
    Evaluated,
    ast::{Expr, ExprKind},
    attributes,
    python::hash_key,
};
use mapstack_value::{Key, Value};
use std::sync::Arc;

use super::objects::is_container;
use super::{Operand, TracerState, data, in_file, query, whole};
use crate::tree::{At, Claim, Node};

/// The number of inputs of a computed value that are named.
const MAX_INPUTS: usize = 4;

impl TracerState {
    /// The origins of what an expression computed from operands: those of a scalar. Those of a container are
    /// remembered with it.
    pub(super) fn evaluated(
        &mut self,
        by: &Evaluated<'_>,
        operands: &[Operand],
        value: &Obj,
    ) -> Option<Node> {
        let node = match &by.expr.kind {
            ExprKind::Const(_) => Some(self.literal(by, value)),
            ExprKind::Neg(number) | ExprKind::Pos(number)
                if matches!(number.kind, ExprKind::Const(_)) =>
            {
                Some(self.literal(by, value))
            }
            ExprKind::Name(name) => {
                let own = by.table.and_then(|table| self.variable(table, name, value));
                own.or_else(|| self.given(name, value))
            }
            ExprKind::Tuple(_) | ExprKind::List(_) => Some(self.sequence(by, operands, value)),
            ExprKind::Dict(_) => Some(self.mapping(by, operands, value)),
            ExprKind::Attr(_, name) => {
                let object = operands.first()?;
                match attributes(&object.value) {
                    Some(table) => self.variable(table, name, value),
                    None => self.entry(object, &Key::from(&**name), value),
                }
            }
            ExprKind::Item(..) => match operands {
                [object, index] => {
                    let key = hash_key(&index.value).ok()?;
                    self.entry(object, &key, value)
                }
                _ => None,
            },
            ExprKind::And(..) | ExprKind::Or(..) | ExprKind::Cond { .. } => {
                let last = operands.last().filter(|last| last.value.is_same(value));
                last.and_then(|last| self.moved(last))
            }
            ExprKind::Call { callee, args } => self.call(by, callee, args, operands, value),
            ExprKind::Filter { name, args, .. } => self.filter(by, name, args, operands, value),
            ExprKind::Binary(..) | ExprKind::Slice { .. } if is_container(value) => {
                self.rearranged(by, operands, value)
            }
            _ => None,
        };
        if let Some(prints) = &mut self.prints {
            prints.carry(operands, value);
        }
        self.settled(by, operands, value, node)
    }

    /// Remember what is known about a value; what is not known was computed here.
    fn settled(
        &mut self,
        by: &Evaluated<'_>,
        operands: &[Operand],
        value: &Obj,
        node: Option<Node>,
    ) -> Option<Node> {
        let moves = matches!(
            by.expr.kind,
            ExprKind::Name(_) | ExprKind::Attr(..) | ExprKind::Item(..)
        );
        if !is_container(value) {
            return match (node, value) {
                (None, Obj::Native(_) | Obj::Iter(_) | Obj::Undefined(_)) => None,
                (None, _) if !moves => Some(self.derived(by, operands, value)),
                (node, _) => node,
            };
        }
        if !self.objects.knows(value) {
            match node {
                Some(node) => self.objects.insert(value, node),
                None if moves => {}
                None => {
                    let derived = self.derived(by, operands, value);
                    self.objects.insert(value, derived);
                }
            }
        }
        None
    }

    fn literal(&mut self, by: &Evaluated<'_>, value: &Obj) -> Node {
        let layer = self.template(&by.place);
        whole(layer, data(value), At::Literal(in_file(&by.place).into()))
    }

    fn sequence(&mut self, by: &Evaluated<'_>, operands: &[Operand], value: &Obj) -> Node {
        let owner = self.literal(by, value);
        let mut item = |operand| self.moved(operand).unwrap_or_default();
        let items = operands.iter().map(&mut item).collect();
        match owner.claim() {
            Some(claim) => Node::list(claim.clone(), items),
            None => owner,
        }
    }

    fn mapping(&mut self, by: &Evaluated<'_>, operands: &[Operand], value: &Obj) -> Node {
        let mut node = self.literal(by, value);
        for pair in operands.chunks_exact(2) {
            if let [key, value] = pair
                && let Ok(at) = hash_key(&key.value)
            {
                let claim = key.node.as_ref().and_then(|node| node.claim().cloned());
                node.set(&at, self.moved(value).unwrap_or_default(), claim);
            }
        }
        node
    }

    /// A value that an expression computed from its operands.
    pub(super) fn derived(
        &mut self,
        by: &Evaluated<'_>,
        operands: &[Operand],
        value: &Obj,
    ) -> Node {
        let layer = self.template(&by.place);
        let place = in_file(&by.place);
        let mut inputs: Vec<At> = Vec::new();
        for operand in operands {
            let Some(claim) = self.claim(operand) else {
                continue;
            };
            let is_part = match &claim.at {
                At::Literal(own) | At::Statement(own) => {
                    Arc::ptr_eq(&own.source, &place.source)
                        && place.start <= own.start
                        && own.end <= place.end
                }
                At::Unknown | At::Nowhere => true,
                _ => false,
            };
            match &claim.at {
                // A computation inside of this expression has inputs too.
                At::Computed(own, inside)
                    if Arc::ptr_eq(&own.source, &place.source)
                        && place.start <= own.start
                        && own.end <= place.end =>
                {
                    inputs.extend(inside.iter().cloned());
                }
                at if !is_part => inputs.push(at.clone()),
                _ => {}
            }
        }
        inputs.truncate(MAX_INPUTS);
        whole(
            layer,
            data(value),
            At::Computed(place.into(), inputs.into()),
        )
    }

    /// The entry or item of a container.
    pub(super) fn entry(&mut self, object: &Operand, at: &Key, value: &Obj) -> Option<Node> {
        if !is_container(&object.value) {
            return None;
        }
        let mut node = self.objects.child(&object.value, at, value)?;
        // A part of the facts is a source by its first key.
        if let Some(claim) = node.claim()
            && let At::Fact(Some(part), path) = &claim.at
            && path.len() == 1
        {
            let kind = match part {
                mapstack_minion::Part::Grains => "G",
                mapstack_minion::Part::Pillar => "I",
                mapstack_minion::Part::Opts => "C",
            };
            let layer = self
                .sources
                .fact(format!("{kind}@{}", query(path)), claim.value.clone());
            node = whole(layer, claim.value.clone(), claim.at.clone());
            if is_container(value)
                && let Some(own) = self.objects.get_mut(value)
            {
                *own = node.clone();
            }
        }
        Some(node)
    }

    /// A sequence of items that its operands had.
    pub(super) fn rearranged(
        &mut self,
        by: &Evaluated<'_>,
        operands: &[Operand],
        value: &Obj,
    ) -> Option<Node> {
        let mut pool: Vec<Option<(Value, Node)>> = Vec::new();
        for operand in operands {
            pool.extend(self.objects.pool(&operand.value).into_iter().map(Some));
        }
        self.picked_from(by, operands, pool, value)
    }

    /// A sequence of items of a pool. Equal items are taken in order.
    pub(super) fn picked_from(
        &mut self,
        by: &Evaluated<'_>,
        operands: &[Operand],
        mut pool: Vec<Option<(Value, Node)>>,
        value: &Obj,
    ) -> Option<Node> {
        let items: Vec<Obj> = match value {
            Obj::List(list) => list.items(),
            Obj::Tuple(items) => items.to_vec(),
            _ => return None,
        };
        let derived = self.derived(by, operands, value);
        let owner = derived.claim()?.clone();
        let mut next = 0;
        let mut item = |item: &Obj| {
            let is = data(item);
            let fits = |known: &Option<(Value, Node)>| {
                spend(1).is_ok() && known.as_ref().is_some_and(|known| known.0.is_same(&is))
            };
            // Most items keep their order.
            let found = match pool.get(next).is_some_and(fits) {
                true => Some(next),
                false => pool.iter().position(fits),
            };
            next = found.map_or(next, |found| found + 1);
            match found.and_then(|found| pool.get_mut(found)?.take()) {
                Some((_, node)) => node,
                None => Node::whole(Claim {
                    value: is,
                    ..owner.clone()
                }),
            }
        };
        let nodes = items.iter().map(&mut item).collect();
        Some(Node::list(owner.clone(), nodes))
    }

    /// The operand of an argument, by its position or its name.
    pub(super) fn argument<'o>(
        args: &mapstack_salt_jinja::ast::Args,
        operands: &'o [Operand],
        position: usize,
        name: &str,
    ) -> Option<&'o Operand> {
        let given = args.positional.len();
        if position < given {
            return operands.get(1 + position);
        }
        let at = args.named.iter().position(|(named, _)| &**named == name)?;
        operands.get(1 + given + at)
    }

    /// Put a value under a key of a dict.
    pub(super) fn put(&mut self, dict: &Obj, at: &Key, value: Option<Node>, key: Option<Claim>) {
        if !self.objects.knows(dict) {
            let unknown = whole(self.sources.unknown(), Value::map(), At::Unknown);
            self.objects.insert(dict, unknown);
        }
        if let Some(known) = self.objects.get_mut(dict) {
            known.put(at, value.unwrap_or_default(), key);
        }
    }
}

/// The name of a variable that is called.
pub(super) fn called_name(callee: &Expr) -> Option<&str> {
    match &callee.kind {
        ExprKind::Name(name) => Some(name),
        _ => None,
    }
}

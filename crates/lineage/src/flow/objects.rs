//! The origins of containers, by their identity.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use foldhash::fast::RandomState;
use mapstack_pyobject::{Obj, spend};
use mapstack_value::{Key, Value};

use super::data;
use crate::tree::{Claim, Node};

/// The depth to which containers are searched; they can contain themselves.
const MAX_DEPTH: usize = 100;

/// The origins of the containers of a render.
///
/// The table keeps them alive, so that no other object gets their address.
#[derive(Default)]
pub(super) struct Objects(HashMap<usize, (Obj, Node), RandomState>);

impl Objects {
    /// True if something is known about a container.
    pub fn knows(&self, object: &Obj) -> bool {
        address(object).is_some_and(|address| self.0.contains_key(&address))
    }

    /// Remember the origins of a container.
    pub fn insert(&mut self, object: &Obj, node: Node) {
        if let Some(address) = address(object) {
            self.0.insert(address, (object.clone(), node));
        }
    }

    /// The node that was last remembered of a container, for changes. Changes of the containers in it are not part of
    /// it.
    pub fn get_mut(&mut self, object: &Obj) -> Option<&mut Node> {
        self.0.get_mut(&address(object)?).map(|(_, node)| node)
    }

    /// The claim on a container.
    pub fn claim(&self, object: &Obj) -> Option<&Claim> {
        self.0.get(&address(object)?)?.1.claim()
    }

    /// The origins of a container that stays the same object where it goes. What changes the containers in it is not
    /// part of them: [`node`](Self::node) finds that by their identity, wherever the container ends.
    pub fn moved(&self, object: &Obj) -> Option<Node> {
        self.0.get(&address(object)?).map(|(_, node)| node.clone())
    }

    /// Renew the value of a list that grew since it was last looked at: its history has it where it goes.
    pub fn renew_value(&mut self, object: &Obj) {
        let Obj::List(list) = object else { return };
        if let Some(node) = self.get_mut(object)
            && let Some(claim) = node.claim()
            && claim.value.as_list().map(<[Value]>::len) != Some(list.len())
        {
            let now = claim.over(&data(object));
            node.own(now);
        }
    }

    /// The origins of a container as it is now.
    pub fn node(&self, object: &Obj) -> Option<Node> {
        self.composed(object, MAX_DEPTH, &mut HashMap::default())
    }

    /// The origins of a container and of those in it. `done` has the finished ones, so that an object in
    /// several places, or in itself, is composed once.
    fn composed(&self, object: &Obj, depth: usize, done: &mut Composed) -> Option<Node> {
        let address = address(object)?;
        if let Some(node) = done.get(&address) {
            return Some(node.clone());
        }
        let mut node = self.0.get(&address)?.1.clone();
        // Facts are not taken apart: their parts have their paths.
        if node.claim().is_some_and(Claim::is_fact) {
            return Some(node);
        }
        let Some(depth) = depth.checked_sub(1) else {
            return Some(node);
        };
        done.insert(address, node.clone());
        for (key, value) in inside(object) {
            if spend(1).is_err() {
                break;
            }
            if let Some(own) = self.composed(&value, depth, done) {
                node.renew(&key, own);
            }
        }
        done.insert(address, node.clone());
        Some(node)
    }

    /// Change what is remembered of a container and of those in it.
    pub fn each_inside(&mut self, object: &Obj, change: &mut dyn FnMut(&mut Node)) {
        let mut seen = HashSet::new();
        let mut waiting = vec![object.clone()];
        while let Some(next) = waiting.pop()
            && spend(1).is_ok()
        {
            let Some(address) = address(&next).filter(|address| seen.insert(*address)) else {
                continue;
            };
            if let Some((_, node)) = self.0.get_mut(&address) {
                change(node);
            }
            match &next {
                Obj::Dict(dict) if !dict.is_untouched() => {
                    dict.each_live(&mut |value| waiting.push(value.clone()));
                }
                Obj::List(list) => list.each_live(&mut |value| waiting.push(value.clone())),
                Obj::Tuple(items) => waiting.extend(items.iter().cloned()),
                _ => {}
            }
        }
    }

    /// The origins of an entry or item of a container, whose value is this.
    ///
    /// The entry is remembered if it is a container.
    pub fn child(&mut self, of: &Obj, at: &Key, is: &Obj) -> Option<Node> {
        if let Some(node) = self.moved(is) {
            return Some(node);
        }
        let at = step(of, at);
        let child = self.0.get(&address(of)?)?.1.child(&at)?;
        if is_container(is) {
            self.insert(is, child.clone());
            return Some(child);
        }
        let value = is.to_value_lossy().ok()?.0;
        child
            .claim()
            .is_some_and(|claim| claim.value.is_same(&value))
            .then_some(child)
    }

    /// As [`child`](Self::child), with the changes of the containers in it: for one that goes elsewhere as a copy.
    pub fn child_now(&mut self, of: &Obj, at: &Key, is: &Obj) -> Option<Node> {
        self.node(is).or_else(|| self.child(of, at, is))
    }

    /// The claim on a key of a dict.
    pub fn key(&self, of: &Obj, at: &Key) -> Option<Claim> {
        self.0.get(&address(of)?)?.1.key_of(at)
    }

    /// The item that an iterator or a view gives at an index, with its origin, as far as it is known.
    pub fn given(&self, object: &Obj, index: usize) -> Option<(Value, Node)> {
        let (_, node) = self.0.get(&address(object)?)?;
        let value = node.claim()?.value.as_list()?.get(index)?;
        Some((value.clone(), node.child(&Key::of_index(index))?))
    }

    /// The items that an object gives when it is iterated over, as far as they are known: each value with its origin.
    pub fn pool(&mut self, object: &Obj) -> Vec<(Value, Node)> {
        let items: Vec<Obj> = match object {
            Obj::List(list) => list.items(),
            Obj::Tuple(items) => items.to_vec(),
            _ => {
                let claim = self.claim(object);
                let values = claim.and_then(|claim| claim.value.as_list());
                let count = values.map_or(0, <[Value]>::len);
                let given = |index| self.given(object, index).filter(|_| spend(1).is_ok());
                return (0..count).filter_map(given).collect();
            }
        };
        let mut pool = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            if spend(1).is_ok()
                && let Some(node) = self.child(object, &Key::of_index(index), item)
                && let Ok((value, _)) = item.to_value_lossy()
            {
                pool.push((value, node));
            }
        }
        pool
    }
}

/// The containers that were composed, by their identity.
type Composed = HashMap<usize, Node, RandomState>;

/// The parts of a container that can have changed since it was made.
fn inside(object: &Obj) -> Vec<(Key, Obj)> {
    let numbered = |(index, item): (usize, Obj)| (Key::of_index(index), item);
    match object {
        Obj::Dict(dict) if !dict.is_untouched() => dict.entries(),
        Obj::List(list) if !list.is_frozen() => {
            list.items().into_iter().enumerate().map(numbered).collect()
        }
        Obj::Tuple(items) => items.iter().cloned().enumerate().map(numbered).collect(),
        _ => Vec::new(),
    }
}

/// The step to an entry or item; an index can count from the end.
fn step(of: &Obj, at: &Key) -> Key {
    let length = match of {
        Obj::List(list) => list.len(),
        Obj::Tuple(items) => items.len(),
        _ => return at.clone(),
    };
    match at {
        Key::Int(index) if index.is_negative() => {
            let length = i64::try_from(length).unwrap_or(i64::MAX);
            Key::from(length.saturating_add(index.to_i64().unwrap_or(i64::MIN)))
        }
        _ => at.clone(),
    }
}

/// True if an object has an identity and parts.
pub(super) fn is_container(object: &Obj) -> bool {
    matches!(object, Obj::List(_) | Obj::Tuple(_) | Obj::Dict(_))
}

/// The identity of a container, an iterator or a view.
fn address(object: &Obj) -> Option<usize> {
    Some(match object {
        Obj::List(list) => list.address(),
        Obj::Tuple(items) => items.address(),
        Obj::Dict(dict) => dict.address(),
        Obj::Native(native) => Rc::as_ptr(native).cast::<()>() as usize,
        Obj::Iter(iter) => iter.address(),
        _ => return None,
    })
}

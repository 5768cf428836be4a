//! Values whose places are known by the keys that lead to them in the data of files.

use mapstack_pillar::{FilePlace, PlaceEffect, SetPlaces};
use mapstack_value::{Key, Value};

use crate::tree::{Claim, HistoryStep, Node};

/// The files, by their numbers.
pub(crate) struct PlacedFiles(pub Vec<Option<Node>>);

impl PlacedFiles {
    /// A mapping, with the entries that files set over those of others.
    pub fn over(&self, mut node: Node, origin: &SetPlaces, value: &Value) -> Node {
        for (key, origin) in &origin.inside {
            let value = value.as_map().and_then(|map| map.get(key));
            if let Some(value) = value
                && let Some(inside) = self.node(origin, value)
            {
                let at = self.key_of(origin);
                node.set(key, inside, at);
            }
        }
        node
    }

    /// The origins and the history of a value; `None` if its place is not known.
    fn node(&self, origin: &SetPlaces, value: &Value) -> Option<Node> {
        let turns: Vec<(Claim, PlaceEffect)> = origin
            .turns
            .iter()
            .filter_map(|(place, turn)| Some((self.claim(place)?, *turn)))
            .collect();
        let last = turns.iter().rposition(|(_, turn)| turn.is_set())?;
        let (mut node, mut before) = (Node::default(), Value::None);
        for (index, (claim, turn)) in turns.into_iter().enumerate() {
            match turn {
                PlaceEffect::Set | PlaceEffect::SetBehindMark if index == last => {
                    before = said(&claim, turn).0;
                    let now = self.now(&claim, origin, value)?;
                    node = node.then(now, HistoryStep::Replaced);
                }
                PlaceEffect::Set | PlaceEffect::SetBehindMark => {
                    node = node.then(said(&claim, turn).1, HistoryStep::Replaced);
                }
                PlaceEffect::Joined => {
                    node.note_joined(&before, claim.layer);
                    before = joined(before, &claim.value);
                }
                PlaceEffect::Rejected => {
                    let by = claim.layer;
                    node.reject(claim, by);
                }
            }
        }
        Some(node)
    }

    /// The place set a value that is this one now.
    fn now(&self, claim: &Claim, origin: &SetPlaces, value: &Value) -> Option<Node> {
        let near = claim.at.nearby();
        let here = claim.over(value);
        let inside = |key: &Key, value: &Value| {
            let known = origin.inside.get(key);
            let known = known.and_then(|origin| self.node(origin, value));
            known.unwrap_or_else(|| {
                Node::whole(Claim {
                    value: value.clone(),
                    at: near.clone(),
                    ..claim.clone()
                })
            })
        };
        match (&claim.value, value) {
            (Value::Map(_), Value::Map(map)) => {
                let mut node = Node::whole(here);
                for (key, value) in map {
                    let at = origin
                        .inside
                        .get(key)
                        .and_then(|origin| self.key_of(origin));
                    node.set(key, inside(key, value), at);
                }
                Some(node)
            }
            (Value::List(_), Value::List(items)) => {
                let item = |(index, item)| inside(&Key::of_index(index), item);
                let items = items.iter().enumerate().map(item).collect();
                Some(Node::list(here, items))
            }
            (read, value) if read.is_same(value) => Some(Node::whole(here)),
            // A reference is in its place.
            (Value::Str(_), _) => Some(Node::whole(Claim { at: near, ..here })),
            _ => None,
        }
    }

    fn claim(&self, place: &FilePlace) -> Option<Claim> {
        let file = self.0.get(place.file)?.as_ref()?;
        file.follow(&place.path)?.claim().cloned()
    }

    /// The key at the place that set a value first.
    fn key_of(&self, origin: &SetPlaces) -> Option<Claim> {
        let (place, _) = origin.turns.first()?;
        let (last, outer) = place.path.split_last()?;
        let file = self.0.get(place.file)?.as_ref()?;
        file.follow(outer)?.key_of(last)
    }
}

/// The value of a place, and its origins.
fn said(claim: &Claim, turn: PlaceEffect) -> (Value, Node) {
    match (&claim.value, turn) {
        (Value::List(items), PlaceEffect::SetBehindMark) => {
            let rest: Value = items.iter().skip(1).cloned().collect();
            let item = |index| claim.child(&Key::of_index(index)).map(Node::whole);
            let nodes = (1..items.len()).map(|index| item(index).unwrap_or_default());
            let node = Node::list(claim.over(&rest), nodes.collect());
            (rest, node)
        }
        (value, _) => (value.clone(), Node::whole(claim.clone())),
    }
}

/// A list with the items of another behind its own.
fn joined(before: Value, more: &Value) -> Value {
    let items = |value| match value {
        Value::List(items) => items.to_vec(),
        other => vec![other],
    };
    [items(before), items(more.clone())]
        .concat()
        .into_iter()
        .collect()
}

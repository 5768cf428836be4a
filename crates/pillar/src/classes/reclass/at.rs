//! The places of values in files, for who asks where values come from.

use std::sync::Arc;

use mapstack_value::Key;

use super::value::{Content, Node, PlacedItem};
use crate::classes::{FilePlace, PlaceEffect};

/// The place of a value in a file; empty if places are not followed, or no file sets the value.
#[derive(Debug, Clone, Default)]
pub struct At(Option<Arc<Step>>);

#[derive(Debug)]
enum Step {
    /// The mapping of all values of a file.
    File(usize),
    /// The value at a key of another place.
    Inside(Arc<Step>, Key),
}

impl At {
    pub fn top(file: Option<usize>) -> Self {
        At(file.map(|file| Arc::new(Step::File(file))))
    }

    pub fn inside(&self, key: impl FnOnce() -> Key) -> Self {
        let outer = self.0.as_ref();
        At(outer.map(|outer| Arc::new(Step::Inside(Arc::clone(outer), key()))))
    }

    fn is_known(&self) -> bool {
        self.0.is_some()
    }

    fn place(&self) -> Option<FilePlace> {
        let mut path = Vec::new();
        let mut step = self.0.as_ref()?;
        loop {
            match &**step {
                Step::Inside(outer, key) => {
                    path.push(key.clone());
                    step = outer;
                }
                Step::File(file) => {
                    path.reverse();
                    return Some(FilePlace { file: *file, path });
                }
            }
        }
    }
}

/// The places that say a value, in order.
#[derive(Debug, Default)]
pub struct ValuePlaces(Vec<(At, PlaceEffect)>);

impl ValuePlaces {
    pub fn one(at: &At) -> Self {
        ValuePlaces(vec![(at.clone(), PlaceEffect::Set)])
    }

    /// Those of items of one type without anything to compute.
    pub fn of(items: &[PlacedItem]) -> Self {
        let turn = |(index, item): (usize, &PlacedItem)| match &item.content {
            Content::List(_) if index > 0 => (item.at.clone(), PlaceEffect::Joined),
            _ => (item.at.clone(), PlaceEffect::Set),
        };
        ValuePlaces(items.iter().enumerate().map(turn).collect())
    }

    pub fn add(&mut self, at: &At, turn: PlaceEffect) {
        if at.is_known() {
            self.0.push((at.clone(), turn));
        }
    }

    pub fn places(self) -> Vec<(FilePlace, PlaceEffect)> {
        let turns = self.0.into_iter();
        turns
            .filter_map(|(at, turn)| Some((at.place()?, turn)))
            .collect()
    }
}

impl Node {
    /// A value in place of a text: everything in it gets the text's place, unless it has one.
    pub fn with_places(self, text: &PlacedItem) -> Self {
        if !text.at.is_known() {
            return self;
        }
        let inside = |node: Node| match node {
            Node::Plain(value) => Node::One(PlacedItem {
                content: Content::Scalar(value),
                overwrites: false,
                is_constant: false,
                ..text.clone()
            }),
            node => node.with_places(text),
        };
        let place = |at: At| if at.is_known() { at } else { text.at.clone() };
        match self {
            Node::Dict(dict, at) => {
                let entries = dict.into_iter();
                let entries = entries.map(|(key, value)| (key, inside(value)));
                Node::Dict(entries.collect(), place(at))
            }
            Node::List(items, at) => Node::List(items.into_iter().map(inside).collect(), place(at)),
            node => node,
        }
    }
}

//! The places that set what is in containers. Salt shares these between classes and changes them in place, so what is
//! known belongs to a container, and not to a path.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use mapstack_pyobject::{DictRef, ListRef, Obj};
use mapstack_value::Key;

use super::objects::is_mark;
use crate::classes::{ClassFile, FilePlace, Origins, PlaceEffect, SetPlaces};

/// The most values of a pillar with origins: a few aliases can expand to millions.
const MAX_VALUES: usize = 250_000;

/// The places of the values in containers.
#[derive(Debug, Default)]
pub struct Setters {
    files: Vec<ClassFile>,
    /// The places that set the entries of a mapping in turn, by its address.
    entries: HashMap<usize, HashMap<Key, SetterPlaces, RandomState>, RandomState>,
    /// The places of lists, by their addresses.
    lists: HashMap<usize, Items, RandomState>,
    /// The containers. While they are kept, no others have their addresses.
    kept: Vec<Obj>,
}

/// The places that set an entry, in turn.
type SetterPlaces = Vec<(FilePlace, PlaceEffect)>;

/// The places of a list.
#[derive(Debug, Default, Clone)]
struct Items {
    /// Those of its items.
    items: Vec<FilePlace>,
    /// Those of the lists that were appended to it.
    joined: Vec<FilePlace>,
}

impl Setters {
    /// A file says all that is in a container.
    pub(super) fn enter(&mut self, name: &str, path: &str, pillars: &Obj) {
        let file = self.files.iter().position(|file| file.path == path);
        let file = file.unwrap_or_else(|| {
            self.files.push(ClassFile {
                name: name.into(),
                path: path.into(),
            });
            self.files.len() - 1
        });
        self.enter_below(pillars, file, &mut Vec::new());
    }

    fn enter_below(&mut self, object: &Obj, file: usize, path: &mut Vec<Key>) {
        let inside: Vec<(Key, Obj)> = match object {
            Obj::Dict(dict) if !self.entries.contains_key(&dict.address()) => dict.entries(),
            Obj::List(list) if !self.lists.contains_key(&list.address()) => {
                let items = list.items().into_iter().enumerate();
                items.map(|(at, item)| (Key::of_index(at), item)).collect()
            }
            _ => return,
        };
        self.kept.push(object.clone());
        let place = |key: &Key| FilePlace {
            file,
            path: path.iter().chain([key]).cloned().collect(),
        };
        match object {
            Obj::Dict(dict) => {
                let entries = inside.iter();
                let entries =
                    entries.map(|(key, value)| (key.clone(), vec![(place(key), set_to(value))]));
                self.entries.insert(dict.address(), entries.collect());
            }
            Obj::List(list) => {
                let list = list.address();
                let items = inside.iter().map(|(key, _)| place(key)).collect();
                self.lists.entry(list).or_default().items = items;
            }
            _ => {}
        }
        for (key, value) in inside {
            path.push(key);
            self.enter_below(&value, file, path);
            path.pop();
        }
    }

    /// The places of an entry, the last one of which set it.
    fn places(&self, layer: &Obj, key: &Key) -> Option<&SetterPlaces> {
        match layer {
            Obj::Dict(dict) => self.entries.get(&dict.address())?.get(key),
            _ => None,
        }
    }

    /// The entry of a layer is set in a mapping.
    pub(super) fn sets(&mut self, base: &DictRef, layer: &Obj, key: &Key) {
        let places = self.places(layer, key).cloned().unwrap_or_default();
        if !self.entries.contains_key(&base.address()) {
            self.kept.push(Obj::Dict(base.clone()));
        }
        let entries = self.entries.entry(base.address()).or_default();
        let known = entries.entry(key.clone()).or_default();
        let Some(last) = places.last() else {
            // Not of a file: a template changed the layer.
            known.clear();
            return;
        };
        known.retain(|turn| turn != last);
        let new = places.iter().filter(|turn| !known.contains(turn));
        let new: SetterPlaces = new.cloned().collect();
        known.extend(new);
    }

    /// The list at the entry of a layer is appended to another.
    pub(super) fn joins(&mut self, base: &ListRef, layer: &Obj, key: &Key) {
        let list = match layer {
            Obj::Dict(dict) => dict.get(key),
            _ => None,
        };
        let more = match &list {
            Some(Obj::List(list)) => self.lists.get(&list.address()).cloned(),
            _ => None,
        };
        let place = self
            .places(layer, key)
            .and_then(|places| places.last())
            .map(|(place, _)| place.clone());
        match (self.lists.get_mut(&base.address()), more, place) {
            (Some(known), Some(more), Some(place)) => {
                known.items.extend(more.items);
                known.joined.push(place);
            }
            // Its items are unknown from here on.
            (Some(known), ..) => known.items.clear(),
            (None, ..) => {}
        }
    }

    /// A list loses its first item.
    pub(super) fn drops_first(&mut self, list: &ListRef) {
        if let Some(known) = self.lists.get_mut(&list.address())
            && !known.items.is_empty()
        {
            known.items.remove(0);
        }
    }

    /// The origins of a pillar and of the one that templates see, with the files in the order of their merge.
    pub(super) fn origins<'p>(
        &self,
        pillars: [&DictRef; 2],
        order: impl Iterator<Item = &'p str>,
    ) -> Origins {
        let mut left = MAX_VALUES;
        let roots =
            pillars.map(|dict| self.inside(&Obj::Dict(dict.clone()), Vec::new(), &mut left));
        let number = |path| self.files.iter().position(|file| file.path == path);
        let mut order: Vec<usize> = order.filter_map(number).collect();
        let rest = (0..self.files.len()).filter(|number| !order.contains(number));
        // Classes that a class names without effect come first; before Salt 3007 there are such.
        order.splice(0..0, rest.collect::<Vec<_>>());
        Origins::ordered(&self.files, &order, roots)
    }

    /// The origins of an object that places set, and of what is inside.
    fn inside(&self, object: &Obj, turns: SetterPlaces, left: &mut usize) -> SetPlaces {
        let mut origin = SetPlaces {
            turns,
            inside: Default::default(),
        };
        if *left == 0 {
            return origin;
        }
        *left -= 1;
        match object {
            Obj::Dict(dict) => {
                for (key, value) in dict.entries() {
                    let places = self.places(object, &key).cloned().unwrap_or_default();
                    let inside = self.inside(&value, places, left);
                    if !inside.turns.is_empty() || !inside.inside.is_empty() {
                        origin.inside.insert(key, inside);
                    }
                }
            }
            Obj::List(list) => {
                let Some(known) = self.lists.get(&list.address()) else {
                    return origin;
                };
                let joined = known.joined.iter();
                let joined = joined.map(|place| (place.clone(), PlaceEffect::Joined));
                origin.turns.extend(joined);
                let items = list.items();
                // A template can change it as well.
                if items.len() == known.items.len() {
                    for (at, (item, place)) in items.iter().zip(&known.items).enumerate() {
                        let inside = self.inside(item, vec![(place.clone(), set_to(item))], left);
                        origin.inside.insert(Key::of_index(at), inside);
                    }
                }
            }
            _ => {}
        }
        origin
    }
}

/// The action of a place that sets a value.
fn set_to(value: &Obj) -> PlaceEffect {
    let first = match value {
        Obj::List(list) => list.get(0),
        _ => None,
    };
    match first.is_some_and(|first| is_mark(&first)) {
        true => PlaceEffect::SetBehindMark,
        false => PlaceEffect::Set,
    }
}

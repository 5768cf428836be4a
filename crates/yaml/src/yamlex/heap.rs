//! Python's objects, as far as joining looks at them.

use std::collections::HashMap;

use indexmap::IndexMap;
use mapstack_value::{Key, List, Map, MapKind, Set, Value};

use crate::mark::{Mark, Marks, Trail};
use crate::{Error, ErrorKind};

/// An index into the heap.
pub(super) type ObjectId = usize;

/// A value under a key, and the place of the key.
#[derive(Clone, Copy)]
pub(super) struct PlacedValue {
    pub object: ObjectId,
    pub mark: Mark,
}

/// The types of mappings.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum MappingKind {
    /// `dict`, from `!!map`.
    Plain,
    Ordered,
    Aggregate,
}

pub(super) type Entries = IndexMap<Key, PlacedValue, foldhash::fast::RandomState>;

/// An object.
pub(super) enum HeapObject {
    Scalar(Value),
    /// A list, and whether it is an aggregate.
    List(Vec<ObjectId>, bool),
    Map(MappingKind, Entries),
    /// A set; the entries have the places of its members.
    Set(Entries),
    Pair([ObjectId; 2]),
}

pub(super) struct Heap {
    objects: Vec<(HeapObject, Mark)>,
    /// The steps left for copying and comparing by joins.
    left: usize,
    steps: usize,
}

/// Steps of joining for each value that a text may have.
const STEPS_A_VALUE: usize = 10;

impl Heap {
    pub fn new(max_values: usize) -> Self {
        let steps = max_values.saturating_mul(STEPS_A_VALUE);
        Heap {
            objects: Vec::new(),
            left: steps,
            steps,
        }
    }

    pub fn add(&mut self, item: HeapObject, mark: Mark) -> ObjectId {
        self.objects.push((item, mark));
        self.objects.len() - 1
    }

    pub fn item(&self, id: ObjectId) -> &HeapObject {
        &self.objects[id].0
    }

    pub fn insert(&mut self, id: ObjectId, key: Key, entry: PlacedValue) {
        match &mut self.objects[id].0 {
            HeapObject::Map(_, entries) | HeapObject::Set(entries) => {
                entries.insert(key, entry);
            }
            _ => {}
        }
    }

    pub fn push(&mut self, id: ObjectId, item: ObjectId) {
        if let HeapObject::List(items, _) = &mut self.objects[id].0 {
            items.push(item);
        }
    }

    /// An object as a key.
    pub fn key(&self, id: ObjectId) -> Result<Key, mapstack_value::ValueKind> {
        use mapstack_value::ValueKind;
        match self.item(id) {
            HeapObject::Scalar(value) => Key::try_from(value).map_err(|e| e.kind),
            HeapObject::List(..) | HeapObject::Pair(_) => Err(ValueKind::List),
            HeapObject::Map(..) => Err(ValueKind::Map),
            HeapObject::Set(..) => Err(ValueKind::Set),
        }
    }

    fn spend(&mut self, steps: usize, mark: Mark) -> Result<(), Error> {
        match self.left.checked_sub(1 + steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Error::new(
                ErrorKind::TooMuchJoined { limit: self.steps },
                mark,
            )),
        }
    }

    /// Join what a key has with its next value (`salt.utils.aggregation.aggregate`, of no levels). What is copied is
    /// what is there by now.
    pub fn joined(&mut self, old: ObjectId, new: ObjectId, at: Mark) -> Result<ObjectId, Error> {
        let mark = self.objects[new].1;
        match (self.item(old), self.item(new)) {
            (HeapObject::Map(old_kind, known), HeapObject::Map(new_kind, given)) => {
                let both =
                    *old_kind == MappingKind::Aggregate && *new_kind == MappingKind::Aggregate;
                let (kind, mut entries) = if both {
                    (*old_kind, known.clone())
                } else {
                    (*new_kind, given.clone())
                };
                let meeting: Vec<(Key, PlacedValue, Option<ObjectId>)> = given
                    .iter()
                    .map(|(key, entry)| (key.clone(), *entry, known.get(key).map(|e| e.object)))
                    .collect();
                self.spend(entries.len() + meeting.len(), at)?;
                for (key, mut entry, known) in meeting {
                    if let Some(known) = known {
                        entry.object = self.joined(known, entry.object, at)?;
                    }
                    entries.insert(key, entry);
                }
                Ok(self.add(HeapObject::Map(kind, entries), mark))
            }
            (HeapObject::List(known, true), HeapObject::List(given, true)) => {
                let (mut items, given) = (known.clone(), given.clone());
                self.spend(items.len() + given.len(), at)?;
                let members = self.members(&items);
                for item in given {
                    if !self.is_member(&members, item, at)? {
                        items.push(item);
                    }
                }
                Ok(self.add(HeapObject::List(items, true), mark))
            }
            (_, new) => {
                let (copy, steps) = match new {
                    HeapObject::Scalar(value) => (HeapObject::Scalar(value.clone()), 0),
                    HeapObject::List(items, kind) => {
                        (HeapObject::List(items.clone(), *kind), items.len())
                    }
                    HeapObject::Map(kind, entries) => {
                        (HeapObject::Map(*kind, entries.clone()), entries.len())
                    }
                    HeapObject::Set(entries) => (HeapObject::Set(entries.clone()), entries.len()),
                    HeapObject::Pair(pair) => (HeapObject::Pair(*pair), 0),
                };
                self.spend(steps, at)?;
                Ok(self.add(copy, mark))
            }
        }
    }

    /// The items of a list, to be asked for often: scalars by hash, and the others.
    fn members(&self, items: &[ObjectId]) -> (Set, Vec<ObjectId>) {
        let (simple, others): (Vec<_>, Vec<_>) =
            items.iter().partition(|id| self.simple_key(**id).is_some());
        let simple = simple.iter().filter_map(|id| self.simple_key(*id));
        (simple.collect(), others)
    }

    /// A scalar as a key, but NaN.
    fn simple_key(&self, id: ObjectId) -> Option<Key> {
        match self.item(id) {
            HeapObject::Scalar(value) if is_nan(value) => None,
            HeapObject::Scalar(value) => Key::try_from(value).ok(),
            _ => None,
        }
    }

    fn is_member(
        &mut self,
        (simple, others): &(Set, Vec<ObjectId>),
        id: ObjectId,
        at: Mark,
    ) -> Result<bool, Error> {
        if let Some(key) = self.simple_key(id) {
            return Ok(simple.contains(&key));
        }
        for other in others {
            if self.are_equal(*other, id, at)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Python's `==`, or that both are one object.
    fn are_equal(&mut self, a: ObjectId, b: ObjectId, at: Mark) -> Result<bool, Error> {
        self.spend(0, at)?;
        if a == b {
            return Ok(true);
        }
        let pairs: Vec<(ObjectId, ObjectId)> = match (self.item(a), self.item(b)) {
            (HeapObject::Scalar(a), HeapObject::Scalar(b)) => {
                return Ok(a == b || (is_nan(a) && is_nan(b)));
            }
            (HeapObject::Set(a), HeapObject::Set(b)) => {
                return Ok(a.len() == b.len() && a.keys().all(|key| b.contains_key(key)));
            }
            (HeapObject::Pair(a), HeapObject::Pair(b)) => {
                a.iter().copied().zip(b.iter().copied()).collect()
            }
            (HeapObject::List(a, _), HeapObject::List(b, _)) if a.len() == b.len() => {
                a.iter().copied().zip(b.iter().copied()).collect()
            }
            (HeapObject::Map(a_kind, a), HeapObject::Map(b_kind, b)) if a.len() == b.len() => {
                let is_ordered = *a_kind != MappingKind::Plain && *b_kind != MappingKind::Plain;
                if is_ordered && !a.keys().eq(b.keys()) {
                    return Ok(false);
                }
                let pairs = a
                    .iter()
                    .map(|(key, entry)| Some((entry.object, b.get(key)?.object)));
                match pairs.collect() {
                    Some(pairs) => pairs,
                    None => return Ok(false),
                }
            }
            _ => return Ok(false),
        };
        for (a, b) in pairs {
            if !self.are_equal(a, b, at)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// An object as data, with the places of all of it. One object in two places is one storage.
    pub fn data(&self, id: ObjectId) -> (Value, Marks) {
        self.built(id, &mut HashMap::new())
    }

    fn built(&self, id: ObjectId, known: &mut HashMap<ObjectId, (Value, Marks)>) -> (Value, Marks) {
        let (item, mark) = &self.objects[id];
        if let HeapObject::Scalar(value) = item {
            return (value.clone(), Marks::leaf(*mark));
        }
        if let Some(built) = known.get(&id) {
            return built.clone();
        }
        let mut all = |ids: &[ObjectId]| -> (Vec<Value>, Vec<Marks>) {
            ids.iter().map(|id| self.built(*id, known)).unzip()
        };
        let none = std::iter::empty;
        let built = match item {
            HeapObject::List(items, is_aggregate) => {
                let (values, marks) = all(items);
                let list = match is_aggregate {
                    true => List::from(values).as_aggregate(),
                    false => List::from(values),
                };
                (Value::List(list), Marks::branch(*mark, none(), marks))
            }
            HeapObject::Map(kind, entries) => {
                let ids: Vec<ObjectId> = entries.values().map(|entry| entry.object).collect();
                let (values, marks) = all(&ids);
                let map: Map = entries.keys().cloned().zip(values).collect();
                let map = map.with_kind(match kind {
                    MappingKind::Plain => MapKind::Dict,
                    MappingKind::Ordered => MapKind::Ordered,
                    MappingKind::Aggregate => MapKind::Aggregate,
                });
                let keys = entries.values().map(|entry| entry.mark);
                (Value::Map(map), Marks::branch(*mark, keys, marks))
            }
            HeapObject::Pair(pair) => {
                let (values, marks) = all(pair);
                (
                    Value::Tuple(values.into()),
                    Marks::branch(*mark, none(), marks),
                )
            }
            HeapObject::Set(entries) => {
                let keys = entries.values().map(|entry| entry.mark);
                (
                    Value::Set(entries.keys().cloned().collect()),
                    Marks::branch(*mark, keys, Vec::new()),
                )
            }
            HeapObject::Scalar(value) => (value.clone(), Marks::leaf(*mark)),
        };
        known.insert(id, built.clone());
        built
    }
}

/// The reference has one object for NaN, so that it equals itself.
fn is_nan(value: &Value) -> bool {
    matches!(value, Value::Float(f) if f.is_nan())
}

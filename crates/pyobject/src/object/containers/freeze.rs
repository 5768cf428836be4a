//! Frozen data out of live objects.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use foldhash::fast::RandomState;
use mapstack_value::{Extent, Key, Keyed, Map, Set, Value};

use super::super::Obj;
use super::super::read_tracker::ReadTracker;
use super::{ContainerState, DictRef, ListRef, changes};
use crate::limits::depth;
use crate::limits::ledger;
use crate::limits::{Error, Result};

/// Turn an object into frozen data. Untouched containers come back as the storage they were made
/// from, and an object met twice becomes storage shared twice.
pub(in super::super) fn freeze(object: &Obj) -> Result<Value> {
    Freezer::default().freeze(object)
}

/// The same, without reports to readers: for code that only passes the data on.
pub(in super::super) fn freeze_unread(object: &Obj) -> Result<Value> {
    Freezer {
        without_recording: true,
        ..Freezer::default()
    }
    .freeze(object)
}

/// The same, with `None` for what is undefined or no data; also what that was, in words.
pub(in super::super) fn freeze_lossy(object: &Obj) -> Result<(Value, Vec<String>)> {
    let mut freezer = Freezer {
        missing: Some(Vec::new()),
        ..Freezer::default()
    };
    let value = freezer.freeze(object)?;
    Ok((value, freezer.missing.unwrap_or_default()))
}

/// Freezes an object again and again. What is the same as the time before comes back as the storage
/// of that time. That costs a walk over the containers that were taken apart, and a comparison of the entries of
/// those that were changed.
#[derive(Default)]
pub struct Refreezer {
    done: FrozenContainers,
    /// The number of changes at that time.
    seen: u64,
}

impl Refreezer {
    /// The value of the object now, with `None` for what is undefined or no data.
    ///
    /// # Errors
    /// As [`Obj::to_value_lossy`].
    pub fn freeze(&mut self, object: &Obj) -> Result<Value> {
        let last = std::mem::take(&mut self.done);
        let done = FrozenContainers::with_capacity_and_hasher(last.len(), RandomState::default());
        let seen = std::mem::replace(&mut self.seen, changes());
        let mut freezer = Freezer {
            missing: Some(Vec::new()),
            done,
            last,
            seen,
            ..Freezer::default()
        };
        let value = freezer.freeze(object);
        self.done = freezer.done;
        value
    }
}

impl std::fmt::Debug for Refreezer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Refreezer").finish_non_exhaustive()
    }
}

/// Finished containers by identity, with the number of values they expand to; `None` while one is
/// being frozen, which finds cycles.
type FrozenContainers = HashMap<usize, Option<(Value, usize)>, RandomState>;

#[derive(Default)]
struct Freezer {
    done: FrozenContainers,
    /// The containers of the last time. They can be gone, and others may have their identities now,
    /// so it is only a guess.
    last: FrozenContainers,
    /// The number of changes at that time.
    seen: u64,
    depth: usize,
    /// Values frozen so far, shared ones counted at each use.
    count: usize,
    /// The objects that were undefined or not data, if that is not an error.
    missing: Option<Vec<String>>,
    /// True if freezing does not count as reading.
    without_recording: bool,
}

/// Data that expands to more values is refused: a list that holds itself twice, thirty times over,
/// is small here and enormous when printed.
const MAX_VALUES: usize = 5_000_000;
/// Values between two looks at the memory that is left.
const ASKED_EVERY: usize = 1 << 14;
/// About what a value takes that is written out; a text counts as one for each 64 bytes.
const VALUE_BYTES: usize = 64;

/// Refuse data that is nested deeper, or expands to more, than templates may make, and pay for going through it.
///
/// # Errors
/// A limit error.
pub fn check_extent(value: &Value) -> Result<()> {
    let extent = Extent::of(value);
    depth::data(extent.depth)?;
    ledger::spend(extent.values.min(MAX_VALUES) / 16)?;
    if extent.values > MAX_VALUES {
        Err(too_many())
    } else {
        Ok(())
    }
}

fn too_many() -> Box<Error> {
    Error::limit(format!("the data expands to more than {MAX_VALUES} values"))
}

impl Freezer {
    fn freeze(&mut self, object: &Obj) -> Result<Value> {
        Ok(match object {
            Obj::None => Value::None,
            Obj::Bool(b) => Value::Bool(*b),
            Obj::Int(i) => Value::Int(i.clone()),
            Obj::Float(f) => Value::Float(*f),
            Obj::Str(s) | Obj::Markup(s) => {
                // Long texts count as what they weigh.
                self.counted(s.len() / 64)?;
                Value::Str(s.clone())
            }
            Obj::Bytes(b) => Value::Bytes(b.clone()),
            Obj::Tuple(items) => self.once(items.address(), |this| {
                Ok(Value::Tuple(
                    items
                        .iter()
                        .map(|i| this.freeze(i))
                        .collect::<Result<_>>()?,
                ))
            })?,
            Obj::Set(set) => Value::Set(set.read(|s| s.iter().cloned().collect::<Set>())),
            Obj::List(list) => match list.as_frozen() {
                Some(untouched) => self.untouched(Value::List(untouched))?,
                None => self.once(list.address(), |this| this.freeze_list(list))?,
            },
            // Without recording, a dict that reports its reads must not be read through this method.
            Obj::Dict(dict) => match (!self.without_recording)
                .then(|| dict.as_frozen())
                .flatten()
            {
                Some(untouched) => self.untouched(Value::Map(untouched))?,
                None => self.once(dict.address(), |this| this.freeze_dict(dict))?,
            },
            Obj::Undefined(u) => match &mut self.missing {
                Some(found) => {
                    found.push(u.message.to_string());
                    Value::None
                }
                None => return Err(u.error()),
            },
            Obj::Native(native) => match native.as_value() {
                Some(value) => value?,
                None => self.no_data(object)?,
            },
            Obj::Iter(_) => self.no_data(object)?,
        })
    }

    fn once(
        &mut self,
        identity: usize,
        freeze: impl FnOnce(&mut Self) -> Result<Value>,
    ) -> Result<Value> {
        match self.done.entry(identity) {
            Entry::Occupied(entry) => match entry.get() {
                Some((value, size)) => {
                    let (value, size) = (value.clone(), *size);
                    self.counted(size)?;
                    return Ok(value);
                }
                None => return Err(Error::value_error("Circular reference detected")),
            },
            Entry::Vacant(entry) => entry.insert(None),
        };
        let before = self.count;
        self.counted(1)?;
        let value = self.descend(freeze)?;
        if let Some(done) = self.done.get_mut(&identity) {
            *done = Some((value.clone(), self.count - before));
        }
        Ok(value)
    }

    /// A container that is still the storage it was made from, and no part of a cycle.
    fn untouched(&mut self, value: Value) -> Result<Value> {
        self.counted(1)?;
        depth::data(self.depth + 1)?;
        Ok(value)
    }

    /// An object that is not data: an error, or `None` where that is tolerated.
    fn no_data(&mut self, object: &Obj) -> Result<Value> {
        match &mut self.missing {
            Some(found) => {
                found.push(format!(
                    "a {} is not data; make a list of it with |list",
                    object.type_name()
                ));
                Ok(Value::None)
            }
            None => Err(not_data(object)),
        }
    }

    fn counted(&mut self, values: usize) -> Result<()> {
        let before = self.count;
        self.count = self.count.saturating_add(values);
        if before / ASKED_EVERY != self.count / ASKED_EVERY {
            // The caller will next go through all of the frozen data, or write it out.
            ledger::room_for(self.count.saturating_mul(VALUE_BYTES))?;
        }
        if self.count > MAX_VALUES {
            return Err(too_many());
        }
        Ok(())
    }

    fn descend(&mut self, freeze: impl FnOnce(&mut Self) -> Result<Value>) -> Result<Value> {
        depth::data(self.depth + 1)?;
        self.depth += 1;
        let value = freeze(self);
        self.depth -= 1;
        value
    }

    fn freeze_list(&mut self, list: &ListRef) -> Result<Value> {
        let state = list.0.0.borrow();
        let (items, origin, touched) = match &*state {
            ContainerState::Frozen(list) => return Ok(Value::List(list.clone())),
            ContainerState::Live {
                items,
                origin,
                touched,
            } => (items, origin, *touched),
        };
        self.counted(items.len())?;
        ledger::spend(items.len())?;
        let last = match self.last(list.address()) {
            Some(Value::List(last)) if touched <= self.seen || last.len() == items.len() => {
                Some(last.clone())
            }
            _ => None,
        };
        let compare = Compare::of(last.is_some(), touched <= self.seen);
        let Some(mut before) = last.or_else(|| origin.clone()) else {
            let mut frozen = Vec::with_capacity(items.len());
            for item in items {
                frozen.push(self.freeze(item)?);
            }
            return Ok(Value::List(frozen.into()));
        };
        let changed = self.changed(items.iter().zip(before.iter()), compare)?;
        if !changed.is_empty() {
            let items = before.make_mut();
            for (index, value) in changed {
                if let Some(item) = items.get_mut(index) {
                    *item = value;
                }
            }
        }
        Ok(Value::List(before))
    }

    fn freeze_dict(&mut self, dict: &DictRef) -> Result<Value> {
        if self.without_recording
            && let Some(result) = dict.look(|tracker, map| self.freeze_tracked(tracker, map))
        {
            return result;
        }
        let state = dict.state();
        let (items, origin, touched) = match &*state {
            ContainerState::Frozen(map) => return Ok(Value::Map(map.clone())),
            ContainerState::Live {
                items,
                origin,
                touched,
            } => (items, origin, *touched),
        };
        self.counted(items.len())?;
        ledger::spend(2 * items.len())?;
        let last = match self.last(dict.address()) {
            Some(Value::Map(last)) if touched <= self.seen || is_alike(last, dict, items) => {
                Some(last.clone())
            }
            _ => None,
        };
        let compare = Compare::of(last.is_some(), touched <= self.seen);
        let Some(mut before) = last.or_else(|| origin.clone()) else {
            let mut frozen = Map::with_capacity(items.len()).with_kind(dict.kind());
            for (key, object) in items.iter() {
                frozen.insert(key.clone(), self.freeze(object)?);
            }
            return Ok(Value::Map(frozen));
        };
        for (index, value) in self.changed(items.values().zip(before.values()), compare)? {
            if let Some(entry) = before.value_at_mut(index) {
                *entry = value;
            }
        }
        Ok(Value::Map(before))
    }

    /// The former value of a container.
    fn last(&self, identity: usize) -> Option<&Value> {
        self.last.get(&identity)?.as_ref().map(|(value, _)| value)
    }

    /// The items that changed, and their new values.
    fn changed<'i>(
        &mut self,
        items: impl Iterator<Item = (&'i Obj, &'i Value)>,
        compare: Compare,
    ) -> Result<Vec<(usize, Value)>> {
        let mut changed = Vec::new();
        for (index, (object, before)) in items.enumerate() {
            // Most items are texts, and not worth a copy.
            match (object, before) {
                (Obj::Str(text), Value::Str(before))
                    if compare != Compare::All || text == before =>
                {
                    self.counted(text.len() / 64)?;
                    continue;
                }
                (Obj::None | Obj::Bool(_) | Obj::Int(_) | Obj::Float(_), _)
                    if compare != Compare::All =>
                {
                    continue;
                }
                _ => {}
            }
            let now = self.freeze(object)?;
            let same = if compare == Compare::Storage {
                is_unchanged(before, &now)
            } else {
                before.is_same(&now)
            };
            if !same {
                changed.push((index, now));
            }
        }
        Ok(changed)
    }
}

/// The parts of a container that can be different from before.
#[derive(Clone, Copy, PartialEq)]
enum Compare {
    /// Containers in it that are another storage than the one they came from.
    Storage,
    /// Containers in it.
    Inside,
    /// Every item.
    All,
}

impl Compare {
    fn of(is_last: bool, is_untouched: bool) -> Self {
        match (is_last, is_untouched) {
            (false, _) => Compare::Storage,
            (true, true) => Compare::Inside,
            (true, false) => Compare::All,
        }
    }
}

impl Freezer {
    /// A tracked dict is what it was, but for the containers in it that were handed out.
    fn freeze_tracked(&mut self, tracker: &ReadTracker, map: &Map) -> Result<Value> {
        let mut frozen = map.clone();
        for (key, object) in tracker.taken() {
            let value = self.freeze(object)?;
            if map
                .get(key)
                .is_some_and(|before| !is_unchanged(before, &value))
            {
                frozen.insert(key.clone(), value);
            }
        }
        Ok(Value::Map(frozen))
    }
}

/// True if a mapping is of a dict's kind and has its keys in the same order, `1` not being `True`.
fn is_alike(map: &Map, dict: &DictRef, items: &Keyed<Obj>) -> bool {
    let same = |(a, b): (&Key, &Key)| match (a, b) {
        (Key::Str(a), Key::Str(b)) => a == b,
        _ => a.to_value().is_same(&b.to_value()),
    };
    map.kind() == dict.kind() && map.len() == items.len() && map.keys().zip(items.keys()).all(same)
}

/// True if a nested value is still the storage it came from. Scalars cannot change under a level
/// that did not.
fn is_unchanged(before: &Value, after: &Value) -> bool {
    match (before, after) {
        (Value::List(a), Value::List(b)) => a.ptr_eq(b),
        (Value::Map(a), Value::Map(b)) => a.ptr_eq(b),
        (Value::Tuple(a), Value::Tuple(b)) => {
            a.iter().zip(b.iter()).all(|(a, b)| is_unchanged(a, b))
        }
        (Value::Set(a), Value::Set(b)) => a == b,
        _ => true,
    }
}

fn not_data(object: &Obj) -> Box<Error> {
    Error::type_error(format!(
        "Object of type {} is not JSON serializable",
        object.type_name()
    ))
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::super::super::Undefined;
    use super::super::Entries;
    use super::*;

    /// Freeze again after each change, which has to give the same result as freezing from scratch.
    fn check(object: &Obj, changes: &[(&str, &dyn Fn())]) -> Vec<Value> {
        let mut refreezer = Refreezer::default();
        let mut seen = vec![refreezer.freeze(object).unwrap()];
        for (what, change) in changes {
            change();
            let (fresh, again) = (
                freeze_lossy(object).map(|(value, _)| value),
                refreezer.freeze(object),
            );
            match (fresh, again) {
                (Ok(fresh), Ok(again)) => {
                    assert!(
                        fresh.is_same(&again),
                        "{what}: {} is not {}",
                        again.repr(),
                        fresh.repr()
                    );
                    seen.push(again);
                }
                (fresh, again) => assert_eq!(fresh.is_err(), again.is_err(), "{what}"),
            }
        }
        seen
    }

    fn dict(value: &Obj, key: &str) -> DictRef {
        let Obj::Dict(outer) = value else {
            panic!("no dict")
        };
        let Some(Obj::Dict(inner)) = outer.get_str(key) else {
            panic!("no dict under {key}")
        };
        inner
    }

    #[test]
    #[expect(
        clippy::too_many_lines,
        reason = "one change after another to the same objects"
    )]
    fn refreezing_gives_what_a_fresh_freeze_gives() {
        let text = "{a: {x: 1, l: [1, [2]]}, b: {y: text}, c: {z: 1}}";
        let root = Obj::from(mapstack_yaml::load(text).unwrap());
        let Obj::Dict(top) = &root else {
            panic!("no dict")
        };
        let (a, b) = (dict(&root, "a"), dict(&root, "b"));
        let Some(Obj::List(list)) = a.get_str("l") else {
            panic!("no list")
        };
        let Some(Obj::List(inner)) = list.get(1) else {
            panic!("no list")
        };
        let set = |dict: &DictRef, key: &str, value: Obj| dict.insert(key, value);
        let own = ListRef::new(vec![Obj::from(1)]);
        let tuple = Obj::Tuple([Obj::List(own.clone())].into());
        let seen = check(
            &root,
            &[
                ("a scalar", &|| set(&a, "x", Obj::from(2))),
                ("another type", &|| set(&a, "x", Obj::from(2.0))),
                ("the same again", &|| set(&a, "x", Obj::from(2.0))),
                ("text", &|| set(&b, "y", Obj::from("other"))),
                ("deep inside", &|| {
                    inner.change(|items| items.push(Obj::from(3)));
                }),
                ("under an alias", &|| set(&b, "alias", Obj::Dict(a.clone()))),
                ("through the alias", &|| {
                    set(&dict(&Obj::Dict(b.clone()), "alias"), "x", Obj::from(4));
                }),
                ("a key that is equal", &|| set(&b, "k", Obj::None)),
                ("one", &|| {
                    b.change(|entries| drop(entries.insert(Key::from(1), Obj::None)));
                }),
                ("true", &|| {
                    b.change(|entries| drop(entries.shift_remove(&Key::from(1))));
                    b.change(|entries| drop(entries.insert(Key::from(true), Obj::None)));
                }),
                ("order", &|| b.change(|entries| entries.swap_indices(0, 1))),
                ("a tuple", &|| set(top, "t", tuple.clone())),
                ("a list in a tuple", &|| {
                    own.change(|items| items.push(Obj::from(5)));
                }),
                ("undefined", &|| {
                    set(
                        &a,
                        "u",
                        Obj::Undefined(Rc::new(Undefined::hint("missing", false))),
                    );
                }),
                ("a cycle", &|| {
                    inner.change(|items| items.push(Obj::List(list.clone())));
                }),
                ("inside a cycle", &|| set(&a, "x", Obj::from(6))),
                ("no cycle", &|| inner.change(|items| drop(items.pop()))),
                ("removal", &|| {
                    top.change(|entries| drop(entries.shift_remove("a")));
                }),
            ],
        );
        let part = |value: &Value, key: &str| {
            value
                .as_map()
                .and_then(|map| map.get(key).cloned())
                .unwrap()
        };
        let (Value::Map(first), Value::Map(last)) =
            (part(&seen[0], "c"), part(seen.last().unwrap(), "c"))
        else {
            panic!("no mappings")
        };
        assert!(first.ptr_eq(&last), "what did not change is not copied");
        let (Value::Map(second), Value::Map(third)) = (&seen[2], &seen[3]) else {
            panic!("no mappings")
        };
        assert!(second.ptr_eq(third), "equal parts are not copied");
    }

    #[test]
    fn an_identity_that_is_used_again_is_another_object() {
        let root = DictRef::new(Entries::default());
        let mut refreezer = Refreezer::default();
        for number in 0..100 {
            // The allocator likes to give back what has just been freed.
            root.insert("list", Obj::list(vec![Obj::from(number)]));
            let value = refreezer.freeze(&Obj::Dict(root.clone())).unwrap();
            assert_eq!(value.repr(), format!("{{'list': [{number}]}}"));
        }
    }
}

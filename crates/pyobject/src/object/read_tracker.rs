//! Dicts that report which of their entries are read.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use foldhash::fast::RandomState;
use mapstack_value::{Key, Map, Value};

use super::Obj;
use super::containers::DictRef;

/// Receives a report of each read of a frozen mapping, before the reader gets the value.
///
/// Paths are from the mapping at the top; the path of the mapping itself is empty.
pub trait Reader {
    /// One entry was looked for: whether it is there, and its value. Of a mapping that is found, that
    /// it is one and of which kind; what is in it was not read yet.
    fn entry(&self, path: &[Key]);

    /// All that is below a path may have been read.
    fn whole(&self, path: &[Key]);
}

/// A dict as long as only single entries of it were looked at.
pub struct ReadTracker {
    reader: Rc<dyn Reader>,
    path: Vec<Key>,
    /// Containers that were handed out, so that each is one object.
    taken: HashMap<Key, Obj, RandomState>,
}

impl ReadTracker {
    pub fn new(reader: Rc<dyn Reader>, path: Vec<Key>) -> Self {
        ReadTracker {
            reader,
            path,
            taken: HashMap::default(),
        }
    }

    /// Look for an entry of the tracked mapping.
    pub fn find(&mut self, map: &Map, key: &Key) -> Option<Obj> {
        if let Some(taken) = self.taken.get(key) {
            return Some(taken.clone());
        }
        let mut path = self.path.clone();
        path.push(key.clone());
        self.reader.entry(&path);
        let found = match map.get(key)? {
            Value::Map(inner) => {
                Obj::Dict(DictRef::tracked(inner.clone(), self.reader.clone(), path))
            }
            container @ (Value::List(_) | Value::Tuple(_) | Value::Set(_)) => {
                Obj::from(container.clone())
            }
            scalar => return Some(Obj::from(scalar.clone())),
        };
        self.taken.insert(key.clone(), found.clone());
        Some(found)
    }

    /// True if there is an entry.
    pub fn contains(&self, map: &Map, key: &Key) -> bool {
        let path: Vec<Key> = self.path.iter().chain([key]).cloned().collect();
        self.reader.entry(&path);
        map.contains_key(key)
    }

    /// Everything may be read from now on: the containers that were handed out.
    pub fn give_up(self) -> HashMap<Key, Obj, RandomState> {
        self.reader.whole(&self.path);
        self.taken
    }

    /// The containers that were handed out, without reading anything.
    pub fn taken(&self) -> impl Iterator<Item = (&Key, &Obj)> {
        self.taken.iter()
    }
}

/// The tracker of a dict, if its reads are tracked.
pub type TrackerCell = RefCell<Option<Box<ReadTracker>>>;

//! The proposed files of a formula with `map.data`.

use std::collections::{BTreeMap, BTreeSet};

use mapstack::Place;
use mapstack::minion::Minion;
use mapstack::value::{Key, Map, Value};
use mapstack_fleet::Change;

use crate::leaves::at;
use crate::{Formula, OwnDefault};

/// The way in which a formula makes its configuration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum FormulaKind {
    /// By `libmapstack.jinja`.
    Libmapstack,
    /// By tables: `grains.filter_by`, `defaults.yaml`, `osfamilymap.yaml` and their like.
    #[default]
    Tables,
}

/// Something that stays as it was, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct Left {
    /// What, such as `the table osmap.yaml`.
    pub what: String,
    /// Why.
    pub why: String,
    /// Where.
    pub place: Option<Place>,
}

/// Values that all entries of a table had. They are defaults now, so systems without an entry get them, too.
#[derive(Debug, Clone)]
pub struct SharedValues {
    /// The values.
    pub values: Map,
    /// The grain that picks an entry.
    pub grain: String,
    /// The keys of the entries.
    pub entries: Vec<Key>,
}

impl SharedValues {
    /// True for a minion that has no entry in the table.
    #[must_use]
    pub fn is_new_for(&self, minion: &Minion) -> bool {
        match minion.grains.get(self.grain.as_str()) {
            None => true,
            Some(Value::Str(own)) => !self.entries.contains(&Key::Str(own.clone())),
            Some(_) => false,
        }
    }

    /// True for a change that only adds such a value.
    pub(crate) fn adds(&self, change: &Change) -> bool {
        let is_part = |new: &Value| {
            let shared = at(&self.values, &change.path);
            shared.is_some_and(|shared| is_within(new, shared))
        };
        change.old.is_none() && change.new.as_ref().is_some_and(is_part)
    }
}

/// True if all that a value has is in another one.
fn is_within(value: &Value, other: &Value) -> bool {
    match (value, other) {
        (Value::Map(value), Value::Map(other)) => {
            let mut entries = value.iter();
            entries.all(|(key, value)| other.get(key).is_some_and(|other| is_within(value, other)))
        }
        _ => value.is_same(other),
    }
}

/// The files of a formula as they would be with `map.data`. Paths are below the formula's folder.
#[derive(Debug, Clone, Default)]
pub struct Proposal {
    /// The way in which the formula makes its configuration now.
    pub kind: FormulaKind,
    /// The files to write, with their texts.
    pub write: BTreeMap<String, String>,
    /// The files to remove.
    pub remove: BTreeSet<String>,
    /// The conversions, a sentence each.
    pub done: Vec<String>,
    /// The parts that stay as they are.
    pub left: Vec<Left>,
    /// The steps that a maintainer could take next.
    pub advice: Vec<String>,
    /// The defaults in states, which stay there.
    pub own_defaults: Vec<OwnDefault>,
    /// The values that all entries of a table had, which are defaults now.
    pub shared: Option<SharedValues>,
    /// The names under which pillars may say other files, if states call `map.tofs`.
    pub tofs: Option<Vec<String>>,
    /// The variable of `map.jinja` with the configuration.
    pub variable: String,
    /// The keys of the pillar that the configuration is made of.
    pub keys: Vec<Vec<String>>,
}

impl Proposal {
    /// Write a file.
    #[must_use]
    pub fn writing(mut self, path: &str, text: &str) -> Self {
        self.remove.remove(path);
        self.write.insert(path.into(), text.into());
        self
    }

    /// True if a file is written or removed.
    #[must_use]
    pub fn touches(&self, path: &str) -> bool {
        self.write.contains_key(path) || self.remove.contains(path)
    }

    /// Leave files alone that have the text already.
    pub(crate) fn without_same(mut self, formula: &Formula) -> Self {
        self.write
            .retain(|path, text| formula.text(path) != Some(text));
        self
    }
}

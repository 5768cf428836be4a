//! saltclass: what nodes and the classes they inherit from give a minion (Salt: `salt.utils.saltclass`).
//!
//! Salt shares lists and mappings between the pillar that templates see, the classes and the result, and changes them in
//! place. What it computes depends on that, so the fold works on Python's objects.

mod classes;
mod files;
mod merge;
mod objects;
mod variables;

use mapstack_diagnostic::{Error, ErrorKind, Result};
use mapstack_pyobject::{DictRef, Entries, Obj, hash_key};
use mapstack_value::{Key, Map, Value};

use crate::{Host, Origins};

use classes::Expansion;
use merge::Merge;
use objects::{described, plain};
use variables::Variables;

/// A directory of nodes and classes, and the minion in question.
#[derive(Clone, Copy)]
pub struct Inventory<'i> {
    /// Reads the files. Places that share one object in Python share it in the data, too.
    pub host: &'i dyn Host<Obj>,
    /// The directory with `nodes` and `classes`.
    pub path: &'i str,
    /// The id of the minion.
    pub minion_id: &'i str,
    /// The pillar that templates see. The pillars of classes are merged into it on the way.
    pub pillar: &'i DictRef,
}

/// What an inventory gives a minion.
#[derive(Debug, Clone)]
pub struct Classified {
    /// The pillar, without `__saltclass__`.
    pub pillar: Map,
    /// The classes, in the order of their merge.
    pub classes: Vec<String>,
    /// The states, each once.
    pub states: Vec<Value>,
    /// The last environment that a class or the node names; empty text if none does.
    pub environment: Value,
    /// The file that set each value of the pillar.
    pub origins: Origins,
}

impl Classified {
    /// The pillar with `__saltclass__`, as the external pillar returns it.
    #[must_use]
    pub fn into_pillar(self, minion_id: &str) -> Map {
        let mut about = Map::new();
        about.insert("states", Value::from_iter(self.states));
        about.insert("classes", Value::from_iter(self.classes));
        about.insert("environment", self.environment);
        about.insert("nodename", minion_id);
        let mut pillar: Map = [("__saltclass__", about)].into_iter().collect();
        pillar.extend(self.pillar);
        pillar
    }
}

impl Inventory<'_> {
    /// Find the node of the minion, expand its classes and merge their pillars (Salt: `get_pillars`).
    ///
    /// # Errors
    /// A file cannot be read or has the wrong form, and whatever else Salt raises; limits.
    pub fn classify(&self) -> Result<Classified> {
        let node = self.node()?;
        let merge = Merge { host: self.host };
        merge.over_pillar(self.pillar, &node.own_copy_of_pillars()?, &node)?;
        let expanded = Expansion::of(self, node)?;
        let merged = DictRef::new(Entries::default());
        let mut origins = Origins::default();
        let mut states = Vec::new();
        let mut environment = Obj::from("");
        for class in expanded.values() {
            if class.data.get_str("pillars").is_some() {
                merge.document(&merged, class, &mut origins)?;
            }
            if let Some(more) = class.data.get_str("states") {
                states.extend(class.iterated("states", &more)?);
            }
            environment = class.data.get_str("environment").unwrap_or(environment);
        }
        let pillar = match merged.get_str("pillars") {
            Some(Obj::Dict(pillars)) => Variables::new(self.host).expanded(&pillars)?,
            None => DictRef::new(Entries::default()),
            Some(other) => return Err(not_a_mapping(&other)),
        };
        let pillar = Obj::Dict(pillar).to_value().map_err(|e| plain(&e))?;
        Ok(Classified {
            pillar: pillar.as_map().cloned().unwrap_or_default(),
            // The reference takes the last one for the node, which is not there if it is empty.
            classes: expanded
                .keys()
                .take(expanded.len().saturating_sub(1))
                .cloned()
                .collect(),
            states: once(states)?,
            environment: environment.to_value().map_err(|e| plain(&e))?,
            origins,
        })
    }
}

fn not_a_mapping(pillars: &Obj) -> Error {
    let message = format!(
        "the `pillars` of all classes come to {}, not a mapping",
        described(pillars)
    );
    Error::new(ErrorKind::DataSource, message)
        .help("a class without values has no `pillars:`, or writes `pillars: {}`")
}

/// Each state once, the first of equal ones.
fn once(states: Vec<Obj>) -> Result<Vec<Value>> {
    let mut seen = std::collections::HashSet::<Key>::new();
    let mut kept = Vec::new();
    for state in states {
        let key = hash_key(&state).map_err(|_| {
            let what = described(&state);
            let message = format!("an item of `states` must be the name of a state, not {what}");
            Error::new(ErrorKind::DataSource, message)
        })?;
        if seen.insert(key) {
            kept.push(state.to_value().map_err(|e| plain(&e))?);
        }
    }
    Ok(kept)
}

//! saltclass: what nodes and the classes they inherit from give a minion (Salt: `salt.utils.saltclass`).
//!
//! Salt shares lists and mappings between the pillar that templates see, the classes and the result, and changes them in
//! place. What it computes depends on that, so the fold works on Python's objects.

mod classes;
mod files;
mod flat;
mod inventory;
mod merge;
mod objects;
mod setters;
mod variables;

use mapstack_diagnostic::{Error, ErrorKind, Result};
use mapstack_pyobject::{DictRef, Entries, Obj, hash_key};
use mapstack_value::{Key, Map, Value};

use crate::classes::Origins;

pub use inventory::Inventory;
pub use setters::Setters;

use classes::Expansion;
use flat::ClassExpansion;
use merge::Merge;
use objects::{described, plain};
use variables::Variables;

/// The result of an inventory for a minion.
#[derive(Debug, Clone)]
pub struct Classified {
    /// The pillar, without `__saltclass__`.
    pub pillar: Map,
    /// The classes, in the order of their merge.
    pub classes: Vec<String>,
    /// The states; each once since Salt 3007.
    pub states: Vec<Value>,
    /// The last environment that a class or the node names; empty text if none does.
    pub environment: Value,
    /// The places that set the values of the pillar, if the inventory has [`Setters`].
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
        let merge = Merge::new(self);
        let pillars = match self.keeps_nested {
            true => node.own_copy_of_pillars(self.host)?,
            false => node.pillars(),
        };
        self.note(&node, &pillars);
        merge.over_pillar(self.pillar, &pillars, &node)?;
        let expanded = match self.keeps_nested {
            true => Expansion::of(self, node)?,
            false => ClassExpansion::of(self, node)?,
        };
        let merged = DictRef::new(Entries::default());
        let mut states = Vec::new();
        let mut environment = Obj::from("");
        for class in &expanded.all {
            if class.data.get_str("pillars").is_some() {
                merge.document(&merged, class)?;
            }
            if let Some(more) = class.data.get_str("states")
                && expanded.states.is_none()
            {
                states.extend(class.iterated(self.host, "states", &more)?);
            }
            environment = class.data.get_str("environment").unwrap_or(environment);
        }
        let pillars = match merged.get_str("pillars") {
            Some(Obj::Dict(pillars)) => pillars,
            None => DictRef::new(Entries::default()),
            Some(other) => return Err(not_a_mapping(&other)),
        };
        let pillar = Variables::new(self.host).expanded(&pillars)?;
        let pillar = Obj::Dict(pillar).to_value().map_err(|e| plain(&e))?;
        let order = expanded
            .all
            .iter()
            .filter_map(|class| class.file.as_deref());
        let origins = self
            .setters
            .map(|setters| setters.borrow().origins([&pillars, self.pillar], order));
        Ok(Classified {
            pillar: pillar.as_map().cloned().unwrap_or_default(),
            classes: expanded.names,
            states: match expanded.states {
                Some(states) => values(states)?,
                None => once(states)?,
            },
            environment: environment.to_value().map_err(|e| plain(&e))?,
            origins: origins.unwrap_or_default(),
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

fn values(states: Vec<Obj>) -> Result<Vec<Value>> {
    let value = |state: Obj| state.to_value().map_err(|e| plain(&e));
    states.into_iter().map(value).collect()
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

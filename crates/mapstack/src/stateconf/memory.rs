//! The values that files set for each other.

use std::cell::RefCell;
use std::collections::HashMap;

use indexmap::IndexMap;
use mapstack_value::{Key, Map, MapKind, Str, Value};

/// The values that the files of one compile have set by `stateconf.set`, and the requisites in what they extend.
///
/// In Salt these are globals of the renderer's module, which is loaded for each compile.
#[derive(Debug, Default)]
pub struct Memory {
    pub(crate) sets: RefCell<Sets>,
    pub(crate) required: RefCell<Requisites>,
    pub(crate) required_in: RefCell<Requisites>,
}

/// Values of states by their ids.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    pub own: IndexMap<Str, Map>,
    pub extended: IndexMap<Str, Map>,
}

/// The requisites of states, each with the kind of state that it is, by the tags of states.
pub(crate) type Requisites = HashMap<String, Vec<(Key, Value)>>;

impl Memory {
    /// Forget everything, as when the renderer's module is loaded again.
    pub fn forget(&self) {
        self.sets.take();
        self.required.take();
        self.required_in.take();
    }

    /// The variables of an sls: those that it has set itself, without its name, and those of earlier files.
    #[must_use]
    pub fn variables(&self, sls: &str) -> Vec<(Str, Map)> {
        let sets = self.sets.borrow();
        let prefix = format!("{sls}::");
        let name = |id: &Str| {
            id.strip_prefix(&*prefix)
                .map_or_else(|| id.clone(), Str::from)
        };
        let mut names: IndexMap<Str, Map> = IndexMap::new();
        for (id, set) in &sets.own {
            names.insert(name(id), set.clone().with_kind(MapKind::Bunch));
        }
        names.into_iter().collect()
    }
}

//! The facts of a run, behind accessors that report reads.

use std::cell::{Ref, RefCell};

use mapstack_minion::{ConfigGet, LookupAnswer, LookupError, Minion, Part, PillarGet};
use mapstack_value::{Key, Map, Path, Value};

use crate::hooks::{FactLookup, Slot};

/// The facts as matchers and functions see them. They can only be read by these methods, each of which reports the
/// read to the hooks of the run.
pub(crate) struct Facts<'e> {
    minion: RefCell<Minion>,
    hooks: Slot<'e>,
}

impl<'e> Facts<'e> {
    pub fn new(minion: Minion, hooks: Slot<'e>) -> Self {
        Facts {
            minion: RefCell::new(minion),
            hooks,
        }
    }

    fn note<'l>(&self, look: impl FnOnce() -> FactLookup<'l>) {
        if let Some(hooks) = self.hooks.get() {
            hooks.fact_read(look());
        }
    }

    /// All facts.
    pub fn all(&self) -> Ref<'_, Minion> {
        self.note(|| FactLookup::All);
        self.minion.borrow()
    }

    /// All facts, without a report. The caller must read only facts that are reported in another way.
    pub fn unchanged(&self) -> Ref<'_, Minion> {
        self.minion.borrow()
    }

    /// The id as it was given, of any type.
    pub fn given_id(&self) -> Value {
        self.note(|| FactLookup::Id);
        self.minion.borrow().id.clone()
    }

    /// The id.
    pub fn id(&self) -> Value {
        self.note(|| FactLookup::Id);
        self.minion.borrow().id()
    }

    /// One grain.
    pub fn grain(&self, key: &str) -> Option<Value> {
        self.note(|| FactLookup::Whole(Part::Grains, key.into()));
        self.minion.borrow().grains.get(key).cloned()
    }

    /// True if a grain exists.
    pub fn has_grain(&self, key: &str) -> bool {
        self.note(|| FactLookup::Has(Part::Grains, key.into()));
        self.minion.borrow().grains.contains_key(key)
    }

    /// The part of the grains or the pillar that look-ups can reach by a path that starts with `first`.
    pub fn below(&self, root: Part, first: &str) -> Map {
        let minion = self.minion.borrow();
        let all = match root {
            Part::Pillar => &minion.pillar,
            Part::Grains | Part::Opts => &minion.grains,
        };
        // If the text is not a key, look-ups try the key that YAML makes of it.
        let loose = mapstack_yaml::loose_scalar(first).and_then(|loose| Key::try_from(&loose).ok());
        let keys = [Some(Key::from(first)), loose];
        let found = keys.into_iter().flatten().filter_map(|key| {
            self.note(|| FactLookup::Whole(root, key.clone()));
            let value = all.get(&key)?.clone();
            Some((key, value))
        });
        found.collect()
    }

    pub fn grains_get(&self, query: &str, delimiter: &str) -> Result<Option<Value>, LookupError> {
        self.note(|| FactLookup::Find {
            part: Part::Grains,
            query,
            delimiter,
        });
        self.minion.borrow().grains_get(query, delimiter)
    }

    pub fn pillar_find(&self, query: &str, delimiter: &str, path: &Path) -> Option<Value> {
        self.note(|| FactLookup::Find {
            part: Part::Pillar,
            query,
            delimiter,
        });
        mapstack_yaml::traverse(&Value::Map(self.minion.borrow().pillar.clone()), path)
    }

    pub fn pillar_get(
        &self,
        key: &Value,
        query: &PillarGet,
    ) -> Result<LookupAnswer<Value>, LookupError> {
        self.note(|| FactLookup::Pillar(key, query));
        self.minion.borrow().pillar_get(key.clone(), query)
    }

    pub fn config_get(
        &self,
        key: &Value,
        query: &ConfigGet,
    ) -> Result<LookupAnswer<Option<Value>>, LookupError> {
        self.note(|| FactLookup::Config(key, query));
        self.minion.borrow().config_get(key.clone(), query)
    }

    pub fn option(&self, name: &str) -> Option<Value> {
        self.note(|| FactLookup::Option(name));
        self.minion.borrow().option_named(name)
    }

    /// Replace the facts that templates changed. From now on look-ups see facts that the given minion does not have.
    pub fn replace(&self, grains: Option<Map>, pillar: Option<Map>) {
        if grains.is_none() && pillar.is_none() {
            return;
        }
        if let Some(hooks) = self.hooks.get() {
            hooks.facts_changed();
        }
        let mut minion = self.minion.borrow_mut();
        if let Some(grains) = grains {
            minion.grains = grains;
        }
        if let Some(pillar) = pillar {
            minion.pillar = pillar;
        }
    }
}

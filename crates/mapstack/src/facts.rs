//! A run's facts, behind accessors that report what is looked at.

use std::cell::{Ref, RefCell};

use mapstack_minion::{Answer, ConfigGet, LookupError, Minion, Part, PillarGet};
use mapstack_value::{Key, Map, Path, Value};

use crate::hooks::{FactLook, Slot};

/// The facts as matchers and functions see them. Whatever can be learnt from them is learnt by one of
/// these methods, each of which reports what it answers to the hooks of the run.
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

    fn note<'l>(&self, look: impl FnOnce() -> FactLook<'l>) {
        if let Some(hooks) = self.hooks.get() {
            hooks.fact_read(look());
        }
    }

    /// All facts.
    pub fn all(&self) -> Ref<'_, Minion> {
        self.note(|| FactLook::All);
        self.minion.borrow()
    }

    /// All facts, for who looks at nothing but what is reported in other words.
    pub fn unchanged(&self) -> Ref<'_, Minion> {
        self.minion.borrow()
    }

    /// The name as it was given.
    pub fn given_id(&self) -> Value {
        self.note(|| FactLook::Id);
        self.minion.borrow().id.clone()
    }

    /// The name.
    pub fn id(&self) -> Value {
        self.note(|| FactLook::Id);
        self.minion.borrow().id()
    }

    /// One grain.
    pub fn grain(&self, key: &str) -> Option<Value> {
        self.note(|| FactLook::Whole(Part::Grains, key.into()));
        self.minion.borrow().grains.get(key).cloned()
    }

    /// Whether there is a grain.
    pub fn has_grain(&self, key: &str) -> bool {
        self.note(|| FactLook::Has(Part::Grains, key.into()));
        self.minion.borrow().grains.contains_key(key)
    }

    /// The part of grains or pillar that look-ups can reach whose first step is a text.
    pub fn below(&self, root: Part, first: &str) -> Map {
        let minion = self.minion.borrow();
        let all = match root {
            Part::Pillar => &minion.pillar,
            Part::Grains | Part::Opts => &minion.grains,
        };
        // A step that is not a key as written may be one as YAML reads it.
        let loose = mapstack_yaml::loose_scalar(first).and_then(|loose| Key::try_from(&loose).ok());
        let keys = [Some(Key::from(first)), loose];
        let found = keys.into_iter().flatten().filter_map(|key| {
            self.note(|| FactLook::Whole(root, key.clone()));
            let value = all.get(&key)?.clone();
            Some((key, value))
        });
        found.collect()
    }

    pub fn grains_get(&self, query: &str, delimiter: &str) -> Result<Option<Value>, LookupError> {
        self.note(|| FactLook::Find {
            part: Part::Grains,
            query,
            delimiter,
        });
        self.minion.borrow().grains_get(query, delimiter)
    }

    pub fn pillar_find(&self, query: &str, delimiter: &str, path: &Path) -> Option<Value> {
        self.note(|| FactLook::Find {
            part: Part::Pillar,
            query,
            delimiter,
        });
        mapstack_yaml::traverse(&Value::Map(self.minion.borrow().pillar.clone()), path)
    }

    pub fn pillar_get(&self, key: &Value, query: &PillarGet) -> Result<Answer<Value>, LookupError> {
        self.note(|| FactLook::Pillar(key, query));
        self.minion.borrow().pillar_get(key.clone(), query)
    }

    pub fn config_get(
        &self,
        key: &Value,
        query: &ConfigGet,
    ) -> Result<Answer<Option<Value>>, LookupError> {
        self.note(|| FactLook::Config(key, query));
        self.minion.borrow().config_get(key.clone(), query)
    }

    pub fn option(&self, name: &str) -> Option<Value> {
        self.note(|| FactLook::Option(name));
        self.minion.borrow().option_named(name)
    }

    /// Take over what templates changed. From now on look-ups see something else than the minion that
    /// was given, so that they can no longer be told apart by it.
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

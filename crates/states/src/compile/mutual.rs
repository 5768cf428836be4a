//! Pairs of states that require each other, as Salt before 3008 finds them in the form of states.

use std::collections::HashMap;

use mapstack_value::Key;

/// The requisites of each ID so far: the names with the state modules. The name `state` has the module of the ID itself,
/// unless a requisite has that name, as in Salt.
#[derive(Default)]
pub(super) struct Mutual(HashMap<Key, HashMap<Key, Key>>);

impl Mutual {
    /// Begin with a list of requisites. Those that the ID had before are forgotten.
    pub fn start(&mut self, id: &Key, module: &Key) {
        let own = [(Key::from("state"), module.clone())].into();
        self.0.insert(id.clone(), own);
    }

    /// Add a requisite. True if what it names requires the ID, too.
    pub fn add(&mut self, id: &Key, module: &Key, name: &Key, of: &Key) -> bool {
        let own = self.0.entry(id.clone()).or_default();
        own.insert(name.clone(), of.clone());
        let Some(other) = self.0.get(name) else {
            return false;
        };
        let is_back = other.get(id) == Some(module);
        is_back && other.get(&Key::from("state")) == Some(of)
    }
}

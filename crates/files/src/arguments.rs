//! The arguments of a state.

use std::collections::HashSet;

use mapstack_states::compile::is_internal;
use mapstack_value::{Map, Value};

/// A state of low data.
#[derive(Clone, Copy)]
pub(crate) struct Chunk<'c> {
    pub position: usize,
    pub map: &'c Map,
}

const NONE: &Value = &Value::None;

impl<'c> Chunk<'c> {
    /// An argument; `None` if it is missing.
    pub fn get(self, name: &str) -> &'c Value {
        self.map.get(name).unwrap_or(NONE)
    }

    /// An argument, as Python prints it; nothing if it is missing or `None`.
    pub fn text(self, name: &str) -> Option<String> {
        let value = self.get(name);
        (!value.is_none()).then(|| value.to_string())
    }

    /// True if an argument is there and true.
    pub fn is_on(self, name: &str) -> bool {
        self.get(name).truthy()
    }

    /// True unless an argument is there and false.
    pub fn is_not_off(self, name: &str) -> bool {
        self.map.get(name).is_none_or(Value::truthy)
    }

    /// The function, such as `file.managed`.
    pub fn function(self) -> String {
        format!("{}.{}", self.get("state"), self.get("fun"))
    }

    /// The path, with the home directory as it is written.
    pub fn path(self) -> String {
        self.get("name").to_string()
    }

    /// The saltenv in which the state looks for files.
    pub fn saltenv(self) -> String {
        let given = ["saltenv", "__env__"];
        let mut given = given.iter().filter_map(|name| self.map.get(*name));
        given
            .next()
            .map_or_else(|| "base".into(), ToString::to_string)
    }

    /// The owner (Salt: `_test_owner`).
    pub fn user(self) -> Value {
        let user = self.get("user");
        match user.truthy() || !self.map.contains_key("owner") {
            true => user.clone(),
            false => self.get("owner").clone(),
        }
    }

    /// The arguments that neither Salt itself nor the function's parameters use.
    pub fn others(self, parameters: &HashSet<&str>) -> Map {
        let is_other = |name: &str| {
            !is_internal(name) && !name.starts_with("__pub_") && !parameters.contains(name)
        };
        let entries = self.map.iter();
        let others = entries.filter(|(name, _)| name.as_str().is_none_or(is_other));
        others
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    /// The first slot: an argument that a function computes when the state runs.
    pub fn slot(self) -> Option<&'c str> {
        let is_slot = |value: &Value| {
            value
                .as_str()
                .is_some_and(|text| text.starts_with("__slot__:"))
        };
        let in_map = |value: &Value| {
            let map = value.as_map();
            map.is_some_and(|map| map.values().any(is_slot))
        };
        let has = |value: &Value| {
            let inner = value.as_list().unwrap_or_default();
            is_slot(value) || in_map(value) || inner.iter().any(|one| is_slot(one) || in_map(one))
        };
        let mut arguments = self.map.iter();
        arguments.find_map(|(name, value)| name.as_str().filter(|_| has(value)))
    }
}

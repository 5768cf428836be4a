//! States and requisites that are not in the text of the sls.

use std::collections::HashSet;

use mapstack_pyobject::{DictRef, ListRef, Obj};
use mapstack_value::{Key, Value};

use crate::stateconf::high::{
    SlsRewrite, StateFunction, below, first, kind_of, list, mapping, text, text_key, wrong,
};
use crate::stateconf::memory::{Memory, Requisites};
use crate::stateconf::names::{NO_STATES, single};
use crate::stateconf::{FUNCTION, Result};

/// The ids of the states that are made.
const START: &str = ".start";
const GOAL: &str = ".goal";

/// Requisites of states that come earlier, and of those that come later.
const BEFORE: [&str; 5] = ["require", "watch", "listen", "onchanges", "onfail"];
const AFTER: [&str; 5] = [
    "require_in",
    "watch_in",
    "listen_in",
    "onchanges_in",
    "onfail_in",
];

/// A state that cannot be made twice.
fn exists(id: &str) -> crate::stateconf::Error {
    wrong(
        &[Key::from(id)],
        format!("the state '{id}' is made by stateconf, and there is one already"),
    )
}

fn tag(id: impl std::fmt::Display, kind: &str) -> String {
    format!("{id}:{}", kind_of(kind))
}

/// The state that a requisite names, as a tag.
fn target(kind: &Key, id: &Value, path: &[Key]) -> Result<String> {
    Ok(tag(id, &text_key(kind, path)?))
}

fn list_of(items: Vec<Obj>) -> Obj {
    Obj::List(ListRef::new(items))
}

impl SlsRewrite<'_> {
    /// Add a state before all others (Salt: `add_start_state`).
    pub fn add_start(&self, data: &DictRef) -> Result<()> {
        if data.contains(&Key::from(START)) {
            return Err(exists(START));
        }
        if data.is_empty() {
            return Ok(());
        }
        for (id, state) in data.entries() {
            let path = [id.clone()];
            let name = id.as_str();
            if name.is_some_and(|name| NO_STATES.contains(&name) || name == "extend") {
                continue;
            }
            let name = text_key(&id, &path)?;
            if name.starts_with("__") {
                continue;
            }
            let state = mapping(&state, &path)?;
            let of = state.get_str("__sls__");
            if of.is_none_or(|of| of.as_str().is_some_and(|of| **of == *self.sls.name)) {
                let (function, _) = first(&state, &path)?;
                let function = text_key(&function, &path)?;
                let first = single(kind_of(&function), Obj::Str(name));
                let requisite = single("require_in", list_of(vec![first]));
                data.insert(START, single(FUNCTION, list_of(vec![requisite])));
                return Ok(());
            }
        }
        Err(wrong(
            &[],
            "the sls has no state that could be the first one",
        ))
    }

    /// Add a state that requires all others (Salt: `add_goal_state`).
    pub fn add_goal(&self, data: &DictRef) -> Result<()> {
        if data.contains(&Key::from(GOAL)) {
            return Err(exists(GOAL));
        }
        let functions = self.functions(data, &["include", "exclude", "extend"], &[])?;
        let own = functions
            .into_iter()
            .filter(|function| !function.state.contains(&Key::from("__sls__")));
        let all = own.map(|function| single(kind_of(&function.name), Obj::Str(function.id)));
        let requisite = single("require", list_of(all.collect()));
        data.insert(GOAL, single(FUNCTION, list_of(vec![requisite])));
        Ok(())
    }

    /// Let each state require the one before it (Salt: `has_names_decls`, `add_implicit_requires`).
    pub fn put_in_order(&self, data: &DictRef, memory: &Memory) -> Result<()> {
        let functions = self.functions(data, &NO_STATES, &[])?;
        for function in functions
            .iter()
            .filter(|function| &*function.id != "extend")
        {
            let names = self.named(&function.args, Some(&["names"]), &function.path)?;
            if let (Some(names), false) = (names.first(), function.id.is_empty()) {
                let message = format!(
                    "the state '{}' has 'names', which -o of stateconf cannot put in order",
                    function.id
                );
                return Err(wrong(&names.path, message));
            }
        }
        let (mut after, mut before) = (HashSet::new(), HashSet::new());
        for (id, state) in data.entries() {
            let path = [id.clone()];
            for function in self.items(&state, &path)? {
                after.insert(tag(&id, &text(&function, &path)?));
            }
        }
        let mut previous: Option<Obj> = None;
        for function in functions {
            if &*function.id == "extend" {
                self.note_extended(&function, memory)?;
                continue;
            }
            let own = tag(&function.id, &function.name);
            if !after.remove(&own) {
                let message = format!(
                    "the state '{}' has two functions of '{}'",
                    function.id,
                    kind_of(&function.name)
                );
                return Err(wrong(&function.path, message));
            }
            self.check_order(
                &function,
                &BEFORE,
                &own,
                &memory.required.borrow(),
                &after,
                "comes after it",
            )?;
            self.check_order(
                &function,
                &AFTER,
                &own,
                &memory.required_in.borrow(),
                &before,
                "comes before it",
            )?;
            if let Some(previous) = previous {
                self.require(&function, previous)?;
            }
            before.insert(own);
            previous = Some(single(kind_of(&function.name), Obj::Str(function.id)));
        }
        Ok(())
    }

    /// Remember the requisites in what a file extends, for the files that have it.
    fn note_extended(&self, function: &StateFunction, memory: &Memory) -> Result<()> {
        // The id is `extend`, so the part in a function's place is a state.
        let (id, path) = (&function.name, &function.path);
        for (name, args) in mapping(&function.args, path)?.entries() {
            let path = below(path, name.clone());
            if text_key(&name, &path)?.starts_with("__") {
                continue;
            }
            for (kinds, known) in [(&BEFORE, &memory.required), (&AFTER, &memory.required_in)] {
                for requisite in self.requisites(&args, kinds, &path)? {
                    // By the kind of what is required, which is that of the state only by chance.
                    let by = tag(id, &text_key(&requisite.name, &requisite.path)?);
                    let required = (requisite.name, requisite.value.to_value()?);
                    known.borrow_mut().entry(by).or_default().push(required);
                }
            }
        }
        Ok(())
    }

    /// Refuse a requisite that contradicts the order.
    fn check_order(
        &self,
        function: &StateFunction,
        kinds: &[&str],
        own: &str,
        extended: &Requisites,
        others: &HashSet<String>,
        how: &str,
    ) -> Result<()> {
        let mut required = Vec::new();
        for requisite in self.requisites(&function.args, kinds, &function.path)? {
            required.push((requisite.name, requisite.value.to_value()?));
        }
        required.extend(extended.get(own).into_iter().flatten().cloned());
        self.budget.burn(required.len())?;
        for (kind, id) in required {
            let target = target(&kind, &id, &function.path)?;
            if others.contains(&target) {
                let message = format!("the state '{own}' refers to '{target}', which {how}");
                return Err(wrong(&function.path, message));
            }
        }
        Ok(())
    }

    /// Put a requisite before the others of a state.
    fn require(&self, function: &StateFunction, previous: Obj) -> Result<()> {
        let required = self.named(&function.args, Some(&["require"]), &function.path)?;
        match required.first() {
            Some(require) => {
                list(&require.value, &require.path)?.change(|items| items.insert(0, previous));
            }
            None => {
                let require = single("require", list_of(vec![previous]));
                list(&function.args, &function.path)?.change(|args| args.push(require));
            }
        }
        Ok(())
    }
}

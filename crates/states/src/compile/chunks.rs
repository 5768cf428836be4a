//! High data as chunks, one for each function and name (Salt: `compile_high_data`).

use std::collections::HashSet;

use mapstack_pyobject::{Budget, DictRef, Entries, Obj, hash_key, to_str};
use mapstack_value::Key;
use mapstack_value::pytext::Fnmatch;

use super::python::{first, is_in, is_internal, item, items, key, mapping};
use super::refusal::{Result, exception};
use super::work::MinionCompile;

/// The functions that the grain `state_runs_disabled` switches off.
struct Disabled(Vec<Fnmatch>);

impl Disabled {
    fn has(&self, chunk: &DictRef) -> Result<bool> {
        if self.0.is_empty() {
            return Ok(false);
        }
        let name = format!("{}.{}", text_at(chunk, "state")?, text_at(chunk, "fun")?);
        let is_disabled = self.0.iter().any(|pattern| pattern.matches(&name));
        if is_disabled {
            item(&Obj::Dict(chunk.clone()), &"__sls__".into())?;
        }
        Ok(is_disabled)
    }
}

/// The text of an entry of a chunk.
pub(super) fn text_at(chunk: &DictRef, name: &str) -> Result<String> {
    Ok(to_str(&chunk.get_str(name).unwrap_or_default())?)
}

/// The data of a state, before each of its names gets a chunk.
struct StateArguments {
    chunk: DictRef,
    function: Option<Obj>,
    names: Vec<Obj>,
}

/// Names, each once.
#[derive(Default)]
struct DistinctNames {
    all: Vec<Obj>,
    /// Those that can be keys.
    keys: HashSet<Key>,
    /// The others.
    rest: Vec<Obj>,
}

impl DistinctNames {
    fn add(&mut self, budget: &Budget<'_>, name: Obj) -> Result<()> {
        let is_new = match hash_key(&name) {
            Ok(key) => self.keys.insert(key),
            Err(_) => {
                budget.burn(self.rest.len())?;
                let is_new = !is_in(&self.rest, &name)?;
                if is_new {
                    self.rest.push(name.clone());
                }
                is_new
            }
        };
        if is_new {
            self.all.push(name);
        }
        Ok(())
    }
}

impl MinionCompile<'_> {
    /// The chunks of all states.
    pub(crate) fn chunks(&self, high: &DictRef) -> Result<Vec<DictRef>> {
        let mut chunks = Vec::new();
        for (id, body) in high.entries() {
            if is_internal(&id)? {
                continue;
            }
            let body = mapping(&body)?;
            // Salt remembers the sls.
            key(&body.get_str("__sls__").unwrap_or_default())?;
            for (module, args) in body.entries() {
                if is_internal(&module)? {
                    continue;
                }
                let said = self.arguments(&id, &module, body, &args)?;
                chunks.extend(self.named(said)?);
            }
        }
        Ok(chunks)
    }

    /// Leave out the chunks whose functions are switched off.
    pub(crate) fn leave_out_disabled(
        &self,
        chunks: &mut Vec<DictRef>,
        disabled: &[String],
    ) -> Result<()> {
        let patterns = disabled.iter().map(|pattern| Fnmatch::new(pattern));
        let disabled = Disabled(patterns.collect());
        let mut kept = Vec::new();
        for chunk in chunks.drain(..) {
            if !disabled.has(&chunk)? {
                kept.push(chunk);
            }
        }
        *chunks = kept;
        Ok(())
    }

    /// The arguments of a state by name.
    fn arguments(
        &self,
        id: &Key,
        module: &Key,
        body: &DictRef,
        args: &Obj,
    ) -> Result<StateArguments> {
        // Room for what Salt adds and a few arguments.
        let chunk = DictRef::new(Entries::with_capacity_and_hasher(16, Default::default()));
        chunk.insert("state", Obj::from(module));
        chunk.insert("name", Obj::from(id));
        let names_includers = self.behaviour.states_name_what_includes_them;
        let includers = names_includers.then_some("__sls_included_from__");
        for mark in ["__sls__", "__env__"].into_iter().chain(includers) {
            if let Some(value) = body.get_str(mark) {
                chunk.insert(mark, value);
            }
        }
        chunk.insert("__id__", Obj::from(id));
        let (mut function, mut names) = (None, DistinctNames::default());
        for arg in items(self.budget, args)? {
            match &arg {
                Obj::Str(_) | Obj::Markup(_) => drop(function.get_or_insert(arg)),
                Obj::Dict(arg) => {
                    for (name, value) in arg.entries() {
                        self.say(&chunk, &name, value, id, &mut names)?;
                    }
                }
                _ => {}
            }
        }
        Ok(StateArguments {
            chunk,
            function,
            names: names.all,
        })
    }

    fn say(
        &self,
        chunk: &DictRef,
        name: &Key,
        value: Obj,
        id: &Key,
        names: &mut DistinctNames,
    ) -> Result<()> {
        match name.as_str() {
            Some("names") => {
                for one in items(self.budget, &value)? {
                    names.add(self.budget, one)?;
                }
            }
            Some("state") => {}
            Some("name") if value.as_str().is_none() => chunk.insert("name", Obj::from(id)),
            _ => chunk.insert(name.clone(), value),
        }
        Ok(())
    }

    /// A chunk for each name. Without a function there is none, though the names are looked at.
    fn named(&self, said: StateArguments) -> Result<Vec<DictRef>> {
        let StateArguments {
            chunk,
            function,
            names,
        } = said;
        let mut chunks = Vec::new();
        if let (true, Some(function)) = (names.is_empty(), &function) {
            chunk.insert("fun", function.clone());
            chunks.push(self.copy(&chunk)?);
        }
        for (order, name) in (1..).zip(names) {
            let live = self.copy(&chunk)?;
            match &name {
                Obj::Dict(entry) => {
                    let (name, args) = first(entry)?;
                    live.insert("name", Obj::from(&name));
                    for args in items(self.budget, &args)? {
                        self.update(&live, &args)?;
                    }
                }
                name => live.insert("name", name.clone()),
            }
            live.insert("name_order", Obj::from(order));
            if let Some(function) = &function {
                live.insert("fun", function.clone());
                chunks.push(live);
            }
        }
        Ok(chunks)
    }

    /// `copy.deepcopy`: what is shared inside stays shared inside.
    fn copy(&self, chunk: &DictRef) -> Result<DictRef> {
        self.budget.settle(chunk.len())?;
        let copy = Obj::from_shared(&Obj::Dict(chunk.clone()).to_value()?);
        Ok(mapping(&copy)?.clone())
    }

    /// `dict.update`.
    fn update(&self, chunk: &DictRef, more: &Obj) -> Result<()> {
        if let Obj::Dict(more) = more {
            for (name, value) in more.entries() {
                chunk.insert(name, value);
            }
            return Ok(());
        }
        for pair in items(self.budget, more)? {
            match &items(self.budget, &pair)?[..] {
                [name, value] => chunk.insert(key(name)?, value.clone()),
                _ => return exception("the arguments of a name are not mappings"),
            }
        }
        Ok(())
    }
}

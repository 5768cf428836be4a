//! Requisites that are written at the other state, and arguments that states use of each other (Salt: `requisite_in`).

use std::collections::HashSet;

use indexmap::IndexMap;
use mapstack_pyobject::{DictRef, Obj, equal};
use mapstack_value::Key;

use super::extend::Extensions;
use super::keywords::{is_moved, is_never_used, is_requisite};
use super::python::{contains, each, first, is_internal, item, items, key, list, mapping};
use super::refusal::{Refusal, RefusalKind, Result, exception, path_of};
use super::work::MinionCompile;

/// A state, and what it gives others.
struct GivingState<'g> {
    high: &'g DictRef,
    id: &'g Key,
    module: &'g Key,
    body: &'g DictRef,
    /// The argument that is moved, such as `require_in`.
    argument: &'g str,
}

impl GivingState<'_> {
    /// The requisite that the other state gets.
    fn requisite(&self) -> &str {
        self.argument
            .split_once('_')
            .map_or(self.argument, |(name, _)| name)
    }

    /// The state as an item of a requisite.
    fn as_item(&self) -> Obj {
        Obj::dict([(self.module.clone(), Obj::from(self.id))])
    }
}

/// The arguments that a state shares: all, or only requisites.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SharedPart {
    All,
    Requisites,
}

/// The requisites and arguments that states get from others.
#[derive(Default)]
struct RequisiteInData(IndexMap<Key, DictRef>);

impl RequisiteInData {
    /// The arguments of a module of a state.
    fn arguments(&mut self, name: &Key, module: &Key) -> Result<Obj> {
        let body = self
            .0
            .entry(name.clone())
            .or_insert_with(|| DictRef::new(Default::default()));
        match body.get(module) {
            Some(args) => Ok(args),
            None => {
                let args = Obj::list([]);
                body.insert(module.clone(), args.clone());
                Ok(args)
            }
        }
    }
}

impl MinionCompile<'_> {
    /// Move requisites to the states that they are for, and arguments to the states that use them.
    pub(crate) fn move_requisites(&mut self, high: &DictRef, disabled: &[String]) -> Result<()> {
        let mut given = RequisiteInData::default();
        for (id, body) in high.entries() {
            let Obj::Dict(body) = &body else { continue };
            for (module, args) in body.entries() {
                if is_internal(&module)? {
                    continue;
                }
                for arg in items(self.budget, &args)? {
                    let Obj::Dict(arg) = &arg else { continue };
                    let Some((name, value)) = arg.entry_at(0) else {
                        continue;
                    };
                    let gives = |name: &&str| {
                        is_moved(name) || (*name == "prereq" && self.tells_prerequired())
                    };
                    let Some(name) = name.as_str().filter(gives) else {
                        continue;
                    };
                    if disabled.iter().any(|one| one == name) {
                        continue;
                    }
                    let giver = GivingState {
                        high,
                        id: &id,
                        module: &module,
                        body,
                        argument: name,
                    };
                    match &value {
                        Obj::Dict(named) => self.give_to_named(&giver, named, &mut given)?,
                        Obj::List(_) => self.give_to_listed(&giver, &value, &mut given)?,
                        _ => {}
                    }
                }
            }
        }
        let given: Extensions = given
            .0
            .into_iter()
            .map(|(name, body)| (name, Obj::Dict(body)))
            .collect();
        self.extend_states(high, given, true)
    }

    /// Give to the states of a mapping: one for each state module.
    fn give_to_named(
        &mut self,
        giver: &GivingState<'_>,
        named: &DictRef,
        given: &mut RequisiteInData,
    ) -> Result<()> {
        for (module, name) in named.entries() {
            let name = key(&name)?;
            given
                .0
                .entry(name.clone())
                .or_insert_with(|| DictRef::new(Default::default()));
            let module = self.without_function(giver, &module, &name)?;
            self.give(giver, &name, &module, given)?;
        }
        Ok(())
    }

    /// Give to the states of a list. What an item names is given to again for each item behind it, as in Salt.
    fn give_to_listed(
        &mut self,
        giver: &GivingState<'_>,
        listed: &Obj,
        given: &mut RequisiteInData,
    ) -> Result<()> {
        let is_shared = matches!(giver.argument, "use" | "use_in");
        let mut targets: Vec<(Obj, Key)> = Vec::new();
        for one in items(self.budget, listed)? {
            let Some(one) = self.as_requisite(giver.high, one)? else {
                continue;
            };
            let Some((module, name)) = one.entry_at(0) else {
                continue;
            };
            let mut more = vec![(name.clone(), module.clone())];
            if module.as_str() == Some("sls") {
                targets.clear();
                more = self.states_of_sls(giver.high, &name)?;
            }
            self.without_function(giver, &module, &name)?;
            if is_shared {
                self.share_with(giver, &mut targets, more, given)?;
                continue;
            }
            targets.extend(more);
            for (name, module) in &targets {
                self.budget.burn(1)?;
                if giver.argument == "prereq" {
                    for (id, module) in self.find_name(name, module, giver.high, true)? {
                        self.prerequire(given, &id, &module, giver.as_item())?;
                    }
                    continue;
                }
                if giver.argument == "prereq_in" && self.tells_prerequired() {
                    let other = Obj::dict([(module.clone(), name.clone())]);
                    self.prerequire(given, giver.id, giver.module, other)?;
                }
                let name = key(name)?;
                self.give(giver, &name, module, given)?;
            }
        }
        Ok(())
    }

    /// True if a state that another has as `prereq` gets an argument for that, as before Salt 3008.
    fn tells_prerequired(&self) -> bool {
        !self.behaviour.requisites_order_states
    }

    /// Note that another state has one as `prereq`.
    fn prerequire(
        &self,
        given: &mut RequisiteInData,
        id: &Key,
        module: &Key,
        other: Obj,
    ) -> Result<()> {
        let args = given.arguments(id, module)?;
        let arg = Obj::dict([(Key::from("prerequired"), Obj::list([other]))]);
        list(&args)?.change(|args| args.push(arg));
        Ok(())
    }

    /// An item of a list as a requisite: a text is an ID, or else a name of a state.
    fn as_requisite(&self, high: &DictRef, one: Obj) -> Result<Option<DictRef>> {
        if let Obj::Dict(one) = one {
            return Ok(Some(one));
        }
        let id = key(&one)?;
        if let Some(state) = high.get(&id) {
            for module in items(self.budget, &state)? {
                let module = key(&module)?;
                if !is_internal(&module)? {
                    return Ok(Some(requisite(module, one)));
                }
            }
            return exception(format!("the state '{id}' has no state module"));
        }
        let mut found = None;
        for (other, state) in high.entries() {
            for module in items(self.budget, &state)? {
                let module = key(&module)?;
                if is_internal(&module)? {
                    continue;
                }
                for arg in items(self.budget, &item(&state, &module)?)? {
                    let Obj::Dict(arg) = arg else { continue };
                    let Some(name) = arg.get_str("name") else {
                        continue;
                    };
                    let wanted = found
                        .as_ref()
                        .map_or(one.clone(), |found: &DictRef| Obj::Dict(found.clone()));
                    if equal(&name, &wanted)? {
                        found = Some(requisite(module.clone(), Obj::from(&other)));
                    }
                }
            }
        }
        Ok(found)
    }

    /// The states of an sls (Salt: `find_sls_ids`).
    fn states_of_sls(&self, high: &DictRef, sls: &Obj) -> Result<Vec<(Obj, Key)>> {
        let mut found = Vec::new();
        for (id, state) in high.entries() {
            let Obj::Dict(state) = &state else { continue };
            if !equal(&item(&Obj::Dict(state.clone()), &"__sls__".into())?, sls)? {
                continue;
            }
            for module in state.keys() {
                if !is_internal(&module)? {
                    found.push((Obj::from(&id), module));
                }
            }
        }
        self.budget.burn(high.len())?;
        Ok(found)
    }

    /// The state module of a requisite, without a function, which is refused.
    fn without_function(
        &mut self,
        giver: &GivingState<'_>,
        module: &Key,
        name: impl std::fmt::Debug,
    ) -> Result<Key> {
        let Some((before, _)) = super::verify::split_module(module)? else {
            return Ok(module.clone());
        };
        let message = format!(
            "'{}' of '{}' names the function '{module}' of {name:?}, not the module '{before}'",
            giver.argument, giver.id
        );
        let sls = item(&Obj::Dict(giver.body.clone()), &"__sls__".into())?;
        let refusal = Refusal::new(RefusalKind::RequisiteWithDot, message);
        let refusal = refusal.of_sls(mapstack_pyobject::to_str(&sls)?);
        self.refuse(refusal.of_state(giver.id, path_of(giver.id, giver.module)));
        Ok(Key::from(before))
    }

    /// Give a requisite to a state.
    fn give(
        &self,
        giver: &GivingState<'_>,
        name: &Key,
        module: &Key,
        given: &mut RequisiteInData,
    ) -> Result<()> {
        let args = given.arguments(name, module)?;
        let body = Obj::Dict(giver.body.clone());
        for mark in ["__env__", "__sls__"] {
            let value = item(&body, &mark.into())?;
            given.0[name].insert(mark, value);
        }
        let requisite = giver.requisite();
        let mut is_there = false;
        each(self.budget, &args, &mut |_, arg| {
            let (name, value) = first(mapping(&arg)?)?;
            if name.as_str() == Some(requisite) {
                list(&value)?.change(|states| states.push(giver.as_item()));
                is_there = true;
            }
            Ok(())
        })?;
        if !is_there {
            let states = Obj::list([giver.as_item()]);
            let arg = Obj::dict([(Key::from(requisite), states)]);
            list(&args)?.change(|args| args.push(arg));
        }
        Ok(())
    }

    /// Share arguments with more states, and again with those of earlier items: this replaces the arguments by themselves,
    /// except requisites, whose lists grow. Only states that share requisites are kept for the items behind.
    fn share_with(
        &self,
        giver: &GivingState<'_>,
        earlier: &mut Vec<(Obj, Key)>,
        more: Vec<(Obj, Key)>,
        given: &mut RequisiteInData,
    ) -> Result<()> {
        for target in &*earlier {
            self.share_arguments(giver, target, SharedPart::Requisites, given)?;
        }
        for target in more {
            if self.share_arguments(giver, &target, SharedPart::All, given)? {
                earlier.push(target);
            }
        }
        Ok(())
    }

    /// Give the state's arguments to another that lacks them (`use_in`), or the other's to the state (`use`). True if
    /// requisites are among them.
    fn share_arguments(
        &self,
        giver: &GivingState<'_>,
        (name, module): &(Obj, Key),
        part: SharedPart,
        given: &mut RequisiteInData,
    ) -> Result<bool> {
        self.budget.burn(1)?;
        let mut has_requisites = false;
        for (id, other) in self.find_name(name, module, giver.high, true)? {
            if !Obj::from(&id).truthy()? {
                continue;
            }
            let (own, other) = ((giver.id, giver.module), (&id, &other));
            let (from, to) = match giver.argument {
                "use" => (other, own),
                _ => (own, other),
            };
            let known = self.names_of_arguments(giver.high, to.0, to.1)?;
            let args = given.arguments(to.0, to.1)?;
            for (name, arg) in self.shared_arguments(giver.high, from, &known)? {
                let is_requisite = name.as_str().is_some_and(is_requisite);
                has_requisites |= is_requisite;
                if is_requisite || part == SharedPart::All {
                    list(&args)?.change(|args| args.push(arg));
                }
            }
        }
        Ok(has_requisites)
    }

    /// The arguments of a state that another takes, which knows some.
    fn shared_arguments(
        &self,
        high: &DictRef,
        (id, module): (&Key, &Key),
        known: &HashSet<Key>,
    ) -> Result<Vec<(Key, Obj)>> {
        let state = high.get(id).unwrap_or_default();
        let mut shared = Vec::new();
        for arg in items(self.budget, &item(&state, module)?)? {
            let Obj::Dict(dict) = &arg else { continue };
            if dict.len() != 1 {
                continue;
            }
            let (name, _) = first(dict)?;
            if !known.contains(&name) && !name.as_str().is_some_and(is_never_used) {
                shared.push((name, arg));
            }
        }
        Ok(shared)
    }

    /// The names of the arguments of a state (Salt: `state_args`).
    fn names_of_arguments(&self, high: &DictRef, id: &Key, module: &Key) -> Result<HashSet<Key>> {
        let state = high.get(id).unwrap_or_default();
        if state.is_none() || !contains(self.budget, &state, module)? {
            return Ok(HashSet::new());
        }
        let mut names = HashSet::new();
        for arg in items(self.budget, &item(&state, module)?)? {
            if let Obj::Dict(arg) = arg
                && arg.len() == 1
            {
                names.insert(first(&arg)?.0);
            }
        }
        Ok(names)
    }
}

fn requisite(module: Key, name: Obj) -> DictRef {
    DictRef::new([(module, name)].into_iter().collect())
}

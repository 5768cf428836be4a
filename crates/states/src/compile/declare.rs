//! The data of one sls as high data (Salt: `_handle_extend`, `_handle_exclude`, `_handle_state_decls`, `_handle_iorder`,
//! `merge_included_states` and `clean_duplicate_extends`).

use std::cell::Cell;

use mapstack_pyobject::{DictRef, Obj, equal, to_str};
use mapstack_value::Key;

use super::extend::taken;
use super::python::{described, extend, item, items, list, mapping, text};
use super::refusal::{Refusal, RefusalKind as Kind, Result};
use super::work::MinionCompile;

/// The sls that data is of.
#[derive(Clone, Copy)]
pub(crate) struct OfSls<'s> {
    pub name: &'s str,
    pub saltenv: &'s str,
}

impl OfSls<'_> {
    fn refusal(&self, kind: Kind, message: &str) -> Refusal {
        Refusal::new(kind, message).of_sls(self.name)
    }

    /// Mark a body with its sls, unless it says another.
    fn mark(&self, body: &DictRef) {
        for (mark, value) in [("__sls__", self.name), ("__env__", self.saltenv)] {
            if body.get_str(mark).is_none() {
                body.insert(mark, Obj::from(value));
            }
        }
    }
}

impl MinionCompile<'_> {
    /// Give the states of an sls the form of high data. The result is what the sls includes.
    pub(crate) fn declare(&mut self, states: &DictRef, sls: OfSls<'_>) -> Result<Vec<Obj>> {
        let includes = match states.get_str("include") {
            None => Vec::new(),
            Some(Obj::List(includes)) => {
                taken(states, "include");
                includes.items()
            }
            Some(other) => {
                let message = format!("'include' is {}, not a list", described(&other));
                self.refuse(sls.refusal(Kind::IncludeNotList, &message));
                Vec::new()
            }
        };
        self.part_extensions(states, sls)?;
        self.part_excludes(states, sls)?;
        for (id, body) in states.entries() {
            self.budget.burn(1)?;
            self.declare_state(states, &id, &body, sls)?;
        }
        Ok(includes)
    }

    fn part_extensions(&mut self, states: &DictRef, sls: OfSls<'_>) -> Result<()> {
        let Some(extensions) = taken(states, "extend") else {
            return Ok(());
        };
        let Obj::Dict(named) = &extensions else {
            let message = format!("'extend' is {}, not a mapping", described(&extensions));
            self.refuse(sls.refusal(Kind::ExtendNotMapping, &message));
            return Ok(());
        };
        for (name, body) in named.entries() {
            let Obj::Dict(body) = &body else {
                let message = format!(
                    "'{name}' of 'extend' is {}, not a mapping",
                    described(&body)
                );
                let refusal = sls.refusal(Kind::ExtendNotMapping, &message);
                self.refuse(refusal.of_state(&name, vec!["extend".into(), name.clone()]));
                continue;
            };
            sls.mark(body);
            for (key, args) in body.entries() {
                let key = text(&key)?;
                if let (false, Obj::List(args), Some((module, function))) =
                    (key.starts_with('_'), &args, parts(key))
                {
                    move_function(body, key, module, function, args);
                }
            }
        }
        add_to(states, "__extend__", |all| all.push(extensions.clone()))
    }

    fn part_excludes(&mut self, states: &DictRef, sls: OfSls<'_>) -> Result<()> {
        let Some(excludes) = taken(states, "exclude") else {
            return Ok(());
        };
        if !matches!(excludes, Obj::List(_)) {
            let message = format!("'exclude' is {}, not a list", described(&excludes));
            self.refuse(sls.refusal(Kind::ExcludeNotList, &message));
        }
        let more = items(self.budget, &excludes)?;
        add_to(states, "__exclude__", |all| all.extend(more))
    }

    fn declare_state(
        &mut self,
        states: &DictRef,
        id: &Key,
        body: &Obj,
        sls: OfSls<'_>,
    ) -> Result<()> {
        let Obj::Dict(state) = body else {
            if matches!(id.as_str(), Some("__extend__" | "__exclude__")) {
                return Ok(());
            }
            if let Some((module, function)) = body.as_str().and_then(|text| parts(text)) {
                let state = DictRef::new(Default::default());
                sls.mark(&state);
                state.insert(module, Obj::list([Obj::from(function)]));
                states.insert(id.clone(), Obj::Dict(state));
                return Ok(());
            }
            let message = format!("the state '{id}' is {}, not a mapping", described(body));
            let refusal = sls.refusal(Kind::StateNotMapping, &message);
            self.refuse(refusal.of_state(id, vec![id.clone()]));
            return Ok(());
        };
        let mut modules: Vec<String> = Vec::new();
        for (key, args) in state.entries() {
            let name = text(&key)?;
            let Obj::List(args) = &args else { continue };
            if name.starts_with('_') {
                continue;
            }
            let Some((module, function)) = parts(name) else {
                modules.push(name.to_owned());
                continue;
            };
            if modules.iter().any(|known| known == module) {
                let message = format!("'{id}' has several functions of '{module}'");
                let refusal = sls.refusal(Kind::SeveralOfOneModule, &message);
                self.refuse(refusal.of_state(id, vec![id.clone(), key.clone()]));
                continue;
            }
            move_function(state, name, module, function, args);
            modules.push(module.to_owned());
        }
        sls.mark(state);
        Ok(())
    }

    /// Give each function that names no order the next number.
    pub(crate) fn number(&self, states: &DictRef, next: &Cell<i64>) -> Result<()> {
        for (_, state) in states.entries() {
            let Obj::Dict(state) = &state else {
                // Salt ends its numbering at what it cannot iterate over.
                match items(self.budget, &state) {
                    Ok(_) => continue,
                    Err(_) => return Ok(()),
                }
            };
            for (module, args) in state.entries() {
                let is_function = module.as_str().is_some_and(|name| !name.starts_with('_'));
                let Obj::List(args) = &args else { continue };
                if !is_function {
                    continue;
                }
                self.budget.burn(1 + args.len())?;
                let is_order = |arg: &Obj| match arg {
                    Obj::Dict(arg) => arg
                        .key_at(0)
                        .is_some_and(|key| key.as_str() == Some("order")),
                    _ => false,
                };
                if !args.read(|args| args.iter().any(is_order)) {
                    let order = Obj::dict([(Key::from("order"), Obj::from(next.get()))]);
                    args.change(|args| args.push(order));
                    next.set(next.get() + 1);
                }
            }
        }
        Ok(())
    }

    /// Add the states of an sls.
    pub(crate) fn merge(&mut self, high: &DictRef, states: &DictRef) -> Result<()> {
        for part in ["__extend__", "__exclude__"] {
            if let Some(more) = taken(states, part) {
                let all = high.get_str(part).unwrap_or_else(|| Obj::list([]));
                extend(self.budget, &all, &more)?;
                high.insert(part, all);
            }
        }
        for (id, state) in states.entries() {
            self.budget.burn(1)?;
            if let Some(known) = high.get(&id)
                && !equal(&known, &state)?
            {
                self.refuse(conflict(&id, &known, &state)?);
            }
            high.insert(id, state);
        }
        Ok(())
    }

    /// Note the sls that includes states.
    pub(crate) fn mark_included(&self, states: &DictRef, by: &str) -> Result<()> {
        for (id, state) in states.entries() {
            if text(&id)?.starts_with("__") {
                continue;
            }
            add_to(mapping(&state)?, "__sls_included_from__", |all| {
                all.push(Obj::from(by));
            })?;
        }
        Ok(())
    }

    /// Leave out what sls extend in the same way a second time.
    pub(crate) fn clean_extensions(&self, high: &DictRef) -> Result<()> {
        let Some(extensions) = high.get_str("__extend__") else {
            return Ok(());
        };
        let mut kept: Vec<(Key, Obj)> = Vec::new();
        for named in items(self.budget, &extensions)? {
            for (name, body) in mapping(&named)?.entries() {
                self.budget.burn(1 + kept.len())?;
                let mut is_known = false;
                for (known, other) in &kept {
                    is_known |= *known == name && equal(other, &body)?;
                }
                if !is_known {
                    kept.push((name, body));
                }
            }
        }
        let kept = kept.into_iter().map(|entry| Obj::dict([entry]));
        high.insert("__extend__", Obj::list(kept.collect::<Vec<_>>()));
        Ok(())
    }
}

/// The module and the function of a name with dots. What is behind a second dot is lost.
fn parts(name: &str) -> Option<(&str, &str)> {
    let mut parts = name.split('.');
    Some((parts.next()?, parts.next()?))
}

/// Move the function of a name with a dot to the end of its arguments.
fn move_function(
    state: &DictRef,
    key: &str,
    module: &str,
    function: &str,
    args: &mapstack_pyobject::ListRef,
) {
    taken(state, key);
    state.insert(module, Obj::List(args.clone()));
    args.change(|args| args.push(Obj::from(function)));
}

/// Change a list of a mapping, which may not be there yet.
fn add_to(dict: &DictRef, name: &str, add: impl FnOnce(&mut Vec<Obj>)) -> Result<()> {
    let all = dict.get_str(name).unwrap_or_else(|| {
        let all = Obj::list([]);
        dict.insert(name, all.clone());
        all
    });
    list(&all)?.change(add);
    Ok(())
}

fn conflict(id: &Key, known: &Obj, state: &Obj) -> Result<Refusal> {
    let at =
        |state: &Obj, mark: &str| -> Result<String> { Ok(to_str(&item(state, &mark.into())?)?) };
    let (one, other) = (at(known, "__sls__")?, at(state, "__sls__")?);
    let (env, own) = (at(known, "__env__")?, at(state, "__env__")?);
    let message = match env == own {
        true => format!("'{id}' is a state of '{one}' and of '{other}'"),
        false => format!("'{id}' is a state of '{one}' in '{env}' and of '{other}' in '{own}'"),
    };
    let mut refusal = Refusal::new(Kind::ConflictingIds, message).of_sls(other);
    refusal.other = Some(one);
    Ok(refusal.of_state(id, vec![id.clone()]))
}

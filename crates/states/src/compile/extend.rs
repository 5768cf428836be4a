//! Extending states (Salt: `reconcile_extend` and `find_name`).

use std::collections::HashMap;

use mapstack_pyobject::{Budget, DictRef, Obj, equal};
use mapstack_value::Key;

use super::keywords::is_requisite;
use super::python::{
    contains, described, each, extend, first, is_among, is_internal, item, items, key, list,
    mapping,
};
use super::refusal::{NamedState, Refusal, RefusalKind, Requires, Result, exception, path_of};
use super::work::MinionCompile;

/// Extensions of states: names with bodies.
pub(crate) type Extensions = Vec<(Key, Obj)>;

impl MinionCompile<'_> {
    /// Apply what sls extend.
    pub(crate) fn reconcile(&mut self, high: &DictRef) -> Result<()> {
        let Some(chunks) = taken(high, "__extend__") else {
            return Ok(());
        };
        let budget = self.budget;
        each(budget, &chunks, &mut |_, chunk| {
            self.extend_states(high, mapping(&chunk)?.entries(), false)
        })
    }

    /// Extend states. Strictly, only a state with the same module counts as the one that is named.
    pub(crate) fn extend_states(
        &mut self,
        high: &DictRef,
        extensions: Extensions,
        strict: bool,
    ) -> Result<()> {
        for (name, body) in extensions {
            self.budget.burn(1)?;
            let module = self.first_module(&body)?;
            let is_there = match high.get(&name) {
                Some(state) => contains(self.budget, &state, &module)?,
                None => false,
            };
            let name = if is_there {
                name
            } else {
                let found = self.find_name(&Obj::from(&name), &module, high, strict)?;
                match &found[..] {
                    [(id, _)] => id.clone(),
                    [(one, _), (other, _), ..] => {
                        self.refuse(of_several(&name, &body, [one, other])?);
                        continue;
                    }
                    [] => {
                        let given = match strict {
                            true => given_to_nothing(&name, &module, &body)?,
                            false => None,
                        };
                        self.refuse(match given {
                            Some(refusal) => refusal,
                            None => of_nothing(&name, &body)?,
                        });
                        continue;
                    }
                }
            };
            if self.is_excluded(high, &body)? {
                continue;
            }
            let state = high.get(&name).unwrap_or_default();
            for (module, args) in mapping(&body)?.entries() {
                if !is_internal(&module)? {
                    self.extend_state(&state, &module, &args)?;
                }
            }
        }
        Ok(())
    }

    /// The first state module of a body.
    fn first_module(&self, body: &Obj) -> Result<Key> {
        for module in items(self.budget, body)? {
            let module = key(&module)?;
            if !is_internal(&module)? {
                return Ok(module);
            }
        }
        exception("an extension has no state module")
    }

    /// True if the sls that extends is excluded.
    fn is_excluded(&self, high: &DictRef, body: &Obj) -> Result<bool> {
        let own = mapping(body)?.get_str("__sls__").unwrap_or_default();
        let Some(excludes) = high.get_str("__exclude__") else {
            return Ok(false);
        };
        let mut excluded = Vec::new();
        for exclude in items(self.budget, &excludes)? {
            match &exclude {
                Obj::Str(_) | Obj::Markup(_) => excluded.push(exclude),
                other => {
                    let sls = mapping(other)?.get_str("sls").unwrap_or_default();
                    if sls.truthy()? {
                        excluded.push(sls);
                    }
                }
            }
        }
        is_among(self.budget, &Obj::list(excluded), &own)
    }

    fn extend_state(&self, state: &Obj, module: &Key, more: &Obj) -> Result<()> {
        if !contains(self.budget, state, module)? {
            mapping(state)?.insert(module.clone(), more.clone());
            return Ok(());
        }
        let args = item(state, module)?;
        let mut arguments = None;
        each(self.budget, more, &mut |_, arg| {
            let arguments = match &mut arguments {
                Some(known) => known,
                none => none.insert(Arguments::new(self.budget, &args)?),
            };
            if arguments.replace(&arg)? {
                return Ok(());
            }
            if args.is_same(more) {
                return exception("a list of arguments extends itself without end");
            }
            arguments.push(arg)
        })
    }

    /// The states that a name means: the ID, or those with an argument of that value. With the module `sls` they are
    /// those of an sls.
    pub(crate) fn find_name(
        &self,
        name: &Obj,
        module: &Key,
        high: &DictRef,
        strict: bool,
    ) -> Result<Vec<(Key, Key)>> {
        let id = key(name)?;
        let own = high.get(&id);
        let has_module = match (&own, strict) {
            (_, false) => true,
            (None, true) => false,
            (Some(state), true) => contains(self.budget, state, module)?,
        };
        if own.is_some() && has_module {
            return Ok(vec![(id, module.clone())]);
        }
        let mut found = Vec::new();
        for (other, state) in high.entries() {
            self.budget.burn(1)?;
            if module.as_str() == Some("sls") {
                if equal(&item(&state, &"__sls__".into())?, name)? {
                    found.push((other, first(mapping(&state)?)?.0));
                }
            } else if contains(self.budget, &state, module)?
                && let Obj::List(args) = item(&state, module)?
            {
                self.budget.burn(args.len())?;
                for arg in args.items() {
                    if let Obj::Dict(arg) = arg
                        && arg.len() == 1
                        && equal(&first(&arg)?.1, name)?
                    {
                        found.push((other.clone(), module.clone()));
                    }
                }
            }
        }
        Ok(found)
    }
}

/// The arguments of a state, and where each name is among them.
struct Arguments<'a> {
    budget: &'a Budget<'a>,
    all: &'a Obj,
    by_name: HashMap<Key, Vec<usize>>,
    texts: Vec<usize>,
    has_empty: bool,
    len: usize,
}

impl<'a> Arguments<'a> {
    fn new(budget: &'a Budget<'a>, all: &'a Obj) -> Result<Self> {
        let mut arguments = Arguments {
            budget,
            all,
            by_name: HashMap::new(),
            texts: Vec::new(),
            has_empty: false,
            len: 0,
        };
        for arg in items(budget, all)? {
            arguments.note(&arg);
        }
        Ok(arguments)
    }

    /// Note the next argument.
    fn note(&mut self, arg: &Obj) {
        match arg {
            Obj::Str(_) => self.texts.push(self.len),
            Obj::Dict(arg) => match arg.entry_at(0) {
                Some((name, _)) => self.by_name.entry(name).or_default().push(self.len),
                None => self.has_empty = true,
            },
            _ => {}
        }
        self.len += 1;
    }

    fn push(&mut self, arg: Obj) -> Result<()> {
        let args = list(self.all)?;
        self.note(&arg);
        args.change(|args| args.push(arg));
        Ok(())
    }

    fn put(&self, places: &[usize], arg: &Obj) -> Result<()> {
        if places.is_empty() {
            return Ok(());
        }
        self.budget.burn(places.len())?;
        list(self.all)?.change(|args| {
            for place in places {
                if let Some(place) = args.get_mut(*place) {
                    *place = arg.clone();
                }
            }
        });
        Ok(())
    }

    /// Put an argument in place of those of its name. True if there were any.
    fn replace(&mut self, arg: &Obj) -> Result<bool> {
        let new = match arg {
            Obj::Str(_) => {
                self.put(&self.texts, arg)?;
                return Ok(!self.texts.is_empty());
            }
            Obj::Dict(new) if self.has_empty || !self.by_name.is_empty() => new,
            _ => return Ok(false),
        };
        let (name, value) = first(new)?;
        if self.has_empty {
            return exception("a mapping is empty");
        }
        let places = self.by_name.get(&name).cloned().unwrap_or_default();
        if name.as_str().is_some_and(is_requisite) {
            for place in &places {
                self.grow(*place, &value)?;
            }
        } else {
            self.put(&places, arg)?;
        }
        if name.as_str() == Some("name")
            && let Some(names) = self.by_name.remove(&Key::from("names"))
        {
            // The argument is replaced, and the name is added nevertheless.
            self.put(&names, arg)?;
            self.by_name.entry(name).or_default().extend(names);
        }
        Ok(!places.is_empty())
    }

    /// Add to a requisite.
    fn grow(&mut self, place: usize, more: &Obj) -> Result<()> {
        let old = match self.all {
            Obj::List(args) => args.get(place),
            other => items(self.budget, other)?.get(place).cloned(),
        };
        let (_, old) = first(mapping(&old.unwrap_or_default())?)?;
        if old.is_same(self.all) {
            return exception("a list of arguments extends itself without end");
        }
        extend(self.budget, &old, more)
    }
}

/// An entry, taken out of a mapping.
pub(crate) fn taken(dict: &DictRef, key: &str) -> Option<Obj> {
    let found = dict.get_str(key)?;
    dict.change(|entries| entries.shift_remove(&Key::from(key)));
    Some(found)
}

/// The refusal of an extension by a name that several states have. Salt takes it for one of nothing.
fn of_several(name: &Key, body: &Obj, [one, other]: [&Key; 2]) -> Result<Refusal> {
    let states = match one == other {
        true => format!("states of '{one}'"),
        false => format!("states: '{one}' and '{other}'"),
    };
    let mut refusal = of_nothing(name, body)?;
    refusal.message = format!("'{name}' is extended, and is the name of several {states}");
    refusal.missing = None;
    Ok(refusal)
}

fn of_nothing(name: &Key, body: &Obj) -> Result<Refusal> {
    let sls = mapping(body)?
        .get_str("__sls__")
        .unwrap_or(Obj::from("base"));
    let sls = mapstack_pyobject::to_str(&sls)?;
    let message = format!(
        "{} is extended, and is in no sls of the minion",
        described(&name.into())
    );
    let mut refusal = Refusal::new(RefusalKind::ExtendOfNothing, message).of_sls(sls);
    refusal.missing = Some((None, name.to_string()));
    Ok(refusal.of_state(name, vec![Key::from("extend"), name.clone()]))
}

/// The refusal of a requisite that a state gives to one that does not exist. `None` if the body begins with another
/// argument.
fn given_to_nothing(name: &Key, module: &Key, body: &Obj) -> Result<Option<Refusal>> {
    let first_item = |list: &Obj| match list {
        Obj::List(list) => match list.items().first() {
            Some(Obj::Dict(item)) => item.entry_at(0),
            _ => None,
        },
        _ => None,
    };
    let Some((requisite, givers)) = first_item(&item(body, module)?) else {
        return Ok(None);
    };
    let Some((giver_module, Obj::Str(giver))) = first_item(&givers) else {
        return Ok(None);
    };
    if !requisite.as_str().is_some_and(is_requisite) {
        return Ok(None);
    }
    let giver = Key::from(giver);
    let mut refusal = of_nothing(name, body)?;
    refusal.message = format!(
        "'{giver}' gives '{requisite}' to '{module}: {name}', which is in no sls of the minion"
    );
    // The ID stays that of the missing state, as Salt says it; the place is where the requisite is written.
    refusal.path = path_of(&giver, &giver_module);
    refusal.requisites = vec![Requires {
        state: NamedState {
            sls: refusal.sls.clone().unwrap_or_default(),
            ..NamedState::named(&giver_module, &giver.to_string())
        },
        argument: format!("{requisite}_in"),
        on: NamedState::named(module, &name.to_string()),
    }];
    Ok(Some(refusal))
}

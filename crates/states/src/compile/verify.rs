//! The form of high data (Salt: `verify_high`).

use mapstack_pyobject::{DictRef, Obj, is_hashable};
use mapstack_value::Key;

use super::keywords::{is_checked, is_moved, is_requisite};
use super::mutual::Mutual;
use super::python::{described, each, first, is_internal, item, items, key, text};
use super::refusal::{Refusal, RefusalKind as Kind, Result, exception, path_of};
use super::work::MinionCompile;

/// A state module of a state, whose arguments are looked at.
struct ModulePlace<'p> {
    id: &'p Key,
    module: &'p Key,
    body: &'p Obj,
}

impl ModulePlace<'_> {
    fn sls(&self) -> Result<String> {
        sls_of(self.body)
    }

    fn refusal(&self, kind: Kind, message: String) -> Result<Refusal> {
        let refusal = Refusal::new(kind, message).of_sls(self.sls()?);
        Ok(refusal.of_state(self.id, path_of(self.id, self.module)))
    }
}

fn sls_of(body: &Obj) -> Result<String> {
    Ok(mapstack_pyobject::to_str(&item(body, &"__sls__".into())?)?)
}

impl MinionCompile<'_> {
    /// Check the form of the states.
    pub(crate) fn verify(&mut self, high: &Obj) -> Result<()> {
        let Obj::Dict(high) = high else {
            let message = format!("the high data is {}, not a mapping", described(high));
            self.refuse(Refusal::new(Kind::HighNotMapping, message.clone()));
            return match self.behaviour.requisites_order_states {
                true => Ok(()),
                false => exception(message),
            };
        };
        let mut mutual = (!self.behaviour.requisites_order_states).then(Mutual::default);
        for (id, body) in high.entries() {
            self.budget.burn(1)?;
            match id.as_str() {
                Some(name) if name.starts_with("__") => continue,
                Some(_) => {}
                None => {
                    let what = Obj::from(&id);
                    let kind = what.type_name();
                    let message = format!("the ID {id} is of type '{kind}', not text");
                    let refusal = Refusal::new(Kind::IdNotText, message).of_sls(sls_of(&body)?);
                    self.refuse(refusal.of_state(&id, vec![id.clone()]));
                }
            }
            let Obj::Dict(state) = &body else {
                let message = format!("the state '{id}' is {}, not a mapping", described(&body));
                let refusal = Refusal::new(Kind::StateNotMapping, message);
                self.refuse(refusal.of_state(&id, vec![id.clone()]));
                continue;
            };
            for (module, args) in state.entries() {
                if is_internal(&module)? {
                    continue;
                }
                let place = ModulePlace {
                    id: &id,
                    module: &module,
                    body: &body,
                };
                self.verify_arguments(&place, &args, mutual.as_mut())?;
            }
        }
        Ok(())
    }

    fn verify_arguments(
        &mut self,
        place: &ModulePlace<'_>,
        args: &Obj,
        mut mutual: Option<&mut Mutual>,
    ) -> Result<()> {
        let (id, module) = (place.id, place.module);
        if args.is_none() {
            let message = format!("'{module}' of '{id}' has a colon, and no arguments");
            let refusal = place.refusal(Kind::TrailingColon, message)?;
            self.refuse(refusal);
            return Ok(());
        }
        if !matches!(args, Obj::List(_)) {
            let what = described(args);
            let message = format!("the arguments of '{module}' of '{id}' are {what}, not a list");
            let refusal = place.refusal(Kind::ArgumentsNotList, message)?;
            self.refuse(refusal);
            return Ok(());
        }
        let dotted = text(module)?.split_once('.').map(|(_, name)| name);
        let mut functions: Vec<String> = dotted.map(str::to_owned).into_iter().collect();
        let budget = self.budget;
        each(budget, args, &mut |_, arg| match &arg {
            Obj::Str(name) | Obj::Markup(name) => {
                functions.push(name.to_string());
                self.verify_function(place, name)
            }
            Obj::Dict(arg) => self.verify_argument(place, arg, mutual.as_deref_mut()),
            _ => Ok(()),
        })?;
        let name = text(module)?;
        let is_left = matches!(name, "require" | "watch") && mutual.is_some();
        let (kind, message) = match functions.len() {
            0 if is_left => return Ok(()),
            0 if is_requisite(name) || is_moved(name) => (
                Kind::RequisiteOutside,
                format!(
                    "'{module}' of '{id}' is beside its functions, not among the arguments of one"
                ),
            ),
            0 => (
                Kind::NoFunction,
                format!("'{module}' of '{id}' has no function"),
            ),
            1 => return Ok(()),
            _ => (
                Kind::SeveralFunctions,
                format!(
                    "'{module}' of '{id}' has several functions: {}",
                    functions.join(", ")
                ),
            ),
        };
        let refusal = place.refusal(kind, message)?;
        self.refuse(refusal);
        Ok(())
    }

    fn verify_function(&mut self, place: &ModulePlace<'_>, name: &str) -> Result<()> {
        if name.trim().contains(' ') {
            let message = format!("the function '{name}' of '{}' has a space", place.id);
            let refusal = place.refusal(Kind::FunctionWithSpace, message)?;
            self.refuse(refusal);
        }
        Ok(())
    }

    fn verify_argument(
        &mut self,
        place: &ModulePlace<'_>,
        arg: &DictRef,
        mut mutual: Option<&mut Mutual>,
    ) -> Result<()> {
        let (name, value) = first(arg)?;
        let is_list = matches!(value, Obj::List(_));
        let name = name.as_str().unwrap_or_default();
        if name == "names" && !is_list {
            let what = described(&value);
            let message = format!("the names of '{}' are {what}, not a list", place.id);
            let refusal = place.refusal(Kind::NamesNotList, message)?;
            self.refuse(refusal);
        }
        if !is_checked(self.behaviour, name) {
            return Ok(());
        }
        if is_list {
            if let Some(mutual) = mutual.as_deref_mut() {
                mutual.start(place.id, place.module);
            }
            for requisite in items(self.budget, &value)? {
                self.verify_requisite(place, name, &requisite, mutual.as_deref_mut())?;
            }
        } else {
            let what = described(&value);
            let message = format!("'{name}' of '{}' is {what}, not a list", place.id);
            let refusal = place.refusal(Kind::RequisiteNotList, message)?;
            self.refuse(refusal);
        }
        if arg.len() != 1 {
            let message = format!(
                "'{name}' of '{}' has other arguments in its item of the list",
                place.id
            );
            let refusal = place.refusal(Kind::SeveralArguments, message)?;
            self.refuse(refusal);
        }
        Ok(())
    }

    fn verify_requisite(
        &mut self,
        place: &ModulePlace<'_>,
        name: &str,
        requisite: &Obj,
        mutual: Option<&mut Mutual>,
    ) -> Result<()> {
        let id = place.id;
        let (module, wanted) = match requisite {
            Obj::Str(_) | Obj::Markup(_) => (Key::from("id"), requisite.clone()),
            // Before Salt 3008, the first entry counts.
            Obj::Dict(requisite) if requisite.len() == 1 || mutual.is_some() => first(requisite)?,
            other => {
                let what = described(other);
                let message = format!("'{name}' of '{id}' has {what}, which names no state");
                let refusal = place.refusal(Kind::RequisiteNotSingle, message)?;
                self.refuse(refusal);
                return Ok(());
            }
        };
        if let Some((before, _)) = split_module(&module)? {
            let message = format!(
                "'{name}' of '{id}' names the function '{module}', not the module '{before}'"
            );
            let refusal = place.refusal(Kind::RequisiteWithDot, message)?;
            self.refuse(refusal);
        }
        if !is_hashable_within(&wanted) {
            let message = format!("'{name}' of '{id}' names {} as a state", described(&wanted));
            let refusal = place.refusal(Kind::RequisiteUnhashable, message)?;
            self.refuse(refusal);
            return Ok(());
        }
        if let Some(mutual) = mutual
            && mutual.add(place.id, place.module, &key(&wanted)?, &module)
        {
            let other = described(&wanted);
            let message = format!(
                "states require each other: '{id}' has '{name}' on {other}, and the other way round"
            );
            let refusal = place.refusal(Kind::Cycle, message)?;
            self.refuse(refusal);
        }
        Ok(())
    }
}

/// The parts of the name of a requisite with a dot.
pub(crate) fn split_module(module: &Key) -> Result<Option<(&str, &str)>> {
    Ok(match module {
        Key::Tuple(_) => None,
        module => text(module)?.split_once('.'),
    })
}

fn is_hashable_within(object: &Obj) -> bool {
    match object {
        Obj::Tuple(items) => items.iter().all(is_hashable_within),
        other => is_hashable(other),
    }
}

//! Looking into the data of an sls as Salt's code does, which takes a wrong type for an error.

use mapstack_pyobject::{Budget, DictRef, ListRef, Obj};
use mapstack_value::{Key, Str};

use crate::stateconf::{Error, Result, Sls};

/// The rewriting of one sls.
pub(crate) struct SlsRewrite<'w> {
    pub sls: &'w Sls<'w>,
    pub budget: &'w Budget<'w>,
}

/// A function of a state: `id: {name: args}`.
pub(crate) struct StateFunction {
    pub id: Str,
    pub name: Str,
    pub args: Obj,
    /// All functions of the state.
    pub state: DictRef,
    pub path: Vec<Key>,
}

/// An item of a list that is a mapping; its first entry counts.
pub(crate) struct NamedItem {
    pub item: DictRef,
    pub name: Key,
    pub value: Obj,
    pub path: Vec<Key>,
}

pub(crate) fn wrong(path: &[Key], message: impl Into<String>) -> Error {
    Error::Data {
        message: message.into(),
        path: path.to_vec(),
    }
}

/// The path for messages.
fn shown(path: &[Key]) -> String {
    match path.last() {
        None => "the data of the sls".to_owned(),
        Some(_) => {
            let steps: Vec<String> = path.iter().map(ToString::to_string).collect();
            format!("'{}'", steps.join(":"))
        }
    }
}

fn instead(path: &[Key], object: &Obj, wanted: &str) -> Error {
    let what = match object {
        Obj::None => "nothing",
        Obj::Bool(_) => "a boolean",
        Obj::Int(_) => "an integer",
        Obj::Float(_) => "a number",
        Obj::Str(_) | Obj::Markup(_) => "text",
        Obj::List(_) => "a list",
        Obj::Dict(_) => "a mapping",
        other => {
            return wrong(
                path,
                format!(
                    "{} is of type '{}', not {wanted}",
                    shown(path),
                    other.type_name()
                ),
            );
        }
    };
    wrong(path, format!("{} is {what}, not {wanted}", shown(path)))
}

/// A path with one step more.
pub(crate) fn below(path: &[Key], step: impl Into<Key>) -> Vec<Key> {
    let mut path = path.to_vec();
    path.push(step.into());
    path
}

/// A mapping.
pub(crate) fn mapping(object: &Obj, path: &[Key]) -> Result<DictRef> {
    match object {
        Obj::Dict(dict) => Ok(dict.clone()),
        other => Err(instead(path, other, "a mapping")),
    }
}

/// A list, to be changed.
pub(crate) fn list<'o>(object: &'o Obj, path: &[Key]) -> Result<&'o ListRef> {
    match object {
        Obj::List(list) => Ok(list),
        other => Err(instead(path, other, "a list")),
    }
}

/// Text.
pub(crate) fn text(object: &Obj, path: &[Key]) -> Result<Str> {
    match object {
        Obj::Str(text) => Ok(text.clone()),
        other => Err(instead(path, other, "text")),
    }
}

/// A key that is text.
pub(crate) fn text_key(key: &Key, path: &[Key]) -> Result<Str> {
    text(&Obj::from(key), path)
}

/// The first entry of a mapping.
pub(crate) fn first(dict: &DictRef, path: &[Key]) -> Result<(Key, Obj)> {
    let first = dict
        .key_at(0)
        .and_then(|key| dict.get(&key).map(|value| (key, value)));
    first.ok_or_else(|| wrong(path, format!("{} is an empty mapping", shown(path))))
}

/// The part of a state's name before the function.
pub(crate) fn kind_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(kind, _)| kind)
}

impl SlsRewrite<'_> {
    /// The items that Python iterates over, except that a text has no items here: nothing is done with letters.
    pub fn items(&self, object: &Obj, path: &[Key]) -> Result<Vec<Obj>> {
        let items = match object {
            Obj::List(list) => list.items(),
            Obj::Tuple(tuple) => tuple.to_vec(),
            Obj::Dict(dict) => dict.keys().iter().map(Obj::from).collect(),
            Obj::Str(_) | Obj::Markup(_) | Obj::Bytes(_) | Obj::Set(_) => Vec::new(),
            other => return Err(instead(path, other, "a list")),
        };
        self.budget.burn(1 + items.len())?;
        Ok(items)
    }

    /// The items that are mappings whose first key is one of some names (Salt: `nvlist`).
    pub fn named(
        &self,
        object: &Obj,
        names: Option<&[&str]>,
        path: &[Key],
    ) -> Result<Vec<NamedItem>> {
        let mut out = Vec::new();
        for (number, item) in self.items(object, path)?.into_iter().enumerate() {
            let Obj::Dict(item) = item else { continue };
            let path = below(path, Key::from(number as i64));
            let (name, value) = first(&item, &path)?;
            let is_wanted =
                |names: &[&str]| name.as_str().is_some_and(|name| names.contains(&name));
            if names.is_none_or(is_wanted) {
                let path = below(&path, name.clone());
                out.push(NamedItem {
                    item,
                    name,
                    value,
                    path,
                });
            }
        }
        Ok(out)
    }

    /// The requisites of some kinds in the arguments of a function (Salt: `nvlist2`).
    pub fn requisites(&self, args: &Obj, kinds: &[&str], path: &[Key]) -> Result<Vec<NamedItem>> {
        let mut out = Vec::new();
        for requisite in self.named(args, Some(kinds), path)? {
            out.extend(self.named(&requisite.value, None, &requisite.path)?);
        }
        Ok(out)
    }

    /// All functions of all states (Salt: `statelist`), except under some ids.
    pub fn functions(
        &self,
        states: &DictRef,
        except: &[&str],
        path: &[Key],
    ) -> Result<Vec<StateFunction>> {
        let mut out = Vec::new();
        for (id, state) in states.entries() {
            let path = below(path, id.clone());
            let id = text_key(&id, &path)?;
            if id.starts_with("__") || except.contains(&&*id) {
                continue;
            }
            let state = mapping(&state, &path)?;
            self.budget.burn(1 + state.len())?;
            for (name, args) in state.entries() {
                let path = below(&path, name.clone());
                let name = text_key(&name, &path)?;
                if !name.starts_with("__") {
                    out.push(StateFunction {
                        id: id.clone(),
                        name,
                        args,
                        state: state.clone(),
                        path,
                    });
                }
            }
        }
        Ok(out)
    }
}

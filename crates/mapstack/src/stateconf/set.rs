//! The values of `stateconf.set`.

use mapstack_pyobject::{DictRef, Obj};
use mapstack_value::{Key, Str, Value};

use crate::stateconf::high::{SlsRewrite, below, first, mapping, text_key, wrong};
use crate::stateconf::memory::{Memory, Sets};
use crate::stateconf::{FUNCTION, Result, STATE};

/// Requisites of what extends a state are those of the state as well.
const JOINED: [&str; 5] = ["require", "watch", "listen", "onchanges", "onfail"];

impl SlsRewrite<'_> {
    /// Remember what states set (Salt: `extract_state_confs`).
    pub fn remember(&self, data: &DictRef, memory: &Memory) -> Result<()> {
        self.remember_from(data, false, &mut memory.sets.borrow_mut(), &[])
    }

    fn remember_from(
        &self,
        data: &DictRef,
        is_extend: bool,
        sets: &mut Sets,
        path: &[Key],
    ) -> Result<()> {
        for (key, state) in data.entries() {
            let path = below(path, key.clone());
            if key.as_str() == Some("extend") && !is_extend {
                self.remember_from(&mapping(&state, &path)?, true, sets, &path)?;
                continue;
            }
            let Some(args) = self.set_by(&state, &path)? else {
                continue;
            };
            let id = text_key(&key, &path)?;
            let to = if is_extend {
                &mut sets.extended
            } else {
                &mut sets.own
            };
            let set = to.entry(id.clone()).or_default();
            for (number, item) in self.items(&args, &path)?.iter().enumerate() {
                if let Obj::Dict(item) = item {
                    let path = below(&path, Key::from(number as i64));
                    let (name, value) = first(item, &path)?;
                    set.insert(name, value.to_value()?);
                }
            }
            if !is_extend {
                extend(&id, sets, &path)?;
            }
        }
        Ok(())
    }

    /// The arguments of `stateconf.set` in a state.
    fn set_by(&self, state: &Obj, path: &[Key]) -> Result<Option<Obj>> {
        let Obj::Dict(state) = state else {
            // The values of `include` and `exclude` are lists.
            let names = self.items(state, path)?;
            let is_name = |item: &Obj| {
                item.as_str()
                    .is_some_and(|item| **item == *STATE || **item == *FUNCTION)
            };
            return match names.iter().any(is_name) {
                true => Err(wrong(path, "a list names stateconf, which is a state here")),
                false => Ok(None),
            };
        };
        Ok(state.get_str(STATE).or_else(|| state.get_str(FUNCTION)))
    }
}

/// Put over what a state sets what an earlier file extends it by.
fn extend(id: &Str, sets: &mut Sets, path: &[Key]) -> Result<()> {
    let Some(extended) = sets.extended.get_mut(id) else {
        return Ok(());
    };
    let own = sets.own.entry(id.clone()).or_default();
    for requisite in JOINED {
        let Some(joined) = extended.get(requisite).cloned() else {
            continue;
        };
        let more = own
            .get(requisite)
            .cloned()
            .unwrap_or_else(|| Value::List(Vec::new().into()));
        let joined = match (joined, more) {
            (Value::List(items), Value::List(more)) => {
                Value::List(items.iter().chain(more.iter()).cloned().collect())
            }
            (Value::Str(text), Value::Str(more)) => Value::from(format!("{text}{more}")),
            _ => {
                return Err(wrong(
                    path,
                    format!("the '{requisite}' of '{id}' is extended, and not a list"),
                ));
            }
        };
        extended.insert(requisite, joined);
    }
    for (name, value) in extended.iter() {
        own.insert(name.clone(), value.clone());
    }
    Ok(())
}

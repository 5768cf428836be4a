//! Merging the data of classes (Salt: `dict_merge`): in place, with lists appended unless they begin with `^`.

use std::cell::RefCell;

use mapstack_diagnostic::{Error, Result};
use mapstack_pyobject::{DictRef, ListRef, Obj, as_index, equal, hash_key, wrap_index};
use mapstack_value::Key;

use super::classes::Class;
use super::inventory::Inventory;
use super::objects::{described, is_mark};
use super::setters::Setters;
use crate::classes::Host;

/// Pillars nest this deep at most.
const MAX_DEPTH: usize = 256;

/// The merger.
pub struct Merge<'h> {
    /// Pays for the work.
    host: &'h dyn Host<Obj>,
    /// The record of the places that set values.
    setters: Option<&'h RefCell<Setters>>,
}

impl<'h> Merge<'h> {
    pub fn new(inventory: &Inventory<'h>) -> Self {
        Merge {
            host: inventory.host,
            setters: inventory.setters,
        }
    }

    /// Merge the pillars of a class over the pillar that templates see.
    pub fn over_pillar(&self, pillar: &DictRef, pillars: &Obj, class: &Class) -> Result<()> {
        self.over(pillar, pillars, class, &mut vec![Key::from("pillars")])
    }

    /// Merge a whole class over those before.
    pub fn document(&self, merged: &DictRef, class: &Class) -> Result<()> {
        let data = Obj::Dict(class.data.clone());
        self.over(merged, &data, class, &mut Vec::new())
    }

    /// Tell who asks about a step of the merge.
    fn learn(&self, step: impl FnOnce(&mut Setters)) {
        if let Some(setters) = self.setters {
            step(&mut setters.borrow_mut());
        }
    }

    fn over(&self, base: &DictRef, layer: &Obj, class: &Class, path: &mut Vec<Key>) -> Result<()> {
        if path.len() > MAX_DEPTH {
            let error = class.wrong(
                self.host,
                &["pillars"],
                &format!("its pillars are nested deeper than {MAX_DEPTH}"),
            );
            return Err(error.help("does a template put the pillar into itself?"));
        }
        let (entries, all) = entries(layer);
        for (key, new) in entries {
            self.host.spend(1)?;
            path.push(key.clone());
            match (base.get(&key), &new) {
                (Some(Obj::List(old)), Obj::List(list)) => {
                    match self
                        .list(&old, list)
                        .map_err(|message| self.wrong(class, path, message))?
                    {
                        true => {
                            self.learn(|setters| setters.sets(base, layer, &key));
                            base.insert(key, new.clone());
                        }
                        false => {
                            self.learn(|setters| setters.joins(&old, layer, &key));
                            self.host.spend(list.len())?;
                        }
                    }
                }
                (Some(Obj::Dict(old)), Obj::Dict(_)) => {
                    self.over(&old, &new, class, path)?;
                }
                (old, _) => {
                    let same = old.as_ref().map(|old| equal(old, &new)).transpose();
                    let same = same.map_err(|e| self.wrong(class, path, &e.to_string()))?;
                    // The value that stays is that of both, but for `1`, `1.0` and `true`.
                    if same != Some(true) || old.is_some_and(|old| is_same(&old, &new)) {
                        self.learn(|setters| setters.sets(base, layer, &key));
                    }
                    if same != Some(true) {
                        base.insert(key, new);
                    }
                }
            }
            path.pop();
        }
        all.map_err(|message| self.wrong(class, path, &message))
    }

    /// An error about the value below keys of a class.
    fn wrong(&self, class: &Class, path: &[Key], message: &str) -> Error {
        let keys: Vec<String> = path.iter().map(ToString::to_string).collect();
        let names: Vec<&str> = keys.iter().map(String::as_str).collect();
        let message = format!("`{}`: {message}", keys.join(":"));
        class.wrong(self.host, &names, &message)
    }

    /// Append a list, or say that it comes in place of the other.
    fn list(&self, base: &ListRef, layer: &ListRef) -> std::result::Result<bool, &'static str> {
        let first = layer.get(0).ok_or(
            "an empty list cannot be merged over another list; write `[^]` to clear it, or leave it out",
        )?;
        if is_mark(&first) {
            layer.change(|items| items.remove(0));
            self.learn(|setters| setters.drops_first(layer));
            return Ok(true);
        }
        let more = layer.items();
        base.change(|items| items.extend(more));
        Ok(false)
    }
}

/// True if equal values are of the same type.
fn is_same(one: &Obj, other: &Obj) -> bool {
    let values = one.to_value().and_then(|one| Ok((one, other.to_value()?)));
    values.is_ok_and(|(one, other)| one.is_same(&other))
}

/// The pairs that `for key in layer` and `layer[key]` give together, up to the first failure.
type LayerPairs = (Vec<(Key, Obj)>, std::result::Result<(), String>);

fn entries(layer: &Obj) -> LayerPairs {
    let mut taken = Vec::new();
    let is_taken = match layer {
        Obj::Dict(entries) => return (entries.entries(), Ok(())),
        // Python takes an item for its own index.
        Obj::List(items) => items.items().iter().all(|item| {
            let index = as_index(item).and_then(|index| wrap_index(&index, items.len()));
            let entry = index.and_then(|index| Some((hash_key(item).ok()?, items.get(index)?)));
            let is_there = entry.is_some();
            taken.extend(entry);
            is_there
        }),
        Obj::Str(text) => text.is_empty(),
        _ => false,
    };
    let no_mapping = || format!("it must be a mapping, not {}", described(layer));
    (taken, if is_taken { Ok(()) } else { Err(no_mapping()) })
}

//! Merging the data of classes (Salt: `dict_merge`): in place, with lists appended unless they begin with `^`.

use mapstack_diagnostic::Result;
use mapstack_pyobject::{DictRef, ListRef, Obj, as_index, equal, hash_key, wrap_index};
use mapstack_value::Key;

use super::classes::Class;
use super::objects::described;
use crate::Host;
use crate::{ClassFile, Origins};

/// The first item of a list that replaces another.
const OVERRIDE: &str = "^";

/// Pillars nest this deep at most.
const MAX_DEPTH: usize = 256;

/// The merger.
pub struct Merge<'h> {
    /// Pays for the work.
    pub host: &'h dyn Host<Obj>,
}

/// Called with each path that gets a new value.
type Watch<'w> = &'w mut dyn FnMut(&[Key]);

impl Merge<'_> {
    /// Merge the pillars of a class over the pillar that templates see.
    pub fn over_pillar(&self, pillar: &DictRef, pillars: &Obj, class: &Class) -> Result<()> {
        let mut path = vec![Key::from("pillars")];
        self.over(pillar, pillars, (class, &mut path), &mut |_| {})
    }

    /// Merge a whole class over those before, and note what it sets.
    pub fn document(&self, merged: &DictRef, class: &Class, origins: &mut Origins) -> Result<()> {
        let file = origins.add(ClassFile {
            name: class.name.clone(),
            path: class.file.clone().unwrap_or_default(),
        });
        let mut note = |path: &[Key]| {
            if let Some((_, inside)) = path
                .split_first()
                .filter(|(key, _)| key.as_str() == Some("pillars"))
            {
                origins.set(inside, file);
            }
        };
        self.over(
            merged,
            &Obj::Dict(class.data.clone()),
            (class, &mut Vec::new()),
            &mut note,
        )
    }

    fn over(
        &self,
        base: &DictRef,
        layer: &Obj,
        (class, path): (&Class, &mut Vec<Key>),
        watch: Watch<'_>,
    ) -> Result<()> {
        if path.len() > MAX_DEPTH {
            let error = class.wrong(&format!("its pillars are nested deeper than {MAX_DEPTH}"));
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
                        .map_err(|message| class.wrong(&at(path, message)))?
                    {
                        true => base.insert(key, new.clone()),
                        false => self.host.spend(list.len())?,
                    }
                    watch(path);
                }
                (Some(Obj::Dict(old)), Obj::Dict(_)) => {
                    self.over(&old, &new, (class, path), watch)?;
                }
                (old, _) => {
                    let same = old.map(|old| equal(&old, &new)).transpose();
                    let same = same.map_err(|e| class.wrong(&at(path, &e.to_string())))?;
                    if same != Some(true) {
                        base.insert(key, new);
                        watch(path);
                    }
                }
            }
            path.pop();
        }
        all.map_err(|message| class.wrong(&at(path, &message)))
    }

    /// Append a list, or say that it comes in place of the other.
    fn list(&self, base: &ListRef, layer: &ListRef) -> std::result::Result<bool, &'static str> {
        let first = layer.get(0).ok_or(
            "an empty list cannot be merged over another list; write `[^]` to clear it, or leave it out",
        )?;
        if first.as_str().is_some_and(|text| **text == *OVERRIDE) {
            layer.change(|items| items.remove(0));
            return Ok(true);
        }
        let more = layer.items();
        base.change(|items| items.extend(more));
        Ok(false)
    }
}

/// A message about what stands below keys.
fn at(path: &[Key], message: &str) -> String {
    let keys: Vec<String> = path.iter().map(ToString::to_string).collect();
    format!("`{}`: {message}", keys.join(":"))
}

/// What `for key in layer` and `layer[key]` give together, up to what cannot be taken.
type Taken = (Vec<(Key, Obj)>, std::result::Result<(), String>);

fn entries(layer: &Obj) -> Taken {
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

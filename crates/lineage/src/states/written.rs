//! The arguments of states as sls write them.

use std::collections::{HashMap, HashSet};

use mapstack_states::GotSls;
use mapstack_value::{Key, Map, Value};

/// An argument as an sls writes it.
#[derive(Debug, Clone)]
pub(super) struct Argument {
    /// The number of the sls.
    pub sls: usize,
    /// The path in its data.
    pub path: Vec<Key>,
    pub value: Value,
}

impl Argument {
    /// An item or an entry of it.
    pub fn inside(&self, index: usize) -> Argument {
        let step = Key::of_index(index);
        let items = self.value.as_list().unwrap_or_default();
        let value = items.get(index).cloned().unwrap_or_default();
        let path = self.path.iter().cloned().chain([step]).collect();
        Argument {
            path,
            value,
            ..*self
        }
    }
}

/// A requisite that a state gives another.
pub(super) struct GivenRequisite<'w> {
    /// The ID of the state that gives it.
    pub id: &'w Key,
    /// The argument, such as `require_in`.
    pub name: &'w Key,
    pub argument: Argument,
}

/// An ID, a state module and the name of an argument.
type ArgumentPlace = (Key, Key, Key);

/// The arguments that the sls of a minion write.
#[derive(Debug, Default)]
pub(super) struct WrittenArguments {
    /// Those that declare before those that extend, each in the order of the sls.
    arguments: HashMap<ArgumentPlace, Vec<Argument>>,
    /// The keys of functions below an ID, by the sls, the ID and the state module.
    functions: HashMap<(usize, Key, Key), Key>,
    /// The IDs that have an argument, by the state module and the name of the argument, in the order of the sls.
    having: HashMap<(Key, Key), Vec<Key>>,
    /// The names that the functions of an ID have, beside the ID.
    names: HashMap<Key, HashSet<Key>>,
    /// The states that `use` arguments of an ID names, by that ID.
    uses: HashMap<Key, HashSet<Key>>,
    /// The states that `use_in` arguments of an ID names, by that ID.
    used_in: HashMap<Key, HashSet<Key>>,
}

impl WrittenArguments {
    pub fn of(sls: &[GotSls]) -> Self {
        let mut written = WrittenArguments::default();
        let rendered = |sls: &'_ GotSls| match &sls.rendered.data {
            Ok(Value::Map(states)) => Some(states.clone()),
            _ => None,
        };
        let all: Vec<(usize, Map)> = sls
            .iter()
            .enumerate()
            .filter_map(|(number, sls)| Some((number, rendered(sls)?)))
            .collect();
        for (number, states) in &all {
            written.add_states(*number, &[], states);
        }
        for (number, states) in &all {
            if let Some(extended) = states.get("extend").and_then(Value::as_map) {
                written.add_states(*number, &[Key::from("extend")], extended);
            }
        }
        written
    }

    fn add_states(&mut self, sls: usize, above: &[Key], states: &Map) {
        for (id, body) in states {
            let Some(body) = body.as_map() else { continue };
            for (key, args) in body {
                let name = key.to_string();
                let module = name.split('.').next().unwrap_or_default();
                let Some(args) = args.as_list().filter(|_| !name.starts_with('_')) else {
                    continue;
                };
                let module = Key::from(module);
                let function = (sls, id.clone(), module.clone());
                self.functions
                    .entry(function)
                    .or_insert_with(|| key.clone());
                let above = [above, &[id.clone(), key.clone()]].concat();
                self.add_arguments(sls, &above, id, &module, args);
            }
        }
    }

    fn add_arguments(&mut self, sls: usize, above: &[Key], id: &Key, module: &Key, args: &[Value]) {
        for (index, arg) in args.iter().enumerate() {
            for (name, value) in arg.as_map().into_iter().flatten() {
                let place = (id.clone(), module.clone(), name.clone());
                let known = self.arguments.entry(place).or_default();
                if known.is_empty() {
                    let same = (module.clone(), name.clone());
                    self.having.entry(same).or_default().push(id.clone());
                }
                known.push(Argument {
                    sls,
                    path: [above, &[Key::of_index(index), name.clone()]].concat(),
                    value: value.clone(),
                });
                self.add_names(id, name, value);
            }
        }
    }

    /// Note the states that an argument names.
    fn add_names(&mut self, id: &Key, name: &Key, value: &Value) {
        let all = match name.as_str() {
            Some("name" | "names") => &mut self.names,
            Some("use") => &mut self.uses,
            Some("use_in") => &mut self.used_in,
            _ => return,
        };
        let all = all.entry(id.clone()).or_default();
        match name.as_str() {
            Some("use" | "use_in") => {
                let items = value.as_list().unwrap_or_default();
                all.extend(items.iter().flat_map(named));
            }
            _ => add_texts(value, all),
        }
    }

    /// The key of a function as the sls writes it that declares the ID.
    pub fn function(&self, sls: usize, id: &Key, module: &Key) -> Option<&Key> {
        self.functions.get(&(sls, id.clone(), module.clone()))
    }

    pub fn arguments(&self, id: &Key, module: &Key, name: &Key) -> &[Argument] {
        let place = (id.clone(), module.clone(), name.clone());
        self.arguments.get(&place).map_or(&[], Vec::as_slice)
    }

    /// True if an item of a requisite names a state, by its ID or a name that one of its functions has.
    fn names(&self, id: &Key, item: &Value) -> bool {
        let names = self.names.get(id);
        let is_name = |text: &Key| names.is_some_and(|names| contains(names, text));
        named(item).any(|text| is_same(&text, id) || is_name(&text))
    }

    /// True if a state is among those that are named.
    fn is_among(&self, named: Option<&HashSet<Key>>, id: &Key) -> bool {
        let Some(named) = named else { return false };
        let is_named = |names: &HashSet<Key>| match names.len() < named.len() {
            true => names.iter().any(|name| contains(named, name)),
            false => named.iter().any(|name| contains(names, name)),
        };
        contains(named, id) || self.names.get(id).is_some_and(is_named)
    }

    /// The argument of another state that gives this value by `use`.
    pub fn used(&self, id: &Key, module: &Key, name: &Key, value: &Value) -> Option<&Argument> {
        let uses = self.uses.get(id);
        if uses.is_none() && self.used_in.is_empty() {
            return None;
        }
        let having = self.having.get(&(module.clone(), name.clone()))?;
        having
            .iter()
            .filter(|other| *other != id)
            .find_map(|other| {
                let all = self.arguments(other, module, name);
                let same = all.iter().find(|one| one.value.is_same(value))?;
                let is_used =
                    self.is_among(uses, other) || self.is_among(self.used_in.get(other), id);
                is_used.then_some(same)
            })
    }

    /// The requisite that another state gives one: an item of the list that became this item.
    pub fn given(&self, id: &Key, name: &Key, item: &Value) -> Option<GivenRequisite<'_>> {
        let (module, giver) = item.as_map()?.iter().next()?;
        let giver = Key::try_from(giver).ok()?;
        let place = (giver, module.clone(), Key::from(format!("{name}_in")));
        let ((giver, _, name), all) = self.arguments.get_key_value(&place)?;
        let argument = self.naming(id, all.first()?);
        Some(GivenRequisite {
            id: giver,
            name,
            argument,
        })
    }

    /// The part of an argument that names a state, or else all of it.
    fn naming(&self, id: &Key, whole: &Argument) -> Argument {
        let items = whole.value.as_list().into_iter().flatten();
        let at = items.enumerate().find(|(_, item)| self.names(id, item));
        at.map_or_else(|| whole.clone(), |(index, _)| whole.inside(index))
    }
}

/// The texts by which an item of a requisite may name a state: itself, or what a mapping has.
fn named(item: &Value) -> impl Iterator<Item = Key> {
    let (map, text) = match item {
        Value::Map(map) => (Some(map), None),
        text => (None, Some(text)),
    };
    let texts = map.into_iter().flat_map(Map::values).chain(text);
    texts.filter_map(|text| Key::try_from(text).ok())
}

/// Add a text, or those that a list or a mapping has.
fn add_texts(value: &Value, all: &mut HashSet<Key>) {
    match value {
        Value::List(items) => items.iter().for_each(|item| add_texts(item, all)),
        Value::Map(map) => all.extend(map.keys().cloned()),
        value => all.extend(Key::try_from(value)),
    }
}

/// True if the two are equal and of the same type.
fn is_same(text: &Key, other: &Key) -> bool {
    text == other && text.kind() == other.kind()
}

fn contains(texts: &HashSet<Key>, text: &Key) -> bool {
    texts.get(text).is_some_and(|known| is_same(known, text))
}

//! The arguments of states as sls write them.

use std::collections::HashMap;

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
pub(super) struct Given<'w> {
    /// The ID of the state that gives it.
    pub id: &'w Key,
    /// The argument, such as `require_in`.
    pub name: &'w Key,
    pub argument: Argument,
}

/// An ID, a state module and the name of an argument.
type Place = (Key, Key, Key);

/// The arguments that the sls of a minion write.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// Those that declare before those that extend, each in the order of the sls.
    arguments: HashMap<Place, Vec<Argument>>,
    /// The keys of functions below an ID, by the sls, the ID and the state module.
    functions: HashMap<(usize, Key, Key), Key>,
    /// The arguments that name states which get requisites or arguments, or give them.
    moved: Vec<Place>,
}

impl Written {
    pub fn of(sls: &[GotSls]) -> Self {
        let mut written = Written::default();
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
                let known = self.arguments.entry(place.clone()).or_default();
                known.push(Argument {
                    sls,
                    path: [above, &[Key::of_index(index), name.clone()]].concat(),
                    value: value.clone(),
                });
                let is_moved = name
                    .as_str()
                    .is_some_and(mapstack_states::compile::is_moved);
                if is_moved && !self.moved.contains(&place) {
                    self.moved.push(place);
                }
            }
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

    /// True if a text is the ID of a state or the name that one of its functions has.
    fn is_of(&self, id: &Key, text: &Value) -> bool {
        let is_named = || {
            let named = self.arguments.iter();
            let mut named = named.filter(|((of, _, name), _)| {
                of == id && matches!(name.as_str(), Some("name" | "names"))
            });
            named.any(|(_, all)| all.iter().any(|one| has(&one.value, text)))
        };
        id.to_value().is_same(text) || is_named()
    }

    /// True if an argument names a state, or is a mapping of one.
    fn names(&self, id: &Key, item: &Value) -> bool {
        match item {
            Value::Map(map) => map.values().any(|name| self.is_of(id, name)),
            text => self.is_of(id, text),
        }
    }

    /// The argument of another state that has this value, if one uses arguments of the other.
    pub fn used(&self, id: &Key, module: &Key, name: &Key, value: &Value) -> Option<&Argument> {
        let links = self
            .moved
            .iter()
            .filter(|(.., name)| matches!(name.as_str(), Some("use" | "use_in")));
        let others = links.flat_map(|place| {
            let all = self.arguments.get(place).into_iter().flatten();
            let is_use = place.2.as_str() == Some("use");
            let named = all.flat_map(|one| one.value.as_list().unwrap_or_default());
            named.filter_map(move |item| match is_use {
                // This state uses those that are named.
                true if place.0 == *id => Some(Link::Named(item)),
                false if self.names(id, item) => Some(Link::State(&place.0)),
                _ => None,
            })
        });
        let links: Vec<Link<'_>> = others.collect();
        let is_linked = |other: &Key| {
            links.iter().any(|link| match link {
                Link::Named(item) => self.names(other, item),
                Link::State(known) => *known == other,
            })
        };
        let mut found = self.arguments.iter().filter(|((other, of, what), _)| {
            of == module && what == name && other != id && is_linked(other)
        });
        let found = found.find_map(|(_, all)| all.iter().find(|one| one.value.is_same(value)));
        found.filter(|_| !links.is_empty())
    }

    /// The requisite that another state gives one: an item of the list that became this item.
    pub fn given(&self, id: &Key, name: &Key, item: &Value) -> Option<Given<'_>> {
        let argument = format!("{name}_in");
        let (module, giver) = item.as_map()?.iter().next()?;
        let mut places = self.moved.iter().filter(|(other, of, what)| {
            what.as_str() == Some(&*argument) && of == module && other.to_value().is_same(giver)
        });
        places.find_map(|place| {
            let all = self.arguments.get(place).into_iter().flatten();
            let argument = all.map(|one| self.naming(id, one)).next()?;
            Some(Given {
                id: &place.0,
                name: &place.2,
                argument,
            })
        })
    }

    /// The part of an argument that names a state, or else all of it.
    fn naming(&self, id: &Key, whole: &Argument) -> Argument {
        let items = whole.value.as_list().into_iter().flatten();
        let at = items.enumerate().find(|(_, item)| self.names(id, item));
        at.map_or_else(|| whole.clone(), |(index, _)| whole.inside(index))
    }
}

/// The states whose arguments a state uses.
enum Link<'l> {
    /// Those that are named like this.
    Named(&'l Value),
    /// The one of this ID.
    State(&'l Key),
}

/// True if a value is a text, or a list or mapping that has it.
fn has(value: &Value, text: &Value) -> bool {
    match value {
        Value::List(items) => items.iter().any(|item| has(item, text)),
        Value::Map(map) => map.keys().any(|key| key.to_value().is_same(text)),
        value => value.is_same(text),
    }
}

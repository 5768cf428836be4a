//! The pillars for which both states of a formula are compared.

use mapstack::value::{Key, Map, Value};

use crate::leaves::{at, joined, leaves, mapped, union, with};
use crate::proposal::FormulaKind;

/// A pillar, and where it comes from.
#[derive(Debug, Clone, Default)]
pub struct GivenPillar {
    /// The name, such as `pillar.example`.
    pub name: String,
    /// The pillar.
    pub data: Map,
}

/// The pillars of a proof: those that a formula's repository has, and those in which values are others.
#[derive(Debug, Clone, Default)]
pub struct Pillars {
    /// An empty pillar, and those that are given.
    pub given: Vec<GivenPillar>,
    /// The changed ones.
    pub changed: Vec<GivenPillar>,
}

/// Single values that are changed alone: this many of the map's and of each given pillar.
const SINGLE: usize = 12;

/// The keys that no pillar gives a formula.
const OWN: [&str; 2] = ["map_jinja", "lookup"];

impl Pillars {
    /// The pillars for a formula whose map is made of some keys of the pillar. `maps` are its maps on some minions, whose
    /// keys are those that a pillar could set.
    #[must_use]
    pub fn of(
        given: Vec<GivenPillar>,
        keys: &[Vec<String>],
        maps: &[Value],
        kind: FormulaKind,
    ) -> Self {
        let empty = GivenPillar {
            name: "an empty pillar".into(),
            data: Map::new(),
        };
        let mut pillars = Pillars {
            given: [empty].into_iter().chain(given).collect(),
            changed: Vec::new(),
        };
        let mut known = Map::new();
        for map in maps.iter().filter_map(Value::as_map) {
            union(&mut known, map);
        }
        for own in OWN {
            known.shift_remove(own);
        }
        for key in keys {
            pillars.below(key, &known);
        }
        pillars.of_precedence(keys, &known);
        if kind == FormulaKind::Libmapstack {
            pillars.of_strategies(keys, &known);
        }
        for given in pillars.given.clone() {
            pillars.of_given(&given);
        }
        pillars
    }

    /// The same with pillars that choose files as `libtofs.jinja` and `map.tofs` let them, each for every minion.
    #[must_use]
    pub fn choosing_files(mut self, formula: &str, lookups: Option<&[String]>) -> Self {
        let Some(lookups) = lookups else {
            return self;
        };
        let files = lookups.iter().map(|lookup| {
            let names = ["other.conf", "/etc/other.conf.jinja"];
            (
                Key::from(lookup.as_str()),
                names.into_iter().collect::<Value>(),
            )
        });
        let files: Map = files.collect();
        let switch: Value = ["os", "no/such/value", "roles", "id"].into_iter().collect();
        let dirs = Map::from_iter([("files", "templates"), ("default", "all")]);
        for (name, options) in [
            ("other files", vec![("source_files", Value::from(files))]),
            (
                "other directories",
                vec![
                    ("files_switch", switch),
                    ("path_prefix", "other/place".into()),
                    ("dirs", dirs.into()),
                ],
            ),
        ] {
            let tofs = options.into_iter().collect::<Map>();
            let mut data = nested(&[formula.to_owned(), "tofs".into()], tofs);
            data.insert("roles", ["web", "db"].into_iter().collect::<Value>());
            let name = format!("a pillar with {name}");
            self.given.push(GivenPillar { name, data });
        }
        self
    }

    fn add(&mut self, name: String, data: Map) {
        self.changed.push(GivenPillar { name, data });
    }

    /// Pillars that set what a map has, below a key.
    fn below(&mut self, key: &[String], known: &Map) {
        let shown = key.join(":");
        for (what, change) in CHANGES {
            let data = nested(key, mapped(known, &change));
            self.add(format!("a pillar with {what} below {shown}"), data);
        }
        let more = with(known, &[Key::from("mapstack_new")], Some("new".into()));
        self.add(
            format!("a pillar with a new key below {shown}"),
            nested(key, more),
        );
        for path in spread(&leaves(known), SINGLE) {
            let value = at(known, &path).cloned().unwrap_or_default();
            let only = with(&Map::new(), &path, Some(other(&value)));
            let name = format!("a pillar with another {shown}:{}", joined(&path));
            self.add(name, nested(key, only));
        }
    }

    /// Pillars with different values below each of the keys.
    fn of_precedence(&mut self, keys: &[Vec<String>], known: &Map) {
        let mut all = Map::new();
        for (number, key) in keys.iter().enumerate() {
            let text = |value: &Value| match value {
                Value::List(_) => Some(vec![Value::from(format!("of {number}"))].into()),
                _ => Some(Value::from(format!("of {number}"))),
            };
            let data = nested(key, mapped(known, &text));
            let mut merged = data;
            union(&mut merged, &all);
            all = merged;
        }
        if keys.len() > 1 {
            self.add("a pillar with another value below each key".into(), all);
        }
    }

    /// Pillars that say how they are merged.
    fn of_strategies(&mut self, keys: &[Vec<String>], known: &Map) {
        let Some(key) = keys.last() else { return };
        let longer = mapped(known, &longer);
        for (option, value) in [
            ("strategy", Value::from("recurse")),
            ("strategy", Value::from("overwrite")),
            ("merge_lists", Value::from(true)),
        ] {
            let name = format!("a pillar with {option} {value} below {}", key.join(":"));
            let data = with(&longer, &[Key::from(option)], Some(value));
            self.add(name, nested(key, data));
        }
    }

    /// A given pillar with its values changed.
    fn of_given(&mut self, given: &GivenPillar) {
        if given.data.is_empty() {
            return;
        }
        for (what, change) in CHANGES {
            let name = format!("{} with {what}", given.name);
            self.add(name, mapped(&given.data, &change));
        }
        for path in spread(&leaves(&given.data), SINGLE) {
            let name = format!("{} without {}", given.name, joined(&path));
            self.add(name, with(&given.data, &path, None));
        }
    }
}

/// Makes another value of one; nothing to leave it out.
type ChangeOf = fn(&Value) -> Option<Value>;

/// The changes of every value.
const CHANGES: [(&str, ChangeOf); 4] = [
    ("other values", |value| Some(other(value))),
    ("values of other types", of_other_type),
    ("longer lists", longer),
    ("nothing but null", |_| Some(Value::None)),
];

/// Another value of the same type.
fn other(value: &Value) -> Value {
    match value {
        Value::Bool(is) => (!is).into(),
        Value::Str(text) => format!("{text}-other").into(),
        Value::List(items) => {
            let other = items.iter().map(other).chain(["other".into()]);
            other.collect::<Vec<Value>>().into()
        }
        Value::Map(_) => Map::from_iter([("other", "value")]).into(),
        Value::Int(_) => 4711.into(),
        _ => "other".into(),
    }
}

fn of_other_type(value: &Value) -> Option<Value> {
    Some(match value {
        Value::Str(text) => vec![Value::Str(text.clone())].into(),
        Value::Bool(_) | Value::None => 1.into(),
        _ => "text".into(),
    })
}

/// A list with one more; nothing of other values.
fn longer(value: &Value) -> Option<Value> {
    let list = value.as_list()?;
    let list = list.iter().cloned().chain(["one more".into()]);
    Some(list.collect::<Vec<Value>>().into())
}

/// Data below keys.
fn nested(keys: &[String], data: Map) -> Map {
    let mut data = data;
    for key in keys.iter().rev() {
        data = Map::from_iter([(key.as_str(), Value::from(data))]);
    }
    data
}

/// So many of the items, spread over all of them.
fn spread<T: Clone>(items: &[T], most: usize) -> Vec<T> {
    let step = items.len().div_ceil(most).max(1);
    items.iter().step_by(step).cloned().collect()
}

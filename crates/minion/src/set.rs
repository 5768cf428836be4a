//! Setting single facts by path.

use mapstack_value::{Key, Map, Value, ValueKind, integer_step};
use mapstack_yaml::loose_scalar;

use crate::error::{SetError, nearest};
use crate::{Minion, Part};

/// The possible first steps of a path.
const PARTS: [&str; 4] = ["id", "grains", "pillar", "opts"];

impl Minion {
    /// Set one fact: `grains.os`, `pillar.openssh.port`, `opts.saltenv`, a whole part, or `id`.
    ///
    /// Missing mappings on the way are made. In a list, a step is the index of an item. A path
    /// whose first separator is `:` is split on `:`, for keys with dots.
    ///
    /// ```
    /// use mapstack_minion::Minion;
    /// let mut minion = Minion::new("web1");
    /// minion.set("grains.roles", mapstack_yaml::load("[web, db]").unwrap()).unwrap();
    /// minion.set("grains.roles.1", "cache").unwrap();
    /// minion.set("pillar:redis.port", 6380).unwrap();
    /// assert_eq!(minion.grains.get("roles").unwrap().repr(), "['web', 'cache']");
    /// assert_eq!(minion.pillar.get("redis.port").unwrap().repr(), "6380");
    /// let error = minion.set("grain.os", "Debian").unwrap_err();
    /// assert!(error.to_string().ends_with("did you mean `grains`?"));
    /// ```
    ///
    /// # Errors
    /// [`SetError`] for a path that begins with no part, has empty steps or leads through
    /// something without entries. Nothing is changed then.
    pub fn set(&mut self, path: &str, value: impl Into<Value>) -> Result<(), SetError> {
        let value = value.into();
        let separator = path.chars().find(|c| matches!(c, '.' | ':'));
        let mut steps: Vec<&str> =
            separator.map_or_else(|| vec![path], |separator| path.split(separator).collect());
        if let Some(separator) = separator.filter(|_| steps.iter().any(|step| step.is_empty())) {
            return Err(SetError::EmptyStep { separator });
        }
        let name = steps.remove(0);
        let (part, path_of_keys) = (
            Part::parse(name),
            steps.iter().map(|step| Key::from(*step)).collect(),
        );
        match (part, value) {
            (Some(part), Value::Map(facts)) if steps.is_empty() => *self.part_mut(part) = facts,
            (Some(_), value) if steps.is_empty() => {
                return Err(wrong_kind(path, "a mapping", &value));
            }
            (Some(part), value) => {
                let place = WholePath {
                    path,
                    separator: separator.unwrap_or('.'),
                };
                set_in(self.part_mut(part), &steps, value, &place)?;
            }
            (None, value @ (Value::List(_) | Value::Map(_))) if path == "id" => {
                return Err(wrong_kind(path, "a name", &value));
            }
            (None, value) if path == "id" => self.id = value,
            (None, _) if name == "id" => {
                let (path, step) = (name.to_owned(), steps.concat());
                return Err(SetError::NotAContainer {
                    path,
                    step,
                    found: ValueKind::Str,
                });
            }
            (None, _) => {
                return Err(SetError::UnknownPart {
                    name: name.to_owned(),
                    nearest: nearest(name, &PARTS),
                });
            }
        }
        self.sources.set(part, path_of_keys);
        Ok(())
    }
}

fn wrong_kind(path: &str, expected: &'static str, value: &Value) -> SetError {
    SetError::WrongKind {
        path: path.to_owned(),
        expected,
        found: value.kind(),
    }
}

/// The whole path, to name the part of it that is behind.
struct WholePath<'p> {
    path: &'p str,
    separator: char,
}

impl WholePath<'_> {
    /// The path without the steps that are still to go.
    fn before(&self, steps: &[&str]) -> String {
        let to_go: usize = steps
            .iter()
            .map(|step| step.len() + self.separator.len_utf8())
            .sum();
        self.path[..self.path.len() - to_go].to_owned()
    }
}

fn set_in(
    map: &mut Map,
    steps: &[&str],
    value: Value,
    place: &WholePath<'_>,
) -> Result<(), SetError> {
    let Some((step, rest)) = steps.split_first() else {
        return Ok(());
    };
    let key = key_for(map, step);
    if rest.is_empty() {
        map.insert(key, value);
        return Ok(());
    }
    if let Some(entry) = map.get_mut(&key) {
        return set_below(entry, rest, value, place);
    }
    let mut made = Map::new();
    set_in(&mut made, rest, value, place)?;
    map.insert(key, made);
    Ok(())
}

fn set_below(
    entry: &mut Value,
    steps: &[&str],
    value: Value,
    place: &WholePath<'_>,
) -> Result<(), SetError> {
    let Some((step, rest)) = steps.split_first() else {
        *entry = value;
        return Ok(());
    };
    match entry {
        Value::Map(map) => set_in(map, steps, value, place),
        Value::List(items) => {
            let index =
                integer_step(&Key::from(*step)).and_then(|i| usize::try_from(i.to_i64()?).ok());
            let Some(index) = index.filter(|i| *i < items.len()) else {
                let (path, step, len) = (place.before(steps), (*step).to_owned(), items.len());
                return Err(SetError::NoSuchItem { path, step, len });
            };
            set_below(&mut items.make_mut()[index], rest, value, place)
        }
        other => {
            let (path, step, found) = (place.before(steps), (*step).to_owned(), other.kind());
            Err(SetError::NotAContainer { path, step, found })
        }
    }
}

/// The key of a step: the one of a mapping that a look-up would find, else the text.
fn key_for(map: &Map, step: &str) -> Key {
    let loosely = || {
        Key::try_from(&loose_scalar(step)?)
            .ok()
            .filter(|key| map.contains_key(key))
    };
    if map.contains_key(step) {
        step.into()
    } else {
        loosely().unwrap_or_else(|| step.into())
    }
}

//! A schema inferred from values.

use std::collections::{BTreeMap, BTreeSet};

use mapstack_value::{Key, Map, Value};
use serde_json::{Map as Object, Value as Json, json};

use crate::schema::json::json as as_json;

/// The dialect that is written.
const DIALECT: &str = "https://json-schema.org/draft/2020-12/schema";

/// A schema of a formula's values: the types its keys have in the defaults and in other layers, with
/// the defaults' own scalars as `default`.
///
/// `shows` says whether the default under some keys may be written down.
///
/// Nothing is required and other keys may come, as every layer is only a part of the whole: an inferred
/// schema describes the known values; people make it stricter by hand.
///
/// ```
/// let defaults = mapstack_yaml::load("a: {b: 1.5}").unwrap();
/// let schema = mapstack_lint::schema::infer("f", &defaults, [], |_, _| true);
/// assert_eq!(schema["properties"]["a"]["properties"]["b"], serde_json::json!({"type": "number", "default": 1.5}));
/// ```
#[must_use]
pub fn infer<'v>(
    title: &str,
    defaults: &Value,
    others: impl IntoIterator<Item = &'v Value>,
    shows: impl Fn(&[Key], &Value) -> bool,
) -> Json {
    let mut shape = Shape::default();
    shape.add(defaults);
    others.into_iter().for_each(|other| shape.add(other));
    let mut schema = Object::new();
    schema.insert("$schema".into(), DIALECT.into());
    schema.insert("title".into(), title.into());
    schema.extend(shape.schema(Some(defaults), &mut Vec::new(), &shows));
    Json::Object(schema)
}

/// The values seen at one place.
#[derive(Debug, Default)]
struct Shape {
    types: BTreeSet<Type>,
    /// In the order they were first seen.
    order: Vec<String>,
    properties: BTreeMap<String, Shape>,
    items: Option<Box<Shape>>,
}

/// The types of JSON, in the order they are listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Type {
    Boolean,
    Integer,
    Number,
    String,
    Array,
    Object,
    Null,
}

impl Type {
    fn of(value: &Value) -> Self {
        match value {
            Value::None => Type::Null,
            Value::Bool(_) => Type::Boolean,
            Value::Int(_) => Type::Integer,
            Value::Float(_) => Type::Number,
            Value::List(_) | Value::Tuple(_) => Type::Array,
            Value::Map(_) => Type::Object,
            _ => Type::String,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Type::Boolean => "boolean",
            Type::Integer => "integer",
            Type::Number => "number",
            Type::String => "string",
            Type::Array => "array",
            Type::Object => "object",
            Type::Null => "null",
        }
    }
}

impl Shape {
    fn add(&mut self, value: &Value) {
        self.types.insert(Type::of(value));
        match value {
            Value::Map(map) => map
                .iter()
                .for_each(|(key, inside)| self.property(key).add(inside)),
            Value::List(items) => items
                .iter()
                .for_each(|item| self.items.get_or_insert_default().add(item)),
            Value::Tuple(items) => items
                .iter()
                .for_each(|item| self.items.get_or_insert_default().add(item)),
            _ => {}
        }
    }

    fn property(&mut self, key: &Key) -> &mut Shape {
        let name = key.to_string();
        if !self.properties.contains_key(&name) {
            self.order.push(name.clone());
        }
        self.properties.entry(name).or_default()
    }

    fn schema(
        &self,
        default: Option<&Value>,
        path: &mut Vec<Key>,
        shows: &dyn Fn(&[Key], &Value) -> bool,
    ) -> Object<String, Json> {
        let mut schema = Object::new();
        let mut types = self.types.clone();
        // A whole number is a number.
        if types.contains(&Type::Number) {
            types.remove(&Type::Integer);
        }
        let names: Vec<&str> = types.iter().map(|one| one.name()).collect();
        match names.as_slice() {
            [] => {}
            [one] => drop(schema.insert("type".into(), (*one).into())),
            many => drop(schema.insert("type".into(), json!(many))),
        }
        let is_scalar =
            |value: &&Value| !matches!(value, Value::Map(_) | Value::List(_) | Value::Tuple(_));
        if let Some(scalar) = default.filter(is_scalar).filter(|value| shows(path, value)) {
            schema.insert("default".into(), as_json(scalar));
        }
        if !self.order.is_empty() {
            let mut properties = Object::new();
            for name in &self.order {
                let Some(shape) = self.properties.get(name) else {
                    continue;
                };
                let default = default
                    .and_then(Value::as_map)
                    .and_then(|map| entry(map, name));
                path.push(Key::from(name.as_str()));
                properties.insert(
                    name.clone(),
                    Json::Object(shape.schema(default, path, shows)),
                );
                path.pop();
            }
            schema.insert("properties".into(), Json::Object(properties));
        }
        if let Some(items) = &self.items {
            schema.insert(
                "items".into(),
                Json::Object(items.schema(None, path, shows)),
            );
        }
        schema
    }
}

fn entry<'m>(map: &'m Map, name: &str) -> Option<&'m Value> {
    map.get(name).or_else(|| {
        map.iter()
            .find(|(key, _)| key.to_string() == name)
            .map(|(_, value)| value)
    })
}

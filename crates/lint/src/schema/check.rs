//! Checking values by a schema.

use jsonschema::error::ValidationErrorKind;
use jsonschema::{ValidationError, Validator};
use mapstack_value::{Key, Value};
use serde_json::Value as Json;

use crate::schema::json::json;
use crate::schema::{SchemaError, Violation};

/// A schema, ready to check values.
#[derive(Debug)]
pub struct Schema {
    validator: Validator,
}

impl Schema {
    /// Read a schema. References lead to its own parts only: nothing is fetched.
    ///
    /// # Errors
    /// It is not a valid schema, or refers to another one.
    pub fn compile(schema: &Json) -> Result<Self, SchemaError> {
        let wrong = |error: ValidationError<'_>| SchemaError {
            at: steps(&error).map(str::to_owned).collect(),
            message: match error.kind() {
                ValidationErrorKind::Referencing(_) => {
                    format!(
                        "{} (only references inside of the schema are followed)",
                        reference(&error.to_string())
                    )
                }
                _ => error.to_string(),
            },
        };
        jsonschema::options()
            .build(schema)
            .map(|validator| Schema { validator })
            .map_err(wrong)
    }

    /// The same for a schema that is a value, as YAML gives it.
    ///
    /// # Errors
    /// As [`compile`](Self::compile).
    pub fn of_value(schema: &Value) -> Result<Self, SchemaError> {
        Self::compile(&json(schema))
    }

    /// Everything that is wrong with a value, in the order of its keys.
    #[must_use]
    pub fn check(&self, value: &Value) -> Vec<Violation> {
        let instance = json(value);
        let mut found: Vec<Violation> = self
            .validator
            .iter_errors(&instance)
            .flat_map(|error| violations(&error, value))
            .collect();
        found.sort_by_cached_key(|one| positions(value, &one.path));
        found
    }
}

/// A message about a reference, without the names of features that programs are built with.
fn reference(message: &str) -> &str {
    message
        .split(" and retrieving it failed")
        .next()
        .unwrap_or(message)
}

/// The steps of the pointer to what is wrong.
fn steps<'e>(error: &'e ValidationError<'_>) -> impl Iterator<Item = &'e str> {
    error.instance_path().as_str().split('/').skip(1)
}

fn violations(error: &ValidationError<'_>, value: &Value) -> Vec<Violation> {
    let unescaped: Vec<String> = steps(error)
        .map(|step| step.replace("~1", "/").replace("~0", "~"))
        .collect();
    let path = path(value, unescaped.iter().map(String::as_str));
    // A collection would be printed whole.
    let is_large = error.instance().is_object() || error.instance().is_array();
    let masked = error.masked().to_string();
    let message = if is_large {
        masked.clone()
    } else {
        error.to_string()
    };
    let one = |message: String, masked: String, unexpected| Violation {
        path: path.clone(),
        message,
        masked,
        needs_whole: is_missing(error.kind()) || depends(error.schema_path().as_str()),
        unexpected,
    };
    match error.kind() {
        // Each key has its place.
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => unexpected
            .iter()
            .map(|key| {
                let message = format!("the schema has no key '{key}' here");
                one(message.clone(), message, Some(key.clone()))
            })
            .collect(),
        _ => vec![one(message, masked, None)],
    }
}

fn is_missing(kind: &ValidationErrorKind) -> bool {
    matches!(
        kind,
        ValidationErrorKind::Required { .. }
            | ValidationErrorKind::MinProperties { .. }
            | ValidationErrorKind::MinItems { .. }
            | ValidationErrorKind::Contains
            | ValidationErrorKind::AnyOf { .. }
            | ValidationErrorKind::OneOfNotValid { .. }
    )
}

/// True if a keyword is inside one that also checks other keys.
fn depends(schema_path: &str) -> bool {
    const CONDITIONS: [&str; 9] = [
        "if",
        "then",
        "else",
        "anyOf",
        "oneOf",
        "not",
        "dependentSchemas",
        "dependentRequired",
        "propertyNames",
    ];
    let mut steps = schema_path.split('/').skip(1).peekable();
    while let Some(step) = steps.next() {
        // The names of properties are not keywords.
        if matches!(
            step,
            "properties" | "patternProperties" | "$defs" | "definitions"
        ) {
            steps.next();
        } else if CONDITIONS.contains(&step) {
            return true;
        }
    }
    false
}

/// The positions of a path's steps among their siblings.
fn positions(value: &Value, path: &[Key]) -> Vec<usize> {
    let mut here = Some(value);
    let position = |step: &Key| {
        let (at, inside) = match here {
            Some(Value::Map(map)) => (map.index_of(step), map.get(step)),
            Some(Value::List(items)) => {
                let at = step.to_string().parse().ok();
                (at, at.and_then(|at: usize| items.get(at)))
            }
            _ => (None, None),
        };
        here = inside;
        at.unwrap_or(usize::MAX)
    };
    path.iter().map(position).collect()
}

/// The keys and indices behind the steps of a JSON pointer.
fn path<'p>(value: &Value, steps: impl Iterator<Item = &'p str>) -> Vec<Key> {
    let (mut here, mut path) = (Some(value), Vec::new());
    for step in steps {
        let (key, next) = match here {
            Some(Value::Map(map)) => match map.iter().find(|(key, _)| key.to_string() == step) {
                Some((key, inside)) => (key.clone(), Some(inside)),
                None => (Key::from(step), None),
            },
            Some(Value::List(items)) => item(items, step),
            Some(Value::Tuple(items)) => item(items, step),
            _ => (Key::from(step), None),
        };
        path.push(key);
        here = next;
    }
    path
}

fn item<'v>(items: &'v [Value], step: &str) -> (Key, Option<&'v Value>) {
    match step.parse::<i64>() {
        Ok(index) => (
            Key::from(index),
            usize::try_from(index)
                .ok()
                .and_then(|index| items.get(index)),
        ),
        Err(_) => (Key::from(step), None),
    }
}

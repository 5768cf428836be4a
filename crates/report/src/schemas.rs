//! The JSON Schemas of what is printed as JSON, made from the types that print it.
//!
//! The feature `schemas` is for tests and does not change what is printed.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Value, json};

use crate::document::{Data, Plain, Steps, TrueFlag};
use crate::{
    config, diff, explain, files, fleet, fleet_states, impact, lint, parse, pillar, platforms,
    sources, test,
};

/// The name of each schema, which `docs/NAME.schema.json` contains.
pub fn all() -> [(&'static str, Schema); 16] {
    [
        of::<Vec<lint::Call<'_>>>("calls", "mapstack lint --calls -o json"),
        of::<config::OptionsInForce<'_>>("config", "mapstack config -o json"),
        of::<diff::Rows<'_>>("diff", "mapstack diff -o json"),
        of::<explain::ExplanationRows<'_>>("explain", "mapstack explain -o json"),
        of::<explain::ExplainedHighstate<'_>>(
            "explain-highstate",
            "mapstack explain highstate -o json",
        ),
        of::<files::FilesDocument<'_>>("file", "mapstack file -o json"),
        of::<fleet::FleetLine<'_>>("fleet", "a line of mapstack fleet -o jsonl"),
        of::<fleet_states::FleetStates>("fleet-highstate", "mapstack fleet highstate -o json"),
        of::<impact::ReachedMinions<'_>>("impact", "mapstack impact -o json"),
        of::<lint::Findings<'_>>("lint", "mapstack lint -o json"),
        of::<parse::DefinitionDocument<'_>>("parse", "mapstack parse -o json"),
        of::<Vec<platforms::PlatformRow>>("platforms", "mapstack platforms -o json"),
        of::<sources::LookUps<'_>>("sources", "mapstack sources -o json"),
        of::<pillar::PillarSources<'_>>("sources-pillar", "mapstack sources pillar -o json"),
        of::<test::Results<'_>>("test", "mapstack test -o json"),
        of::<pillar::Trace<'_>>("trace", "mapstack pillar --trace -o json"),
    ]
}

/// The schema of a type's output, strict: with all of its properties that are not optional, and no others.
fn of<T: JsonSchema>(name: &'static str, title: &str) -> (&'static str, Schema) {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let settings = settings.with_transform(strict as fn(&mut Schema));
    let mut schema = settings.into_generator().into_root_schema_for::<T>();
    schema.insert("title".into(), title.into());
    (name, schema)
}

/// Numbers have no format, what is optional is left out rather than null, and nothing else is there.
fn strict(schema: &mut Schema) {
    transform_subschemas(&mut strict, schema);
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    let is_uint = |value: &Value| {
        value
            .as_str()
            .is_some_and(|format| format.starts_with("uint"))
    };
    object.retain(|key, value| key != "format" || !is_uint(value));
    let required = object.get("required").cloned().unwrap_or_default();
    let is_required = |name: &str| {
        let names = required.as_array();
        names.is_some_and(|names| names.iter().any(|one| one == name))
    };
    let Some(Value::Object(properties)) = object.get_mut("properties") else {
        return;
    };
    let optional = properties.iter_mut().filter(|(name, _)| !is_required(name));
    optional.for_each(|(_, property)| without_null(property));
    // The properties of a flattened value are merged into those of the object.
    let others = match object.get_mut("anyOf") {
        Some(flattened) => {
            reopen(flattened);
            "unevaluatedProperties"
        }
        None => "additionalProperties",
    };
    object.insert(others.into(), json!(false));
}

/// Let alternatives have properties that they do not name.
fn reopen(alternatives: &mut Value) {
    for alternative in alternatives.as_array_mut().into_iter().flatten() {
        let Some(object) = alternative.as_object_mut() else {
            continue;
        };
        object
            .retain(|key, _| !["additionalProperties", "unevaluatedProperties"].contains(&&**key));
        object.get_mut("anyOf").into_iter().for_each(reopen);
    }
}

fn without_null(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else {
        return;
    };
    for (key, null) in [("type", json!("null")), ("anyOf", json!({"type": "null"}))] {
        let Some(Value::Array(alternatives)) = object.get_mut(key) else {
            continue;
        };
        alternatives.retain(|one| *one != null);
        if let [only] = &**alternatives {
            match only.clone() {
                Value::Object(only) => {
                    object.remove(key);
                    object.extend(only);
                }
                only => drop(object.insert(key.into(), only)),
            }
        }
    }
}

/// Schemas of types that serialize themselves.
macro_rules! schemas {
    ($($type:ty, $schema:tt;)*) => {$(
        impl JsonSchema for $type {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($type).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!($schema)
            }
        }
    )*};
}

schemas! {
    Data, {};
    Plain, {};
    TrueFlag, { "const": true };
    Steps, { "type": "array", "description": "Keys and, in lists, indices from 0." };
}

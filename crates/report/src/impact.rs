//! What a file, a key or a fact reaches.

use mapstack::value::Value;
use mapstack_fleet::Impact;
use mapstack_fleet::impact::What;

use crate::values::{number, object};
use crate::words::{count, some};
use crate::yaml_form::inline;

/// Minions that are named for each formula and value.
const NAMED: usize = 8;

/// What is reached, for people; `given` is what was asked for.
pub fn text(given: &str, what: &What, impact: &Impact) -> String {
    let given = match what {
        What::File(path) => format!("salt://{path}"),
        _ => given.to_owned(),
    };
    let count = |n: usize| count(n, "minion");
    let mut reached: Vec<&String> = impact
        .formulas
        .iter()
        .flat_map(|row| &row.minions)
        .collect();
    reached.sort_unstable();
    reached.dedup();
    let mut text = format!(
        "{given} reaches {} of {}\n",
        reached.len(),
        count(impact.minions)
    );
    for row in &impact.formulas {
        text.push_str(&format!(
            "{}: {}: {}\n",
            row.formula,
            count(row.minions.len()),
            some(&row.minions, NAMED)
        ));
        for value in &row.values {
            let origin = value
                .origin
                .as_ref()
                .map(|origin| format!("  {origin}"))
                .unwrap_or_default();
            let minions = format!(
                "{}: {}",
                count(value.minions.len()),
                some(&value.minions, NAMED)
            );
            text.push_str(&format!(
                "  {}{origin}\n    {minions}\n",
                inline(&value.value)
            ));
        }
    }
    text
}

/// What is reached, for programs; `given` is what was asked for.
pub fn rows(given: &str, impact: &Impact) -> Value {
    let formulas = impact.formulas.iter().map(|row| {
        let values = row.values.iter().map(|value| {
            object([
                ("value", (*value.value).clone()),
                (
                    "origin",
                    value.origin.as_deref().map_or(Value::None, Value::from),
                ),
                ("count", number(value.minions.len())),
                ("minions", value.minions.iter().collect()),
            ])
        });
        object([
            ("formula", row.formula.as_str().into()),
            ("count", number(row.minions.len())),
            ("minions", row.minions.iter().collect()),
            ("values", values.collect()),
        ])
    });
    object([
        ("of", given.into()),
        ("minions", number(impact.minions)),
        ("formulas", formulas.collect()),
    ])
}

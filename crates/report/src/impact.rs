//! The minions that a file, a key or a fact reaches.

use mapstack_fleet::impact::{self, Impact, What};
use serde::Serialize;

use crate::document::Data;
use crate::words::{count, some};
use crate::yaml_form::inline;

/// Minions that are named for each formula and value.
const NAMED: usize = 8;

/// Which minions a value or a fact reaches.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Reach<'i> {
    /// The subject that was asked about.
    of: &'i str,
    /// The number of minions that were looked at.
    minions: usize,
    formulas: Vec<Formula<'i>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Formula<'i> {
    formula: &'i str,
    /// The number of minions that it reaches.
    count: usize,
    /// Their ids, sorted.
    minions: &'i [String],
    values: Vec<Holder<'i>>,
}

#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct Holder<'i> {
    value: Data,
    /// Where it stands, as file:line:column or in words.
    origin: Option<&'i str>,
    /// The number of minions that have it.
    count: usize,
    /// Their ids, sorted.
    minions: &'i [String],
}

impl<'i> Reach<'i> {
    /// The report of what `impact` found; `given` is the question.
    pub fn new(given: &'i str, impact: &'i Impact) -> Self {
        Reach {
            of: given,
            minions: impact.minions,
            formulas: impact.formulas.iter().map(Formula::of).collect(),
        }
    }

    /// For people.
    pub fn text(&self, what: &What) -> String {
        let given = match what {
            What::File(path) => format!("salt://{path}"),
            _ => self.of.to_owned(),
        };
        let count = |n: usize| count(n, "minion");
        let mut reached: Vec<&String> = self.formulas.iter().flat_map(|row| row.minions).collect();
        reached.sort_unstable();
        reached.dedup();
        let mut text = format!(
            "{given} reaches {} of {}\n",
            reached.len(),
            count(self.minions)
        );
        for row in &self.formulas {
            let minions = some(row.minions, NAMED);
            text.push_str(&format!(
                "{}: {}: {minions}\n",
                row.formula,
                count(row.count)
            ));
            for value in &row.values {
                let origin = value.origin.map(|origin| format!("  {origin}"));
                text.push_str(&format!(
                    "  {}{}\n    {}: {}\n",
                    inline(&value.value.0),
                    origin.unwrap_or_default(),
                    count(value.count),
                    some(value.minions, NAMED)
                ));
            }
        }
        text
    }
}

impl<'i> Formula<'i> {
    fn of(row: &'i impact::Reached) -> Self {
        let values = row.values.iter().map(|value| Holder {
            value: value.value.clone().into(),
            origin: value.origin.as_deref(),
            count: value.minions.len(),
            minions: &value.minions,
        });
        Formula {
            formula: &row.formula,
            count: row.minions.len(),
            minions: &row.minions,
            values: values.collect(),
        }
    }
}

//! The functions that templates can call.

use std::collections::BTreeMap;

use mapstack::{Answerer, Engine, Place, Survey};
use serde::Serialize;

/// The functions of some formulas, with who answers them and where they are used. A name that is
/// computed comes last.
pub struct Calls<'s>(BTreeMap<(bool, &'s str), (Answerer, Vec<&'s Place>)>);

impl<'s> Calls<'s> {
    /// The functions that the templates of `surveys` can call.
    pub fn new(engine: &Engine, surveys: &'s [Survey]) -> Self {
        let mut calls = BTreeMap::new();
        for call in surveys.iter().flat_map(|survey| &survey.calls) {
            let name = call.function.as_deref();
            let answerer = name.map_or(Answerer::Unanswered, |name| engine.answerer(name));
            let (_, places) = calls
                .entry((name.is_none(), name.unwrap_or_default()))
                .or_insert_with(|| (answerer, Vec::new()));
            // A template that two formulas load is read for each.
            if !places.contains(&&call.place) {
                places.push(&call.place);
            }
        }
        Calls(calls)
    }

    /// For people.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for ((computed, name), (answerer, places)) in &self.0 {
            match computed {
                true => text.push_str("names that templates compute\n"),
                false => text.push_str(&format!("{name}: {answerer}\n")),
            }
            for place in places {
                text.push_str(&format!("  {place}\n"));
            }
        }
        text
    }

    /// For programs.
    pub fn rows(&self) -> Vec<Call<'_>> {
        let row =
            |((computed, name), (answerer, places)): (&(bool, &'s str), &(_, Vec<&'s Place>))| {
                Call {
                    function: (!computed).then_some(*name),
                    answered: (!computed).then(|| Answerer::to_string(answerer)),
                    uses: places.iter().map(|place| CallPlace::of(place)).collect(),
                }
            };
        self.0.iter().map(row).collect()
    }
}

/// A function that templates can call.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
pub struct Call<'s> {
    /// Its name; null for names that templates compute.
    function: Option<&'s str>,
    /// The source of its answer, in words; null for names that templates compute.
    answered: Option<String>,
    /// The places in templates that refer to it.
    uses: Vec<CallPlace<'s>>,
}

/// A place in a template.
#[derive(Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
struct CallPlace<'s> {
    file: &'s str,
    line: usize,
    column: usize,
}

impl<'s> CallPlace<'s> {
    fn of(place: &'s Place) -> Self {
        CallPlace {
            file: &place.file,
            line: place.line(),
            column: place.column(),
        }
    }
}

//! The functions that templates can call.

use std::collections::BTreeMap;

use mapstack::value::{Map, Value};
use mapstack::{Answerer, Engine, Place, Survey};

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
    pub fn rows(&self) -> Value {
        self.0
            .iter()
            .map(|((computed, name), (answerer, places))| {
                let uses: Value = places
                    .iter()
                    .map(|place| Value::from(position(place)))
                    .collect();
                let name = if *computed {
                    Value::None
                } else {
                    (*name).into()
                };
                let answered = if *computed {
                    Value::None
                } else {
                    answerer.to_string().into()
                };
                let row: [(&str, Value); 3] =
                    [("function", name), ("answered", answered), ("uses", uses)];
                Value::from(row.into_iter().collect::<Map>())
            })
            .collect()
    }
}

fn position(place: &Place) -> Map {
    let row: [(&str, Value); 3] = [
        ("file", place.file.as_str().into()),
        (
            "line",
            i64::try_from(place.line()).unwrap_or(i64::MAX).into(),
        ),
        (
            "column",
            i64::try_from(place.column()).unwrap_or(i64::MAX).into(),
        ),
    ];
    row.into_iter().collect()
}

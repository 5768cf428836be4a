//! `mapstack lint --calls`.

use std::collections::BTreeMap;

use mapstack::value::{Map, Value};
use mapstack::{Answerer, Engine, Place, Survey};

use crate::cli::{Findings, Lint};
use crate::output;
use crate::report::{Failure, Reporter};

/// Print the functions that templates can call.
pub fn run(
    args: &Lint,
    engine: &Engine,
    formulas: &[String],
    reporter: &Reporter,
) -> Result<(), Failure> {
    let saltenv = args.files.saltenv.as_deref().unwrap_or("base");
    let surveys: Vec<Survey> = formulas
        .iter()
        .map(|formula| engine.survey(formula, saltenv))
        .collect::<Result<_, mapstack::Error>>()?;
    let calls = by_function(engine, &surveys);
    match args.format {
        Findings::Text => output::write_listing(&text(&calls))?,
        Findings::Json => output::write(&as_json(&calls)?)?,
        Findings::Sarif | Findings::Github => {
            return Err(Failure::Usage("--calls prints text or json".into()));
        }
    }
    reporter.errors(reporter.redact_all(surveys.iter().flat_map(|survey| &survey.errors)))
}

/// The functions of some formulas, with who answers them and where they are used. A name that is
/// computed comes last.
type Calls<'s> = BTreeMap<(bool, &'s str), (Answerer, Vec<&'s Place>)>;

fn by_function<'s>(engine: &Engine, surveys: &'s [Survey]) -> Calls<'s> {
    let mut calls = Calls::new();
    for call in surveys.iter().flat_map(|survey| &survey.calls) {
        let name = call.function.as_deref();
        let answerer = name.map_or(Answerer::Nobody, |name| engine.answerer(name));
        let (_, places) = calls
            .entry((name.is_none(), name.unwrap_or_default()))
            .or_insert_with(|| (answerer, Vec::new()));
        // A template that two formulas load is read for each.
        if !places.contains(&&call.place) {
            places.push(&call.place);
        }
    }
    calls
}

fn text(calls: &Calls<'_>) -> String {
    let mut text = String::new();
    for ((computed, name), (answerer, places)) in calls {
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

fn as_json(calls: &Calls<'_>) -> Result<String, Failure> {
    let rows: Value = calls
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
        .collect();
    output::as_json(&rows)
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

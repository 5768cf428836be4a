//! `mapstack lint`.

use std::collections::BTreeMap;

use mapstack::value::{Map, Value};
use mapstack::{Answerer, CallSite, Diagnostic, Engine, Error, ErrorKind, Place, Survey};

use crate::cli::{Lint, Listing};
use crate::configuration;
use crate::functions;
use crate::inputs;
use crate::output;
use crate::report::{Failure, Reporter};

pub fn run(args: &Lint, reporter: &Reporter) -> Result<(), Failure> {
    let config = configuration::read(&args.files, None, None, reporter)?;
    let engine = functions::add(
        Engine::new(inputs::served(&args.files, config.as_ref(), None, reporter)?.files),
        &args.functions,
    )?;
    let saltenv = args.files.saltenv.as_deref().unwrap_or("base");
    let mut surveys = Vec::new();
    for formula in &args.formulas {
        let survey = engine.survey(formula, saltenv)?;
        if survey.templates.is_empty() && survey.errors.is_empty() && survey.skipped.is_empty() {
            let message = format!("no template lies below salt://{formula}/");
            return Err(Error::new(ErrorKind::File, message).into());
        }
        surveys.push(survey);
    }
    if args.calls {
        let calls = by_function(&engine, &surveys);
        output::write(&match args.format {
            Listing::Text => text(&calls),
            Listing::Json => as_json(&calls)?,
        })?;
    } else {
        let unanswered = surveys.iter().flat_map(|s| &s.calls).filter_map(|call| unanswered(&engine, call));
        reporter.warn(&unanswered.collect::<Vec<_>>())?;
    }
    reporter.errors(surveys.iter().flat_map(|survey| &survey.errors))
}

/// The functions of some formulas, with who answers them and where they are used. A name that is
/// computed comes last.
type Calls<'s> = BTreeMap<(bool, &'s str), (Answerer, Vec<&'s Place>)>;

fn by_function<'s>(engine: &Engine, surveys: &'s [Survey]) -> Calls<'s> {
    let mut calls = Calls::new();
    for call in surveys.iter().flat_map(|survey| &survey.calls) {
        let name = call.function.as_deref();
        let answerer = name.map_or(Answerer::Nobody, |name| engine.answerer(name));
        let (_, places) =
            calls.entry((name.is_none(), name.unwrap_or_default())).or_insert_with(|| (answerer, Vec::new()));
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
            let uses: Value = places.iter().map(|place| Value::from(position(place))).collect();
            let name = if *computed { Value::None } else { (*name).into() };
            let answered = if *computed { Value::None } else { answerer.to_string().into() };
            let row: [(&str, Value); 3] = [("function", name), ("answered", answered), ("uses", uses)];
            Value::from(row.into_iter().collect::<Map>())
        })
        .collect();
    output::as_json(&rows)
}

fn position(place: &Place) -> Map {
    let row: [(&str, Value); 3] = [
        ("file", place.file.as_str().into()),
        ("line", i64::try_from(place.line()).unwrap_or(i64::MAX).into()),
        ("column", i64::try_from(place.column()).unwrap_or(i64::MAX).into()),
    ];
    row.into_iter().collect()
}

/// What to say about a call that no run could answer as things are.
fn unanswered(engine: &Engine, call: &CallSite) -> Option<Diagnostic> {
    let name = call.function.as_deref()?;
    (engine.answerer(name) == Answerer::Nobody).then(|| {
        let what = if name.contains('.') { format!("salt['{name}']") } else { format!("the filter '{name}'") };
        let warning = Diagnostic::warning(ErrorKind::Unsupported, format!("nothing answers {what}"));
        let help = engine.advice(name).unwrap_or_else(|| "write its answer down in a file for --stub".into());
        Diagnostic { place: Some(call.place.clone()), help: Some(help), ..warning }
    })
}

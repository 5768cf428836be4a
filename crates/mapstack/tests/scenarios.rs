//! Compares whole runs with recorded runs of the reference: results, errors, and the order of file requests.

use crate::common::{assert_repeated, map, minion, records};
use mapstack::loader::MemoryFiles;
use mapstack::trace::{Event, RequestOutcome, TracedRequest};
use mapstack::value::{Map, Value};
use mapstack::{DataOptions, Engine, Error, ErrorKind, Result, Run, StackOptions, TofsOptions};

/// Records whose results differ deliberately, with the reason.
const DIFFERENCES: &[(&str, &str)] = &[
    (
        "stack: anchor aliasing leak across layers",
        "values are values: a layer that merges into one spelling of a YAML anchor does not change the other",
    ),
    (
        "stack: pillar masked outside templates",
        "pillar values are never masked",
    ),
    (
        "stack: pillar masked outside templates: paths",
        "pillar values are never masked",
    ),
    (
        "data: custom_data is not forwarded",
        "map.data's custom_data reaches the layers",
    ),
    (
        "data: cache false + meta cache true",
        "there is no cache that could be in the wrong state",
    ),
    (
        "data: map_jinja post_map_template=bogus",
        "a post-map file that is there is recorded as found, even though no engine runs it",
    ),
    (
        "data: post-map \"{% do mapdata.update({'pm': 1}) %}\" {'post_map_template': 'bogus'}",
        "a post-map file that is there is recorded as found, even though no engine runs it",
    ),
];

fn strings(record: &Map, key: &str) -> Option<Vec<String>> {
    Some(
        record
            .get(key)?
            .as_list()?
            .iter()
            .map(ToString::to_string)
            .collect(),
    )
}

fn engine(record: &Map) -> Engine {
    let files = map(record, "files")
        .iter()
        .fold(MemoryFiles::new(), |files, (path, text)| {
            files.file("base", &path.to_string(), text.to_string())
        });
    Engine::new(files)
}

/// Positional and named arguments, as the reference's functions accept them.
fn kwargs(record: &Map, leading: &[&str], names: &[&str]) -> (Vec<Value>, Map) {
    let args = record
        .get("args")
        .and_then(Value::as_list)
        .unwrap_or_default();
    let mut kwargs = map(record, "kwargs");
    for (name, value) in leading.iter().chain(names).zip(args) {
        kwargs.insert(*name, value.clone());
    }
    let first = leading
        .iter()
        .map(|name| kwargs.shift_remove(*name).unwrap_or_default())
        .collect();
    (first, kwargs)
}

fn call(run: &Run<'_>, record: &Map) -> Result<Value> {
    match record.get("function").and_then(Value::as_str).unwrap() {
        "map.data" => {
            let (first, kwargs) = kwargs(record, &["tpldir"], DataOptions::NAMES);
            run.data(&first[0].to_string(), &DataOptions::from_kwargs(&kwargs)?)
        }
        "map.stack" => {
            let (first, kwargs) = kwargs(record, &["tpldir", "sources"], StackOptions::NAMES);
            run.stack(
                &first[0].to_string(),
                &first[1],
                &StackOptions::from_kwargs(&kwargs)?,
            )
        }
        "map.tofs" => {
            let (first, kwargs) = kwargs(record, &["tpldir", "source_files"], TofsOptions::NAMES);
            let paths = run.tofs(
                &first[0].to_string(),
                &first[1],
                &TofsOptions::from_kwargs(&kwargs)?,
            )?;
            Ok(paths.into_iter().collect())
        }
        other => panic!("{other}"),
    }
}

fn requested(events: &[Event], hits_only: bool) -> Vec<String> {
    events
        .iter()
        .filter_map(|event| match &event.asked {
            TracedRequest::File {
                outcome: RequestOutcome::Miss | RequestOutcome::Refused(_),
                ..
            } if hits_only => None,
            TracedRequest::File { path, .. } => Some(path.clone()),
            TracedRequest::Value { .. } | TracedRequest::NoPaths { .. } => None,
        })
        .collect()
}

/// The kind of error for an exception of the reference.
fn kind_of(class: &str, message: &str) -> ErrorKind {
    match class {
        "ComposerError" | "ConstructorError" | "ScannerError" => ErrorKind::Yaml,
        "NotImplementedError" | "ValueError" => ErrorKind::Definition,
        "SaltRenderError" if message.contains("is undefined") => ErrorKind::Undefined,
        "SaltRenderError" => ErrorKind::Template,
        "TypeError" if message.starts_with("Cannot update using non-dict") => ErrorKind::Merge,
        "TypeError" if message.starts_with("Got invalid data from") => ErrorKind::DataSource,
        // The type of a matcher that has none.
        "KeyError" if message == "''" => ErrorKind::Definition,
        "AttributeError" if message.ends_with("'startswith'") => ErrorKind::Definition,
        _ => ErrorKind::Options,
    }
}

/// The file, the line and the column that a message of the reference names.
fn place_of(message: &str) -> (Option<&str>, Option<usize>, Option<usize>) {
    let between = |start: &str, end: &str| {
        let (_, after) = message.rsplit_once(start)?;
        after.split(end).next()
    };
    let number =
        |start: &str| between(start, ",").and_then(|text| text.lines().next()?.parse().ok());
    let file = between("salt://", ": ").or_else(|| between("/extrn_files/base/", "\""));
    (file, number(" line "), number(" column "))
}

/// Check that an error is of the kind of the reference's, and in the place that this names.
fn same_error(error: &Error, class: &str, record: &Map) -> std::result::Result<(), String> {
    let message = record
        .get("message")
        .map(ToString::to_string)
        .unwrap_or_default();
    let wanted = kind_of(class, &message);
    if error.kind() != wanted {
        return Err(format!(
            "got {:?} ({error}), wanted {wanted:?} ({class}: {message})",
            error.kind()
        ));
    }
    let (file, line, column) = place_of(&message);
    let place = error.diagnostic().place.as_ref();
    let is_there = file.is_none_or(|file| place.is_some_and(|place| place.file == file))
        && line.is_none_or(|line| place.is_some_and(|place| place.line() == line))
        && column.is_none_or(|column| place.is_some_and(|place| place.column() == column));
    if is_there {
        Ok(())
    } else {
        Err(format!("got {error}, wanted the place of: {message}"))
    }
}

fn check(record: &Map) -> std::result::Result<(), String> {
    let engine = engine(record);
    let run = engine.run(&minion(record));
    let result = call(&run, record);
    match (&result, record.get("result"), record.get("error")) {
        (Ok(got), Some(wanted), None) if got.repr() == wanted.repr() => {}
        (Err(error), None, Some(class)) => same_error(error, &class.to_string(), record)?,
        (Ok(got), Some(wanted), None) => {
            return Err(format!("got    {}\n  wanted {}", got.repr(), wanted.repr()));
        }
        (Ok(got), _, Some(class)) => {
            return Err(format!(
                "got {}, wanted {class}: {:?}",
                got.repr(),
                record.get("message")
            ));
        }
        (Err(e), ..) => return Err(format!("got an error: {e}")),
        other => return Err(format!("{other:?}")),
    }
    for (key, hits_only) in [("templates_requested", false), ("templates_found", true)] {
        let Some(wanted) = strings(record, key) else {
            continue;
        };
        let got = requested(&run.events(), hits_only);
        let wanted: Vec<String> = wanted
            .iter()
            .map(|p| p.trim_start_matches("salt://").to_string())
            .collect();
        // The record ends before the file that raised an error.
        let same = if result.is_err() {
            got.starts_with(&wanted)
        } else {
            got == wanted
        };
        if !same {
            return Err(format!("{key}:\n  got    {got:?}\n  wanted {wanted:?}"));
        }
    }
    Ok(())
}

#[test]
fn every_recorded_run_is_repeated() {
    let records = records(include_str!("data/map_scenarios.json"));
    assert_repeated(&records, DIFFERENCES, check);
}

//! The shape of parameter files.

use mapstack::value::{Key, Value};
use mapstack::{LAYER_KEYS, STRATEGIES, nearest};

use crate::Rule;
use crate::document::Document;
use crate::finding::{Edit, Finding};
use crate::subject::Subject;

pub(crate) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for document in subject.layers().chain(subject.meta()) {
        let found = match document.value.as_map() {
            Some(_) => of_layer(document),
            None => vec![no_mapping(document)],
        };
        for finding in found {
            if !findings.iter().any(|known| known.rule == finding.rule && known.place == finding.place) {
                findings.push(finding);
            }
        }
    }
    findings
}

fn no_mapping(document: &Document) -> Finding {
    let what = match &document.value {
        Value::None => "is empty".to_owned(),
        other => format!("holds {}", other.kind().described()),
    };
    let (place, _) = document.content.place(document.marks.mark(), 0);
    Finding::of_file(Rule::DataSource, place, format!("the data source {what}; it must be a mapping with `values:`"))
        .help("write `values: {}` for a source without values, or delete the file")
}

fn of_layer(document: &Document) -> Vec<Finding> {
    let Some(map) = document.value.as_map() else { return Vec::new() };
    let mut findings = Vec::new();
    for (index, key) in map.keys().enumerate() {
        let name = key.to_string();
        if !LAYER_KEYS.contains(&&*name) {
            findings.extend(unknown_key(document, index, &name));
        }
    }
    for path in [&["strategy"][..], &["values", "default_merge_strategy"]] {
        let is_meta = document.path.contains("map_jinja.yaml");
        if is_meta || path.len() == 1 {
            findings.extend(unknown_strategy(document, path));
        }
    }
    if findings.is_empty() && map.get("values").is_none_or(Value::is_none) {
        let (place, _) = document.content.place(document.marks.mark(), 0);
        findings.push(
            Finding::of_file(Rule::NoValues, place, "the file has no `values`, so it contributes nothing")
                .help("write the configuration below `values:`"),
        );
    }
    findings.extend(misplaced(document));
    findings
}

fn unknown_key(document: &Document, index: usize, name: &str) -> Option<Finding> {
    let (place, computed) = document.content.place(document.marks.key(index)?, name.len());
    let message = format!("'{name}' is no key of a data source: only values, strategy and merge_lists are");
    let is_free = |near: &&str| document.at(&[near]).is_none();
    let finding = Finding::new(Rule::UnknownLayerKey, place.clone(), message);
    Some(match nearest(name, LAYER_KEYS).filter(is_free) {
        Some(near) => {
            let stands = place.source.get(place.start..place.end) == Some(name) && !computed;
            let edit = Edit { start: place.start, end: place.end, text: near.into() };
            finding.help(format!("did you mean '{near}'?")).fix(stands.then_some(edit))
        }
        None => finding.help("configuration goes below `values:`"),
    })
}

fn unknown_strategy(document: &Document, path: &[&str]) -> Option<Finding> {
    let (value, marks) = document.at(path)?;
    let name = match value {
        Value::None => return None,
        value => value.to_string(),
    };
    // A word in other letters is none either.
    if STRATEGIES.contains(&&*name) {
        return None;
    }
    let (place, computed) = document.content.place(marks.mark(), name.len());
    let finding = Finding::new(Rule::UnknownStrategy, place.clone(), format!("there is no merge strategy '{name}'"));
    Some(match nearest(&name.to_lowercase()[..], STRATEGIES.iter().map(|known| &**known)) {
        Some(near) => {
            let stands = place.source.get(place.start..place.end) == Some(&*name) && !computed;
            let edit = Edit { start: place.start, end: place.end, text: near.into() };
            finding.help(format!("did you mean '{near}'?")).fix(stands.then_some(edit))
        }
        None => finding.help(format!("it is one of {}", STRATEGIES.join(", "))),
    })
}

/// Options of the layer that stand among its values.
fn misplaced(document: &Document) -> Vec<Finding> {
    let Some((Value::Map(values), marks)) = document.at(&["values"]) else { return Vec::new() };
    if document.path.contains("map_jinja.yaml") {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut find = |key: &Key, value: &Value, mark: Option<mapstack::yaml::Mark>, deep: bool| {
        let is_option = match (key.as_str(), value) {
            (Some("merge_lists"), Value::Bool(_)) => true,
            (Some("strategy"), Value::Str(name)) => STRATEGIES.contains(&&**name) && !deep,
            _ => false,
        };
        let (true, Some(mark)) = (is_option, mark) else { return };
        let (place, _) = document.content.place(mark, key.to_string().len());
        let message = format!("'{key}' stands among the values, where it is data like any other");
        findings.push(
            Finding::new(Rule::MisplacedOption, place, message)
                .help(format!("to say how the file is merged, write `{key}` beside `values`")),
        );
    };
    for (index, (key, value)) in values.iter().enumerate() {
        find(key, value, marks.key(index), false);
        if let (Value::Map(inner), Some(inner_marks)) = (value, marks.child(index)) {
            for (index, (key, value)) in inner.iter().enumerate() {
                find(key, value, inner_marks.key(index), true);
            }
        }
    }
    findings
}

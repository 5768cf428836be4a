//! Rules for the form of parameter files.

use std::collections::HashSet;

use mapstack::value::{Key, Value};
use mapstack::{LAYER_KEYS, Place, Strategy, nearest};

use crate::Rule;
use crate::document::Document;
use crate::finding::{Edit, Finding};
use crate::subject::{FormulaSubject, is_meta};

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    let mut seen = HashSet::new();
    // A file that no source names need not be a data source.
    let asked = subject.requested_files();
    let is_read = |path: &str| asked.contains(path) || subject.is_led_to(path);
    let read = subject.layers().filter(|document| is_read(&document.path));
    let found = read
        .chain(subject.meta())
        .flat_map(|document| match document.value.as_map() {
            Some(_) => of_layer(document),
            None => vec![no_mapping(document)],
        });
    found
        .filter(|finding| {
            seen.insert((
                finding.rule,
                finding.place.file.clone(),
                finding.place.start,
            ))
        })
        .collect()
}

fn no_mapping(document: &Document) -> Finding {
    let what = match &document.value {
        Value::None => "is empty".to_owned(),
        other => format!("holds {}", other.kind().described()),
    };
    let (place, _) = document.content.place(document.marks.mark(), 0);
    Finding::of_file(
        Rule::DataSource,
        place,
        format!("the data source {what}; it must be a mapping with `values:`"),
    )
    .help("write `values: {}` for a source without values, or delete the file")
}

fn of_layer(document: &Document) -> Vec<Finding> {
    let Some(map) = document.value.as_map() else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    let unknown: Vec<(usize, String)> = map.keys().map(ToString::to_string).enumerate().collect();
    let unknown: Vec<_> = unknown
        .into_iter()
        .filter(|(_, name)| !LAYER_KEYS.contains(&&**name))
        .collect();
    let meant: Vec<_> = unknown
        .iter()
        .filter_map(|(_, name)| nearest(name, LAYER_KEYS))
        .collect();
    for (index, name) in &unknown {
        // Two slips for the same key would become one key twice.
        let is_free = |near: &str| {
            document.at(&[near]).is_none() && meant.iter().filter(|one| **one == near).count() == 1
        };
        findings.extend(unknown_key(document, *index, name, is_free));
    }
    for path in [&["strategy"][..], &["values", "default_merge_strategy"]] {
        let is_meta = is_meta(&document.path);
        if is_meta || path.len() == 1 {
            findings.extend(unknown_strategy(document, path));
        }
    }
    findings.extend(quoted_switch(document, &["merge_lists"]));
    if is_meta(&document.path) {
        findings.extend(quoted_switch(document, &["values", "default_merge_lists"]));
    }
    if findings.is_empty() && map.get("values").is_none_or(Value::is_none) {
        let (place, _) = document.content.place(document.marks.mark(), 0);
        findings.push(
            Finding::of_file(
                Rule::NoValues,
                place,
                "the file has no `values`, so it contributes nothing",
            )
            .help("write the configuration below `values:`"),
        );
    }
    findings.extend(misplaced(document));
    findings
}

fn unknown_key(
    document: &Document,
    index: usize,
    name: &str,
    is_free: impl Fn(&str) -> bool,
) -> Option<Finding> {
    let (place, computed) = document
        .content
        .place(document.marks.key(index)?, name.len());
    let message = format!(
        "'{name}' is not a key of a data source: only values, strategy and merge_lists are"
    );
    let finding = Finding::new(Rule::UnknownLayerKey, place, message);
    Some(
        match nearest(name, LAYER_KEYS).filter(|near| is_free(near)) {
            Some(near) => finding.suggest(name, near, !computed),
            None => finding.help("configuration goes below `values:`"),
        },
    )
}

fn unknown_strategy(document: &Document, path: &[&str]) -> Option<Finding> {
    let (value, marks) = document.at(path)?;
    let name = match value {
        Value::None => return None,
        value => value.to_string(),
    };
    // Upper and lower case differ: `Smart` is unknown.
    if Strategy::names().contains(&&*name) {
        return None;
    }
    let (place, computed) = document.content.place(marks.mark(), name.len());
    let finding = Finding::new(
        Rule::UnknownStrategy,
        place,
        format!("unknown merge strategy '{name}'"),
    );
    Some(match nearest(&name.to_lowercase()[..], Strategy::names()) {
        Some(near) => finding.suggest(&name, near, !computed),
        None => finding.help(format!("it is one of {}", Strategy::names().join(", "))),
    })
}

/// Texts that Salt's `to_bool` takes for true. For `map.data`, any text is true.
const TRUE: [&str; 3] = ["true", "yes", "1"];

/// A text in place of a boolean, which `map.data` takes for true and formulas' own libraries for false.
fn quoted_switch(document: &Document, path: &[&str]) -> Option<Finding> {
    let (Value::Str(text), marks) = document.at(path)? else {
        return None;
    };
    let meant = text.trim().to_lowercase();
    if text.is_empty() || TRUE.contains(&&*meant) {
        return None;
    }
    let (place, computed) = document.content.place(marks.mark(), text.len() + 2);
    let key = path.last()?;
    let message = format!("'{text}' is text, which map.data takes for true");
    let finding =
        Finding::new(Rule::QuotedSwitch, place, message).note("libmapstack takes it for false");
    let quoted = ["'", "\""].map(|quote| format!("{quote}{text}{quote}"));
    let is_no = ["false", "no", "off", "0"].contains(&&*meant);
    let written = quoted.iter().find(|quoted| {
        finding
            .place
            .source
            .get(finding.place.start..finding.place.end)
            == Some(quoted.as_str())
    });
    Some(match written.filter(|_| is_no && !computed) {
        Some(_) => {
            let Place { start, end, .. } = finding.place;
            let edit = Edit {
                start,
                end,
                text: "false".into(),
            };
            finding.help(format!("write `{key}: false`")).fix([edit])
        }
        None => finding.help(format!(
            "write `{key}: true` or `{key}: false`, without quotes"
        )),
    })
}

/// Options of the layer that are written among its values.
fn misplaced(document: &Document) -> Vec<Finding> {
    let Some((Value::Map(values), marks)) = document.at(&["values"]) else {
        return Vec::new();
    };
    if is_meta(&document.path) {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let mut find = |key: &Key, value: &Value, mark: Option<mapstack::yaml::Mark>, deep: bool| {
        let is_option = match (key.as_str(), value) {
            (Some("merge_lists"), Value::Bool(_)) => true,
            (Some("strategy"), Value::Str(name)) => Strategy::names().contains(&&**name) && !deep,
            _ => false,
        };
        let (true, Some(mark)) = (is_option, mark) else {
            return;
        };
        let (place, _) = document.content.place(mark, key.to_string().len());
        let message = format!("'{key}' is among the values, where it is data like any other key");
        findings.push(
            Finding::new(Rule::MisplacedOption, place, message).help(format!(
                "to say how the file is merged, write `{key}` beside `values`"
            )),
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

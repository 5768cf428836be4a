//! `map_jinja.yaml`: which layers a formula has.

use mapstack::matcher::Mode;
use mapstack::value::Value;
use mapstack::{DataOptions, Place, nearest, parse_definition};

use crate::Rule;
use crate::document::Document;
use crate::finding::{Edit, Finding};
use crate::subject::{Dialect, Subject};

pub(crate) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in subject.meta() {
        unknown_keys(document, &mut findings);
        sources(document, subject.dialect == Dialect::MapData && !subject.has_fallback(), &mut findings);
    }
    if subject.dialect == Dialect::MapData && !subject.has_fallback() {
        let given = subject.survey.sources.iter();
        findings.extend(given.filter_map(|(text, place)| deprecated(text, place.clone(), true)));
    }
    let mut distinct: Vec<Finding> = Vec::new();
    for finding in findings {
        if !distinct.iter().any(|known| known.rule == finding.rule && known.place == finding.place) {
            distinct.push(finding);
        }
    }
    distinct
}

/// What `map.data` takes from it.
fn known_keys() -> impl Iterator<Item = &'static str> {
    DataOptions::NAMES.iter().copied().filter(|name| *name != "custom_data")
}

fn unknown_keys(document: &Document, findings: &mut Vec<Finding>) {
    let Some((Value::Map(values), marks)) = document.at(&["values"]) else { return };
    for (index, key) in values.keys().enumerate() {
        let name = key.to_string();
        let (false, Some(mark)) = (known_keys().any(|known| known == name), marks.key(index)) else { continue };
        let (place, computed) = document.content.place(mark, name.len());
        let finding =
            Finding::new(Rule::UnknownMapJinjaKey, place.clone(), format!("nobody reads '{name}' of map_jinja.yaml"));
        let near = nearest(&name, known_keys()).filter(|near| !values.contains_key(*near));
        findings.push(match near {
            Some(near) => {
                let stands = place.source.get(place.start..place.end) == Some(&*name) && !computed;
                let edit = Edit { start: place.start, end: place.end, text: near.into() };
                finding.help(format!("did you mean '{near}'?")).fix(stands.then_some(edit))
            }
            None => finding.help(format!("it has {}", known_keys().collect::<Vec<_>>().join(", "))),
        });
    }
}

fn sources(document: &Document, has_new_form: bool, findings: &mut Vec<Finding>) {
    let Some((Value::List(sources), marks)) = document.at(&["values", "sources"]) else { return };
    for (index, source) in sources.iter().enumerate() {
        let (Value::Str(text), Some(marks)) = (source, marks.child(index)) else { continue };
        let (mut place, computed) = document.content.place(marks.mark(), text.len());
        match parse_definition(text, Mode::Layer) {
            Err(error) => {
                let diagnostic = error.diagnostic();
                let finding = Finding::new(Rule::BadSource, place, diagnostic.message.clone());
                findings.push(Finding { help: diagnostic.help.clone(), ..finding });
            }
            Ok(_) if has_new_form => {
                place.end = place.start + text.len();
                findings.extend(deprecated(text, place, !computed));
            }
            Ok(_) => {}
        }
    }
}

/// A definition in the form of old, which may stand in quotes.
fn deprecated(text: &str, mut place: Place, is_literal: bool) -> Option<Finding> {
    let rest = text.strip_prefix("Y:").filter(|_| parse_definition(text, Mode::Layer).is_ok())?;
    let at = place.source.get(place.start..).and_then(|here| here.find("Y:")).filter(|at| *at <= 1);
    let edit = at.filter(|_| is_literal).map(|at| {
        place.end = place.start + text.len() + 2 * at;
        Edit { start: place.start + at, end: place.start + at + 2, text: "Y!".into() }
    });
    let finding = Finding::new(Rule::DeprecatedSourceForm, place, format!("the form {text} is for formulas of old"));
    Some(finding.help(format!("write Y!{rest}")).fix(edit))
}

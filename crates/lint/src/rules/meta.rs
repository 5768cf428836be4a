//! `map_jinja.yaml`: which layers a formula has.

use std::collections::HashSet;

use mapstack::matcher::Mode;
use mapstack::value::Value;
use mapstack::yaml::Marks;
use mapstack::{DataOptions, Place, nearest, parse_definition};

use crate::Rule;
use crate::document::Document;
use crate::finding::{Edit, Finding};
use crate::subject::{Dialect, FormulaSubject};

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for document in subject.meta() {
        unknown_keys(document, &mut findings);
        sources(
            document,
            subject.dialect == Dialect::MapData && !subject.has_fallback(),
            &mut findings,
        );
    }
    if subject.dialect == Dialect::MapData && !subject.has_fallback() {
        let given = subject.survey.sources.iter();
        findings.extend(given.filter_map(|(text, place)| deprecated(text, place.clone(), true)));
    }
    let mut seen = HashSet::new();
    findings.retain(|finding| {
        seen.insert((
            finding.rule,
            finding.place.file.clone(),
            finding.place.start,
        ))
    });
    findings
}

/// The keys that `map.data` takes from it.
fn known_keys() -> impl Iterator<Item = &'static str> {
    DataOptions::NAMES
        .iter()
        .copied()
        .filter(|name| *name != "custom_data")
}

fn unknown_keys(document: &Document, findings: &mut Vec<Finding>) {
    let Some((Value::Map(values), marks)) = document.at(&["values"]) else {
        return;
    };
    let unknown: Vec<(usize, String)> =
        values.keys().map(ToString::to_string).enumerate().collect();
    let unknown: Vec<_> = unknown
        .into_iter()
        .filter(|(_, name)| !known_keys().any(|known| known == name))
        .collect();
    let meant: Vec<_> = unknown
        .iter()
        .filter_map(|(_, name)| nearest(name, known_keys()))
        .collect();
    for (index, name) in &unknown {
        let Some(mark) = marks.key(*index) else {
            continue;
        };
        let (place, computed) = document.content.place(mark, name.len());
        let finding = Finding::new(
            Rule::UnknownMapJinjaKey,
            place,
            format!("nothing reads '{name}' of map_jinja.yaml"),
        );
        // If two keys are slips of the same one, a fix of both would write it twice.
        let is_free = |near: &&str| {
            !values.contains_key(*near) && meant.iter().filter(|one| *one == near).count() == 1
        };
        findings.push(match nearest(name, known_keys()).filter(is_free) {
            Some(near) => finding.suggest(name, near, !computed),
            None => finding.help(format!(
                "it has {}",
                known_keys().collect::<Vec<_>>().join(", ")
            )),
        });
    }
}

fn sources(document: &Document, has_new_form: bool, findings: &mut Vec<Finding>) {
    let wrong = |marks: &Marks, what: String| {
        let (place, _) = document.content.place(marks.mark(), 1);
        Finding::new(Rule::BadSource, place, what).help("write definitions such as Y!G@os")
    };
    let (sources, marks) = match document.at(&["values", "sources"]) {
        Some((Value::List(sources), marks)) => (sources, marks),
        Some((other, marks)) => {
            let what = format!(
                "`sources` is {}, not a list of definitions",
                other.kind().described()
            );
            findings.push(wrong(marks, what));
            return;
        }
        None => return,
    };
    for (index, source) in sources.iter().enumerate() {
        let Some(marks) = marks.child(index) else {
            continue;
        };
        let Value::Str(text) = source else {
            findings.push(wrong(
                marks,
                format!(
                    "a source is {}, not a definition",
                    source.kind().described()
                ),
            ));
            continue;
        };
        let (mut place, computed) = document.content.place(marks.mark(), text.len());
        match parse_definition(text, Mode::Layer) {
            Err(error) => {
                let diagnostic = error.diagnostic();
                let finding = Finding::new(Rule::BadSource, place, diagnostic.message.clone());
                findings.push(Finding {
                    help: diagnostic.help.clone(),
                    ..finding
                });
            }
            Ok(_) if has_new_form => {
                place.end = place.start + text.len();
                findings.extend(deprecated(text, place, !computed));
            }
            Ok(_) => {}
        }
    }
}

/// A definition in the old form, which may be in quotes.
fn deprecated(text: &str, mut place: Place, is_literal: bool) -> Option<Finding> {
    let rest = text
        .strip_prefix("Y:")
        .filter(|_| parse_definition(text, Mode::Layer).is_ok())?;
    let at = place
        .source
        .get(place.start..)
        .and_then(|here| here.find("Y:"))
        .filter(|at| *at <= 1);
    let edit = at.filter(|_| is_literal).map(|at| {
        place.end = place.start + text.len() + 2 * at;
        Edit {
            start: place.start + at,
            end: place.start + at + 2,
            text: "Y!".into(),
        }
    });
    let finding = Finding::new(
        Rule::DeprecatedSourceForm,
        place,
        format!("the form {text} is deprecated"),
    );
    Some(finding.help(format!("write Y!{rest}")).fix(edit))
}

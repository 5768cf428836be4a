//! What fails on some platforms, or on all.

use std::collections::{BTreeMap, BTreeSet};

use mapstack::{Answerer, CallSite, Diagnostic, Error, ErrorKind, Place};

use super::syntax::rule_of;
use crate::Rule;
use crate::finding::Finding;
use crate::subject::Subject;

/// How many minions a note names.
const NAMED: usize = 5;

pub(crate) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let mut by_place: BTreeMap<(String, usize, String), (&Error, Vec<String>)> = BTreeMap::new();
    let supported: Vec<_> = subject.runs.iter().filter(|run| run.supported).collect();
    for run in &supported {
        for error in run.errors() {
            let diagnostic = error.diagnostic();
            let Some(place) = &diagnostic.place else { continue };
            if unanswered(subject, place).is_some() {
                continue;
            }
            let key = (place.file.clone(), place.start, diagnostic.message.clone());
            let minions = &mut by_place.entry(key).or_insert_with(|| (error, Vec::new())).1;
            let id = run.minion.id.to_string();
            if minions.last() != Some(&id) {
                minions.push(id);
            }
        }
    }
    let findings = by_place.into_values().filter_map(|(error, minions)| {
        let rule = rule(error).filter(|rule| *rule != Rule::BadSource || subject.meta().next().is_none())?;
        let diagnostic = error.diagnostic();
        let mut finding = Finding::new(rule, diagnostic.place.clone()?, diagnostic.message.clone());
        finding.related.clone_from(&diagnostic.trace);
        finding.notes.clone_from(&diagnostic.notes);
        finding.help.clone_from(&diagnostic.help);
        Some(finding.note(on(&minions, supported.len())))
    });
    findings.collect()
}

/// The functions that runs wanted to call and nobody could answer, each with the minions: what comes
/// after such a call was not looked at there.
pub(crate) fn unanswered_calls(subject: &Subject<'_>) -> BTreeMap<String, BTreeSet<String>> {
    let mut calls: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for run in &subject.runs {
        let places = run.errors().filter_map(|error| error.diagnostic().place.as_ref());
        for name in places.filter_map(|place| unanswered(subject, place)) {
            calls.entry(name.to_owned()).or_default().insert(run.minion.id.to_string());
        }
    }
    calls
}

/// The function that a place calls, if nobody answers it here. Salt may.
fn unanswered<'s>(subject: &'s Subject<'_>, place: &Place) -> Option<&'s str> {
    let is_here =
        |call: &&CallSite| call.place.file == place.file && (call.place.start..call.place.end).contains(&place.start);
    let mut names = subject.survey.calls.iter().filter(is_here).filter_map(|call| call.function.as_deref());
    names.find(|name| subject.engine.answerer(name) == Answerer::Nobody)
}

/// The rule that a failed run goes against; nothing where it is no mistake of the formula, or was
/// found without a run.
fn rule(error: &Error) -> Option<Rule> {
    let diagnostic = error.diagnostic();
    match error.kind() {
        // Jinja calls an item that a number does not have undefined, too.
        ErrorKind::Undefined if is_absent(&diagnostic.message) => Some(Rule::UndefinedVariable),
        ErrorKind::Undefined => Some(Rule::RenderFailure),
        ErrorKind::Yaml if is_printed(diagnostic) => Some(Rule::UnquotedExpression),
        ErrorKind::Yaml => Some(diagnostic.yaml.as_ref().map_or(Rule::YamlSyntax, rule_of)),
        ErrorKind::Template | ErrorKind::Merge | ErrorKind::Json | ErrorKind::Lookup | ErrorKind::Limit => {
            Some(Rule::RenderFailure)
        }
        ErrorKind::DataSource => Some(Rule::DataSource),
        ErrorKind::Definition => Some(Rule::BadSource),
        _ => None,
    }
}

/// On which minions.
pub(super) fn on(minions: &[String], all: usize) -> String {
    let named = minions.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match minions.len() {
        n if n == all && all > 1 => format!("on all {all} minions"),
        n if n > NAMED => format!("on {n} of {all} minions: {named} and {} more", n - NAMED),
        _ if all == 1 => format!("on {named}"),
        n => format!("on {n} of {all} minions: {named}"),
    }
}

/// Whether a variable or a key of a mapping is what is undefined.
fn is_absent(message: &str) -> bool {
    let of_scalar = ["'int object'", "'float object'", "'str object'", "'bool object'", "'list object'", "'None'"];
    let message = message.strip_prefix("Jinja variable ").unwrap_or(message);
    let of_item = message.contains("object has no element");
    message.ends_with(" is undefined") || !of_item && !of_scalar.iter().any(|start| message.starts_with(start))
}

/// Whether an expression printed what is no YAML.
fn is_printed(diagnostic: &Diagnostic) -> bool {
    let starts = |place: &Place| place.source.get(place.start..).is_some_and(|rest| rest.starts_with("{{"));
    diagnostic.place.as_ref().is_some_and(starts)
}

//! What fails on some platforms, or on all.

use std::collections::{BTreeMap, BTreeSet};

use mapstack::{Answerer, CallSite, Diagnostic, Error, ErrorKind, Place};

use super::syntax::{indenting_tab, rule_of};
use crate::Rule;
use crate::finding::{Finding, Level};
use crate::subject::Subject;

/// How many minions a note names.
const NAMED: usize = 5;

pub(crate) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let mut by_place: BTreeMap<(String, usize, String), Failed<'_>> = BTreeMap::new();
    let supported: Vec<_> = subject.runs.iter().filter(|run| run.supported).collect();
    for run in &supported {
        for error in run.errors() {
            let diagnostic = error.diagnostic();
            let place = diagnostic.place.clone().filter(|place| place.file != DEFINITION);
            if place.as_ref().is_some_and(|place| unanswered(subject, place).is_some()) {
                continue;
            }
            // What has no place of its own is about the formula's configuration.
            let place = place.unwrap_or_else(|| subject.main_file());
            let key = (place.file.clone(), place.start, diagnostic.message.clone());
            let minions = &mut by_place.entry(key).or_insert_with(|| (error, place, Vec::new())).2;
            let id = run.minion.id.to_string();
            if minions.last() != Some(&id) {
                minions.push(id);
            }
        }
    }
    let all = supported.len();
    by_place.into_values().map(|(error, place, minions)| failure(error, place, &minions, all)).collect()
}

/// An error, where it is told, and the minions that fail with it.
type Failed<'e> = (&'e Error, Place, Vec<String>);

/// What the place of an error in a definition is called.
const DEFINITION: &str = "source definition";

fn failure(error: &Error, place: Place, minions: &[String], all: usize) -> Finding {
    let diagnostic = error.diagnostic();
    let rule = rule(error);
    let has_place = diagnostic.place.as_ref().is_some_and(|place| place.file != DEFINITION);
    let mut finding = match has_place {
        true => Finding::new(rule, place, diagnostic.message.clone()),
        false => Finding::of_file(rule, place, diagnostic.message.clone()),
    };
    finding.of_run = true;
    finding.related.clone_from(&diagnostic.trace);
    finding.notes.clone_from(&diagnostic.notes);
    finding.help.clone_from(&diagnostic.help);
    // Here it does not only look wrong.
    if rule == Rule::UnquotedExpression {
        finding.level = Level::Error;
    }
    let is_of_code = matches!(rule, Rule::RenderFailure | Rule::UndefinedVariable);
    if is_of_code && minions.len() == all && all > 1 {
        finding.level = Level::Warning;
        finding.notes.push("on no minion does it work: perhaps it needs a pillar (--pillar FILE), or another formula's files (--root DIR)".into());
    }
    finding.note(on(minions, all))
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

/// The rule that a failed run goes against.
fn rule(error: &Error) -> Rule {
    let diagnostic = error.diagnostic();
    match error.kind() {
        // Jinja calls an item that a number does not have undefined, too.
        ErrorKind::Undefined if is_absent(&diagnostic.message) => Rule::UndefinedVariable,
        ErrorKind::Yaml if is_printed(diagnostic) => Rule::UnquotedExpression,
        ErrorKind::Yaml if has_tab(diagnostic) => Rule::YamlTab,
        ErrorKind::Yaml => diagnostic.yaml.as_ref().map_or(Rule::YamlSyntax, rule_of),
        ErrorKind::DataSource => Rule::DataSource,
        ErrorKind::Definition | ErrorKind::Options => Rule::BadSource,
        _ => Rule::RenderFailure,
    }
}

/// Whether a tab indents the line that is no YAML.
fn has_tab(diagnostic: &Diagnostic) -> bool {
    let is_syntax = matches!(diagnostic.yaml, Some(mapstack::yaml::ErrorKind::Syntax { .. }));
    is_syntax && diagnostic.place.as_ref().is_some_and(|place| indenting_tab(&place.source, place.start).is_some())
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

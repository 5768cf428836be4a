//! Macros that do not exist: called by the name of their module, or by a slip.

use std::collections::{BTreeMap, BTreeSet};

use mapstack::ErrorKind;
use mapstack_salt_jinja::ast::{Expr, ExprKind, StmtKind};

use super::imports::{is_at, weighed, with_help};
use crate::Rule;
use crate::finding::Finding;
use crate::names::is_slip;
use crate::subject::FormulaSubject;
use crate::templates::LocatedTemplate;

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    subject
        .templates
        .all()
        .flat_map(|parsed| {
            let mut findings = of_modules(subject, parsed);
            findings.extend(of_slips(subject, parsed));
            findings
        })
        .collect()
}

/// The names that a template asks of modules that it imported, and these do not have.
fn of_modules(subject: &FormulaSubject<'_>, parsed: &LocatedTemplate) -> Vec<Finding> {
    let modules = modules(subject, parsed);
    if modules.is_empty() {
        return Vec::new();
    }
    let expressions = parsed.expressions();
    let guarded: BTreeSet<(&str, &str)> = expressions
        .iter()
        .filter_map(|e| guarded(e))
        .filter_map(attribute)
        .collect();
    let mut findings = Vec::new();
    for e in expressions {
        let Some((module, name)) = attribute(e).filter(|use_| !guarded.contains(use_)) else {
            continue;
        };
        let Some(from) = modules.get(module).filter(|from| !has(from, name)) else {
            continue;
        };
        let mut place = parsed.place(e.span);
        place.start = place.end.saturating_sub(name.len());
        let message = format!("salt://{} has no macro or variable '{name}'", from.path);
        let finding = Finding::new(Rule::MissingImport, place.clone(), message);
        let finding = with_help(finding, Some(from), name);
        findings.push(weighed(subject, finding, |error| {
            error.kind() == ErrorKind::Undefined && is_at(error, &place)
        }));
    }
    findings
}

/// The templates that a template imports as modules, by the names that it gives them and nothing else.
fn modules<'s>(
    subject: &'s FormulaSubject<'_>,
    parsed: &LocatedTemplate,
) -> BTreeMap<&'s str, &'s LocatedTemplate> {
    let site = |site: &'s mapstack::ImportSite| {
        let module = site.module.as_deref()?;
        let from = subject.templates.get(site.template.as_deref()?)?;
        let is_own = site.place.file == parsed.shown;
        // A template has the names of the one that it extends, too.
        let extends = |parsed: &LocatedTemplate| {
            let mut statements = parsed.statements().into_iter();
            statements.any(|stmt| matches!(stmt.kind, StmtKind::Extends(_)))
        };
        (is_own && parsed.binds(module) == 1 && !extends(from)).then_some((module, from))
    };
    subject.survey.imports.iter().filter_map(site).collect()
}

fn has(from: &LocatedTemplate, name: &str) -> bool {
    name.starts_with("__") || (from.bound().contains(name) && !name.starts_with('_'))
}

/// The name and the attribute of `name.attribute` or `name['attribute']`.
fn attribute(e: &Expr) -> Option<(&str, &str)> {
    match &e.kind {
        ExprKind::Attr(object, name) => match &object.kind {
            ExprKind::Name(module) => Some((module, name)),
            _ => None,
        },
        _ => None,
    }
}

/// The part of an expression that may be undefined.
fn guarded(e: &Expr) -> Option<&Expr> {
    match &e.kind {
        ExprKind::Test { input, .. } => Some(input),
        ExprKind::Filter { input, name, .. } if matches!(&**name, "default" | "d") => {
            input.as_deref()
        }
        _ => None,
    }
}

/// Calls of names that nothing binds and that are slips for macros of the template. Where a run came by, it says so
/// itself.
fn of_slips(subject: &FormulaSubject<'_>, parsed: &LocatedTemplate) -> Vec<Finding> {
    let callables = callables(parsed);
    let is_bound = |name: &str| subject.templates.all().any(|other| other.binds(name) > 0);
    let of_call = |e: &Expr| {
        let ExprKind::Call { callee, .. } = &e.kind else {
            return None;
        };
        let ExprKind::Name(name) = &callee.kind else {
            return None;
        };
        let near = callables.iter().find(|known| is_slip(name, known))?;
        let place = parsed.place(callee.span);
        let is_said = || {
            let mut errors = (0..subject.runs.len()).flat_map(|run| subject.errors(run));
            errors.any(|(_, error)| is_at(error, &place))
        };
        if is_bound(name) || is_said() {
            return None;
        }
        let message = format!("the macro '{name}' does not exist");
        let finding = Finding::new(Rule::MissingImport, place.clone(), message);
        let finding = finding.help(format!("did you mean '{near}'?"));
        Some(weighed(subject, finding, |_| false))
    };
    parsed
        .expressions()
        .into_iter()
        .filter_map(of_call)
        .collect()
}

/// The macros that a template defines, and the names that it imports.
fn callables(parsed: &LocatedTemplate) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    for stmt in parsed.statements() {
        match &stmt.kind {
            StmtKind::Macro(m) => drop(found.insert(&*m.name)),
            StmtKind::FromImport { names, .. } => {
                found.extend(names.iter().map(|(_, here)| &**here));
            }
            _ => {}
        }
    }
    found
}

//! Templates that Jinja refuses, and calls of functions that do not exist.

use mapstack::{Answerer, Means, SALT_MODULES, is_in_salt, nearest};
use mapstack_states::OwnModules;

use super::failures::on;
use super::imports::{is_at, minions};
use crate::Rule;
use crate::finding::{Finding, Level};
use crate::subject::FormulaSubject;

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    let refused = subject.survey.errors.iter().filter_map(|error| {
        let diagnostic = error.diagnostic();
        let finding = Finding::new(
            Rule::TemplateSyntax,
            diagnostic.place.clone()?,
            diagnostic.message.clone(),
        );
        Some(Finding {
            help: diagnostic.help.clone(),
            ..finding
        })
    });
    // Of minions, and of `salt-ssh`.
    let folders = ["_modules/", "_wrapper/"];
    let own = OwnModules::of(subject.engine, &folders);
    let unknown = subject.survey.calls.iter().filter_map(|call| {
        let name = call.function.as_deref()?;
        let (module, function) = name.split_once('.')?;
        let known = is_in_salt(name)
            || subject.engine.answerer(name) != Answerer::Unanswered
            || subject.survey.asks_for(name)
            || own.has(module, function);
        if known {
            return None;
        }
        let finding = |message| Finding::new(Rule::UnknownFunction, call.place.clone(), message);
        let near = near(module, function).map(|near| format!("did you mean {near}?"));
        // Not all extensions are known.
        let help = near.clone().unwrap_or_else(|| {
            format!("ask first whether an extension is there: {{% if '{name}' in salt %}}")
        });
        if near.is_none() && !SALT_MODULES.contains_key(module) {
            let message = format!(
                "Salt has no module '{module}': an extension has to provide salt['{name}']"
            );
            return Some(Finding {
                level: Level::Note,
                ..finding(message).help(help)
            });
        }
        let finding = finding(format!("salt['{name}'] does not exist")).help(help);
        // An extension would be a module of another name.
        Some(failing(subject, finding))
    });
    refused.chain(unknown).chain(absent(subject)).collect()
}

/// Questions whether Salt has a function that nothing answers here: the answer is no, and may be yes on a minion.
fn absent<'s>(subject: &'s FormulaSubject<'_>) -> impl Iterator<Item = Finding> + 's {
    subject.survey.asked.iter().filter_map(|site| {
        let name = site.function.as_deref()?;
        let is_answered = subject.engine.answerer(name) != Answerer::Unanswered;
        if is_answered || !is_in_salt(name) {
            return None;
        }
        let message =
            format!("whether Salt has {name} depends on the minion, and the answer here is no");
        let help = format!(
            "to follow the other branch, give an answer of the function with {}",
            Means::Stub
        );
        Some(Finding::new(Rule::AbsentFunction, site.place.clone(), message).help(help))
    })
}

/// A finding as an error if runs end at the call.
fn failing(subject: &FormulaSubject<'_>, finding: Finding) -> Finding {
    let minions = minions(subject, |error| is_at(error, &finding.place));
    if minions.is_empty() {
        return finding;
    }
    let supported = subject.runs.iter().filter(|run| run.supported).count();
    Finding {
        level: Level::Error,
        ..finding.note(on(&minions, supported))
    }
}

/// A function of the module, or of a module of nearly that name.
fn near(module: &str, function: &str) -> Option<String> {
    if let Some(functions) = SALT_MODULES.get(module) {
        return nearest(function, functions.iter().copied()).map(|near| format!("{module}.{near}"));
    }
    let having = SALT_MODULES
        .iter()
        .filter(|(_, functions)| functions.contains(function))
        .map(|(name, _)| *name);
    nearest(module, having).map(|near| format!("{near}.{function}"))
}

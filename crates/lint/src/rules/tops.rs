//! The names in top files of states.

use std::collections::BTreeSet;

use mapstack::{Diagnostic, Error, ErrorKind, Place, nearest, sls_name};

use super::failures::{on, rule_of_failure, softened};
use super::folders::{FolderWithoutSls, grouped, named};
use super::imports::elsewhere;
use crate::Rule;
use crate::finding::{Finding, Level};
use crate::subject::{FormulaSubject, TopFault, TopProblem};

/// True if no root has the folder, or the file, with which the name of an sls begins.
fn is_elsewhere(subject: &FormulaSubject<'_>, sls: &str) -> bool {
    let first = sls.split('.').next().unwrap_or_default();
    let is_below = |path: &String| {
        let rest = path.strip_prefix(first);
        rest.is_some_and(|rest| rest.starts_with(['/', '.']))
    };
    let mut files = subject.files.keys();
    let names = subject
        .files
        .keys()
        .filter_map(|path| path.split('/').next());
    !files.any(is_below)
        && nearest(first, names.map(str::to_owned).collect::<Vec<_>>().iter()).is_none()
}

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    let groups = grouped(&subject.problems, |problem| lacking(subject, problem));
    let of_group = |(folder, problems): (Option<FolderWithoutSls>, Vec<&TopProblem>)| match (
        folder, &*problems,
    ) {
        (Some(folder), [_, _, ..]) => vec![of_folder(subject, &folder, &problems)],
        _ => problems
            .iter()
            .map(|problem| of_problem(subject, problem))
            .collect(),
    };
    groups.into_iter().flat_map(of_group).collect()
}

/// The folder that lacks the sls that a problem is about.
fn lacking(subject: &FormulaSubject<'_>, problem: &TopProblem) -> Option<FolderWithoutSls> {
    let sls = problem.sls()?;
    let has_files = |prefix: &str| subject.files.keys().any(|path| path.starts_with(prefix));
    match is_elsewhere(subject, sls) {
        true => Some(FolderWithoutSls {
            folder: sls.split('.').next().unwrap_or_default().to_owned(),
            is_empty: true,
        }),
        false => FolderWithoutSls::of(sls, has_files),
    }
}

/// Several missing sls of one folder.
fn of_folder(
    subject: &FormulaSubject<'_>,
    lacking: &FolderWithoutSls,
    problems: &[&TopProblem],
) -> Finding {
    let mut findings: Vec<Finding> = problems
        .iter()
        .map(|problem| of_problem(subject, problem))
        .collect();
    findings.sort_by_key(|finding| finding.place.start);
    let mut finding = findings.swap_remove(0);
    let names: BTreeSet<&str> = problems
        .iter()
        .filter_map(|problem| problem.sls())
        .collect();
    let ids: BTreeSet<&String> = problems
        .iter()
        .flat_map(|problem| &problem.minions)
        .collect();
    let ids: Vec<String> = ids.into_iter().cloned().collect();
    if finding.level == Level::Error {
        let FolderWithoutSls { folder, is_empty } = lacking;
        finding.message = match is_empty {
            true => format!("no root has the folder '{folder}'"),
            false => format!("the folder '{folder}' lacks {} sls", names.len()),
        };
        let names = folder.replace('/', ".");
        let help = format!("if they lie elsewhere, add `absent: ['{names}.*']` to .mapstack.yaml");
        finding.help = Some(help);
    }
    finding.notes = vec![format!("for the sls {}", named(&names))];
    finding.note(on(&ids, subject.runs.len()))
}

fn of_problem(subject: &FormulaSubject<'_>, problem: &TopProblem) -> Finding {
    match &problem.what {
        TopFault::Failed(error) => failed(subject, error, &problem.minions),
        TopFault::Doubtful(warning) => doubtful(subject, warning, &problem.minions),
        TopFault::Missing { sls, place } => {
            let place = place.as_ref();
            match is_elsewhere(subject, sls) {
                true => Finding {
                    level: Level::Warning,
                    ..elsewhere(
                        place.cloned().unwrap_or_else(|| top(subject)),
                        sls,
                        format!("for the sls '{sls}'"),
                    )
                },
                false => missing(subject, sls, place, &problem.minions),
            }
        }
    }
}

/// The top file as a whole.
fn top(subject: &FormulaSubject<'_>) -> Place {
    let mut files = subject.files.values();
    let file = files.find(|file| file.path == "top.sls");
    file.map_or_else(
        || Place {
            file: "top.sls".into(),
            source: "".into(),
            start: 0,
            end: 0,
        },
        |file| file.place(0, 0),
    )
}

/// Something in a top file that probably means something else.
fn doubtful(subject: &FormulaSubject<'_>, warning: &Diagnostic, minions: &[String]) -> Finding {
    let place = warning.place.clone().unwrap_or_else(|| top(subject));
    let finding = Finding::of_message(Rule::TopFile, place, warning);
    // The roots of a saltenv may be those of a branch that is not here.
    let is_slip = warning
        .help
        .as_deref()
        .is_none_or(|help| help.starts_with("did you mean"));
    let level = match warning.kind == ErrorKind::File && !is_slip {
        true => Level::Note,
        false => Level::Warning,
    };
    Finding {
        level,
        ..finding.note(on(minions, subject.runs.len()))
    }
}

/// Top files that cannot be rendered or merged.
fn failed(subject: &FormulaSubject<'_>, error: &Error, minions: &[String]) -> Finding {
    let diagnostic = error.diagnostic();
    let place = diagnostic.place.clone();
    let place = place.unwrap_or_else(|| top(subject));
    let mut finding = Finding::of_message(rule_of_failure(error), place, diagnostic);
    let estate = subject.estate.as_ref();
    if let Some(why) = estate.and_then(|estate| softened(estate, error, minions)) {
        finding.level = Level::Warning;
        finding.lacks_facts = true;
        finding.notes.push(why.to_owned());
    }
    finding
        .note("the top file gives no states")
        .note(on(minions, subject.runs.len()))
}

/// An sls that a top file names, and that does not exist.
fn missing(
    subject: &FormulaSubject<'_>,
    sls: &str,
    place: Option<&Place>,
    minions: &[String],
) -> Finding {
    let message = match &*subject.saltenv {
        "base" => format!("the sls '{sls}' does not exist"),
        saltenv => format!("the sls '{sls}' does not exist in the saltenv '{saltenv}'"),
    };
    let finding = match place {
        Some(place) => Finding::new(Rule::MissingInclude, place.clone(), message),
        None => Finding::of_file(Rule::MissingInclude, top(subject), message),
    };
    let names: Vec<String> = subject
        .files
        .keys()
        .filter_map(|path| sls_name(path))
        .collect();
    let finding = match nearest(sls, &names) {
        Some(near) => finding.help(format!("did you mean '{near}'?")),
        None => {
            let path = sls.replace('.', "/");
            finding.help(format!(
                "neither salt://{path}.sls nor salt://{path}/init.sls exists; if it lies elsewhere, name it in \
                 `absent` of .mapstack.yaml"
            ))
        }
    };
    finding.note(on(minions, subject.runs.len()))
}

//! What top files of states name.

use mapstack::{Place, nearest};

use super::failures::{on, rule_of_failure, softened};
use super::imports::elsewhere;
use crate::Rule;
use crate::finding::{Finding, Level};
use crate::states::sls_name;
use crate::subject::{Subject, TopFault};

/// Whether no root has the folder, or the file, with which the name of an sls begins.
fn is_elsewhere(subject: &Subject<'_>, sls: &str) -> bool {
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

pub(crate) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let all = subject.runs.len();
    let top = || {
        let mut files = subject.files.values();
        files
            .find(|file| file.path == "top.sls")
            .map(|file| file.place(0, 0))
    };
    let nowhere = || Place {
        file: "top.sls".into(),
        source: "".into(),
        start: 0,
        end: 0,
    };
    let finding = |problem: &crate::subject::TopProblem| match &problem.what {
        TopFault::Failed(error) => {
            let diagnostic = error.diagnostic();
            let place = diagnostic
                .place
                .clone()
                .or_else(top)
                .unwrap_or_else(nowhere);
            let message = diagnostic.message.clone();
            let mut finding = Finding::new(rule_of_failure(error), place, message);
            finding.related.clone_from(&diagnostic.trace);
            finding.notes.clone_from(&diagnostic.notes);
            finding.help.clone_from(&diagnostic.help);
            let estate = subject.estate.as_ref();
            let why = estate.and_then(|estate| softened(estate, error, &problem.minions));
            if let Some(why) = why {
                finding.level = Level::Warning;
                finding.lacks_facts = true;
                finding.notes.push(why.to_owned());
            }
            finding
                .note("the top file gives no states")
                .note(on(&problem.minions, all))
        }
        TopFault::Missing { sls, place } if is_elsewhere(subject, sls) => {
            let place = place.clone().or_else(top).unwrap_or_else(nowhere);
            Finding {
                level: Level::Warning,
                ..elsewhere(place, sls, format!("for the sls '{sls}'"))
            }
        }
        TopFault::Missing { sls, place } => {
            let message = format!("the sls '{sls}' does not exist");
            let finding = match place {
                Some(place) => Finding::new(Rule::MissingInclude, place.clone(), message),
                None => {
                    let place = top().unwrap_or_else(nowhere);
                    Finding::of_file(Rule::MissingInclude, place, message)
                }
            };
            let names: Vec<String> = subject
                .files
                .keys()
                .filter(|path| path.ends_with(".sls"))
                .map(|path| sls_name(path))
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
            finding.note(on(&problem.minions, all))
        }
    };
    subject.problems.iter().map(finding).collect()
}

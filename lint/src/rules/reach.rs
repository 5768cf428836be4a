//! Parameter files that no minion reads.

use std::collections::BTreeMap;

use mapstack::lineage::{Instead, WhyNot};
use mapstack::nearest;

use crate::Rule;
use crate::document::SourceFile;
use crate::finding::Finding;
use crate::names::Names;
use crate::subject::{Examined, Subject};

pub(crate) fn check(subject: &Subject<'_>) -> Vec<Finding> {
    let asked = subject.asked();
    let names = Names::of(subject.runs.iter().map(|run| run.minion));
    let unasked = subject.files.values().filter(|file| {
        subject.is_parameter_file(&file.path) && looks_like_parameters(file) && !asked.contains(&*file.path)
    });
    let unasked: Vec<_> = unasked.collect();
    let Some(answers) = Answers::of(subject) else { return Vec::new() };
    unasked
        .into_iter()
        .filter(|file| !is_mentioned(subject, file))
        .filter_map(|file| {
            let why = answers.why(subject, file, &names)?;
            let finding = Finding::of_file(
                Rule::UnreachableFile,
                file.place(0, 0),
                format!("no minion reads this file: {}", why.reason),
            );
            Some(match why.help {
                Some(help) => finding.help(help),
                None => finding,
            })
        })
        .collect()
}

fn looks_like_parameters(file: &SourceFile) -> bool {
    [".yaml", ".yml", ".jinja", ".json"].iter().any(|suffix| file.name().ends_with(suffix))
}

/// Whether a template names the file, so that it is read by other ways.
fn is_mentioned(subject: &Subject<'_>, file: &SourceFile) -> bool {
    let inside = file.path.strip_prefix(&*subject.formula).unwrap_or(&file.path);
    let stem = inside.trim_start_matches('/');
    let stem = [".yaml", ".yml", ".jinja", ".json"].iter().find_map(|suffix| stem.strip_suffix(suffix)).unwrap_or(stem);
    subject.files.values().any(|other| other.path != file.path && other.text.contains(stem))
}

/// A reason that holds for every minion.
struct Why {
    reason: String,
    help: Option<String>,
}

/// The runs that can tell why a file is not read.
struct Answers<'r, 's> {
    runs: Vec<&'r Examined<'s>>,
}

impl<'r, 's> Answers<'r, 's> {
    fn of(subject: &'r Subject<'s>) -> Option<Self> {
        let runs: Vec<_> = subject.runs.iter().filter(|run| run.data().is_some()).collect();
        (!runs.is_empty()).then_some(Answers { runs })
    }

    fn why(&self, subject: &Subject<'_>, file: &SourceFile, names: &Names) -> Option<Why> {
        let mut never: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut no_source: Option<Vec<String>> = None;
        for run in &self.runs {
            let (data, _) = run.data()?;
            let answer = subject.engine.run(run.minion).why_not_asked(data, &subject.options, &file.path).ok()?;
            match answer {
                WhyNot::NoSource { sources } => no_source = Some(sources),
                WhyNot::Others { sources } => {
                    for source in &sources {
                        let (reason, near) = impossible(source, names)?;
                        never.insert(reason, near);
                    }
                }
                // Something that a run decides by itself.
                _ => return None,
            }
        }
        if never.is_empty() {
            return no_source.map(|sources| of_no_source(subject, file, &sources));
        }
        let reason = never.keys().cloned().collect::<Vec<_>>().join(", and ");
        let near = never.into_values().flatten().next();
        Some(Why { reason, help: near.map(|near| format!("did you mean '{near}'?")) })
    }
}

/// Why a source leads to a file on no minion at all, and the name that was probably meant.
fn impossible(source: &Instead, names: &Names) -> Option<(String, Option<String>)> {
    source.differs.iter().find_map(|(matcher, _, wanted)| {
        let grain = matcher.strip_prefix("G@")?;
        let never = names.never(grain, wanted)?;
        Some((format!("{grain} is never '{wanted}'"), never.near))
    })
}

fn of_no_source(subject: &Subject<'_>, file: &SourceFile, sources: &[String]) -> Why {
    if let Some(stem) = file.path.strip_suffix(".yml").or_else(|| file.path.strip_suffix(".json")) {
        let name = stem.rsplit('/').next().unwrap_or_default();
        let reason = "only names that end in .yaml, .jinja or .yaml.jinja are looked for".into();
        return Why { reason, help: Some(format!("rename it to {name}.yaml")) };
    }
    let directory = subject.directories.iter().find_map(|dir| file.path.strip_prefix(&**dir)).unwrap_or(&file.path);
    let first = directory.trim_start_matches('/').split('/').next().unwrap_or_default();
    let queries = sources.iter().filter_map(|source| source.split('@').next_back());
    let reason = format!("none of the sources leads to {}", directory.trim_start_matches('/'));
    let near = nearest(first, queries).filter(|near| *near != first);
    let help = near.map(|near| format!("did you mean '{near}'?"));
    Why { reason, help: help.or_else(|| Some(format!("the sources are {}", sources.join(", ")))) }
}

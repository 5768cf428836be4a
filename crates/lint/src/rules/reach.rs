//! Parameter files that no minion reads.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mapstack::nearest;
use mapstack_lineage::{AlternativeSource, Explain, SoughtFiles, WhyNot};

use crate::Rule;
use crate::document::SourceFile;
use crate::finding::{Finding, Level};
use crate::names::{GrainNames, NameMistake, USUAL};
use crate::subject::{ExaminedMinion, FormulaSubject};
use crate::templates::text_without_comments;

pub(crate) fn check(subject: &FormulaSubject<'_>) -> Vec<Finding> {
    let asked = subject.requested_files();
    let names = GrainNames::of(subject.runs.iter().map(|run| run.minion));
    // Files elsewhere may be for other formulas.
    let is_own = |file: &&Arc<SourceFile>| file.path.starts_with(&format!("{}/", subject.formula));
    let unasked: Vec<_> = subject
        .files
        .values()
        .filter(is_own)
        .filter(|file| {
            subject.is_parameter_file(&file.path)
                && looks_like_parameters(file)
                && !asked.contains(&*file.path)
        })
        .collect();
    let Some(answers) = Answers::of(subject) else {
        return Vec::new();
    };
    let said = said(subject);
    unasked
        .into_iter()
        .filter(|file| !is_mentioned(subject, file, &said))
        .filter_map(|file| {
            let why = answers.why(subject, file, &names)?;
            let message = match why.is_sure {
                true => format!("no minion reads this file: {}", why.reason),
                false => format!("no known minion reads this file: {}", why.reason),
            };
            let mut finding = Finding::of_file(Rule::UnreachableFile, file.place(0, 0), message);
            if !why.is_sure {
                finding.level = Level::Note;
            }
            Some(match why.help {
                Some(help) => finding.help(help),
                None => finding,
            })
        })
        .collect()
}

fn looks_like_parameters(file: &SourceFile) -> bool {
    [".yaml", ".yml", ".jinja", ".json"]
        .iter()
        .any(|suffix| file.name().ends_with(suffix))
}

/// The texts of the formula's files that are not comments, each with its file's path: those of expressions and
/// around them in templates, and of data and modules.
fn said<'s>(subject: &'s FormulaSubject<'_>) -> Vec<(&'s str, String)> {
    let others = subject
        .files
        .values()
        .filter(|file| !subject.is_parameter_file(&file.path));
    let said = others.filter_map(|file| {
        let text = match subject.templates.get(&file.path) {
            Some(tree) => tree.texts().join("\n"),
            None => text_without_comments(&file.path, &file.text)?,
        };
        Some((&*file.path, text))
    });
    said.collect()
}

/// True if something names the file, which can then be read in another way.
fn is_mentioned(subject: &FormulaSubject<'_>, file: &SourceFile, said: &[(&str, String)]) -> bool {
    let inside = file
        .path
        .strip_prefix(&*subject.formula)
        .unwrap_or(&file.path);
    let stem = inside.trim_start_matches('/');
    let stem = [".yaml", ".yml", ".jinja", ".json"]
        .iter()
        .find_map(|suffix| stem.strip_suffix(suffix))
        .unwrap_or(stem);
    // Names that are put together begin with the folder.
    let folder = stem
        .rsplit_once('/')
        .map(|(folder, _)| format!("{folder}/"));
    let folder = folder
        .filter(|folder| folder.matches('/').count() > 1 || !subject.is_parameter_file(&file.path));
    let own_folder = folder.as_deref().and_then(|folder| {
        folder
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .map(|last| format!("/{last}/"))
    });
    let names = |text: &str| {
        text.contains(stem)
            || folder
                .as_ref()
                .is_some_and(|folder| text.contains(folder.as_str()))
            || own_folder
                .as_ref()
                .is_some_and(|folder| text.contains(folder.as_str()))
    };
    said.iter()
        .any(|(path, text)| *path != file.path && names(text))
}

/// A reason that holds for every minion.
struct UnreachedReason {
    reason: String,
    help: Option<String>,
    /// True if there can be no other names.
    is_sure: bool,
}

/// The files that the runs looked for, which show why another is not read.
struct Answers {
    sought: Vec<SoughtFiles>,
}

impl Answers {
    /// The successful runs, if there are any and all can be explained.
    fn of(subject: &FormulaSubject<'_>) -> Option<Self> {
        let sought = |run: &ExaminedMinion<'_>| {
            let (data, _) = run.data()?;
            let of_run = subject.engine.run(run.minion);
            Some(of_run.sought(data, &subject.options).ok())
        };
        let sought: Vec<SoughtFiles> = subject
            .runs
            .iter()
            .filter_map(sought)
            .collect::<Option<_>>()?;
        (!sought.is_empty()).then_some(Answers { sought })
    }

    fn why(
        &self,
        subject: &FormulaSubject<'_>,
        file: &SourceFile,
        names: &GrainNames,
    ) -> Option<UnreachedReason> {
        let mut never: BTreeMap<String, NameMistake> = BTreeMap::new();
        let mut no_source: Option<Vec<String>> = None;
        // Most minions want the same name.
        let mut known: HashMap<(String, String), Option<NameMistake>> = HashMap::new();
        let mut never_of = |grain: &str, name: &str| {
            let asked = (grain.to_owned(), name.to_owned());
            let known = known.entry(asked);
            known.or_insert_with(|| names.never(grain, name)).clone()
        };
        for sought in &self.sought {
            match sought.why_not(&file.path).ok()? {
                WhyNot::NoSource { sources } => no_source = Some(sources),
                WhyNot::Others { sources } => {
                    for source in &sources {
                        let (reason, why) = impossible(source, &mut never_of)?;
                        never.insert(reason, why);
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
        let help = never.values().find_map(NameMistake::help);
        Some(UnreachedReason {
            reason,
            is_sure: help.is_some(),
            help,
        })
    }
}

/// Why a source leads to a file on no minion at all, and what is wrong with the name.
fn impossible(
    source: &AlternativeSource,
    never: &mut impl FnMut(&str, &str) -> Option<NameMistake>,
) -> Option<(String, NameMistake)> {
    source.differs.iter().find_map(|(matcher, _, wanted)| {
        let grain = matcher.strip_prefix("G@")?;
        let never = never(grain, wanted)?;
        Some((format!("{grain} is never '{wanted}'"), never))
    })
}

/// True if a folder has the name of a grain: then it is the source that is misspelt.
fn grain(folder: &str) -> bool {
    USUAL.contains(&folder)
}

/// The place at which a file of the formula has a word, such as the name of a grain in a source.
fn said_at(subject: &FormulaSubject<'_>, word: &str) -> String {
    let mut files = subject.files.values();
    let found = files.find_map(|file| {
        let at = file.text.find(word)?;
        Some(file.place(at, at + word.len()))
    });
    found.map_or_else(|| "a source".to_owned(), |place| place.to_string())
}

fn of_no_source(
    subject: &FormulaSubject<'_>,
    file: &SourceFile,
    sources: &[String],
) -> UnreachedReason {
    let wrong_suffix = [".yml", ".json"]
        .iter()
        .find_map(|suffix| file.path.strip_suffix(suffix));
    let bare_jinja = || {
        file.path
            .strip_suffix(".jinja")
            .filter(|stem| !stem.ends_with(".yaml"))
    };
    if let Some(stem) = wrong_suffix.or_else(bare_jinja) {
        let name = stem.rsplit('/').next().unwrap_or_default();
        let reason = "only names that end in .yaml or .yaml.jinja are looked for".into();
        return UnreachedReason {
            reason,
            help: Some(format!("rename it to {name}.yaml")),
            is_sure: true,
        };
    }
    let directory = subject
        .directories
        .iter()
        .find_map(|dir| file.path.strip_prefix(&**dir))
        .unwrap_or(&file.path);
    let first = directory
        .trim_start_matches('/')
        .split('/')
        .next()
        .unwrap_or_default();
    let queries = sources
        .iter()
        .filter_map(|source| source.split('@').next_back());
    let reason = format!(
        "none of the sources leads to {}",
        directory.trim_start_matches('/')
    );
    let near = nearest(first, queries).filter(|near| *near != first);
    let help = near.map(|near| match grain(first) {
        true => format!(
            "{} says \"{near}\"; did you mean {first}?",
            said_at(subject, near)
        ),
        false => format!("did you mean '{near}'?"),
    });
    let help = help.or_else(|| Some(format!("the sources are {}", sources.join(", "))));
    UnreachedReason {
        reason,
        help,
        is_sure: true,
    }
}

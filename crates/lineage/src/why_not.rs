//! Explains why a parameter file is not part of the data.

use mapstack::trace::{Event, FileRead, FileReadKind, RequestOutcome, TracedRequest};
use mapstack::{Configuration, DataOptions, Run, directories, parse_definition};
use mapstack_diagnostic::{Place, Result};
use mapstack_matcher::{Definition, Matcher, MatcherKind, Mode, join, variants};
use mapstack_value::{Map, Value};

use crate::Lineage;
use crate::layers::LayerKind;

/// Why a file is not part of the data, or which layer it is.
#[derive(Debug, Clone, PartialEq)]
pub enum WhyNot {
    /// The file is a layer.
    Used {
        /// The index of the layer.
        layer: usize,
    },
    /// The run looked for the file, but the file server does not have it.
    Missing,
    /// The run looked for the file, but the file server refuses to serve it.
    Refused {
        /// The reason that the file server gives.
        reason: String,
    },
    /// The run read the file, which has no `values`.
    Empty,
    /// The file is outside the directories of parameter files.
    Elsewhere {
        /// The directories of parameter files.
        directories: Vec<String>,
    },
    /// Some sources lead to files of this kind, but to others on this minion.
    Others {
        /// These sources, with the values of this minion and those that would lead to the file.
        sources: Vec<AlternativeSource>,
    },
    /// No source leads to a file of this kind.
    NoSource {
        /// All sources.
        sources: Vec<String>,
    },
    /// The `map.jinja` or a template that it loads reads the file.
    Read,
    /// Templates of the formula load the file at these places, which the run of the `map.jinja` does not come by.
    NotReached {
        /// The places.
        places: Vec<Place>,
    },
    /// No template of the formula loads a file of this name.
    NotNamed,
}

/// A source that leads to other files than the one in question.
#[derive(Debug, Clone, PartialEq)]
pub struct AlternativeSource {
    /// The definition as written.
    pub definition: String,
    /// For each matcher that does not lead to the file: its type and query, the texts that the minion has, and the
    /// text that would lead to the file.
    pub differs: Vec<(String, Vec<String>, String)>,
}

/// The outcome for a file that the run looked for; `None` if it did not.
pub(crate) fn why_not(lineage: &Lineage, events: &[Event], path: &str) -> Option<WhyNot> {
    let is_it = |kind: &LayerKind| matches!(kind, LayerKind::File { path: own, .. } if own == path);
    if let Some(layer) = lineage.layers().iter().position(|layer| is_it(&layer.kind)) {
        return Some(WhyNot::Used { layer });
    }
    let mut asked = events.iter().filter_map(|event| match &event.asked {
        TracedRequest::File { path: own, outcome } if own == path => Some(outcome),
        _ => None,
    });
    asked.next_back().map(|outcome| match outcome {
        RequestOutcome::Hit(_) => WhyNot::Empty,
        RequestOutcome::Miss => WhyNot::Missing,
        RequestOutcome::Refused(reason) => WhyNot::Refused {
            reason: reason.clone(),
        },
    })
}

/// Find out whether the run of a `map.jinja` read a file, and if not, which templates could.
pub(crate) fn why_not_in_map(
    run: &Run<'_>,
    configuration: &Configuration,
    path: &str,
) -> Result<WhyNot> {
    configuration.compute(run)?;
    let reads = run.file_reads();
    let is_it = |read: &&FileRead| *read.path == *path && *read.saltenv == **run.saltenv();
    let kinds = || reads.iter().filter(is_it).map(|read| read.kind);
    if kinds().any(|kind| kind == FileReadKind::Found) {
        return Ok(WhyNot::Read);
    }
    if kinds().any(|kind| kind == FileReadKind::Absent) {
        return Ok(WhyNot::Missing);
    }
    let survey = run
        .engine()
        .survey(configuration.formula(), run.saltenv())?;
    let sites = survey.used_files().filter(|(named, _)| *named == path);
    let places: Vec<Place> = sites.map(|(_, place)| place.clone()).collect();
    Ok(match places.is_empty() {
        true => WhyNot::NotNamed,
        false => WhyNot::NotReached { places },
    })
}

/// The files that a run looks for, from which follows why it did not look for another.
///
/// Questions about many files are answered without the run.
#[derive(Debug, Clone)]
pub struct SoughtFiles {
    directories: Vec<String>,
    sources: Vec<MatcherTexts>,
}

/// A source, and the texts that its matchers have found; an error if they cannot be looked up.
#[derive(Debug, Clone)]
struct MatcherTexts {
    written: String,
    definition: Definition,
    found: Result<Vec<Vec<String>>>,
}

impl SoughtFiles {
    /// The sources of a run that returned `data`.
    pub(crate) fn of(run: &Run<'_>, data: &Value, options: &DataOptions) -> Result<Self> {
        let no_meta = Map::new();
        let meta = data
            .as_map()
            .and_then(|data| data.get("map_jinja"))
            .and_then(Value::as_map)
            .unwrap_or(&no_meta);
        let directories =
            directories(meta.get("parameter_dirs").unwrap_or(&Value::None)).unwrap_or_default();
        let custom_data = options.custom_data.clone().unwrap_or_else(Value::map);
        let strategy = meta.get("config_get_strategy").unwrap_or(&Value::None);
        let source = |source: &Value| -> Result<MatcherTexts> {
            let written = source.to_string();
            let definition = parse_definition(&written, Mode::Layer)?;
            let texts = |matcher| run.matched_texts(matcher, data, &custom_data, strategy);
            let found = definition.matchers().iter().map(texts).collect();
            Ok(MatcherTexts {
                written,
                definition,
                found,
            })
        };
        let sources = meta.get("sources").and_then(Value::as_list);
        let sources = sources.iter().flat_map(|sources| sources.iter());
        Ok(SoughtFiles {
            directories,
            sources: sources.map(source).collect::<Result<_>>()?,
        })
    }

    /// Explain why the run did not look for a file.
    ///
    /// # Errors
    /// A matcher that cannot be looked up.
    pub fn why_not(&self, path: &str) -> Result<WhyNot> {
        let inside = self
            .directories
            .iter()
            .find_map(|directory| path.strip_prefix(&join([directory]))?.strip_prefix('/'));
        let Some(inside) = inside else {
            let directories = self.directories.clone();
            return Ok(WhyNot::Elsewhere { directories });
        };
        let stems = stems(inside);
        let mut others = Vec::new();
        for source in &self.sources {
            let wanted = stems
                .iter()
                .find_map(|stem| wanted(&source.definition, stem));
            if let Some(wanted) = wanted {
                others.push(source.instead(wanted)?);
            }
        }
        Ok(if others.is_empty() {
            let sources = self.sources.iter().map(|source| source.written.clone());
            WhyNot::NoSource {
                sources: sources.collect(),
            }
        } else {
            WhyNot::Others { sources: others }
        })
    }
}

impl MatcherTexts {
    /// The matchers that have found other texts than those that lead to a file.
    fn instead(&self, wanted: Vec<Option<String>>) -> Result<AlternativeSource> {
        let mut differs = Vec::new();
        let found = self.found.as_ref().map_err(Clone::clone)?;
        let matchers = self.definition.matchers().iter().zip(found);
        for ((matcher, found), wanted) in matchers.zip(wanted) {
            let Some(wanted) = wanted else { continue };
            if !found.contains(&wanted) {
                differs.push((matcher.to_string(), found.clone(), wanted));
            }
        }
        Ok(AlternativeSource {
            definition: self.written.clone(),
            differs,
        })
    }
}

/// The paths that a definition can have to lead to a file, those without a suffix first.
fn stems(file: &str) -> Vec<&str> {
    let stems = [".yaml.jinja", ".jinja", ".yaml", ""]
        .iter()
        .filter_map(|suffix| file.strip_suffix(suffix));
    stems
        .filter(|stem| variants(stem).iter().any(|variant| variant == file))
        .collect()
}

/// The text that each matcher of a definition would have to find to lead to a path. A part is `None` if its matcher
/// always gives the same text. The result is `None` if the definition cannot lead to the path.
fn wanted(definition: &Definition, path: &str) -> Option<Vec<Option<String>>> {
    fn rest(matchers: &[Matcher], path: &str) -> Option<Vec<Option<String>>> {
        let (first, others) = matchers.split_first()?;
        let query = join([first.query()]);
        let path = path.strip_prefix(&*query)?;
        if first.kind() == MatcherKind::Static {
            return match (others, path.strip_prefix('/')) {
                ([], None) if path.is_empty() => Some(vec![None]),
                ([_, ..], Some(path)) => {
                    rest(others, path).map(|wanted| [vec![None], wanted].concat())
                }
                _ => None,
            };
        }
        let path = path.strip_prefix('/')?;
        if others.is_empty() {
            return (!path.is_empty()).then(|| vec![Some(path.to_string())]);
        }
        path.match_indices('/').find_map(|(slash, _)| {
            let (value, path) = (path.get(..slash)?, path.get(slash + 1..)?);
            rest(others, path).map(|wanted| [vec![Some(value.to_string())], wanted].concat())
        })
    }
    definition
        .leads_to_files()
        .then(|| rest(definition.matchers(), path))
        .flatten()
}

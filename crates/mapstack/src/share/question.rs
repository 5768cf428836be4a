//! The questions that a run can ask about a minion, and their answers.

use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock};

use crate::hooks::FactLookup;
use foldhash::fast::RandomState;
use mapstack_minion::{ConfigGet, LookupError, Minion, Part, PillarGet};
use mapstack_value::{Key, MapKind, Path, Value, weight};

use super::exact::Exact;
use super::layer_files::{LayerFiles, LayerPaths};
use super::probe::Probe;

/// One kind of access to a minion's facts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Question {
    /// The facts that every run reads before anything else.
    Start,
    /// The minion's id.
    Id,
    /// One entry of a dict. If it is a mapping, the answer says only that.
    Entry(Part, Vec<Exact>),
    /// The complete value at a path.
    Whole(Part, Vec<Exact>),
    /// The value at a path given as text with a delimiter, as matchers look it up.
    Find(Part, String, String),
    /// `pillar.get`: the key, the delimiter, the default, `merge` and `merge_nested_lists`.
    Pillar(Exact, String, Option<Exact>, bool, Option<bool>),
    /// `config.get`: the key, the delimiter, the merge strategy, and the sources to omit.
    Config(Exact, String, Exact, OmittedSources),
    /// An option.
    Option(Exact),
    /// The files that exist at the paths of a definition.
    Files(Box<LayerFiles>),
    /// The paths that a definition leads to. The directories do not matter, so formulas share this question.
    Paths(Box<LayerPaths>),
    /// All facts.
    All,
}

/// The sources that a `config.get` leaves out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct OmittedSources {
    opts: bool,
    grains: bool,
    pillar: bool,
    master: bool,
}

impl Question {
    /// For a question about files: the question about paths that it depends on.
    pub fn paths(&self) -> Option<&InternedQuestion> {
        match self {
            Question::Files(files) => Some(files.paths()),
            _ => None,
        }
    }

    /// The facts that the question reads.
    pub fn reads(&self) -> Vec<FactRead> {
        let split = |text: &str, delimiter: &str| {
            text.split(delimiter)
                .filter(|step| !step.is_empty())
                .map(Key::from)
                .collect::<Vec<_>>()
        };
        let keys = |path: &[Exact]| {
            path.iter()
                .filter_map(|step| Key::try_from(&step.0).ok())
                .collect::<Vec<_>>()
        };
        let of = |part, path| vec![FactRead { part, path }];
        let text = |key: &Exact, delimiter: &str| split(&key.0.to_string(), delimiter);
        match self {
            Question::Start => {
                let of_every_run = OF_EVERY_RUN.iter().map(|name| FactRead {
                    part: Some(Part::Opts),
                    path: vec![Key::from(*name)],
                });
                of_every_run.collect()
            }
            Question::Id => of(Some(Part::Opts), vec!["id".into()]),
            // The answer says only that it is a mapping.
            Question::Entry(_, path) if path.is_empty() => Vec::new(),
            Question::Entry(root, path) | Question::Whole(root, path) => {
                of(Some(*root), keys(path))
            }
            Question::Find(root, query, delimiter) => of(Some(*root), split(query, delimiter)),
            Question::Pillar(key, delimiter, ..) => of(Some(Part::Pillar), text(key, delimiter)),
            Question::Config(key, delimiter, ..) => of(None, text(key, delimiter)),
            Question::Option(key) => of(Some(Part::Opts), text(key, ":")),
            Question::Files(files) => files.paths().question.reads(),
            Question::Paths(paths) => paths.reads(),
            Question::All => {
                let parts = [Part::Grains, Part::Pillar, Part::Opts].into_iter();
                parts.flat_map(|part| of(Some(part), Vec::new())).collect()
            }
        }
    }
}

/// A question with a number, by which a minion finds its answer again.
#[derive(Debug)]
pub(crate) struct InternedQuestion {
    pub question: Question,
    /// `None` once too many questions have numbers.
    pub number: Option<usize>,
}

impl PartialEq for InternedQuestion {
    fn eq(&self, other: &Self) -> bool {
        match (self.number, other.number) {
            (Some(one), Some(other)) => one == other,
            _ => self.question == other.question,
        }
    }
}

impl Eq for InternedQuestion {}

impl Hash for InternedQuestion {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.question.hash(state);
    }
}

/// A read of a minion's facts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FactRead {
    /// The part of the facts; `None` is any part, as `config.get` searches all of them.
    pub part: Option<Part>,
    /// The path that was read with everything below it. An empty path means the whole part.
    pub path: Vec<Key>,
}

impl FactRead {
    /// True if this read can see a change of the fact at `path`.
    ///
    /// ```
    /// use mapstack::minion::Part;
    /// use mapstack::share::FactRead;
    /// let read = FactRead { part: Some(Part::Grains), path: vec!["os".into()] };
    /// assert!(read.sees(Part::Grains, &["os".into()]));
    /// assert!(!read.sees(Part::Grains, &["os_family".into()]) && !read.sees(Part::Pillar, &["os".into()]));
    /// ```
    #[must_use]
    pub fn sees(&self, part: Part, path: &[Key]) -> bool {
        let is_same = |(one, other): (&Key, &Key)| one.to_string() == other.to_string();
        self.part.is_none_or(|own| own == part) && self.path.iter().zip(path).all(is_same)
    }
}

/// A minion's answer to a question. A run cannot distinguish minions whose answers are equal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum MinionAnswer {
    Nothing,
    Dict(DictKind),
    Value(Exact),
    Values(Vec<Option<Exact>>),
    Failed(String),
    /// Paths, without looking for files there.
    Paths(Vec<String>),
    /// The paths of existing files, and `true`. If a file cannot be served: all paths, and `false`.
    Files(Vec<String>, bool),
    /// An answer with the warnings of its look-up.
    Warned(Box<MinionAnswer>, Vec<String>),
}

/// The kind of a mapping, as a number that can be hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct DictKind(u8);

impl From<MapKind> for DictKind {
    fn from(kind: MapKind) -> Self {
        DictKind(match kind {
            MapKind::Dict => 0,
            MapKind::Ordered => 1,
            MapKind::Aggregate => 2,
            MapKind::Bunch => 3,
        })
    }
}

/// The options that every run reads at its start.
const OF_EVERY_RUN: [&str; 5] = [
    "saltenv",
    "allow_undefined",
    "jinja_env",
    "jinja_trim_blocks",
    "jinja_lstrip_blocks",
];

impl Question {
    /// The question for a look-up that a run reported.
    pub fn of(look: FactLookup<'_>) -> Self {
        match look {
            FactLookup::All => Question::All,
            FactLookup::Id => Question::Id,
            FactLookup::Has(part, key) => Question::Entry(part, vec![Exact::from(&key)]),
            FactLookup::Whole(part, key) => Question::Whole(part, vec![Exact::from(&key)]),
            FactLookup::Find {
                part,
                query,
                delimiter,
            } => Question::Find(part, query.into(), delimiter.into()),
            FactLookup::Pillar(key, query) => Question::pillar(key, query),
            FactLookup::Config(key, query) => Question::config(key, query),
            FactLookup::Option(name) => Question::Option(Exact(name.into())),
        }
    }

    fn pillar(key: &Value, query: &PillarGet) -> Self {
        let PillarGet {
            default,
            merge,
            merge_nested_lists,
            delimiter,
        } = query;
        let (key, default) = (Exact(key.clone()), default.clone().map(Exact));
        Question::Pillar(key, delimiter.clone(), default, *merge, *merge_nested_lists)
    }

    fn config(key: &Value, query: &ConfigGet) -> Self {
        let omitted = OmittedSources {
            opts: query.omit_opts,
            grains: query.omit_grains,
            pillar: query.omit_pillar,
            master: query.omit_master,
        };
        Question::Config(
            Exact(key.clone()),
            query.delimiter.clone(),
            Exact(query.merge.clone()),
            omitted,
        )
    }

    /// Compute a minion's answer.
    pub fn ask(&self, probe: &Probe<'_>) -> HashedAnswer {
        let warned = probe.run.warning_count();
        let answer = match self {
            // Keep the allocation: minions with equal files share one answer.
            Question::Files(files) => files.answer(probe),
            _ => HashedAnswer::new(self.answer(probe)),
        };
        if probe.run.warning_count() == warned {
            return answer;
        }
        let warnings = probe.run.take_warnings(warned);
        let texts = warnings
            .iter()
            .map(|warning| format!("{warning:?}"))
            .collect();
        HashedAnswer::new(MinionAnswer::Warned(
            Box::new((*answer.answer).clone()),
            texts,
        ))
    }

    fn answer(&self, probe: &Probe<'_>) -> MinionAnswer {
        let minion = &*probe.run.minion();
        match self {
            Question::Start => of_every_run(minion),
            // On a master, the id of the minion in question is another than that of the run.
            Question::Id => MinionAnswer::Values(vec![
                Some(Exact(minion.id.clone())),
                Some(Exact(minion.id())),
                Some(Exact(probe.run.given_id())),
            ]),
            Question::Entry(root, path) => match entry(probe, *root, path) {
                None => MinionAnswer::Nothing,
                Some(Value::Map(map)) => MinionAnswer::Dict(map.kind().into()),
                Some(value) => MinionAnswer::Value(Exact(value)),
            },
            Question::Whole(root, path) => entry(probe, *root, path)
                .map_or(MinionAnswer::Nothing, |v| MinionAnswer::Value(Exact(v))),
            Question::Find(Part::Grains, query, delimiter) => {
                found(minion.grains_get(query.as_str(), delimiter))
            }
            Question::Find(_, query, delimiter) => in_pillar(minion, query, delimiter),
            Question::Pillar(key, delimiter, default, merge, merge_nested_lists) => {
                let query = PillarGet {
                    default: default.clone().map(|default| default.0),
                    merge: *merge,
                    merge_nested_lists: *merge_nested_lists,
                    delimiter: delimiter.clone(),
                };
                let answer = minion.pillar_get(key.0.clone(), &query);
                looked_up(answer.map(|a| (Some(a.value), a.warning)))
            }
            Question::Config(key, delimiter, merge, omitted) => {
                let query = ConfigGet {
                    delimiter: delimiter.clone(),
                    merge: merge.0.clone(),
                    omit_opts: omitted.opts,
                    omit_grains: omitted.grains,
                    omit_pillar: omitted.pillar,
                    omit_master: omitted.master,
                };
                let answer = minion.config_get(key.0.clone(), &query);
                looked_up(answer.map(|a| (a.value, a.warning)))
            }
            Question::Option(key) => {
                let value = Key::try_from(&key.0)
                    .ok()
                    .and_then(|key| minion.option(&key));
                value.map_or(MinionAnswer::Nothing, |v| MinionAnswer::Value(Exact(v)))
            }
            Question::Files(files) => (*files.answer(probe).answer).clone(),
            Question::Paths(paths) => paths.answer(probe),
            Question::All => all(minion, probe),
        }
    }
}

/// The facts that every run reads.
fn of_every_run(minion: &Minion) -> MinionAnswer {
    let option = |name: &&str| minion.option(&Key::from(*name)).map(Exact);
    let kinds = [Part::Grains, Part::Pillar, Part::Opts]
        .map(|part| DictKind::from(minion.part(part).kind()).0);
    let kinds = kinds.map(|kind| Some(Exact(Value::from(i64::from(kind)))));
    MinionAnswer::Values(OF_EVERY_RUN.iter().map(option).chain(kinds).collect())
}

/// Everything that a run can read of a minion.
fn all(minion: &Minion, probe: &Probe<'_>) -> MinionAnswer {
    let parts =
        [&minion.grains, &minion.pillar, &minion.opts].map(|part| Some(Exact(part.clone().into())));
    let ids = [minion.id.clone(), probe.run.given_id()].map(|id| Some(Exact(id)));
    let is_on_master = probe.run.is_on_master();
    let templates = is_on_master.then(|| Exact(probe.run.template_options().into()));
    MinionAnswer::Values(parts.into_iter().chain(ids).chain([templates]).collect())
}

fn in_pillar(minion: &Minion, query: &str, delimiter: &str) -> MinionAnswer {
    match Path::split(query, delimiter) {
        Ok(path) => mapstack_yaml::traverse(&Value::Map(minion.pillar.clone()), &path)
            .map_or(MinionAnswer::Nothing, |v| MinionAnswer::Value(Exact(v))),
        Err(e) => MinionAnswer::Failed(e.to_string()),
    }
}

fn found(value: Result<Option<Value>, LookupError>) -> MinionAnswer {
    looked_up(value.map(|value| (value, None)))
}

fn looked_up(
    answer: Result<(Option<Value>, Option<mapstack_minion::Warning>), LookupError>,
) -> MinionAnswer {
    match answer {
        Err(e) => MinionAnswer::Failed(e.to_string()),
        Ok((value, warning)) => {
            let answer = value.map_or(MinionAnswer::Nothing, |v| MinionAnswer::Value(Exact(v)));
            match warning {
                None => answer,
                Some(warning) => MinionAnswer::Warned(Box::new(answer), vec![warning.to_string()]),
            }
        }
    }
}

/// The value at a path, as a sequence of dict look-ups finds it. Only templates look at options in this way.
fn entry(probe: &Probe<'_>, root: Part, path: &[Exact]) -> Option<Value> {
    let minion = &*probe.run.minion();
    let mut steps = path.iter();
    let mut here = match root {
        Part::Grains => Value::Map(minion.grains.clone()),
        Part::Pillar => Value::Map(minion.pillar.clone()),
        Part::Opts if probe.run.is_on_master() => Value::Map(probe.run.template_options()),
        Part::Opts => match steps.next() {
            Some(first) => minion.option(&Key::try_from(&first.0).ok()?)?,
            None => Value::Map(minion.options()),
        },
    };
    for step in steps {
        here = here.as_map()?.get(&Key::try_from(&step.0).ok()?)?.clone();
    }
    Some(here)
}

/// The hasher of all answers. Its seed is random, because facts can come from an attacker who searches for
/// collisions.
static STATE: LazyLock<RandomState> = LazyLock::new(RandomState::default);

/// An answer with its hash, cheap to clone and to compare.
#[derive(Debug, Clone)]
pub(crate) struct HashedAnswer {
    answer: Arc<MinionAnswer>,
    hash: u64,
}

impl HashedAnswer {
    pub fn new(answer: MinionAnswer) -> Self {
        HashedAnswer {
            hash: STATE.hash_one(&answer),
            answer: Arc::new(answer),
        }
    }

    pub fn answer(&self) -> &MinionAnswer {
        &self.answer
    }

    /// Approximate size in bytes.
    pub fn size(&self) -> usize {
        self.answer.size()
    }
}

impl PartialEq for HashedAnswer {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
            && (Arc::ptr_eq(&self.answer, &other.answer) || self.answer == other.answer)
    }
}

impl Eq for HashedAnswer {}

impl Hash for HashedAnswer {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl MinionAnswer {
    /// Approximate size in bytes.
    fn size(&self) -> usize {
        let of_value = |value: &Exact| 48 * weight(&value.0);
        64 + match self {
            MinionAnswer::Nothing | MinionAnswer::Dict(_) => 0,
            MinionAnswer::Value(value) => of_value(value),
            MinionAnswer::Values(values) => values.iter().flatten().map(of_value).sum(),
            MinionAnswer::Failed(text) => text.len(),
            MinionAnswer::Paths(paths) | MinionAnswer::Files(paths, _) => {
                paths.iter().map(|path| path.len() + 32).sum()
            }
            MinionAnswer::Warned(answer, texts) => {
                answer.size() + texts.iter().map(String::len).sum::<usize>()
            }
        }
    }
}

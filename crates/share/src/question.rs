//! What a run can ask of a minion, and what it is answered.

use std::hash::{BuildHasher, Hash, Hasher};
use std::rc::Rc;
use std::sync::{Arc, LazyLock};

use foldhash::fast::RandomState;
use mapstack::hooks::FactLook;
use mapstack_minion::{ConfigGet, LookupError, Minion, Part, PillarGet};
use mapstack_value::{Key, MapKind, Path, Value, weight};

use crate::exact::Exact;
use crate::layer_files::{LayerFiles, LayerPaths};
use crate::printed::{LayerPrint, Print};
use crate::probe::Probe;

/// One look at a minion.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Question {
    /// What every run looks at before anything else.
    Start,
    /// The name.
    Id,
    /// One entry, as a dict answers it: of a mapping only that it is one.
    Entry(Part, Vec<Exact>),
    /// Everything below a path.
    Whole(Part, Vec<Exact>),
    /// What a path of text leads to, as matchers look it up.
    Find(Part, String, String),
    /// `pillar.get`: the key, the delimiter, the default, and whether to merge and to append.
    Pillar(Exact, String, Option<Exact>, bool, Option<bool>),
    /// `config.get`: the key, the delimiter, the strategy, and what to leave out.
    Config(Exact, String, Exact, [bool; 4]),
    /// An option.
    Option(Exact),
    /// Which files a definition leads to.
    Files(Box<LayerFiles>),
    /// Which paths it leads to, below whatever directory: the same for every formula that has it.
    Paths(Box<LayerPaths>),
    /// What the template of a layer prints.
    Print(Box<LayerPrint>),
    /// Everything there is.
    All,
}

impl Question {
    /// Whether templates are run for the answer.
    pub fn runs_templates(&self) -> bool {
        matches!(self, Question::Print(_))
    }

    /// The question for paths behind one for files.
    pub fn paths(&self) -> Option<&Posed> {
        match self {
            Question::Files(files) => Some(files.paths()),
            _ => None,
        }
    }

    /// What it looks at, in the words of who asks what a fact reaches.
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
            Question::Start => Vec::new(),
            Question::Id => of(Some(Part::Opts), vec!["id".into()]),
            Question::Entry(root, path) | Question::Whole(root, path) => {
                of(Some(*root), keys(path))
            }
            Question::Find(root, query, delimiter) => of(Some(*root), split(query, delimiter)),
            Question::Pillar(key, delimiter, ..) => of(Some(Part::Pillar), text(key, delimiter)),
            Question::Config(key, delimiter, ..) => of(None, text(key, delimiter)),
            Question::Option(key) => of(Some(Part::Opts), text(key, ":")),
            Question::Files(files) => files.paths().question.reads(),
            Question::Paths(paths) => paths.reads(),
            Question::Print(_) | Question::All => of(None, Vec::new()),
        }
    }
}

/// A question with its number, by which answers are found again.
#[derive(Debug)]
pub(crate) struct Posed {
    pub question: Question,
    /// None for one of too many.
    pub number: Option<usize>,
}

impl PartialEq for Posed {
    fn eq(&self, other: &Self) -> bool {
        match (self.number, other.number) {
            (Some(one), Some(other)) => one == other,
            _ => self.question == other.question,
        }
    }
}

impl Eq for Posed {}

impl Hash for Posed {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.question.hash(state);
    }
}

/// A look at a minion's facts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FactRead {
    /// Which facts; any of them, as `config.get` looks, for `None`.
    pub part: Option<Part>,
    /// The path to what was looked at with everything below it; all there is, if it is empty.
    pub path: Vec<Key>,
}

impl FactRead {
    /// Whether a change of a fact can be seen by it.
    ///
    /// ```
    /// use mapstack::minion::Part;
    /// use mapstack_share::FactRead;
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

/// What a minion answers. Equal answers cannot be told apart by a run.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Answer {
    Nothing,
    Dict(Kinds),
    Value(Exact),
    Values(Vec<Option<Exact>>),
    Failed(String),
    /// Paths that nobody has looked behind.
    Paths(Vec<String>),
    /// Paths of files, and whether all there is to say of them is that they are there.
    Files(Vec<String>, bool),
    /// What a layer prints.
    Printed(Print),
    /// What is nobody else's.
    Own,
    /// An answer that warns.
    Warned(Box<Answer>, Vec<String>),
}

/// A kind of mapping, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Kinds(u8);

impl From<MapKind> for Kinds {
    fn from(kind: MapKind) -> Self {
        Kinds(match kind {
            MapKind::Dict => 0,
            MapKind::Ordered => 1,
            MapKind::Aggregate => 2,
        })
    }
}

/// The options that every run looks at.
const OF_EVERY_RUN: [&str; 5] = [
    "saltenv",
    "allow_undefined",
    "jinja_env",
    "jinja_trim_blocks",
    "jinja_lstrip_blocks",
];

impl Question {
    /// The question that a look of a run stands for.
    pub fn of(look: FactLook<'_>) -> Self {
        match look {
            FactLook::All => Question::All,
            FactLook::Id => Question::Id,
            FactLook::Has(part, key) => Question::Entry(part, vec![Exact::from(&key)]),
            FactLook::Whole(part, key) => Question::Whole(part, vec![Exact::from(&key)]),
            FactLook::Find {
                part,
                query,
                delimiter,
            } => Question::Find(part, query.into(), delimiter.into()),
            FactLook::Pillar(key, query) => Question::pillar(key, query),
            FactLook::Config(key, query) => Question::config(key, query),
            FactLook::Option(name) => Question::Option(Exact(name.into())),
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
        let ConfigGet {
            delimiter,
            merge,
            omit_opts,
            omit_grains,
            omit_pillar,
            omit_master,
        } = query;
        let omit = [*omit_opts, *omit_grains, *omit_pillar, *omit_master];
        Question::Config(
            Exact(key.clone()),
            delimiter.clone(),
            Exact(merge.clone()),
            omit,
        )
    }

    /// Ask a minion.
    pub fn ask(&self, probe: &Probe<'_>) -> Told {
        let warned = probe.run.warning_count();
        let told = match self {
            // What several questions lead to is one answer.
            Question::Files(files) => files.answer(probe),
            _ => Told::new(self.answer(probe)),
        };
        if probe.run.warning_count() == warned {
            return told;
        }
        let warnings = probe.run.take_warnings(warned);
        let texts = warnings
            .iter()
            .map(|warning| format!("{warning:?}"))
            .collect();
        Told::new(Answer::Warned(Box::new((*told.answer).clone()), texts))
    }

    fn answer(&self, probe: &Probe<'_>) -> Answer {
        let minion = &*probe.run.minion();
        match self {
            Question::Start => {
                let option = |name: &&str| minion.option(&Key::from(*name)).map(Exact);
                let kinds = [Part::Grains, Part::Pillar, Part::Opts]
                    .map(|part| Kinds::from(minion.part(part).kind()).0);
                let kinds = kinds.map(|kind| Some(Exact(Value::from(i64::from(kind)))));
                Answer::Values(OF_EVERY_RUN.iter().map(option).chain(kinds).collect())
            }
            Question::Id => Answer::Values(vec![
                Some(Exact(minion.id.clone())),
                Some(Exact(minion.id())),
            ]),
            Question::Entry(root, path) => match entry(minion, *root, path) {
                None => Answer::Nothing,
                Some(Value::Map(map)) => Answer::Dict(map.kind().into()),
                Some(value) => Answer::Value(Exact(value)),
            },
            Question::Whole(root, path) => {
                entry(minion, *root, path).map_or(Answer::Nothing, |v| Answer::Value(Exact(v)))
            }
            Question::Find(Part::Grains, query, delimiter) => {
                found(minion.grains_get(query.as_str(), delimiter))
            }
            Question::Find(_, query, delimiter) => match Path::split(query, delimiter) {
                Ok(path) => mapstack_yaml::traverse(&Value::Map(minion.pillar.clone()), &path)
                    .map_or(Answer::Nothing, |v| Answer::Value(Exact(v))),
                Err(e) => Answer::Failed(e.to_string()),
            },
            Question::Pillar(key, delimiter, default, merge, merge_nested_lists) => {
                let query = PillarGet {
                    default: default.clone().map(|default| default.0),
                    merge: *merge,
                    merge_nested_lists: *merge_nested_lists,
                    delimiter: delimiter.clone(),
                };
                told(
                    minion
                        .pillar_get(key.0.clone(), &query)
                        .map(|a| (Some(a.value), a.warning)),
                )
            }
            Question::Config(
                key,
                delimiter,
                merge,
                [omit_opts, omit_grains, omit_pillar, omit_master],
            ) => {
                let query = ConfigGet {
                    delimiter: delimiter.clone(),
                    merge: merge.0.clone(),
                    omit_opts: *omit_opts,
                    omit_grains: *omit_grains,
                    omit_pillar: *omit_pillar,
                    omit_master: *omit_master,
                };
                told(
                    minion
                        .config_get(key.0.clone(), &query)
                        .map(|a| (a.value, a.warning)),
                )
            }
            Question::Option(key) => {
                let value = Key::try_from(&key.0)
                    .ok()
                    .and_then(|key| minion.option(&key));
                value.map_or(Answer::Nothing, |v| Answer::Value(Exact(v)))
            }
            Question::Files(files) => (*files.answer(probe).answer).clone(),
            Question::Paths(paths) => paths.answer(probe),
            Question::Print(print) => {
                let blanks = print.blanks();
                let run = probe.again(Rc::new(blanks.clone()));
                print
                    .print(&run, &blanks, minion)
                    .map_or(Answer::Own, Answer::Printed)
            }
            Question::All => {
                let parts = [&minion.grains, &minion.pillar, &minion.opts]
                    .map(|part| Some(Exact(part.clone().into())));
                Answer::Values(
                    parts
                        .into_iter()
                        .chain([Some(Exact(minion.id.clone()))])
                        .collect(),
                )
            }
        }
    }
}

fn found(value: Result<Option<Value>, LookupError>) -> Answer {
    told(value.map(|value| (value, None)))
}

fn told(answer: Result<(Option<Value>, Option<mapstack_minion::Warning>), LookupError>) -> Answer {
    match answer {
        Err(e) => Answer::Failed(e.to_string()),
        Ok((value, warning)) => {
            let answer = value.map_or(Answer::Nothing, |v| Answer::Value(Exact(v)));
            match warning {
                None => answer,
                Some(warning) => Answer::Warned(Box::new(answer), vec![warning.to_string()]),
            }
        }
    }
}

/// What single look-ups lead to.
fn entry(minion: &Minion, root: Part, path: &[Exact]) -> Option<Value> {
    let mut steps = path.iter();
    let mut here = match root {
        Part::Grains => Value::Map(minion.grains.clone()),
        Part::Pillar => Value::Map(minion.pillar.clone()),
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

/// How answers are hashed everywhere; facts are not trusted to be kind to a hash that is known.
static STATE: LazyLock<RandomState> = LazyLock::new(RandomState::default);

/// An answer as it is kept and compared.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    answer: Arc<Answer>,
    hash: u64,
}

impl Told {
    pub fn new(answer: Answer) -> Self {
        Told {
            hash: STATE.hash_one(&answer),
            answer: Arc::new(answer),
        }
    }

    pub fn answer(&self) -> &Answer {
        &self.answer
    }

    /// What a layer prints, if that is the answer.
    pub fn print(&self) -> Option<&Print> {
        match &*self.answer {
            Answer::Printed(print) => Some(print),
            _ => None,
        }
    }

    /// About how many bytes it takes.
    pub fn size(&self) -> usize {
        self.answer.size()
    }
}

impl PartialEq for Told {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
            && (Arc::ptr_eq(&self.answer, &other.answer) || self.answer == other.answer)
    }
}

impl Eq for Told {}

impl Hash for Told {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

impl Answer {
    /// About how many bytes it takes.
    fn size(&self) -> usize {
        let of_value = |value: &Exact| 48 * weight(&value.0);
        64 + match self {
            Answer::Nothing | Answer::Dict(_) | Answer::Own => 0,
            Answer::Printed(print) => print.size(),
            Answer::Value(value) => of_value(value),
            Answer::Values(values) => values.iter().flatten().map(of_value).sum(),
            Answer::Failed(text) => text.len(),
            Answer::Paths(paths) | Answer::Files(paths, _) => {
                paths.iter().map(|path| path.len() + 32).sum()
            }
            Answer::Warned(answer, texts) => {
                answer.size() + texts.iter().map(String::len).sum::<usize>()
            }
        }
    }
}

//! The states of a minion with the files that they make, as data that can be compared.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mapstack::Error;
use mapstack::trace::FileRead;
use mapstack::value::{Map, MapKind, Str, Value};
use mapstack_files::{Attributes, Content, FileOfMinion, ManagedFile, ManagedKind, Reason};
use mapstack_states::compile::Requisite;
use mapstack_states::{Compiled, LowRun};

use super::arguments::{arguments, named, text_of};
use crate::failures;

/// The states of a minion in the order in which they run, with the files that they make.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MinionPlan {
    /// The states. One that runs in test mode first, since others have it as `prereq`, is there once.
    pub states: Vec<Arc<PlannedState>>,
    /// The position of each state in the low data.
    positions: Vec<usize>,
}

/// The name of a state: two states of a minion differ in it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StateName {
    /// The saltenv of the sls.
    pub saltenv: Str,
    /// The sls.
    pub sls: Str,
    /// The ID.
    pub id: Str,
    /// The state module, such as `pkg`.
    pub module: Str,
    /// The function of the module, such as `installed`.
    pub function: Str,
    /// The name that the function gets.
    pub name: Str,
}

/// A state that runs on a minion.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlannedState {
    /// Its name.
    pub name: StateName,
    /// The arguments as people wrote them. A list of sources is replaced by the one that counts.
    pub arguments: Map,
    /// All sources that it names, if it has a list of them.
    pub sources: Vec<String>,
    /// The files that it makes, in the order of their paths.
    pub files: Vec<PlannedFile>,
    /// The states to whose changes it reacts, by their positions.
    pub reacts: Vec<(usize, ReactionKind)>,
    /// True if its state module does something about what it watches.
    pub watches: bool,
}

/// The way in which a state reacts to changes of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReactionKind {
    /// By `watch` or `listen`: `mod_watch` of its module is called.
    Watching,
    /// By `onchanges`: it runs.
    Running,
}

/// A file that a state makes.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedFile {
    /// The path on the minion.
    pub path: String,
    /// The kind of thing that it is.
    pub kind: ManagedKind,
    /// The owner, the mode and the like.
    pub attributes: Attributes,
    /// The source that counts.
    pub source: Option<String>,
    /// The text.
    pub text: PlannedText,
}

/// The text of a file.
#[derive(Debug, Clone, PartialEq)]
pub enum PlannedText {
    /// There is none: a directory, a link, or a file whose content is not managed.
    Nothing,
    /// The bytes of a file, or of a fragment of one.
    Bytes(Arc<[u8]>),
    /// The bytes do not follow from the files and facts.
    Unknown {
        /// The kind of reason.
        reason: Reason,
        /// The reason in words, with names.
        why: String,
    },
    /// Salt refuses the state.
    Failed {
        /// The message, without what is called otherwise in each state of the files.
        said: String,
        /// The error.
        error: Box<Error>,
    },
}

impl PlannedText {
    fn of(content: &Content, reads: &[FileRead]) -> Self {
        match content {
            Content::Nothing => PlannedText::Nothing,
            Content::Bytes(bytes) => PlannedText::Bytes(bytes.clone()),
            Content::Unknown(unknown) => PlannedText::Unknown {
                reason: unknown.reason,
                why: failures::without_revisions(&unknown.why),
            },
            Content::Failed(error) => {
                let files: Vec<&str> = reads.iter().map(|read| &*read.path).collect();
                PlannedText::Failed {
                    said: failures::text(error, &files),
                    error: error.clone(),
                }
            }
        }
    }

    /// True if the bytes follow from files and facts, or there are none.
    #[must_use]
    pub fn is_known(&self) -> bool {
        matches!(self, PlannedText::Nothing | PlannedText::Bytes(_))
    }
}

impl PlannedFile {
    fn of(made: &FileOfMinion) -> Self {
        let file: &ManagedFile = &made.file;
        PlannedFile {
            path: file.path.clone(),
            kind: file.kind,
            attributes: file.attributes.clone(),
            source: file.source.as_ref().and_then(|source| source.url.clone()),
            text: PlannedText::of(&made.made.content, &made.made.reads),
        }
    }
}

impl FromIterator<PlannedState> for MinionPlan {
    /// The plan of states that no low data has.
    fn from_iter<I: IntoIterator<Item = PlannedState>>(states: I) -> Self {
        MinionPlan {
            states: states.into_iter().map(Arc::new).collect(),
            positions: Vec::new(),
        }
    }
}

impl MinionPlan {
    /// The plan of compiled states and their files; of the states of some folders, if any are named.
    #[must_use]
    pub fn of(compiled: &Compiled, files: &[FileOfMinion], only: &[String]) -> Self {
        let mut by_state = by_state(files.iter());
        // The positions of states without those that run in test mode.
        let mut positions: HashMap<usize, usize> = HashMap::new();
        let both = compiled.low.iter().zip(&compiled.runs).enumerate();
        let kept = both.filter_map(|(at, (chunk, run))| {
            let map = chunk.as_map().filter(|_| !run.is_test)?;
            let name = name_of(map);
            is_of(&name.sls, only).then_some((at, map, run, name))
        });
        let kept: Vec<(usize, &Map, &LowRun, StateName)> = kept.collect();
        for (index, (at, ..)) in kept.iter().enumerate() {
            positions.insert(*at, index);
        }
        let positions_in_low = kept.iter().map(|(at, ..)| *at).collect();
        let states = kept.into_iter().map(|(at, map, run, name)| {
            let mut state = planned(name, map, run, &positions);
            state.set_files(map, &by_state.remove(&at).unwrap_or_default());
            Arc::new(state)
        });
        let mut plan = MinionPlan {
            states: states.collect(),
            positions: positions_in_low,
        };
        plan.add_listeners();
        plan
    }

    /// The plan of the same states in which some make other files; `reached` has the positions of these states.
    pub(super) fn with_files(
        &self,
        compiled: &Compiled,
        files: &[FileOfMinion],
        reached: &HashSet<usize>,
    ) -> Self {
        let of_reached = files.iter();
        let of_reached = of_reached.filter(|one| reached.contains(&one.file.state.position));
        let mut by_state = by_state(of_reached);
        let mut plan = self.clone();
        for (state, at) in plan.states.iter_mut().zip(&self.positions) {
            let map = compiled.low.get(*at).and_then(Value::as_map);
            if let Some(map) = map.filter(|_| reached.contains(at)) {
                let files = by_state.remove(at).unwrap_or_default();
                Arc::make_mut(state).set_files(map, &files);
            }
        }
        plan
    }

    /// Add the states of another plan that do not exist yet.
    pub(super) fn add(&mut self, other: &MinionPlan) {
        let mut positions = Vec::with_capacity(other.states.len());
        let first = self.states.len();
        for state in &other.states {
            let known = self
                .states
                .iter()
                .position(|known| known.name == state.name);
            let at = known.unwrap_or(self.states.len());
            positions.push(at);
            if known.is_none() {
                self.states.push(state.clone());
            }
        }
        for state in self.states.iter_mut().skip(first) {
            for (to, _) in &mut Arc::make_mut(state).reacts {
                *to = positions.get(*to).copied().unwrap_or(usize::MAX);
            }
        }
    }

    /// Let states react to those that they listen to.
    fn add_listeners(&mut self) {
        let listens = |state: &Arc<PlannedState>| {
            let mut arguments = ["listen", "listen_in"].into_iter();
            arguments.any(|argument| state.arguments.contains_key(argument))
        };
        if !self.states.iter().any(listens) {
            return;
        }
        let mut by_name: HashMap<(&str, &str), Vec<usize>> = HashMap::new();
        for (at, state) in self.states.iter().enumerate() {
            let StateName {
                module, id, name, ..
            } = &state.name;
            for name in [id, name] {
                let known = by_name.entry((module, name)).or_default();
                if known.last() != Some(&at) {
                    known.push(at);
                }
            }
        }
        let meant = |state: &PlannedState, argument: &str| -> Vec<usize> {
            let named = named(&state.arguments, argument);
            let meant = named
                .iter()
                .filter_map(|(module, name)| by_name.get(&(&**module, &**name)));
            meant.flatten().copied().collect()
        };
        let mut reacts: Vec<(usize, usize)> = Vec::new();
        for (at, state) in self.states.iter().enumerate() {
            reacts.extend(meant(state, "listen").into_iter().map(|to| (at, to)));
            reacts.extend(meant(state, "listen_in").into_iter().map(|by| (by, at)));
        }
        for (at, to) in reacts {
            if let Some(state) = self.states.get_mut(at) {
                Arc::make_mut(state)
                    .reacts
                    .push((to, ReactionKind::Watching));
            }
        }
    }
}

/// True if an sls is one of those of some folders; without any, all are.
fn is_of(sls: &str, only: &[String]) -> bool {
    let is_below = |folder: &String| {
        let rest = sls.strip_prefix(folder.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    only.is_empty() || only.iter().any(is_below)
}

fn name_of(map: &Map) -> StateName {
    StateName {
        saltenv: text_of(map, "__env__"),
        sls: text_of(map, "__sls__"),
        id: text_of(map, "__id__"),
        module: text_of(map, "state"),
        function: text_of(map, "fun"),
        name: text_of(map, "name"),
    }
}

/// The files of each state, by its position in the low data.
fn by_state<'f>(
    files: impl Iterator<Item = &'f FileOfMinion>,
) -> HashMap<usize, Vec<&'f FileOfMinion>> {
    let mut by_state: HashMap<usize, Vec<&FileOfMinion>> = HashMap::new();
    for file in files {
        let position = file.file.state.position;
        by_state.entry(position).or_default().push(file);
    }
    by_state
}

/// A state without its files.
fn planned(
    name: StateName,
    map: &Map,
    run: &LowRun,
    positions: &HashMap<usize, usize>,
) -> PlannedState {
    let reacts = run.after.iter().filter_map(|(at, requisite)| {
        let reacts = match requisite {
            Requisite::Watch | Requisite::WatchAny => ReactionKind::Watching,
            Requisite::Onchanges | Requisite::OnchangesAny => ReactionKind::Running,
            _ => return None,
        };
        Some((*positions.get(at)?, reacts))
    });
    PlannedState {
        name,
        arguments: arguments(map),
        sources: Vec::new(),
        files: Vec::new(),
        reacts: reacts.collect(),
        watches: run.watches,
    }
}

impl PlannedState {
    /// Set the files that the state makes; `map` is its low data.
    fn set_files(&mut self, map: &Map, files: &[&FileOfMinion]) {
        if let Some(given) = map.get("source").filter(|_| !self.sources.is_empty()) {
            let given = given.with_map_kind(MapKind::Dict);
            self.arguments.insert("source", given);
        }
        self.sources.clear();
        if let Some(source) = files.first().and_then(|one| one.file.source.as_ref())
            && !source.candidates.is_empty()
        {
            let urls = source.candidates.iter().map(|one| one.url.clone());
            self.sources = urls.collect();
            if let Some(url) = &source.url {
                self.arguments.insert("source", url.as_str());
            }
        }
        self.files = files.iter().map(|one| PlannedFile::of(one)).collect();
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
    }
}

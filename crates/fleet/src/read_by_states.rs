//! The minions whose states, or the files of these, read a file or a fact.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mapstack::Error;
use mapstack::minion::{Minion, Part};
use mapstack::share::FactRead;
use mapstack::trace::FileReadKind;
use mapstack::value::Key;
use mapstack_files::{Content, FileOfMinion, SharedFiles};
use mapstack_states::{Compiled, Gatherer, SlsData};

use crate::reached_file::{FileOfState, FileReach, candidate, naming};

use crate::used_by_states::{PlaceOfValue, used};
use crate::what::QuestionSubject;

/// The saltenvs and names of some sls.
pub type NamedSls = Vec<(String, String)>;

/// The states that may read a file or a fact, and their files.
pub struct ByStates<'s> {
    gatherer: &'s Gatherer<'s>,
    files: SharedFiles<'s>,
    /// The saltenvs and names of the sls to compile alone; `None` if top files give minions their sls.
    sls: Option<NamedSls>,
    known: Mutex<KnownReads>,
}

/// States, which are kept so that their address stays theirs, and those of them that use values.
type StatesInUse = (Arc<Compiled>, Vec<FileOfState>);

#[derive(Default)]
struct KnownReads {
    /// The facts about states without their files, by their address and the number of subjects; they are kept so that the
    /// address stays theirs.
    states: HashMap<(usize, usize), (Arc<Compiled>, Arc<OfStates>)>,
    /// The files that were read.
    read: BTreeSet<String>,
    /// Those of work that failed or is not known to its end.
    open: BTreeSet<String>,
    /// The states that use values, by the address of the states and the places of the values.
    used: HashMap<(usize, Vec<PlaceOfValue>), StatesInUse>,
}

/// The facts about states without their files.
struct OfStates {
    is_reached: bool,
    /// The states that name a file.
    naming: Vec<FileOfState>,
}

/// The number of states of which the facts are kept.
const KEPT: usize = 256;

/// The states of a minion that are reached.
#[derive(Debug, Default)]
pub(crate) struct ReachedStates {
    /// True if an sls or a top file reads what is in question.
    pub is_reached: bool,
    /// The files of states, and the states that name a file.
    pub files: Vec<FileOfState>,
    /// True if Salt refuses states that may have it, so that their files are not known.
    pub is_refused: bool,
}

/// The subject that states may read.
#[derive(Clone, Copy)]
enum StateSubject<'a> {
    File(&'a str),
    Fact(Part, &'a [Key]),
    /// Anything of the pillar.
    Pillar,
}

impl StateSubject<'_> {
    fn is_seen(self, read: &FactRead) -> bool {
        match self {
            StateSubject::File(_) => false,
            StateSubject::Fact(part, path) => read.sees(part, path),
            StateSubject::Pillar => read.part.is_none_or(|part| part == Part::Pillar),
        }
    }

    /// True if facts among which it may be are read; `None` if it is not known what is read.
    fn is_among(self, facts: Option<&[FactRead]>) -> Option<bool> {
        match self {
            StateSubject::File(_) => Some(false),
            _ => Some(facts?.iter().any(|read| self.is_seen(read))),
        }
    }
}

impl<'s> ByStates<'s> {
    /// The states that a gatherer compiles: those that top files give, or those of some sls. It has to keep low data, and
    /// to note facts.
    #[must_use]
    pub fn new(gatherer: &'s Gatherer<'s>, sls: Option<NamedSls>) -> Self {
        ByStates {
            files: SharedFiles::new(gatherer.engine()).noting_facts(),
            gatherer,
            sls,
            known: Mutex::default(),
        }
    }

    /// Looks at the states of a minion that has its pillar, also of those that do not compile. A pillar that is
    /// reached counts as reached where states read it.
    ///
    /// # Errors
    /// The top files cannot be used.
    pub(crate) fn inspect(
        &self,
        minion: &Minion,
        what: &QuestionSubject,
        by_pillar: bool,
    ) -> Result<ReachedStates, Error> {
        let own = match what {
            QuestionSubject::File(path) => Some(StateSubject::File(path)),
            QuestionSubject::Fact(part, path) => Some(StateSubject::Fact(*part, path)),
            QuestionSubject::Value(..)
            | QuestionSubject::Pillar(..)
            | QuestionSubject::External(_) => None,
        };
        let asked: Vec<StateSubject<'_>> = own
            .into_iter()
            .chain(by_pillar.then_some(StateSubject::Pillar))
            .collect();
        let mut reached = ReachedStates::default();
        let all = match &self.sls {
            Some(sls) => {
                let compiled = |(env, name): &(String, String)| {
                    self.gatherer
                        .compiled_sls(minion, env, std::slice::from_ref(name))
                };
                sls.iter().map(compiled).collect()
            }
            None => {
                reached.is_reached = self.is_read_by_top(minion, &asked)?;
                vec![self.gatherer.compiled(minion)?]
            }
        };
        for compiled in all {
            self.look_at(minion, &compiled, &asked, &mut reached);
        }
        Ok(reached)
    }

    /// The states of a minion, and their files, that have one of some values, by the places of these.
    ///
    /// # Errors
    /// The top files cannot be used.
    pub(crate) fn look_for(
        &self,
        minion: &Minion,
        places: &[PlaceOfValue],
    ) -> Result<ReachedStates, Error> {
        let mut reached = ReachedStates::default();
        let runs: Vec<Option<(&str, &str)>> = match &self.sls {
            Some(sls) => sls
                .iter()
                .map(|(env, name)| Some((&**env, &**name)))
                .collect(),
            None => vec![None],
        };
        for run in runs {
            let compiled = match run {
                Some((env, name)) => {
                    self.gatherer
                        .compiled_sls(minion, env, std::slice::from_ref(&name.to_owned()))
                }
                None => self.gatherer.compiled(minion)?,
            };
            reached.is_refused |= !compiled.errors.is_empty();
            for file in self.used(minion, run, &compiled, places) {
                if !reached.files.contains(&file) {
                    reached.files.push(file);
                }
            }
        }
        reached.is_reached = !reached.files.is_empty();
        Ok(reached)
    }

    fn used(
        &self,
        minion: &Minion,
        run: Option<(&str, &str)>,
        compiled: &Arc<Compiled>,
        places: &[PlaceOfValue],
    ) -> Vec<FileOfState> {
        if places.is_empty() {
            return Vec::new();
        }
        let key = (Arc::as_ptr(compiled) as usize, places.to_vec());
        if let Some((_, known)) = self.known().used.get(&key) {
            return known.clone();
        }
        let found = used(self.gatherer, minion, run, places);
        let mut known = self.known();
        if known.used.len() >= KEPT {
            known.used.clear();
        }
        known.used.insert(key, (compiled.clone(), found.clone()));
        found
    }

    /// True if top files decide by it what the minion gets.
    fn is_read_by_top(&self, minion: &Minion, asked: &[StateSubject<'_>]) -> Result<bool, Error> {
        let facts = asked
            .iter()
            .any(|one| !matches!(one, StateSubject::File(_)));
        let top = match facts {
            true => Some(self.gatherer.top(minion)?),
            false => None,
        };
        Ok(asked.iter().any(|one| match (one, &top) {
            (StateSubject::File(path), _) => self.gatherer.top_path() == *path,
            (one, Some(top)) => one.is_among(top.facts.as_deref()).unwrap_or(true),
            (_, None) => false,
        }))
    }

    fn look_at(
        &self,
        minion: &Minion,
        compiled: &Arc<Compiled>,
        asked: &[StateSubject<'_>],
        reached: &mut ReachedStates,
    ) {
        let of_states = self.of_states(compiled, asked);
        reached.is_reached |= of_states.is_reached;
        reached.is_refused |= !compiled.errors.is_empty();
        let mut left_out = of_states.naming.clone();
        for one in self.files.of(minion, compiled) {
            self.note(&one);
            let how = asked.iter().find_map(|asked| how(&one, *asked));
            let Some(how) = how else { continue };
            // The folder of its source has the file, and the state does not leave it out.
            left_out
                .retain(|named| named.how != FileReach::LeftOut || named.id != one.file.state.id);
            reached.files.push(FileOfState::of(&one.file, how));
        }
        reached.files.extend(left_out);
    }

    fn known(&self) -> MutexGuard<'_, KnownReads> {
        // Nothing panics while it holds the lock.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The facts about states without their files, which minions share. The pillar is in question for all minions or
    /// for none that share them, as it is read for them or not.
    fn of_states(&self, compiled: &Arc<Compiled>, asked: &[StateSubject<'_>]) -> Arc<OfStates> {
        let key = (Arc::as_ptr(compiled) as usize, asked.len());
        if let Some((_, known)) = self.known().states.get(&key) {
            return known.clone();
        }
        let renders = compiled.sls.iter().map(|sls| &*sls.rendered);
        let is_reached = renders.clone().any(|rendered| is_read(rendered, asked));
        let file = asked.iter().find_map(|asked| match asked {
            StateSubject::File(path) => Some(*path),
            _ => None,
        });
        let naming = file.map(|path| naming(&compiled.low, path));
        let made = Arc::new(OfStates {
            is_reached,
            naming: naming.unwrap_or_default(),
        });
        let mut known = self.known();
        for sls in &compiled.sls {
            let files = sls.rendered.files.iter().cloned();
            match sls.rendered.data.is_ok() && compiled.errors.is_empty() {
                true => known.read.extend(files),
                false => known.open.extend(files),
            }
        }
        // Minions that have states of their own would keep them all.
        if known.states.len() >= KEPT {
            known.states.clear();
        }
        let kept = (compiled.clone(), made.clone());
        known.states.insert(key, kept);
        made
    }

    /// Note which files were read for a file.
    fn note(&self, one: &FileOfMinion) {
        let reads = one.made.reads.iter();
        let found = reads.filter(|read| read.kind == FileReadKind::Found);
        let is_done = matches!(one.made.content, Content::Bytes(_) | Content::Nothing);
        let mut known = self.known();
        let known = &mut *known;
        for read in found {
            let files = match is_done {
                true => &mut known.read,
                false => &mut known.open,
            };
            if !files.contains(&*read.path) {
                files.insert(read.path.to_string());
            }
        }
    }

    /// The files that were read for states and their files, as far as these are known to their end.
    pub(crate) fn read(&self) -> BTreeSet<String> {
        let known = self.known();
        let mut read = &known.read - &known.open;
        if self.sls.is_none() {
            read.insert(self.gatherer.top_path().to_owned());
        }
        read
    }
}

fn is_read(rendered: &SlsData, asked: &[StateSubject<'_>]) -> bool {
    asked.iter().any(|asked| match asked {
        StateSubject::File(path) => rendered.files.iter().any(|file| file == path),
        asked => asked.is_among(rendered.facts()).unwrap_or(true),
    })
}

/// The way in which a file of a minion is reached, or would be; nothing if it is not.
fn how(one: &FileOfMinion, asked: StateSubject<'_>) -> Option<FileReach> {
    let StateSubject::File(path) = asked else {
        let is_named = one.file.looked_up.iter().any(|read| asked.is_seen(read));
        return match (asked, asked.is_among(one.made.facts())) {
            (_, Some(false)) if !is_named => None,
            (_, None) if !is_named => Some(FileReach::MayRead),
            (StateSubject::Pillar, _) => Some(FileReach::Pillar),
            _ => Some(FileReach::Read),
        };
    };
    if one.file.has_source(path) {
        return Some(FileReach::Source);
    }
    let mut reads = one.made.reads.iter();
    match reads.any(|read| *read.path == *path && read.kind == FileReadKind::Found) {
        true => Some(FileReach::Read),
        false => candidate(&one.file, path),
    }
}

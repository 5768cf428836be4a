//! The files of many minions, which share them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use mapstack::minion::Minion;
use mapstack::share::{FactRead, MinionAnswers, SharedWork, WorkKey, WorkOrigin};
use mapstack::trace::FileRead;
use mapstack::{Diagnostic, Engine, Run};
use mapstack_states::Compiled;
use mapstack_value::Str;

use crate::content::Content;
use crate::exhausting::Exhausting;
use crate::file::ManagedFile;
use crate::files::{all, of_states};
use crate::making::content;
use crate::minion_files::{MinionFiles, is_windows, run};
use crate::plan::ContentPlan;

/// Computes the files of many minions, each once of those that the minions share.
///
/// ```
/// use std::sync::Arc;
/// use mapstack::{Engine, loader::MemoryFiles, minion::{Minion, Part}};
/// use mapstack_files::{Content, SharedFiles};
/// use mapstack_states::{Gatherer, TopOptions};
/// let files = MemoryFiles::new()
///     .file("base", "top.sls", "base: {'*': [motd]}")
///     .file("base", "motd.sls", "/etc/motd: {file.managed: [{source: 'salt://motd'}, {template: jinja}]}")
///     .file("base", "motd", "{{ grains.os }}\n");
/// let engine = Engine::new(files);
/// let gatherer = Gatherer::new(&engine, TopOptions::default()).keeping_low();
/// let shared = SharedFiles::new(&engine).noting_facts();
/// let made = ["web1", "web2"].map(|id| {
///     let minion = Minion::parse(format!("{{id: {id}, grains: {{os: Arch}}}}").as_bytes(), id).unwrap().complete();
///     shared.of(&minion, &gatherer.compiled(&minion).unwrap()).remove(0).made
/// });
/// assert!(Arc::ptr_eq(&made[0], &made[1]));
/// assert_eq!(made[0].content, Content::Bytes(b"Arch\n".as_slice().into()));
/// assert_eq!(*made[0].reads[0].path, *"motd");
/// assert!(made[0].facts().unwrap().iter().any(|fact| fact.sees(Part::Grains, &["os".into()])));
/// ```
pub struct SharedFiles<'e> {
    engine: &'e Engine,
    lists: SharedWork<ListKey, Arc<List>>,
    /// The addresses of states whose files were listed. A list is kept for the second minion: what one minion alone has
    /// would push out the lists that many share.
    listed: Mutex<HashSet<usize>>,
    contents: SharedWork<ContentKey, Arc<MadeFile>>,
}

/// A file of a minion.
#[derive(Clone)]
pub struct FileOfMinion {
    /// The file as its state describes it.
    pub file: Arc<ManagedFile>,
    /// Its content.
    pub made: Arc<MadeFile>,
}

/// The content of a file, with what it was made of.
#[derive(Debug)]
pub struct MadeFile {
    /// The content. Errors have no secrets removed.
    pub content: Content,
    /// The warnings of its template.
    pub warnings: Vec<Diagnostic>,
    /// The texts that its template made of secrets.
    pub secret_texts: Vec<Str>,
    /// The files that were read for it: the source first, then those of its template.
    pub reads: Vec<FileRead>,
    facts: OnceLock<Vec<FactRead>>,
}

/// The files of states, with keys of their contents.
struct List {
    /// They stay, so that their address does.
    _states: Arc<Compiled>,
    files: Vec<(Arc<ManagedFile>, Arc<str>)>,
}

#[derive(PartialEq, Eq, Hash)]
struct ListKey {
    /// The address of the states.
    states: usize,
    is_windows: bool,
    /// The positions of the states, if only the files of some are listed.
    only: Option<BTreeSet<usize>>,
}

#[derive(PartialEq, Eq, Hash)]
struct ContentKey(Arc<str>);

impl WorkKey for ListKey {
    fn size(&self) -> usize {
        let positions = self.only.as_ref().map_or(0, BTreeSet::len);
        size_of::<Self>() + positions * size_of::<usize>()
    }
}

impl WorkKey for ContentKey {
    fn size(&self) -> usize {
        self.0.len()
    }
}

/// Bytes of lists of files that minions share.
const LISTS: usize = 32 << 20;
/// Addresses that are remembered before starting over.
const LISTED: usize = 4096;
/// Bytes of contents that minions share.
const CONTENTS: usize = 64 << 20;
/// The largest content that is kept.
const LARGEST: usize = CONTENTS / 16;

impl MadeFile {
    /// The facts that were read for it; `None` if they are not known.
    #[must_use]
    pub fn facts(&self) -> Option<&[FactRead]> {
        self.facts.get().map(Vec::as_slice)
    }

    /// A content that is not made, though files are read for it.
    fn not_made(content: Content, reads: &[FileRead]) -> Self {
        MadeFile {
            content,
            warnings: Vec::new(),
            secret_texts: Vec::new(),
            reads: reads.to_vec(),
            facts: OnceLock::new(),
        }
    }

    fn of(run: &Run<'_>, plan: &ContentPlan) -> (Arc<Self>, Option<usize>) {
        let made = MadeFile {
            content: content(run, plan),
            warnings: run.warnings(),
            secret_texts: run.secret_texts(),
            reads: run.file_reads(),
            facts: OnceLock::new(),
        };
        let size = match &made.content {
            Content::Bytes(bytes) => Some(bytes.len()).filter(|size| *size <= LARGEST),
            _ => Some(2048),
        };
        (Arc::new(made), size.map(|size| size + 512))
    }
}

impl<'e> SharedFiles<'e> {
    /// The files of an engine's file server. Nothing is known yet.
    #[must_use]
    pub fn new(engine: &'e Engine) -> Self {
        SharedFiles {
            engine,
            lists: SharedWork::new(LISTS),
            listed: Mutex::default(),
            contents: SharedWork::new(CONTENTS),
        }
    }

    /// The same with contents that know the facts that they depend on.
    #[must_use]
    pub fn noting_facts(mut self) -> Self {
        self.contents = self.contents.noting_facts();
        self
    }

    /// The files of a minion in the order of its states, whose low data has to be kept
    /// ([`Gatherer::keeping_low`](mapstack_states::Gatherer::keeping_low)).
    #[must_use]
    pub fn of(&self, minion: &Minion, states: &Arc<Compiled>) -> Vec<FileOfMinion> {
        self.made(minion, states, None)
    }

    /// The files of a minion with known states: those of another minion, or its own from before a change of
    /// the file server. `before` are the files there; those of `reached` states, given by their positions,
    /// are made again.
    #[must_use]
    pub fn of_after(
        &self,
        minion: &Minion,
        states: &Arc<Compiled>,
        before: &[FileOfMinion],
        reached: &HashSet<usize>,
    ) -> Vec<FileOfMinion> {
        let position = |one: &FileOfMinion| one.file.state.position;
        let is_left = |one: &&FileOfMinion| !reached.contains(&position(one));
        let mut files: Vec<FileOfMinion> = before.iter().filter(is_left).cloned().collect();
        let reached = reached.iter().copied().collect();
        files.extend(self.made(minion, states, Some(&reached)));
        files.sort_by_key(position);
        files
    }

    fn made(
        &self,
        minion: &Minion,
        states: &Arc<Compiled>,
        only: Option<&BTreeSet<usize>>,
    ) -> Vec<FileOfMinion> {
        let minion = states.changed.as_ref().unwrap_or(minion);
        let of_minion = OfMinion {
            shared: self,
            minion,
            answers: MinionAnswers::default(),
        };
        let mut runs = HashMap::new();
        let list = of_minion.list(states, only);
        let mut exhausting = Exhausting::default();
        let files = list.files.iter().map(|(file, key)| {
            if let Some((content, reads)) = exhausting.refusal(&file.plan) {
                return FileOfMinion {
                    made: Arc::new(MadeFile::not_made(content, reads)),
                    file: file.clone(),
                };
            }
            let saltenv = &file.state.saltenv;
            let run = runs
                .entry(saltenv.clone())
                .or_insert_with(|| run(self.engine, minion, saltenv));
            let made = of_minion.made(run, file, key);
            exhausting.note(&file.plan, &made.content, &made.reads);
            FileOfMinion {
                made,
                file: file.clone(),
            }
        });
        files.collect()
    }
}

impl SharedFiles<'_> {
    /// True if the files of states were listed before, by the address of the states. Others may have had it earlier, whose
    /// list is then kept too soon.
    fn is_listed_again(&self, states: usize) -> bool {
        let mut listed = self.listed.lock().unwrap_or_else(PoisonError::into_inner);
        if listed.len() >= LISTED {
            listed.clear();
        }
        !listed.insert(states)
    }
}

struct OfMinion<'m, 'e> {
    shared: &'m SharedFiles<'e>,
    minion: &'m Minion,
    answers: MinionAnswers<'e>,
}

impl<'e> OfMinion<'_, 'e> {
    fn list(&self, states: &Arc<Compiled>, only: Option<&BTreeSet<usize>>) -> Arc<List> {
        let is_windows = is_windows(self.minion);
        let address = Arc::as_ptr(states) as usize;
        let work = |run: &Run<'e>| {
            let minion_files = MinionFiles::in_run(run, is_windows);
            let files = match only {
                Some(only) => of_states(&minion_files, &states.low, |at| only.contains(&at)),
                None => all(&minion_files, &states.low),
            };
            let files: Vec<_> = files.into_iter().map(keyed).collect();
            let size: usize = files.iter().map(|(_, key)| 1024 + 2 * key.len()).sum();
            let list = List {
                _states: states.clone(),
                files,
            };
            (Arc::new(list), Some(size))
        };
        let run = run(self.shared.engine, self.minion, "base");
        let found = match self.shared.is_listed_again(address) {
            true => {
                let key = ListKey {
                    states: address,
                    is_windows,
                    only: only.cloned(),
                };
                self.shared.lists.find(key, &self.answers, &run, work)
            }
            false => WorkOrigin::alone(&self.answers, &run, |run| work(run).0),
        };
        let (WorkOrigin::Known(done) | WorkOrigin::Done { done, .. }) = found;
        done.value.clone()
    }

    fn made(&self, run: &Run<'e>, file: &ManagedFile, key: &Arc<str>) -> Arc<MadeFile> {
        let work = |run: &Run<'e>| MadeFile::of(run, &file.plan);
        let key = ContentKey(key.clone());
        let found = self.shared.contents.find(key, &self.answers, run, work);
        let (WorkOrigin::Known(done) | WorkOrigin::Done { done, .. }) = found;
        if let Some(facts) = done.facts() {
            done.value.facts.get_or_init(|| facts.to_vec());
        }
        done.value.clone()
    }
}

/// A file with the key of its content: everything that the content depends on, except for the minion and the
/// files.
fn keyed(file: ManagedFile) -> (Arc<ManagedFile>, Arc<str>) {
    let key = format!("{} {:?}", file.state.saltenv, file.plan);
    (Arc::new(file), key.into())
}

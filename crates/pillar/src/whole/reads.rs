//! The files that a compile reads.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mapstack::trace::{FileRead, FileReadKind};
use mapstack_loader::{Fetched, FileServer, Link, LoadError, SaltPath, Unserved};

/// The files that a pillar is made of.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PillarReads {
    /// The files of the pillar that were read, listed or not found, in order, each once.
    pub pillar: Vec<FileRead>,
    /// Those of them from which nothing came, because a file that needs them failed: a part of `pillar`.
    pub failed: Vec<FileRead>,
    /// The files that functions read from the file server.
    pub served: Vec<FileRead>,
    /// The files of stacked external pillars that a [mounted](crate::Master::mount) file server was asked
    /// for, by their paths below the directory.
    pub stacked: Vec<FileRead>,
    /// The files of external pillars that were found, by their local paths, if a master
    /// [notes](crate::Master::noting_paths) them.
    pub on_disk: BTreeSet<PathBuf>,
}

/// The reads of a compile so far.
#[derive(Debug, Default)]
pub(crate) struct CompileReads(Mutex<Noted>);

#[derive(Debug, Default)]
struct Noted {
    /// Each read in the order of the first, with true if something was found.
    all: Vec<(FileRead, bool)>,
    /// The index of each read.
    known: HashMap<FileRead, usize>,
    /// The reads of the file that is being rendered.
    current: Vec<usize>,
    served: Vec<FileRead>,
    stacked: Vec<FileRead>,
    external: BTreeSet<PathBuf>,
    /// The files' paths on disk, by their paths in the pillar; `None` for a path that several environments have.
    on_disk: HashMap<String, Option<PathBuf>>,
}

impl CompileReads {
    fn noted(&self) -> MutexGuard<'_, Noted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Note a read.
    pub fn note(&self, env: &str, path: &str, kind: FileReadKind) {
        let read = FileRead {
            saltenv: env.into(),
            path: path.into(),
            kind,
        };
        let noted = &mut *self.noted();
        let at = *noted.known.entry(read).or_insert_with_key(|read| {
            noted.all.push((read.clone(), false));
            noted.all.len() - 1
        });
        noted.current.push(at);
    }

    /// Note reads that were made for another minion. Where the files lie matters only to explanations, which share
    /// nothing.
    pub fn note_again(&self, reads: &[FileRead]) {
        for read in reads {
            self.note(&read.saltenv, &read.path, read.kind);
        }
    }

    /// The number of reads that belong to the file that is being rendered.
    pub fn current_count(&self) -> usize {
        self.noted().current.len()
    }

    /// Those of them behind the first ones.
    pub fn current_since(&self, count: usize) -> Vec<FileRead> {
        let noted = self.noted();
        let behind = noted.current.iter().skip(count);
        behind
            .filter_map(|at| noted.all.get(*at).map(|(read, _)| read.clone()))
            .collect()
    }

    /// Note the result of a request.
    pub fn note_fetched(&self, env: &str, path: &SaltPath, fetched: &Result<Fetched, LoadError>) {
        let kind = match fetched {
            Ok(Fetched::Found { .. }) => FileReadKind::Found,
            _ => FileReadKind::Absent,
        };
        if let Ok(Fetched::Found { on_disk, .. }) = fetched {
            let mut noted = self.noted();
            let place = Some(on_disk.clone());
            let known = noted.on_disk.entry(path.as_str().into());
            let known = known.or_insert_with(|| place.clone());
            if *known != place {
                *known = None;
            }
        }
        self.note(path.saltenv().unwrap_or(env), path.as_str(), kind);
    }

    /// Note what functions read from the file server.
    pub fn note_served(&self, reads: Vec<FileRead>) {
        self.noted().served.extend(reads);
    }

    /// Note what external pillars read from mounted directories.
    pub fn note_stacked(&self, reads: Vec<FileRead>) {
        self.noted().stacked.extend(reads);
    }

    /// Note the files that external pillars read.
    pub fn note_external(&self, paths: BTreeSet<PathBuf>) {
        self.noted().external.extend(paths);
    }

    /// End a file: true if all reads since the last file gave a result, false if none did.
    pub fn end_file(&self, is_good: bool) {
        let noted = &mut *self.noted();
        for at in noted.current.drain(..) {
            if let Some((_, came)) = noted.all.get_mut(at) {
                *came |= is_good;
            }
        }
    }

    /// The path of each found file as a user would open it.
    pub fn shown(&self) -> HashMap<String, String> {
        let noted = self.noted();
        let places = noted.on_disk.iter();
        places
            .filter_map(|(path, on_disk)| {
                Some((path.clone(), on_disk.as_ref()?.display().to_string()))
            })
            .collect()
    }

    /// Mark all reads so far as without a result.
    pub fn nothing_came(&self) {
        let mut noted = self.noted();
        noted.all.iter_mut().for_each(|(_, came)| *came = false);
    }

    /// All reads.
    pub fn taken(&self) -> PillarReads {
        let noted = std::mem::take(&mut *self.noted());
        let failed = noted.all.iter().filter(|(_, is_good)| !is_good);
        PillarReads {
            failed: failed.map(|(read, _)| read.clone()).collect(),
            pillar: noted.all.into_iter().map(|(read, _)| read).collect(),
            served: noted.served,
            stacked: noted.stacked,
            on_disk: noted.external,
        }
    }
}

/// A file server whose reads are noted.
pub(crate) struct RecordingFiles {
    pub server: Arc<dyn FileServer>,
    pub reads: Arc<CompileReads>,
}

impl FileServer for RecordingFiles {
    fn fetch(&self, path: &SaltPath, saltenv: &str) -> Result<Fetched, LoadError> {
        let fetched = self.server.fetch(path, saltenv);
        self.reads.note_fetched(saltenv, path, &fetched);
        fetched
    }

    fn find_all(&self, path: &SaltPath, saltenv: &str) -> Result<Vec<PathBuf>, LoadError> {
        self.server.find_all(path, saltenv)
    }

    fn list(&self, saltenv: &str, prefix: &str) -> Result<Vec<String>, LoadError> {
        self.reads.note(saltenv, prefix, FileReadKind::List);
        self.server.list(saltenv, prefix)
    }

    fn envs(&self) -> Vec<String> {
        self.server.envs()
    }

    fn mode(&self, path: &SaltPath, saltenv: &str) -> Result<Option<u32>, LoadError> {
        self.server.mode(path, saltenv)
    }

    fn links(&self, saltenv: &str, prefix: &str) -> Result<Option<Vec<Link>>, LoadError> {
        self.server.links(saltenv, prefix)
    }

    fn unserved(&self, saltenv: &str, prefix: &str) -> Result<Vec<Unserved>, LoadError> {
        self.server.unserved(saltenv, prefix)
    }
}
